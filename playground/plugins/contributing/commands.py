"""`new`: begin a contribution in a checkout of the project."""

from __future__ import annotations

from pathlib import Path

import click

from playground.cli.command import command
from playground.cli.terminal import guarded, say

_KINDS = ("dialect", "notation", "format", "rule", "page")


@command("new dialect use-tool", "new page tool-tally")
@click.argument("kind", type=click.Choice(_KINDS))
@click.argument("name")
@guarded
def new(kind: str, name: str) -> int:
    """Write the files of a contribution NAME into the checkout around the current folder.

    They are the example of docs/contributing/KIND.md under your name, registered where it has to
    be. No file is overwritten; each place where your own text belongs says FILL IN.
    """
    from playground.plugins.contributing.recipes import checkout_around, read_recipe, write_steps

    checkout = checkout_around(Path.cwd())
    recipe = read_recipe(checkout, kind).renamed(name)
    write_steps(checkout, recipe)
    for step in recipe.steps:
        say(f"written: {step.path}{f', {step.place}' if step.place else ''}")
    say("next: replace each FILL IN, which `pytest tests/test_contributing.py` lists; then run")
    for line in recipe.tests:
        say(f"  {line}")
    return 0
