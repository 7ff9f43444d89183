"""Commands that experiment on a recording, or export it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from playground.base.errors import InputFault
from playground.cli.command import command
from playground.cli.shared import (
    PRINTED,
    csv_option,
    force_option,
    json_option,
    load_streamed,
    out_option,
    strict_option,
    tools_option,
)
from playground.cli.terminal import (
    CSV,
    emit,
    failed,
    guarded,
    is_set,
    print_json,
    say,
    show_rows,
    tell_starred_secrets,
)

if TYPE_CHECKING:
    from playground.questions.experiments import EventChange
    from playground.recordings.recording import Recording
    from playground.recordings.recutting import Cutting
    from playground.sessions.session import Session


def _session_and_recording(
    file: str, name: str, dialect: str, tools_file: str
) -> tuple[Session, Recording]:
    session = load_streamed(file, dialect, tools_file).session
    return session, session.recording(name) if name else session.recordings[0]


_name_option = click.option("--name", default="", help="A recording's name. Default: the first.")
_dialect_option = click.option("-d", "--dialect", default="", help="Default: the recording's own.")


@command("experiment 02-parallel-calls --find-cut", "experiment answer.jsonl --break-off 3")
@click.argument("recording")
@_dialect_option
@_name_option
@tools_option
@click.option(
    "--cut", type=click.Choice(["1", "7", "random"]), help="Cut into pieces of this many bytes."
)
@click.option("--seed", default=0, help="For --cut random and --corrupt.")
@click.option("--break-off", type=int, help="Keep this many chunks.")
@click.option("--lose", type=int, help="Leave out this chunk, counted from 1.")
@click.option("--corrupt", type=int, help="Flip a bit in this chunk, counted from 1.")
@click.option("--find-cut", is_flag=True, help="Look for cuts that change any event.")
@click.option("--every-dialect", is_flag=True, help="Read the reply in every dialect.")
@strict_option
@csv_option
@json_option
@guarded
def experiment(
    recording: str,
    dialect: str,
    name: str,
    tools_file: str,
    cut: str | None,
    seed: int,
    break_off: int | None,
    lose: int | None,
    corrupt: int | None,
    find_cut: bool,
    every_dialect: bool,
    as_json: bool,
) -> int:
    """Change RECORDING in one way and show which events differ; with --strict, fail if one does."""
    from playground.dialects import dialect_names
    from playground.questions import experiments
    from playground.recordings import recutting

    session, chosen = _session_and_recording(recording, name, dialect, tools_file)
    options = {
        "--cut": cut,
        "--break-off": break_off,
        "--lose": lose,
        "--corrupt": corrupt,
        "--find-cut": find_cut or None,
        "--every-dialect": every_dialect or None,
    }
    kinds = [option for option, value in options.items() if value is not None]
    if len(kinds) != 1:
        raise InputFault("one experiment at a time", expected=f"one of {', '.join(options)}")
    own_dialect = dialect or chosen.dialect or dialect_names()[0]  # any dialect, if it is unknown
    # --find-cut and --every-dialect search or compare; all others change the recording and read it
    # a second time.
    if find_cut:
        return _find_cut(session, chosen, own_dialect, as_json)
    if every_dialect:
        return _every_dialect(session, chosen, own_dialect, as_json)
    if cut is not None:
        changed = recutting.recut(chosen, _SIZES[cut], seed)
    elif break_off is not None:
        changed = recutting.break_off(chosen, break_off)
    elif lose is not None:
        changed = recutting.drop_chunk(chosen, _index(lose, chosen))
    else:
        changed = recutting.corrupt_chunk(chosen, _index(corrupt, chosen), seed)
    before = experiments.read_recording(chosen, own_dialect, session.tools).events
    after = experiments.read_recording(changed, own_dialect, session.tools).events
    # Only --cut leaves every text at its offsets; after other changes, spans are not compared.
    return _print_changes(experiments.difference(before, after, spans=cut is not None), as_json)


# The value of --cut -> the name of the cutting.
_SIZES: Final[dict[str, Cutting]] = {"1": "1 byte", "7": "7 bytes", "random": "random"}


def _index(number: int | None, recording: Recording) -> int:
    """Return a chunk's index by its number from 1. Raises InputFault if there is no such chunk."""
    count = len(recording.chunks)
    if number is None or not 1 <= number <= count:
        raise InputFault(f"there is no chunk {number}", expected=f"1 to {count}")
    return number - 1


def _find_cut(session: Session, recording: Recording, dialect: str, as_json: bool) -> int:
    from playground.questions.experiments import find_changing_cut

    search = find_changing_cut(recording, dialect, session.tools)
    if not as_json:
        outcome = search.cutting or "none changes any event"
        say(f"{search.tried:,} cuttings of {search.of:,} tried: {outcome}")
    return _print_changes(search.changes, as_json)


def _print_changes(changes: tuple[EventChange, ...] | list[EventChange], as_json: bool) -> int:
    from playground.show import rows

    listed = rows.changes(changes)
    if as_json:
        print_json(listed.dicts())
    elif listed.cells or is_set(CSV):
        show_rows(listed)
    else:
        say("no event differs")
    return failed(bool(listed.cells))


def _every_dialect(session: Session, recording: Recording, dialect: str, as_json: bool) -> int:
    from dataclasses import asdict

    from playground.questions.experiments import cross_read
    from playground.show import rows

    readings = cross_read(recording, session.tools, dialect)
    if as_json:
        pairs = zip(readings, rows.cross_readings(readings).dicts(), strict=True)
        print_json([{**row, **asdict(reading)} for reading, row in pairs])
        return 0
    shown = ("dialect", "calls", "same_calls", "aborted_calls", "text_characters", "findings")
    show_rows(rows.cross_readings(readings), *shown)
    return 0


@command("export 02-parallel-calls --to pytest", "export answer.jsonl --to html -o replay.html")
@click.argument("recording")
@click.option("--to", type=click.Choice(["pytest", "html", "json"]), required=True)
@out_option(PRINTED)
@force_option
@_dialect_option
@_name_option
@tools_option
@guarded
def export(
    recording: str, to: str, out: str, force: bool, dialect: str, name: str, tools_file: str
) -> int:
    """Write RECORDING's replay as a test that passes, as one HTML file, or as JSON.

    RECORDING is what `replay` takes. You may pass the result on: keys and tokens are starred out,
    and counted. To write a session as ATIF, use `import --to atif`.
    """
    from playground.questions.timeline import replay
    from playground.sessions.entries import without_secrets
    from playground.show import exports

    session, original = _session_and_recording(recording, name, dialect, tools_file)
    chosen, tools, secret_counts = without_secrets(original, session.tools)
    timeline = replay(chosen, dialect or chosen.dialect, tools)
    if to == "pytest":
        text = exports.pytest_file(chosen, timeline, tools)
    else:
        text = timeline.html() if to == "html" else exports.replay_json(timeline)
    emit(text, out, inputs=[recording], force=force)
    tell_starred_secrets(secret_counts)
    return 0
