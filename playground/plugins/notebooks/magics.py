"""`%%reply` and `%%prompt`: a notebook's cell as a model's reply, or as messages to a model."""

from __future__ import annotations

import json
import re
from argparse import Namespace
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import yaml
from IPython.core.error import UsageError
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

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

# The beginning of a list of messages, or of a request's body, in JSON or YAML.
_MESSAGES: Final = re.compile(r'\s*(?:\[\s*\{|\{\s*"|-\s+(?:role\s*:|\{))')


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Add the cell magics to a shell; `%load_ext playground` calls this."""
    for magic in (_reply_magic(shell.user_ns), _prompt_magic(shell.user_ns)):
        shell.register_magic_function(magic, "cell", magic.__name__)


def _reply_magic(variables: dict[str, Any]) -> Callable[[str, str], ParseResult]:
    @magic_arguments()
    @argument("dialect", help="The dialect in which the model wrote.")
    @argument("--tools", default="", help="A variable: a list of tools, or a session.")
    @argument("--session", default="", help="A variable: a session, for its tools.")
    @argument("--prefill", default="", help="The end of the prompt, if it began the reply.")
    @argument("--server", default="", help="Read as this server does, such as `vllm`.")
    @argument("--into", default="", help="A variable for the result; it is in `_`, too.")
    def reply(line: str, cell: str) -> ParseResult:
        """Read the cell's text as a model's reply, and show its content, calls and findings."""
        options = parse_argstring(reply, line)
        with _one_line("reply"):
            result = parse(
                _text(cell),
                options.dialect,
                _tools(variables, options),
                options.prefill,
                server=options.server,
            )
        return _put(variables, options, result)

    return reply


def _prompt_magic(variables: dict[str, Any]) -> Callable[[str, str], Comparison]:
    @magic_arguments()
    @argument("dialect", nargs="+", help="The dialects to write in.")
    @argument("--tools", default="", help="A variable: a list of tools, or a session.")
    @argument("--session", default="", help="A variable: a session, to which the cell is added.")
    @argument("--into", default="", help="A variable for the result; it is in `_`, too.")
    def prompt(line: str, cell: str) -> Comparison:
        """Show the cell as a dialect sends it: a text of the user, or messages in JSON or YAML."""
        options = parse_argstring(prompt, line)
        with _one_line("prompt"):
            added = session_of(_messages(_text(cell)), _tools(variables, options))
            if options.session:
                earlier = _session(variables, options.session)
                messages = (*earlier.messages, *added.messages)
                added = replace(earlier, messages=messages, tools=added.tools or earlier.tools)
            result = compare(added, options.dialect)
        return _put(variables, options, result)

    return prompt


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


def _tools(variables: dict[str, Any], options: Namespace) -> Sequence[Any]:
    """Return the tools of `--tools`, or else those of `--session`."""
    if not options.tools:
        return _session(variables, options.session).tools if options.session else ()
    value = _variable(variables, options.tools)
    if isinstance(value, Session):
        return value.tools
    return value if isinstance(value, list | tuple) else [value]


def _session(variables: dict[str, Any], name: str) -> Session:
    value = _variable(variables, name)
    if not isinstance(value, Session):
        kind = type(value).__name__
        raise InputFault(f"variable {name!r} has type {kind}", expected="a session")
    return value


def _variable(variables: dict[str, Any], name: str) -> Any:
    if name not in variables:
        raise InputFault(f"there is no variable {name!r}", expected="a name of the notebook's")
    return variables[name]


def _put(variables: dict[str, Any], options: Namespace, result: Any) -> Any:
    if options.into:
        if not options.into.isidentifier():
            raise UsageError(f"--into takes a variable's name, not {options.into!r}")
        variables[options.into] = result
    return result
