"""A recording file system, and what it would hold after a loss of power.

What a process does below a directory is recorded as operations on inodes: entries made, renamed and removed, data
written, and files and directories flushed. Cutting the power after any number of them leaves what was flushed, and of
the rest whatever a policy picks: a file system may have written it, or not, in any order. Renames are atomic.
"""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ROOT = 0


@dataclass
class Operation:
    """One change.

    Attributes
    ----------
    kind : {"create", "rename", "remove", "data", "sync"}
    inode : int
        What is created, renamed, removed, written or flushed.
    parent, name : int, str
        The entry that it gets (create, rename) or loses (remove).
    old_parent, old_name : int, str
        The entry that it loses by a rename.
    content : bytes or None
        Of a file; None for a directory.
    durable : int
        Number of the operation that flushes this one; larger than any if none does.
    """

    kind: str
    inode: int
    parent: int = -1
    name: str = ""
    old_parent: int = -1
    old_name: str = ""
    content: bytes | None = None
    durable: int = 1 << 60


@dataclass
class Entry:
    """Something that is there now."""

    inode: int
    number: int
    content: bytes | None
    stamp: tuple[int, int]


@dataclass
class Recorder:
    """Records the operations of this process below a directory.

    Attributes
    ----------
    root : Path
    operations : list of Operation
    """

    root: Path
    operations: list[Operation] = field(default_factory=list)
    _entries: dict[str, Entry] = field(default_factory=dict)
    _inodes: int = ROOT
    _lock: Any = field(default_factory=threading.RLock)

    def observe(self) -> None:
        """Record entries and data that are there since the last look, and entries that are gone."""
        found: set[str] = set()
        for directory, directories, names in os.walk(self.root):
            for name in sorted(directories) + sorted(names):
                path = os.path.join(directory, name)
                self._look(path, os.path.relpath(path, self.root), name in directories)
                found.add(os.path.relpath(path, self.root))
        for path in sorted(self._entries.keys() - found, reverse=True):
            gone = self._entries.pop(path)
            self.operations.append(Operation("remove", gone.inode, self._parent(path), Path(path).name))

    def _look(self, path: str, relative: str, directory: bool) -> None:
        facts = os.lstat(path)
        stamp = (facts.st_size, facts.st_mtime_ns)
        entry = self._entries.get(relative)
        if entry is not None and entry.number != facts.st_ino:
            self.operations.append(Operation("remove", entry.inode, self._parent(relative), Path(relative).name))
            entry = None
        if entry is None:
            self._inodes += 1
            entry = Entry(self._inodes, facts.st_ino, None if directory else b"", (0, 0))
            self._entries[relative] = entry
            name = Path(relative).name
            self.operations.append(
                Operation("create", entry.inode, self._parent(relative), name, content=entry.content)
            )
        if not directory and stamp != entry.stamp:
            content = Path(path).read_bytes()
            if content != entry.content:
                self.operations.append(Operation("data", entry.inode, content=content))
            entry.content, entry.stamp = content, stamp

    def _parent(self, path: str) -> int:
        parent = path.rpartition(os.sep)[0]
        return self._entries[parent].inode if parent else ROOT

    def renamed(self, source: str, target: str) -> None:
        """Record a rename that was done."""
        old, new = (os.path.relpath(path, self.root) for path in (source, target))
        moved = self._entries[old]
        operation = Operation(
            "rename", moved.inode, self._parent(new), Path(new).name, self._parent(old), Path(old).name
        )
        self.operations.append(operation)
        self._entries.pop(new, None)
        for path in [path for path in self._entries if path == old or path.startswith(old + os.sep)]:
            self._entries[new + path[len(old) :]] = self._entries.pop(path)

    def synced(self, descriptor: int) -> None:
        """Record a flush, and what it makes durable."""
        path = os.path.relpath(Path(f"/proc/self/fd/{descriptor}").readlink(), self.root)
        inode = ROOT if path == "." else self._entries[path].inode if path in self._entries else None
        if inode is None:
            return
        number = len(self.operations)
        for operation in self.operations:
            of_data = operation.kind == "data" and operation.inode == inode
            of_entry = operation.kind != "data" and inode in (operation.parent, operation.old_parent)
            if (of_data or of_entry) and operation.durable > number:
                operation.durable = number
        self.operations.append(Operation("sync", inode))

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record while this lasts. Nothing is really flushed."""

        def around(function: Callable[..., Any], after: Callable[..., None] | None = None) -> Callable[..., Any]:
            def recorded(*arguments: Any, **options: Any) -> Any:
                with self._lock:
                    self.observe()
                    result = function(*arguments, **options)
                    if after is not None:
                        after(*arguments)
                    self.observe()
                    return result

            return recorded

        def rename(source: Any, target: Any) -> None:
            if str(source).startswith(str(self.root) + os.sep):
                self.renamed(str(source), str(target))

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "fsync", around(lambda descriptor: None, self.synced))
            for name in ("replace", "rename"):
                patch.setattr(os, name, around(getattr(os, name), rename))
            for name in ("unlink", "remove", "rmdir", "mkdir"):
                patch.setattr(os, name, around(getattr(os, name)))
            yield
        self.observe()


Policy = Callable[[Operation], bool]
Tree = dict[str, bytes | None]


def policies(seed: int) -> dict[str, Policy]:
    """Which of the operations that were not flushed have happened all the same."""
    generator = random.Random(seed)
    return {
        "all": lambda operation: True,
        "none": lambda operation: False,
        "entries": lambda operation: operation.kind != "data",
        "removals": lambda operation: operation.kind == "remove",
        "data": lambda operation: operation.kind == "data",
        "any": lambda operation: generator.random() < 0.5,
    }


def after_power_loss(operations: list[Operation], count: int, policy: Policy) -> Tree:
    """What is there if the power fails after so many operations: content by path, None for directories."""
    directories: dict[int, dict[str, int]] = {ROOT: {}}
    files: dict[int, bytes] = {}
    for operation in operations[:count]:
        if operation.kind == "create":
            # The inode itself; its entry may be lost.
            if operation.content is None:
                directories.setdefault(operation.inode, {})
            else:
                files.setdefault(operation.inode, b"")
        if operation.kind == "sync" or not (operation.durable < count or policy(operation)):
            continue
        if operation.kind == "data":
            assert operation.content is not None
            files[operation.inode] = operation.content
            continue
        entries = directories[operation.parent]
        if operation.kind == "remove":
            if entries.get(operation.name) == operation.inode:
                del entries[operation.name]
            continue
        if operation.kind == "rename":
            old = directories[operation.old_parent]
            if old.get(operation.old_name) != operation.inode:
                continue
            del old[operation.old_name]
        entries[operation.name] = operation.inode
    tree: Tree = {}

    def walk(inode: int, path: str) -> None:
        for name, child in directories[inode].items():
            place = os.path.join(path, name)
            tree[place] = files.get(child)
            if child in directories:
                walk(child, place)

    walk(ROOT, "")
    return tree


def build(tree: Tree, directory: Path) -> None:
    """Make a tree for real."""
    directory.mkdir()
    for path, content in tree.items():
        if content is None:
            (directory / path).mkdir(parents=True, exist_ok=True)
    for path, content in tree.items():
        if content is not None:
            (directory / path).write_bytes(content)
