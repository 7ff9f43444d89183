"""Commands and groups of the command line: examples, defaults, value names, completion, hints.

For each option and argument, a table has the name of its value and the shell's completion, so that
all commands explain the same option in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    _TextType = click.ParamType[str]
else:
    _TextType = click.ParamType


class Named(_TextType):
    """The type of an option whose value is a text. Help pages call the value `name`, as in DIALECT;
    a shell completes it from `values`, and with `files` from the names of files, too."""

    def __init__(
        self, name: str, values: Callable[[], Iterable[str]] = tuple, files: bool = False
    ) -> None:
        self.name = name
        self.values = values
        self.files = files

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return str(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        names = [CompletionItem(name) for name in self.values() if name.startswith(incomplete)]
        # Files come first: click's script for bash drops all names before a file.
        return [CompletionItem(incomplete, type="file"), *names] if self.files else names


def _dialects() -> Iterable[str]:
    from playground.dialects import dialect_names

    return dialect_names()


def _sessions() -> Iterable[str]:
    """Return the samples, and the workspace's sessions as `workspace:NAME`."""
    from playground.base import paths

    return [*paths.samples(), *(f"{paths.WORKSPACE}{name}" for name in _workspace())]


def _workspace() -> Iterable[str]:
    from playground.sessions.workspaces import on_disk

    return on_disk().names()


def _policies() -> Iterable[str]:
    from playground.dialects.marks.policies import POLICIES

    return POLICIES


def _providers() -> Iterable[str]:
    from playground.cache.rules import rule_sets

    return rule_sets()


def _servers() -> Iterable[str]:
    from playground.servers import server_names

    return server_names()


DIALECT: Final = Named("dialect", _dialects)
DIALECT_OR_FILE: Final = Named("dialect|file", _dialects, files=True)
FILE: Final = Named("file", files=True)
FOLDER: Final = Named("folder", files=True)
SESSION: Final = Named("session", _sessions, files=True)
WORKSPACE_NAME: Final = Named("name", _workspace)
NAME: Final = Named("name")
_SECONDS: Final = Named("seconds")
_NUMBER: Final = Named("n")
_JSON: Final = Named("json|@file")

# Option or argument -> the name of its value in help pages, and its completion.
_VALUES: Final[dict[str, Named]] = {
    "--address": Named("address"),
    "--against": SESSION,
    "--allow-host": Named("host"),
    "--analysis": Named("version"),
    "--answers": _JSON,
    "--api": Named("api"),
    "--base": Named("commit"),
    "--base-url": Named("url"),
    "--break-off": _NUMBER,
    "--by": Named("columns"),
    "--choice": Named("choice"),
    "--completion": FILE,
    "--corrupt": _NUMBER,
    "--defaults": _JSON,
    "--demos": Named("json|file", files=True),
    "--dialect": DIALECT,
    "--engine": Named("engine", lambda: ("serial", "pool", "ray")),
    "--environment": Named("place", lambda: ("none", "after", "persisted", "inside")),
    "--examples": _NUMBER,
    "--format": Named("format"),
    "--functions": _JSON,
    "--history": _JSON,
    "--host": Named("host"),
    "--input": _JSON,
    "--instructions": Named("text"),
    "--keep": _NUMBER,
    "--ledger": Named("json"),
    "--limit": _NUMBER,
    "--lose": _NUMBER,
    "--max-cost-multiple": Named("multiple"),
    "--model": Named("model"),
    "--most-tokens-more": Named("tokens"),
    "--name": NAME,
    "--out": FILE,
    "--parallel": _NUMBER,
    "--parameter": Named("key=value"),
    "--policy": Named("policy", _policies),
    "--policy-file": FILE,
    "--port": Named("port"),
    "--provider": Named("provider", _providers),
    "--repeats": _NUMBER,
    "--replay": SESSION,
    "--report": Named("server", _servers),
    "--report-to": FILE,
    "--request": _NUMBER,
    "--root": FOLDER,
    "--rules": Named("file|folder", files=True),
    "--seconds": _SECONDS,
    "--seconds-apart": _SECONDS,
    "--seed": _NUMBER,
    "--server": Named("server", _servers),
    "--session": SESSION,
    "--since": Named("time"),
    "--sql": Named("sql"),
    "--stall": _SECONDS,
    "--summary": Named("tokens"),
    "--target": Named("target"),
    "--template": FILE,
    "--timeout": _SECONDS,
    "--tokenizer": Named("file|name", files=True),
    "--tools": FILE,
    "--ttl": Named("lifetime", lambda: ("5m", "1h")),
    "--until": Named("time"),
    "--upstream": Named("url"),
    "--validate": FOLDER,
    "--values": _JSON,
    "--where": Named("column=value"),
    "--workers": _NUMBER,
    "after": SESSION,
    "before": SESSION,
    "file": FILE,
    "files": FILE,
    "folder": FOLDER,
    "inputs": FILE,
    "out": FOLDER,
    "recording": SESSION,
    "session": SESSION,
    "templates": FILE,
}


class Command(click.Command):
    """A command whose help ends with examples. Each is given without the word `playground`."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = tuple(examples)
        for parameter in self.params:
            _name_value(parameter)
            # Defaults such as "" and 0 are not shown: the option's help says what they mean.
            if isinstance(parameter, click.Option) and not parameter.is_flag:
                has_default = isinstance(parameter.default, str | int | float)
                parameter.show_default = has_default and bool(parameter.default)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.examples:
            with formatter.section("Examples"):
                for example in self.examples:
                    indent = " " * formatter.current_indent
                    formatter.write(f"{indent}playground {example}\n")  # not folded, for copying
        super().format_epilog(ctx, formatter)


def _name_value(parameter: click.Parameter) -> None:
    """Set the name of a parameter's value for help pages. If the parameter has no type of its own,
    also set its completion."""
    key = max(parameter.opts, key=len)
    value = _VALUES.get(key)
    if value is None:
        return
    if isinstance(parameter.type, click.types.StringParamType):
        parameter.type = value
    elif isinstance(parameter, click.Option) and not parameter.is_flag:
        parameter.metavar = parameter.metavar or value.name.upper()


class CommandGroup(click.Group):
    """A group that suggests similar commands for an unknown one."""

    command_class = Command
    group_class = type

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        is_option = name.startswith("-")
        if self.get_command(ctx, name) is None and not is_option and not ctx.resilient_parsing:
            raise click.UsageError(no_command(name, self.list_commands(ctx)), ctx)
        return super().resolve_command(ctx, args)


def is_similar(name: str, commands: Iterable[str]) -> bool:
    from difflib import get_close_matches

    return bool(get_close_matches(name, list(commands)))


def no_command(name: str, commands: Sequence[str]) -> str:
    """Return the message for a command that does not exist, with similar ones."""
    from difflib import get_close_matches

    similar = get_close_matches(name, commands)
    hint = f"; did you mean {' or '.join(map(repr, similar))}?" if similar else "."
    return f"There is no command {name!r}{hint}"


def command(
    *examples: str, name: str | None = None, **attributes: Any
) -> Callable[[Callable[..., Any]], click.Command]:
    """Return a decorator that makes a command with these examples."""
    return click.command(name, cls=Command, examples=examples, **attributes)
