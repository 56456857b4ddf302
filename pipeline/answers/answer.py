"""The way to a state, in a job or beyond it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from pipeline.answers.lookup import Lookup
from pipeline.answers.meeting import Meeting, count_ways, meet, walk
from pipeline.answers.paths import ShortestPath, ShortestPaths
from pipeline.running.events import Observer
from pipeline.running.settings import Settings
from pipeline.spaces.contract import State, StateSpace
from storage.jobs.job import Job


@dataclass(frozen=True)
class Answer:
    """What a job says of a state.

    Attributes
    ----------
    length : int
        Its distance from the nearest root.
    path : ShortestPath, optional
        A shortest path, if it was asked for.
    count : int, optional
        Number of shortest paths, if it was asked for.
    """

    length: int
    path: ShortestPath | None = None
    count: int | None = None


class PathFinder:
    """Finds shortest paths with a job.

    Parameters
    ----------
    space : StateSpace
    job : Job
    settings : Settings, optional
        Memory and workers for states beyond the job.
    observer : Observer, optional
        Is told of levels made from such a state.

    Examples
    --------
    >>> from pipeline import Search, Sliding
    >>> from storage.jobs.job import Job
    >>> board = Sliding(rows=2, cols=3)
    >>> search = Search(board, job="jobs/two-by-three", memory=2**31)
    >>> table = search.run()
    >>> answer = PathFinder(board, Job.open(search.path)).find(board.parse("1 2 3 4 0 5"))
    >>> answer.length, answer.path.moves
    (1, ('5 right',))
    """

    def __init__(
        self, space: StateSpace, job: Job, settings: Settings | None = None, observer: Observer | None = None
    ) -> None:
        self._space = space
        self._job = job
        self._settings = settings
        self._observer = observer

    @cached_property
    def _lookup(self) -> Lookup:
        return Lookup(self._space, self._job)

    @cached_property
    def _paths(self) -> ShortestPaths:
        return ShortestPaths(self._lookup)

    def find(self, state: State, within: int | None = None, count: bool = False) -> Answer | None:
        """The distance of a state and a shortest path, or the number of shortest paths.

        Parameters
        ----------
        state : ndarray of uint8
        within : int, optional
            Longest path to look for; without a bound the search goes on until it meets the job.
        count : bool
            Count shortest paths instead of showing one.

        Returns
        -------
        Answer or None
            None if no path, or none of at most ``within`` moves, leads to the state.

        Raises
        ------
        InvalidInput
            If the state cannot be of this space, or is beyond a job whose moves cannot be undone.
        JobError
            If levels that are needed were deleted.
        """
        depth = self._lookup.depth_of(state)
        if depth is not None:
            if within is not None and depth > within:
                return None
            if count:
                return Answer(depth, count=self._paths.count(state, depth))
            return Answer(depth, self._paths.path(state, depth))
        if self._lookup.complete or self._lookup.deepest < 0:
            return None
        meeting = meet(self._lookup, state, within, self._settings, self._observer, all_ways=count)
        return None if meeting is None else self._beyond(state, meeting, count)

    def _beyond(self, state: State, meeting: Meeting, count: bool) -> Answer:
        deepest = self._lookup.deepest
        if count:
            ways = count_ways(self._space, state, meeting.layers, lambda reached: self._paths.count(reached, deepest))
            return Answer(deepest + meeting.moves, count=ways)
        outside = walk(self._space, state, meeting.layers)
        inside = self._paths.path(outside[-1], deepest)
        path = ShortestPath.through(self._space, [*inside.states, *outside[-2::-1]])
        return Answer(path.length, path)
