"""The command line: route to one pure function, print, exit 0 / 1 (findings) / 2 (bad input)."""

from __future__ import annotations

import click

from playground.commands import (
    caching,
    experiments,
    prompts,
    sending,
    signatures,
    streams,
    templates,
    terminal,
    trials,
    workspace,
)

_OWN = ("--help", "--version", "--debug")  # every other option is streamlit's


class _Commands(click.Group):
    """Without a command the app starts; its options are streamlit's."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0].startswith("--") and args[0] not in _OWN):
            args = ["app", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="dialect-playground")
@click.option("--debug", is_flag=True, help="Show where a fault of ours happened.")
def main(debug: bool) -> None:
    """Render a session in every tool-call dialect, see cache marks, replay streams.

    SESSION is a session file, the name of a sample (see `playground samples`), or workspace:NAME
    for what the app keeps (see `playground workspace`). Exit status: 0 fine, 1 findings of severity
    warning or error, 2 bad input.
    """


@main.command(context_settings={"ignore_unknown_options": True, "help_option_names": []})
@click.option("--public", is_flag=True, help="Others may reach it: no models are run.")
@click.option("--allow-run", is_flag=True, help="With --public: by a link with a token.")
@click.option("--no-workspace", is_flag=True, help="Keep no sessions on this machine.")
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
@terminal.guarded
def app(options: tuple[str, ...], public: bool, allow_run: bool, no_workspace: bool) -> int:
    """Open the app; OPTIONS go to `streamlit run` (such as --server.port 9000)."""
    from playground.ui.serving.launch import launch

    launch(list(options), public, allow_run, not no_workspace)
    return 0


for command in (
    prompts.samples,
    prompts.render,
    prompts.compare,
    caching.cache,
    caching.check,
    prompts.carry,
    prompts.detect,
    prompts.guide,
    prompts.raw,
    sending.payload,
    sending.tools,
    templates.template,
    signatures.signature,
    streams.replay,
    streams.import_,
    experiments.experiment,
    experiments.export,
    trials.trial,
    streams.record,
    streams.demo_server,
    workspace.workspace,
):
    main.add_command(command)


if __name__ == "__main__":
    main()
