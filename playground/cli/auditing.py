"""`chat-template`: find faults of a model's own chat template."""

from __future__ import annotations

import click

from playground.base.wording import counted
from playground.cli.shared import json_option
from playground.cli.terminal import guarded, print_json, report, say


@click.group("chat-template")
def chat_template() -> None:
    """Models' own chat templates."""


@chat_template.command()
@click.argument("file")
@click.option("--shown", is_flag=True, help="Print each finding's request and rendered text.")
@json_option
@guarded
def audit(file: str, shown: bool, as_json: bool) -> int:
    """Find what a chat template loses, refuses, mixes up, or writes in a way that breaks caches.

    FILE is a .jinja file, a tokenizer_config.json or, with the package gguf, a GGUF file. It is
    rendered in a process of its own with small requests; --json prints all of them.
    """
    from playground.dialects.raw_prompts.audit import audit_template

    found = audit_template(file)
    if as_json:
        print_json(found.to_dict())
        return report(found.findings)
    say(f"{found.source}: {counted(len(found.faults), 'finding')} in {found.renderings} renderings")
    for fault in found.faults if shown else ():
        say(f"\n{fault.finding.code}: {fault.finding.message}")
        say(fault.told)
    return report(found.findings)
