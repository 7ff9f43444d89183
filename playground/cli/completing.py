"""`completion`: print a script with which a shell completes commands, dialects and samples."""

from __future__ import annotations

import click

from playground.cli.command import command
from playground.cli.terminal import emit, guarded

_SHELLS = ("bash", "zsh", "fish")


@command("completion bash", "completion fish > ~/.config/fish/completions/playground.fish")
@click.argument("shell", type=click.Choice(_SHELLS))
@guarded
def completion(shell: str) -> int:
    """Print a script that lets SHELL complete commands, options, dialects, samples and files.

    Bash: eval "$(playground completion bash)" in ~/.bashrc. Zsh: the same with zsh in ~/.zshrc.
    """
    from click.shell_completion import get_completion_class

    root = click.get_current_context().find_root().command
    complete = get_completion_class(shell)
    assert complete is not None
    emit(complete(root, {}, "playground", "_PLAYGROUND_COMPLETE").source())
    return 0
