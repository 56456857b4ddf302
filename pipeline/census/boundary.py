"""The boundary of a lattice path that is built vertex by vertex: what must be known of its parts to go on.

A transfer matrix goes through a strip of some rows column by column, and through each column from the lowest row up.
Of the part of a path that has been laid, it keeps the edges that cross the boundary between what has been decided and
what has not. For a column of h rows these are h + 1 places, in their order along the boundary: before the vertex in row
r is decided, places 0 to r - 1 are the edges to the right of the rows below, place r is the edge that comes up from the
row below, and places r + 1 to h are the edges from the left of the rows r and up. A place is *empty*; or one end of an
*arc*, a part of the path of which both ends cross the boundary, the *lower* or the *upper* one; or *free*, the end of a
part whose other end is an end of the path itself. Parts do not cross, so lower and upper ends match like brackets.

A boundary is a number: two bits for each place, a bit each for whether the lowest and the highest row have been
visited, and the number of edges laid so far. (Method: I. G. Enting, J. Phys. A 13, 3713 (1980), for polygons; A. R.
Conway, I. G. Enting and A. J. Guttmann, J. Phys. A 26, 1519 (1993), for walks. Bends can be counted along, because
whether a vertex is a bend is known when it is decided.)
"""

from __future__ import annotations

import numpy as np

from storage.compiler.kernel import kernel

EMPTY, LOWER, UPPER, FREE = 0, 1, 2, 3
MOST_ROWS = 21  # two bits for each of 22 places
LOWEST_VISITED, HIGHEST_VISITED = 1 << 44, 1 << 45
BOTH_VISITED = LOWEST_VISITED | HIGHEST_VISITED
EDGES_SHIFT = 46
ONE_EDGE = 1 << EDGES_SHIFT
PLACES = LOWEST_VISITED - 1
ENDS_OF_A_PATH = 2
MOST_SUCCESSORS = 4
UNREACHABLE = 1 << 20


@kernel(inline="always", counts_references=False)
def what_is_at(boundary, place):
    """What a place is."""
    return (boundary >> (2 * place)) & 3


@kernel(counts_references=False)
def put(boundary, place, what):
    """The boundary with a place changed."""
    return (boundary & ~(np.int64(3) << (2 * place))) | (np.int64(what) << (2 * place))


@kernel(counts_references=False)
def other_end(boundary, place):
    """Place of the other end of the arc that ends at ``place``."""
    towards = 1 if what_is_at(boundary, place) == LOWER else -1
    open_arcs = 0
    while True:
        what = what_is_at(boundary, place)
        if what == LOWER:
            open_arcs += 1
        elif what == UPPER:
            open_arcs -= 1
        if open_arcs == 0:
            return place
        place += towards


@kernel(counts_references=False)
def free_ends(boundary, rows):
    """How many places are free; so many ends of the path have been laid."""
    count = 0
    for place in range(rows + 1):
        count += what_is_at(boundary, place) == FREE
    return count


@kernel(counts_references=False)
def edges_to_come(boundary, rows, row, column):
    """A lower bound of the edges that complete a path as wide as it is high, or wider.

    Parameters
    ----------
    boundary : int64
        After the vertex in row ``row`` and column ``column`` was decided.
    rows, row, column : int64

    Returns
    -------
    int64
        The sum of three numbers. Edges to the right, up to column ``rows - 1``. Upright edges below the lowest and
        above the highest part, to rows that must be visited. And upright edges between those: all ends that cross the
        boundary, but for as many as the path still lacks of its own, must be joined in pairs, and one end is joined
        with another by a part that has an upright edge between any two rows that lie between theirs. Joining
        neighbours costs least.
    """
    # Cheapest ways to join the ends so far, with 0, 1 or 2 of them left out; and the same with one more waiting.
    joined_0, joined_1, joined_2 = 0, UNREACHABLE, UNREACHABLE
    waiting_0 = waiting_1 = waiting_2 = UNREACHABLE
    lowest = -1
    highest = 0
    free = 0
    for place in range(rows + 1):
        what = what_is_at(boundary, place)
        if what == EMPTY:
            continue
        at_row = place if place <= row + 1 else place - 1
        gap = at_row - highest if lowest >= 0 else 0
        if lowest < 0:
            lowest = at_row
        highest = at_row
        free += what == FREE
        waiting_0, waiting_1, waiting_2 = waiting_0 + gap, waiting_1 + gap, waiting_2 + gap
        joined_0, joined_1, joined_2, waiting_0, waiting_1, waiting_2 = (
            waiting_0,
            min(waiting_1, joined_0),
            min(waiting_2, joined_1),
            joined_0,
            min(joined_1, waiting_0),
            min(joined_2, waiting_1),
        )
    if lowest < 0:
        return 0
    edges = joined_0
    if free <= 1:
        edges = min(edges, joined_1)
    if free == 0:
        edges = min(edges, joined_2)
    if not boundary & LOWEST_VISITED:
        edges += lowest
    if not boundary & HIGHEST_VISITED:
        edges += rows - 1 - highest
    return edges + max(0, rows - 2 - column)


