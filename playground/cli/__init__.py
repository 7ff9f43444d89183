"""The command line: each command calls a pure function and prints its answer.

The exit status is 0 if the command worked, 1 if a check failed, 2 for bad input.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from typing import Final

import click

from playground.cli import terminal
from playground.cli.command import CommandGroup
from playground.sessions.collector import last_in_process

_OWN_OPTIONS = ("--help", "--version", "--debug")  # the app's command gets all other options
JSON_VERSION: Final = 1  # version of --json's output (docs/command-line.schema.json)
_APP: Final = "app"
# section of the help -> command -> module of `playground.cli`, loaded when the command is used
_SECTIONS: Final = {
    "Prompts": {
        "compare": "prompts",
        "render": "prompts",
        "raw": "prompts",
        "payload": "sending",
        "tokens": "counting",
        "tools": "sending",
        "diff": "comparing",
    },
    "Caching": {"cache": "caching", "check": "caching"},
    "Replies": {
        "replay": "streams",
        "record": "streams",
        "detect": "prompts",
        "experiment": "experiments",
        "export": "experiments",
    },
    "Dialects": {"dialects": "prompts", "carry": "prompts", "grammar": "grammars"},
    "Sessions": {"samples": "prompts", "import": "importing", "workspace": "workspace"},
    "This program": {"completion": "completing"},
}
_MODULES: Final = {name: module for part in _SECTIONS.values() for name, module in part.items()}
_FUNCTIONS: Final = {"import": "import_"}  # command -> its function, if Python reserves the name


class _Commands(CommandGroup):
    """A group that loads a command when it is used. Without a command's name, it starts the app."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        opens_app = not args or (args[0].startswith("--") and args[0] not in _OWN_OPTIONS)
        if opens_app and not ctx.resilient_parsing:  # do not open the app for a shell's completion
            unknown = next((arg for arg in args if _is_unknown(arg)), None)
            if unknown is not None:
                options = [*_OWN_OPTIONS, *_app_options()]
                raise click.NoSuchOption(unknown, possibilities=options, ctx=ctx)
            opening = "playground: opening the app; `playground --help` lists the commands"
            terminal.say(opening, err=True)
            args = [_APP, *args]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        from playground.base.registry import command_names

        own = [*super().list_commands(ctx), *_MODULES, _APP]
        return sorted([*own, *command_names()])

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by section, those of plugins last."""
        sections = {title: list(names) for title, names in _SECTIONS.items()}
        sections["This program"].insert(0, _APP)
        listed = {name for names in sections.values() for name in names}
        sections["Plugins"] = [name for name in self.list_commands(ctx) if name not in listed]
        for title, names in sections.items():
            commands = [(name, self.get_command(ctx, name)) for name in names]
            with formatter.section(title):
                formatter.write_dl(
                    [
                        (name, command.get_short_help_str(limit=200))
                        for name, command in commands
                        if command is not None and not command.hidden
                    ]
                )

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == _APP:
            return _app_command()
        # else pydantic searches all packages for plugins, a tenth of a short command's time
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
        if cmd_name not in _MODULES:
            return super().get_command(ctx, cmd_name) or _plugin_command(cmd_name)
        module = import_module(f"playground.cli.{_MODULES[cmd_name]}")
        command: click.Command = getattr(module, _FUNCTIONS.get(cmd_name, cmd_name))
        return command


def _app_options() -> list[str]:
    return [option for parameter in _app_command().params for option in parameter.opts]


def _is_unknown(argument: str) -> bool:
    """Return True for an option that the app lacks and that has no dot: Streamlit's have one."""
    name = argument.partition("=")[0]
    return name.startswith("--") and "." not in name and name not in ("--", *_app_options())


def _plugin_command(name: str) -> click.Command | None:
    from playground.base import registry  # imported here, because it searches all packages

    plugin_command = registry.command(name)
    command: click.Command | None = registry.load(plugin_command.target) if plugin_command else None
    return command


@cache
def _app_command() -> click.Command:
    """Load the command that starts the app, by its module's name: cli may not import app."""
    command: click.Command = import_module("playground.app.serving.command").app
    assert command.callback is not None
    command.callback = terminal.guarded(command.callback)
    return command


def _runs_until_stopped(name: str | None) -> bool:
    if name is None or name in _MODULES:
        return False
    if name == _APP:
        return True
    from playground.base import registry

    plugin_command = registry.command(name)
    return plugin_command is not None and plugin_command.lasting


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="dialect-playground")
@click.option("--debug", is_flag=True, help="Show the place of a bug in this program.")
@click.pass_context
def main(context: click.Context, debug: bool) -> None:
    """Render a session in every tool-call dialect, see cache marks, replay streams.

    SESSION is a session file (FILE#2: its second session), the name of a sample (see `playground
    samples`), or workspace:NAME for a session of the app (see `playground workspace`).

    Exit status: 0 worked, 1 a check failed (or, with --strict, there was a warning or an error), 2
    bad input. Without a command, the app opens.
    """
    if not _runs_until_stopped(context.invoked_subcommand):
        context.with_resource(last_in_process())
