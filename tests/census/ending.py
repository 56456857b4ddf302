"""A census that ends itself: ``python -m tests.census.ending COUNT SIGNAL ARGUMENT...``.

Runs the command line with the arguments, and sends this process the signal as soon as COUNT entries have been added to
its journal. So a test knows where it ended, however fast the machine is.
"""

from __future__ import annotations

import os
import sys

from cli.main import entry
from storage.files.lines import Entry, EntryWriter


def end_after(count: int, signal: int) -> None:
    """Have a signal sent to this process by the writer of entries."""
    add = EntryWriter.add
    added = 0

    def counted(self: EntryWriter, entry: Entry) -> None:
        nonlocal added
        add(self, entry)
        added += 1
        if added == count:
            os.kill(os.getpid(), signal)

    EntryWriter.add = counted  # type: ignore[method-assign]


if __name__ == "__main__":
    end_after(int(sys.argv[1]), int(sys.argv[2]))
    sys.argv[1:] = sys.argv[3:]
    entry()
