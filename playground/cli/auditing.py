"""`chat-template`: find faults in a model's own chat template."""

from __future__ import annotations

import click

from playground.base.wording import counted
from playground.cli.command import CommandGroup
from playground.cli.shared import csv_option, json_option, strict_option
from playground.cli.terminal import CSV, guarded, is_set, print_json, report, say, show_rows


@click.group("chat-template", cls=CommandGroup)
def chat_template() -> None:
    """Models' own chat templates."""


@chat_template.command(examples=["chat-template audit tokenizer_config.json --shown"])
@click.argument("file")
@click.option("--shown", is_flag=True, help="Print each finding's request and rendered text.")
@strict_option
@csv_option
@json_option
@guarded
def audit(file: str, shown: bool, as_json: bool) -> int:
    """Find what a chat template loses, refuses, mixes up, or writes in a way that breaks caches.

    FILE is a .jinja file, a tokenizer_config.json or, with the package gguf, a GGUF file. It is
    rendered in a process of its own with small requests; --json prints all of them.
    """
    from playground.dialects.raw_prompts.audit import audit_template
    from playground.show import rows

    result = audit_template(file)
    if as_json:
        print_json({**result.to_dict(), "rows": rows.audit(result).dicts()})
        return report(result.findings)
    if is_set(CSV):
        show_rows(rows.audit(result))
    count = counted(len(result.faults), "finding")
    say(f"{result.source}: {count} in {result.renderings} renderings")
    for fault in result.faults if shown else ():
        say(f"\n{fault.finding.code}: {fault.finding.message}")
        say(fault.text)
    return report(result.findings)
