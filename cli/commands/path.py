"""``pipeline path``: shortest paths to states."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.jobs import open_job
from cli.options import job_argument, json_option, memory_option, notes_options
from cli.states import StateCommand, given_states
from cli.streams import note, print_json
from storage.errors import InvalidInput

if TYPE_CHECKING:
    from pipeline.answers.answer import Answer
    from pipeline.spaces.contract import StateSpace


@click.command("path", cls=StateCommand, short_help="Show shortest paths to states.")
@job_argument
@click.argument("states", metavar="[STATE]...", nargs=-1)
@click.option("--count", is_flag=True, help="Print the number of shortest paths instead of one of them.")
@click.option("--within", type=click.IntRange(min=0), metavar="MOVES", help="Longest path to look for.")
@memory_option("Memory for states beyond the job, such as 2GiB or 50%; half of all unless given.")
@click.option("--workers", type=click.IntRange(min=1), metavar="COUNT", help="Tasks at a time for such states.")
@json_option("Print an object for each state, one a line.")
@notes_options
def command(
    job: str,
    jobs_dir: Path,
    states: tuple[str, ...],
    count: bool,
    within: int | None,
    memory: int | None,
    workers: int | None,
    json: bool,
    verbose: bool,
    quiet: bool,
) -> None:
    """Show a shortest path from the start to each STATE, or to each line of standard input.

    The job says how far a state is. One that is beyond its deepest level is met from both ends: levels are made from
    the state until they touch the job's.

    \b
    pipeline path sliding-3x3 "8 6 7 2 5 4 3 0 1"
    pipeline path snake-12 --count 22101110122
    """
    opened, space = open_job(job, jobs_dir)

    from pipeline.answers.answer import PathFinder
    from pipeline.running.events import Observer
    from pipeline.running.settings import Settings

    class Notes(Observer):
        def message(self, text: str) -> None:
            if not quiet:
                note(text)

    finder = PathFinder(space, opened, Settings(memory=memory, workers=workers), Notes())
    texts = [" ".join(states)] if _is_one_state(space, states) else list(states)
    for place, text in given_states(texts):
        try:
            state = space.parse(text)
            answer = finder.find(state, within, count)
        except InvalidInput as error:
            raise InvalidInput(f"{place}{error.message}", error.remedy) from error
        name = space.format(state)
        if json:
            print_json(_document(space, name, answer, count))
        elif answer is None:
            bound = "" if within is None else f" within {within} moves"
            click.echo(f"{name} cannot be reached{bound}")
        else:
            _print(space, name, answer)


def _is_one_state(space: StateSpace, states: tuple[str, ...]) -> bool:
    """Whether the arguments are the numbers of one state."""
    return len(states) > 1 and all(state.isdigit() for state in states) and _parses(space, " ".join(states))


def _parses(space: StateSpace, text: str) -> bool:
    try:
        space.parse(text)
    except InvalidInput:
        return False
    return True


def _document(space: StateSpace, name: str, answer: Answer | None, count: bool) -> dict[str, Any]:
    document: dict[str, Any] = {"state": name, "length": None if answer is None else answer.length}
    if count:
        document["count"] = 0 if answer is None else answer.count
    elif answer is not None and answer.path is not None:
        document["moves"] = list(answer.path.moves)
        document["states"] = [space.format(state) for state in answer.path.states]
    return document


def _print(space: StateSpace, name: str, answer: Answer) -> None:
    moves = "1 move" if answer.length == 1 else f"{answer.length} moves"
    if answer.count is not None:
        ways = "1 shortest path" if answer.count == 1 else f"{answer.count} shortest paths"
        click.echo(f"{name} is {moves} away, by {ways}")
        return
    click.echo(f"{name} is {moves} away")
    if answer.path is None:
        return
    width = max((len(move) for move in answer.path.moves), default=0)
    for number, state in enumerate(answer.path.states):
        move = answer.path.moves[number - 1] if number else ""
        click.echo(f"{number:4}  {move:{width}}  {space.format(state)}")
