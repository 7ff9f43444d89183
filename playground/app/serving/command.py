"""The command that opens the app; `cli` loads it by its name."""

from __future__ import annotations

import click

_EXAMPLES = """\b
Examples:
  playground
  playground app --server.port 9000
  playground app --public --server.address 0.0.0.0"""


@click.command(context_settings={"ignore_unknown_options": True}, epilog=_EXAMPLES)
@click.option("--public", is_flag=True, help="Admit others (--server.address), who run no models.")
@click.option("--allow-run", is_flag=True, help="With --public: run models by a link with a token.")
@click.option("--no-workspace", is_flag=True, help="Keep no sessions on this machine.")
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def app(options: tuple[str, ...], public: bool, allow_run: bool, no_workspace: bool) -> int:
    """Open the app; OPTIONS go to `streamlit run --help`, such as --server.port 9000.

    By default it listens on 127.0.0.1 without a token: every user of this machine can open it, read
    its workspace and run models with your keys.
    """
    from playground.app.serving.launch import launch

    launch(list(options), public, allow_run, not no_workspace)
    return 0
