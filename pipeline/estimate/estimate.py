"""The estimate: every level with its states, disk and work, and what follows for a whole search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from pipeline.bench.disk import DiskSpeed
from pipeline.estimate.growth import Growth, Source, growth
from pipeline.estimate.rates import Rates
from pipeline.estimate.speed import LevelSize, Speed
from pipeline.estimate.trial import EFFICIENCY, Measured
from pipeline.level.forecast import metadata_bytes
from pipeline.level.plan import expected_spill, is_small, partitions_for
from pipeline.running.memory import KEY_BYTES, Budget, worker_bytes
from pipeline.spaces.contract import Detection, StateSpace
from storage.errors import InvalidInput

ESTIMATE_FORMAT = 1
# What is asked about beside the workers given.
OTHER_CORES = (2, 8, 64)
# Of a manifest, without and for each partition.
MANIFEST_BYTES = 1200
PARTITION_BYTES = 400

Keep = Literal["all", "frontier"]


@dataclass(frozen=True)
class LevelEstimate:
    """One level.

    Attributes
    ----------
    depth, states : int
    source : Source
        Where the number of states is from.
    made : bool
        Whether it has to be made no more.
    keys : float
    array_bytes, manifest_bytes, spill_bytes : float
        On disk: of its arrays, of what stays when these are deleted, and of spills while it is made.
    memory_keys : float
        Keys of spills that are held in memory.
    work : float
        Seconds of one processor.
    """

    depth: int
    states: int
    source: Source
    made: bool
    keys: float
    array_bytes: float
    manifest_bytes: float
    spill_bytes: float
    memory_keys: float
    work: float


class Startup(NamedTuple):
    """What a search takes before its first level: seconds, and bytes of memory."""

    seconds: float
    peak_bytes: int


class Time(NamedTuple):
    """Time of a search, and what it mostly waits for: ``processors`` or ``disk``."""

    seconds: float
    bound: str


class Estimate:
    """What a search will take.

    Parameters
    ----------
    space : StateSpace
    measured : Measured
    max_depth : int or None
        Last depth to search; to the end if None.
    budget : Budget
        Memory and workers of the search.
    startup : Startup
    disk : DiskSpeed
    going_on : bool
        Whether the measured levels are those of a job, and need not be made again.

    Attributes
    ----------
    growth : Growth
    levels : tuple of LevelEstimate
    """

    def __init__(
        self,
        space: StateSpace,
        measured: Measured,
        max_depth: int | None,
        budget: Budget,
        startup: Startup,
        disk: DiskSpeed,
        going_on: bool = False,
    ) -> None:
        if not measured.manifests:
            raise InvalidInput("an estimate starts from at least one level", "run the job for a while first")
        self.space = space
        self.budget = budget
        self._measured = measured
        self._startup = startup
        self._disk_speed = disk
        self._needed = 1 if space.detection is Detection.MASKS else 2
        counted = [manifest.states for manifest in measured.manifests]
        self.growth: Growth = growth(space, counted, measured.complete).to_depth(max_depth)
        self.levels = self._levels(going_on)

    def _levels(self, going_on: bool) -> tuple[LevelEstimate, ...]:
        rates = Rates(self.space, self._measured.manifests)
        speed = Speed(self._measured)
        levels: list[LevelEstimate] = []
        for depth, (states, source) in enumerate(zip(self.growth.states, self.growth.sources, strict=True)):
            if depth < len(self._measured.manifests):
                manifest = self._measured.manifests[depth]
                keys, bytes_of_arrays = float(manifest.keys), float(manifest.bytes)
                generated, spilled = float(manifest.generated), float(manifest.spilled)
                spill_bytes = rates.level(depth, states, 0.0).spill_bytes
                partitions = len(manifest.partitions)
            else:
                level = rates.level(depth, states, levels[-1].keys)
                keys, generated, spilled, spill_bytes = level.keys, level.generated, level.spilled, level.spill_bytes
                bytes_of_arrays = keys * level.array_bytes
                partitions = 0
            frontier = levels[-1].keys if levels else 0.0
            if is_small(frontier, self.space.max_neighbours, self.budget.tuning):
                expected, planned = int(frontier) * self.space.max_neighbours, 1
            else:
                expected = expected_spill(generated, rates.repetition())
                planned = partitions_for(expected, self.budget)
            partitions = partitions or planned
            in_memory = self.budget.fits(expected)
            work = self._measured.work.get(depth)
            if work is None or not in_memory:
                work = speed.work(LevelSize(frontier, generated, spilled, keys, not in_memory)) if depth else 0.0
            levels.append(
                LevelEstimate(
                    depth,
                    states,
                    source,
                    going_on and depth < len(self._measured.manifests),
                    keys,
                    bytes_of_arrays + self._metadata_bytes(keys, spilled, partitions),
                    MANIFEST_BYTES + PARTITION_BYTES * partitions,
                    0.0 if in_memory else spilled * spill_bytes,
                    spilled if in_memory else 0.0,
                    work,
                )
            )
        return tuple(levels)

    def _metadata_bytes(self, keys: float, spilled: float, partitions: int) -> float:
        """Bytes of the metadata of arrays. They repeat fewer keys where it was not known beforehand how many stay."""
        known = self.space.detection is not Detection.LEVELS and spilled <= self.budget.tuning.window * partitions
        part = 1.0 if known or not spilled else min(1.0, keys / spilled)
        sample = self.budget.tuning.cut.sample
        return metadata_bytes(part * min(keys, sample * partitions), partitions, sample)

    @property
    def origin(self) -> str:
        """What was measured."""
        return self._measured.origin

    @property
    def share(self) -> float:
        """Part of the processors' time that the measurement got."""
        return self._measured.share

    @property
    def states(self) -> int:
        """States of all levels."""
        return sum(level.states for level in self.levels)

    @property
    def is_extrapolated(self) -> bool:
        """Whether the states of some level are."""
        return any(level.source is Source.EXTRAPOLATED for level in self.levels)

    def disk_at_the_end(self, keep: Keep) -> float:
        """Bytes of the job when the search has ended."""
        # Of a search that came to its end the last level is one without states.
        kept = self._needed - 1 if self.growth.ends else self._needed
        first = 0 if keep == "all" else max(0, len(self.levels) - kept)
        return self._disk(first, len(self.levels))

    def disk_at_the_peak(self, keep: Keep) -> float:
        """Most bytes that the job takes."""
        return max(
            self._disk(0 if keep == "all" else max(0, depth - self._needed), depth + 1) + self.levels[depth].spill_bytes
            for depth in range(len(self.levels))
        )

    def _disk(self, first: int, stop: int) -> float:
        """Bytes of the job with the levels before ``stop``, of which those from ``first`` on have their arrays."""
        manifests = sum(level.manifest_bytes for level in self.levels[:stop])
        return manifests + sum(level.array_bytes for level in self.levels[first:stop])

    def first_spill_on_disk(self) -> int | None:
        """Depth of the first level whose spills do not fit into the memory; None if all do."""
        return next((level.depth for level in self.levels if level.spill_bytes), None)

    def memory_at_the_peak(self) -> int:
        """Most bytes of memory, never more than the budget."""
        budget = self.budget
        most = max(level.keys for level in self.levels)
        chunk = budget.tuning.cut.chunk
        part = worker_bytes(budget.tuning, budget.earlier_levels, budget.coded_bytes)
        chunks = min(part, 2 * chunk * KEY_BYTES) if most > chunk else 0
        held = max(level.memory_keys for level in self.levels)
        peaks = [budget.workers * (chunks + min(budget.memory_buffer_keys, most) * KEY_BYTES) + held * KEY_BYTES]
        if self.first_spill_on_disk() is not None:
            peaks.append(budget.workers * (chunks + min(budget.buffer_keys, most) * KEY_BYTES))
        return int(min(budget.total, self._startup.peak_bytes + max(peaks)))

    def level_seconds(self, level: LevelEstimate, cores: int) -> tuple[float, float]:
        """Seconds that a level takes the processors, and seconds that it takes the disk."""
        if level.made or not level.depth:
            return 0.0, 0.0
        written = level.array_bytes + level.manifest_bytes + level.spill_bytes
        read = level.spill_bytes + self.levels[level.depth - 1].array_bytes
        moving = written / self._disk_speed.write + read / self._disk_speed.read
        return level.work / (cores * EFFICIENCY if cores > 1 else 1.0) + self._measured.level_seconds, moving

    def time(self, cores: int) -> Time:
        """Time of the search, or of what is left of it, with so many workers, each with a processor of its own.

        Work is taken to divide evenly and to go on while the disk is busy, which is as fast as here. Nothing else is
        taken to run on the machine.
        """
        both = [self.level_seconds(level, cores) for level in self.levels]
        by_disk = sum(disk for working, disk in both if disk > working)
        seconds = sum(max(pair) for pair in both)
        return Time(self._startup.seconds + seconds, "disk" if by_disk > seconds / 2 else "processors")

    def processor_seconds(self) -> float:
        """Time of all processors together."""
        return self._startup.seconds + sum(level.work for level in self.levels if not level.made)

    def cores(self) -> Sequence[int]:
        """Numbers of workers that times are given for, that of the search first."""
        return [self.budget.workers, *(cores for cores in OTHER_CORES if cores != self.budget.workers)]

    def document(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "format": ESTIMATE_FORMAT,
            "space": {"name": self.space.name, "parameters": self.space.parameters.model_dump()},
            "basis": self._measured.origin,
            "depth": len(self.levels) - 1,
            "complete": self.growth.ends,
            "extrapolated": self.is_extrapolated,
            "states": self.states,
            "states_of_the_graph": self.growth.total,
            "levels": [
                {
                    "depth": level.depth,
                    "states": level.states,
                    "source": level.source.value,
                    "made": level.made,
                    "keys": round(level.keys),
                    "bytes": round(level.array_bytes + level.manifest_bytes),
                    "spill_bytes": round(level.spill_bytes),
                    "seconds": round(max(self.level_seconds(level, self.budget.workers)), 3),
                }
                for level in self.levels
            ],
            "disk": {
                keep: {"end": round(self.disk_at_the_end(keep)), "peak": round(self.disk_at_the_peak(keep))}
                for keep in ("all", "frontier")
            },
            "memory": {
                "budget": self.budget.total,
                "peak": self.memory_at_the_peak(),
                "first_depth_with_spills_on_disk": self.first_spill_on_disk(),
            },
            "workers": self.budget.workers,
            "processor_seconds": round(self.processor_seconds(), 2),
            "time": [
                {"cores": cores, "seconds": round(self.time(cores).seconds, 2), "bound": self.time(cores).bound}
                for cores in self.cores()
            ],
            "calibration": {
                "steps": self._measured.steps.document(),
                "disk": self._disk_speed.document(),
                "startup_seconds": self._startup.seconds,
                "level_seconds": self._measured.level_seconds,
                "share_of_processors": self._measured.share,
            },
        }
