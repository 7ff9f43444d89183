"""The command line: route to one pure function, print, exit 0 / 1 (findings) / 2 (bad input)."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Final

import click

from playground.cli import terminal
from playground.sessions.collector import last_in_process

_OWN = ("--help", "--version", "--debug")  # every other option is streamlit's
_LASTING = ("app", "proxy", "demo-server")  # they run until they are stopped
_MODULES: Final = {  # of `playground.cli`, by command: a command loads its own and no other
    "samples": "prompts",
    "render": "prompts",
    "compaction": "shortening",
    "compare": "prompts",
    "cache": "caching",
    "check": "caching",
    "diff": "comparing",
    "corpus": "corpora",
    "carry": "prompts",
    "detect": "prompts",
    "guide": "prompts",
    "raw": "prompts",
    "payload": "sending",
    "tokens": "counting",
    "tools": "sending",
    "template": "templates",
    "signature": "signatures",
    "replay": "streams",
    "import": "importing",
    "experiment": "experiments",
    "export": "experiments",
    "dialect": "deriving",
    "grammar": "grammars",
    "chat-template": "auditing",
    "trial": "trials",
    "workspace": "workspace",
    "proxy": "watching",
    "record": "streams",
    "demo-server": "streams",
}
_FUNCTIONS: Final = {  # no names in Python
    "import": "import_",
    "demo-server": "demo_server",
    "chat-template": "chat_template",
}


class _Commands(click.Group):
    """Without a command the app starts; its options are streamlit's."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0].startswith("--") and args[0] not in _OWN):
            args = ["app", *args]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *_MODULES])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _MODULES:
            return super().get_command(ctx, cmd_name)
        # pydantic looks through every installed package for plugins: a tenth of a short command
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
        module = import_module(f"playground.cli.{_MODULES[cmd_name]}")
        command: click.Command = getattr(module, _FUNCTIONS.get(cmd_name, cmd_name))
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="dialect-playground")
@click.option("--debug", is_flag=True, help="Show where a fault of ours happened.")
@click.pass_context
def main(context: click.Context, debug: bool) -> None:
    """Render a session in every tool-call dialect, see cache marks, replay streams.

    SESSION is a session file (FILE#2: its second session), the name of a sample (see `playground
    samples`), or workspace:NAME for what the app keeps (see `playground workspace`). Exit status: 0
    fine, 1 findings of severity warning or error, 2 bad input.
    """
    if context.invoked_subcommand not in _LASTING:
        context.with_resource(last_in_process())


@main.command(context_settings={"ignore_unknown_options": True})
@click.option("--public", is_flag=True, help="Others may reach it: no models are run.")
@click.option("--allow-run", is_flag=True, help="With --public: by a link with a token.")
@click.option("--no-workspace", is_flag=True, help="Keep no sessions on this machine.")
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
@terminal.guarded
def app(options: tuple[str, ...], public: bool, allow_run: bool, no_workspace: bool) -> int:
    """Open the app; OPTIONS go to `streamlit run`, such as --server.port 9000: `streamlit run
    --help` lists them."""
    from playground.app.serving.launch import launch

    launch(list(options), public, allow_run, not no_workspace)
    return 0
