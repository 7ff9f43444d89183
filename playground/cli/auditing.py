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

    result = audit_template(file)
    if as_json:
        print_json(result.to_dict())
        return report(result.findings)
    count = counted(len(result.faults), "finding")
    say(f"{result.source}: {count} in {result.renderings} renderings")
    for fault in result.faults if shown else ():
        say(f"\n{fault.finding.code}: {fault.finding.message}")
        say(fault.text)
    return report(result.findings)