@kernel(counts_references=False)
def _is_last(boundary, row):
    """Whether nothing crosses the boundary but what meets at the vertex, and all rows have been visited."""
    return boundary & PLACES & ~(np.int64(15) << (2 * row)) == 0 and boundary & BOTH_VISITED == BOTH_VISITED


@kernel(counts_references=False)
def successors(boundary, rows, row, after, bent):
    """All ways to decide the next vertex.

    Parameters
    ----------
    boundary : int64
    rows, row : int64
        Of the strip; of the vertex.
    after : ndarray of int64, shape (4,)
        Receives the boundaries after it.
    bent : ndarray of uint8, shape (4,)
        Receives whether the vertex is a bend.

    Returns
    -------
    count : int64
        How many they are.
    completed : int64
        0, or if this vertex can complete the path, 1 if it is no bend then and 2 if it is one.
    """
    below, left = what_is_at(boundary, row), what_is_at(boundary, row + 1)
    rest = put(put(boundary, row, EMPTY), row + 1, EMPTY)
    visited = rest
    if row == 0:
        visited |= LOWEST_VISITED
    if row == rows - 1:
        visited |= HIGHEST_VISITED
    to_the_right, up = row, row + 1
    can_rise = row < rows - 1
    count = 0
    completed = 0
    if below == EMPTY and left == EMPTY:
        after[0], bent[0] = rest, 0  # not visited
        count = 1
        if free_ends(boundary, rows) < ENDS_OF_A_PATH:
            after[count], bent[count] = put(visited, to_the_right, FREE) + ONE_EDGE, 0
            count += 1
            if can_rise:
                after[count], bent[count] = put(visited, up, FREE) + ONE_EDGE, 0
                count += 1
        if can_rise:
            after[count], bent[count] = put(put(visited, to_the_right, LOWER), up, UPPER) + 2 * ONE_EDGE, 1
            count += 1
    elif below == EMPTY or left == EMPTY:
        what, place = (below, row) if left == EMPTY else (left, row + 1)
        after[0], bent[0] = put(visited, to_the_right, what) + ONE_EDGE, left == EMPTY
        count = 1
        if can_rise:
            after[1], bent[1] = put(visited, up, what) + ONE_EDGE, below == EMPTY
            count = 2
        # It may end here.
        if what == FREE:
            completed = 1 if _is_last(visited, row) else 0
        elif free_ends(boundary, rows) < ENDS_OF_A_PATH:
            after[count], bent[count] = put(visited, other_end(boundary, place), FREE), 0
            count += 1
    elif below == FREE and left == FREE:
        completed = 2 if _is_last(visited, row) else 0
    elif not (below == LOWER and left == UPPER):  # these are neighbours, so one arc, which would close
        # Two parts become one, and so do their other ends' roles.
        bent[0] = 1
        count = 1
        if below == FREE:
            after[0] = put(visited, other_end(boundary, row + 1), FREE)
        elif left == FREE:
            after[0] = put(visited, other_end(boundary, row), FREE)
        elif below == UPPER and left == LOWER:
            after[0] = visited
        elif below == LOWER:
            after[0] = put(visited, other_end(boundary, row + 1), LOWER)
        else:
            after[0] = put(visited, other_end(boundary, row), UPPER)
    return count, completed


@kernel(counts_references=False)
def decide_vertex(boundaries, rows, row, column, most, after, sources, bent, completing, room):
    """All boundaries after the next vertex, from which ``most`` edges may suffice.

    ``sources`` tells from which of ``boundaries`` each comes, ``completing`` gets 0, 1 or 2 for each of those as
    :func:`~pipeline.census.boundary.successors` says.
    """
    ways, way_bent = room
    found = 0
    for number in range(boundaries.size):
        count, completing[number] = successors(boundaries[number], rows, row, ways, way_bent)
        for way in range(count):
            if (ways[way] >> EDGES_SHIFT) + edges_to_come(ways[way], rows, row, column) <= most:
                after[found] = ways[way]
                sources[found] = number
                bent[found] = way_bent[way]
                found += 1
    return found


@kernel(counts_references=False)
def add_up(order, after, sources, bent, before, merged, counts):
    """Join equal boundaries: the rows of ``before`` that lead to each are added up, moved by one where bent."""
    row = -1
    size = counts.shape[1]
    for place in order:
        if row < 0 or merged[row] != after[place]:
            row += 1
            merged[row] = after[place]
            for bends in range(size):
                counts[row, bends] = 0
        source = sources[place]
        shift = np.int64(bent[place])
        for bends in range(shift, size):
            counts[row, bends] += before[source, bends - shift]
