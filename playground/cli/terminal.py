"""Print for the command line, and set its exit status: 0 fine, 1 findings, 2 bad input."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TextIO

import click

from playground.base.fixes import with_fix
from playground.base.wording import INVISIBLE, hidden_in, isolate_runs, keep_order, visible

if TYPE_CHECKING:
    from playground.base.findings import Finding
    from playground.nouns.events import Event

GRACE = 5.0  # seconds that a stop may take
WHOLE = {"format"}  # names to be copied: never folded
NUMERIC = {  # heads of columns of numbers, which stand on the right
    "messages",
    "characters",
    "tokens_estimate",
    "message",
    "part",
    "marks",
    "carried",
    "of",
    "calls",
}
_NUMBER = re.compile(r"[-~$]?[\d.,]*(?: ?%)?")  # or nothing
_IN_JSON = rf"[\x7f-\x9f{INVISIBLE}]"  # JSON has escaped the others
REPORT = "this is a bug of ours: please report it with what `playground --debug …` prints"
_EXACT = "`> FILE` or a pipe gets the exact text"
_HALVES = "surrogatepass"  # of pairs: no other way of writing them as UTF-8 loses nothing
_MOST_NAMED = 5
_NOTED = "playground.noted"  # in the meta of click's context
INTERRUPTED = 130  # as shells have it: 128 and the number of SIGINT


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[int, int], None] | None]:
    """Return a callback that moves a bar on a terminal by how much is done; None if nobody
    looks.
    """
    if not sys.stderr.isatty():
        yield None
        return
    with click.progressbar(length=1, label=label, file=sys.stderr) as bar:

        def moved(done: int, size: int) -> None:
            bar.length = size
            bar.update(done - bar.pos)

        yield moved


def guarded(command: Callable[..., int]) -> Callable[..., NoReturn]:
    """Run a command: its return value is the exit status, our own errors are one line."""

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> NoReturn:
        from playground.base.errors import PlaygroundError
        from playground.base.waits import telling_waits

        if sys.stdout is None:  # `>&-`: whatever is printed would be lost without a word
            say("playground: standard output is closed", err=True)
            sys.exit(2)
        try:
            with telling_waits(lambda text: say(f"playground: {text}", err=True)):
                status = command(*args, **kwargs)
        except PlaygroundError as error:
            say(f"playground: {error}", err=True)
            status = 2
        except KeyboardInterrupt:
            say("playground: stopped", err=True)
            status = INTERRUPTED
        except BrokenPipeError:  # the reader, `head` say, has seen enough
            sys.stdout = None
            status = 0
        except OSError as error:  # a full disk, a folder that may not be read
            say(f"playground: {error.filename or 'output'}: {error.strerror or error}", err=True)
            status = 2
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise  # click has words and an exit status of its own for these
        except Exception as error:
            if _debugging():
                raise
            say(f"playground: {type(error).__name__}: {error}; {REPORT}", err=True)
            status = 2
        sys.exit(status)

    return run


@dataclass
class Stop:
    """The signal that asked the program to end: its number, None so far."""

    event: threading.Event
    number: int | None = None


@contextmanager
def stopping() -> Iterator[Stop]:
    """Within this, Ctrl-C, SIGTERM and SIGHUP set the event instead of ending the program.

    A second one ends it as ever, and comes by itself where the first has not done so within
    GRACE seconds: a library that loads, a name that is looked up or a connection that is not
    taken see no event. Nothing is raised in the middle of a step that must be whole. A fault of
    what was stopped exits with the signal's status.
    """
    from playground.base.errors import InputFault

    stop = Stop(threading.Event())
    second: list[threading.Timer] = []
    signals = [s for name in ("SIGINT", "SIGTERM", "SIGHUP") if (s := getattr(signal, name, None))]

    def asked(number: int, _frame: object) -> None:
        stop.number = number
        stop.event.set()
        signal.signal(number, before[number])  # who asks twice does not want to wait
        timer = threading.Timer(GRACE, os.kill, (os.getpid(), number))
        timer.daemon = True
        timer.start()
        second.append(timer)

    ignored = (signal.SIG_IGN, None)  # under `nohup`, or set by somebody that is not Python
    heard = [number for number in signals if signal.getsignal(number) not in ignored]
    before = {number: signal.signal(number, asked) for number in heard}
    try:
        yield stop
    except InputFault as fault:
        if stop.number is None:
            raise
        say(f"playground: stopped ({fault.problem})", err=True)
        sys.exit(128 + stop.number)
    finally:
        for timer in second:
            timer.cancel()
        for number, handler in before.items():
            signal.signal(number, handler)


def _debugging() -> bool:
    """Return True if `playground --debug` was asked for: then our own faults show where they
    are.
    """
    context = click.get_current_context(silent=True)
    return bool(context and context.find_root().params.get("debug"))


def say(text: str, err: bool = False, nl: bool = True) -> None:
    """A line for the user. What a file holds is shown, never obeyed, and no encoding fails."""
    stream = sys.stderr if err else sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    shown = keep_order(text) if _is_terminal(stream) else visible(text)
    click.echo(_encodable(shown, encoding), err=err, nl=nl)


def tell_starred(counts: Mapping[str, int]) -> None:
    """Say how many secrets of which kind were starred out of what was stored."""
    from playground.recordings.scrubbing import starred_out

    say(starred_out(counts), err=True)


def _is_terminal(stream: TextIO | None) -> bool:
    """Return True if a terminal shows the stream, and letters that are written leftward in it."""
    return stream is not None and stream.isatty() and stream.encoding.lower().startswith("utf")


def _encodable(text: str, encoding: str = "") -> str:
    """Return the text as the encoding can hold it: what it has not is escaped, never an error."""
    encoding = encoding or sys.stdout.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def emit(text: str, out: str = "", *, inputs: Iterable[str] = (), force: bool = False) -> None:
    """Print content that people pipe on, or write it to the file `out`.

    A file and a pipe get the exact characters as UTF-8, with nothing added; half of a surrogate
    pair is written as its three bytes. A terminal gets control and invisible characters escaped,
    and a line on stderr says so, once for each command. Raises InputFault.
    """
    if out:
        from playground.base.output import write_file

        write_file(out, text, inputs=inputs, force=force, errors=_HALVES)
        say(f"written: {out}", err=True)
    elif not sys.stdout.isatty():
        click.echo(text.encode("utf-8", _HALVES), nl=False)  # bytes: no line end is translated
    else:
        click.echo(_encodable(visible(text)), nl=not text.endswith("\n"))
        if escaped := hidden_in(text):
            _note_once(f"escaped for the terminal: {_some(escaped)}; {_EXACT}")
        return
    if halves := re.findall("[\ud800-\udfff]", text):
        from playground.base.wording import counted

        size = counted(len(halves), "lone surrogate")
        _note_once(f"written as three bytes each: {size}; strict readers of UTF-8 refuse them")


def _some(escaped: Sequence[str]) -> str:
    """The escapes of these characters, each once, and how many there are."""
    from playground.base.wording import counted

    named = list(dict.fromkeys(map(visible, escaped)))
    more = " …" if len(named) > _MOST_NAMED else ""
    count = counted(len(escaped), "character")
    return f"{count} ({' '.join(named[:_MOST_NAMED])}{more})"


def _note_once(note: str) -> None:
    """Say what happened to the content, unless this command has said so of an earlier part."""
    context = click.get_current_context(silent=True)
    meta = context.meta if context else {}
    if not meta.get(_NOTED):
        say(f"playground: {note}", err=True)
    meta[_NOTED] = True


def report(findings: Sequence[Finding]) -> int:
    """Findings as lines on stderr; 1 when one of them is more than information."""
    for finding in findings:
        line = f"{finding.severity} {finding.code} ({finding.where}): {with_fix(finding)}"
        say(line, err=True)
    return int(any(finding.severity != "info" for finding in findings))


def report_briefly(findings: Sequence[Finding]) -> int:
    """Report one line for each kind; status 1 only for an error: not all was understood."""
    alike: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        alike.setdefault((finding.severity, finding.code), []).append(finding)
    for (severity, code), found in alike.items():
        more = f", and {len(found) - 1} more" if len(found) > 1 else ""
        say(f"{severity} {code} ({found[0].where}{more}): {with_fix(found[0])}", err=True)
    return int(any(finding.severity == "error" for finding in findings))


def events_table(events: Sequence[Event]) -> None:
    from playground.nouns.events import event_name
    from playground.show.wire import event_text

    rows = [
        [event_name(event), f"{event.span.start}-{event.span.stop}", event_text(event)]
        for event in events
    ]
    table(["event", "span", "text"], rows)


def print_json(value: Any) -> None:
    """One JSON value, whatever is in it: a number that JSON has not is a text ("NaN")."""
    narrow = (sys.stdout.encoding or "utf-8").lower().replace("-", "") != "utf8"
    click.echo(json_text(value, narrow))


def json_text(value: Any, narrow: bool = False, indent: int | None = 2) -> str:
    """Return a value as JSON in which a terminal obeys nothing: it is exact all the same, because
    JSON has escapes of its own. With `narrow`, everything but ASCII is escaped."""
    from playground.base.json_numbers import finite

    text = json.dumps(finite(value), ensure_ascii=narrow, indent=indent, allow_nan=False)
    return re.sub(_IN_JSON, _escaped, text)


def _escaped(found: re.Match[str]) -> str:
    return json.dumps(found[0])[1:-1]


def table(head: list[str], rows: list[list[str]]) -> None:
    """A table as wide as the terminal, and as wide as it is where something else reads it. What is
    to be copied and numbers are never folded."""
    cells = [[visible(cell).expandtabs() for cell in row] for row in (head, *rows)]
    if sys.stdout.isatty():
        _folded_table(cells[0], cells[1:])
        return
    for line in _whole_table(cells[0], cells[1:]):
        click.echo(_encodable(line))


def _folded_table(head: list[str], rows: list[list[str]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=None, pad_edge=False, header_style="bold")
    for name, *cells in zip(head, *rows, strict=True):
        justify: Literal["left", "right"] = "right" if name in NUMERIC else "left"
        whole = name in WHOLE or all(map(_NUMBER.fullmatch, cells))
        shown.add_column(name, justify=justify, overflow="fold", no_wrap=whole)
    for row in rows:
        shown.add_row(*map(Text, row))
    console = Console(highlight=False)
    with console.capture() as lines:
        console.print(shown)
    text = lines.get()  # the cells of a row are one line of a terminal, however they are folded
    click.echo(_encodable(isolate_runs(text) if _is_terminal(sys.stdout) else text), nl=False)


def _whole_table(head: list[str], rows: list[list[str]]) -> Iterator[str]:
    """Yield the lines of a table that nothing folds, without blanks at their ends: else one long
    cell would make every line as long.
    """
    from rich.cells import cell_len

    cells = [[cell.split("\n") for cell in row] for row in (head, *rows)]
    columns = zip(*cells, strict=True)
    widths = [max(cell_len(line) for cell in column for line in cell) for column in columns]
    for row in cells:
        for lines in zip_longest(*row, fillvalue=""):
            parts = []
            for name, line, width in zip(head, lines, widths, strict=True):
                blank = " " * (width - cell_len(line))
                parts.append(blank + line if name in NUMERIC else line + blank)
            yield "  ".join(parts).rstrip()
