"""`%%reply` and `%%prompt`: a notebook's cell as a model's reply, or as messages to a model."""

from __future__ import annotations

import inspect
import json
import re
from argparse import Namespace
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, TypeVar

import yaml
from IPython.core.error import UsageError
from IPython.core.magic_arguments import MagicArgumentParser

from playground.base.errors import InputFault, PlaygroundError
from playground.dialects.reading import parse
from playground.questions.comparison import compare
from playground.sessions.in_memory import session as session_of
from playground.sessions.session import Session

if TYPE_CHECKING:
    from collections.abc import Iterator

    from IPython.core.interactiveshell import InteractiveShell

    from playground.parsing.result import ParseResult
    from playground.questions.comparison import Comparison

_Answer = TypeVar("_Answer")
# The beginning of a list of messages, or of a request's body, in JSON or YAML.
_MESSAGES: Final = re.compile(r'\s*(?:\[\s*\{|\{\s*"|-\s+(?:role\s*:|\{))')


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Add the cell magics to a shell; `%load_ext playground` calls this."""
    magics = _Magics(shell.user_ns)
    manager = shell.magics_manager
    manager.register_function(_with_help(magics.reply), "line_cell", "reply")
    manager.register_function(_with_help(magics.prompt), "line_cell", "prompt")


def _with_help(magic: Callable[[str, str], _Answer]) -> Callable[..., _Answer | None]:
    """Return the magic with an option --help, which prints its docstring and reads no cell.

    A line magic (`%reply`) prints the docstring, too: IPython suggests one if the cell is empty.
    """

    @wraps(magic)
    def called(line: str, cell: str | None = None) -> _Answer | None:
        words = line.split()
        if cell is not None and {"-h", "--help"}.isdisjoint([*words[:1], *words[-1:]]):
            return magic(line, cell)
        print(inspect.getdoc(magic))
        return None

    return called


class _Magics:
    """The cell magics of one notebook; `variables` are those of the notebook."""

    def __init__(self, variables: dict[str, Any]) -> None:
        self._variables = variables

    def reply(self, line: str, cell: str) -> ParseResult:
        """Read the cell's text as a model's reply, and show its content, calls and findings.

        %%reply DIALECT [--tools NAME] [--session NAME] [--prefill TEXT] [--server NAME]
                [--into NAME]

        --tools     a variable: a list of tools in any form, or a session
        --session   a variable: a session, for its tools
        --prefill   the end of the prompt, if the prompt began the reply (`<think>`)
        --server    read as this server does: `vllm`, or `vllm:hermes`
        --into      a variable for the result, which is in `_`, too
        """
        options = _options(_REPLY, "reply", line)
        with _one_line("reply"):
            tools = self._tools(options)
            result = parse(
                _text(cell), options.dialect, tools, options.prefill, server=options.server
            )
        return self._put(options, result)

    def prompt(self, line: str, cell: str) -> Comparison:
        """Show the cell as dialects send it: a text of the user, or messages in JSON or YAML.

        %%prompt DIALECT… [--tools NAME] [--session NAME] [--into NAME]

        --tools     a variable: a list of tools in any form, or a session
        --session   a variable: a session, to which the cell's messages are added
        --into      a variable for the result, which is in `_`, too
        """
        options = _options(_PROMPT, "prompt", line)
        with _one_line("prompt"):
            added = session_of(_messages(_text(cell)), self._tools(options))
            if options.session:
                earlier = self._session(options.session)
                messages = (*earlier.messages, *added.messages)
                added = replace(earlier, messages=messages, tools=added.tools)
            result = compare(added, options.dialect)
        return self._put(options, result)

    def _tools(self, options: Namespace) -> Sequence[Any]:
        """Return the tools of `--tools`, or else those of `--session`."""
        if not options.tools:
            return self._session(options.session).tools if options.session else ()
        value = self._variable(options.tools)
        if isinstance(value, Session):
            return value.tools
        return value if isinstance(value, list | tuple) else [value]

    def _session(self, name: str) -> Session:
        value = self._variable(name)
        if not isinstance(value, Session):
            kind = type(value).__name__
            raise InputFault(f"variable {name!r} has type {kind}", expected="a session")
        return value

    def _variable(self, name: str) -> Any:
        if name not in self._variables:
            raise InputFault(f"there is no variable {name!r}", expected="a name of the notebook's")
        return self._variables[name]

    def _put(self, options: Namespace, result: _Answer) -> _Answer:
        if options.into:
            self._variables[options.into] = result
        return result


def _parser(nargs: str | None) -> MagicArgumentParser:
    parser = MagicArgumentParser()
    parser.add_argument("dialect", nargs=nargs)
    for name in ("--tools", "--session", "--into"):
        parser.add_argument(name, default="")
    return parser


_PROMPT: Final = _parser("+")
_REPLY: Final = _parser(None)
_REPLY.add_argument("--prefill", default="")
_REPLY.add_argument("--server", default="")


def _options(parser: MagicArgumentParser, magic: str, line: str) -> Namespace:
    """Return the options in a magic's line. Raises UsageError if the line cannot be read."""
    try:
        options: Namespace = parser.parse_argstring(line)
    except (UsageError, ValueError) as error:  # ValueError if a quotation mark is missing
        raise UsageError(f"%%{magic}: {error}; %%{magic}? lists its options") from None
    if options.into and not options.into.isidentifier():
        raise UsageError(f"%%{magic}: --into takes a variable's name, not {options.into!r}")
    return options


@contextmanager
def _one_line(magic: str) -> Iterator[None]:
    """Turn a user's mistake into an error that IPython shows in one line, without a traceback."""
    try:
        yield
    except PlaygroundError as error:
        raise UsageError(" ".join(f"%%{magic}: {error}".split())) from error


def _text(cell: str) -> str:
    """Return the cell without the line end that IPython adds."""
    return cell.removesuffix("\n")


def _messages(text: str) -> Any:
    if not _MESSAGES.match(text):
        return text
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        problem = f"no JSON or YAML ({getattr(error, 'problem', '') or 'nested too deeply'})"
        raise InputFault(
            problem, where="cell", line=mark.line + 1 if mark else None, expected="messages"
        ) from error
