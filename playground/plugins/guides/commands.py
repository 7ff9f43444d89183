"""The command `guide`: explain a dialect by prompts, replies, and what a parser reads in them."""

from __future__ import annotations

from pathlib import Path

import click

from playground.cli.command import DIALECT, command
from playground.cli.shared import force_option, out_option, strict_option
from playground.cli.terminal import emit, guarded, report, say


@command("guide harmony", "guide --model Qwen/Qwen3-Coder-480B-A35B-Instruct")
@click.argument("name", type=DIALECT, required=False, default="")
@click.option("-l", "--list", "listed", is_flag=True, hidden=True, help="As `dialects`.")
@click.option("-m", "--model", default="", help="The guide of the dialect for this model.")
@out_option("Write NAME.md into this folder; without NAME, all guides.")
@click.option("--check", is_flag=True, help="With --out: only report stale files (exit status 1).")
@force_option
@strict_option
@guarded
def guide(name: str, listed: bool, model: str, out: str, check: bool, force: bool) -> int:
    """Print the guide of dialect NAME: prompts, responses, and what a parser reads from them."""
    from playground.base.errors import InputFault
    from playground.base.output import Batch, faults_naming
    from playground.dialects import dialect_findings, dialect_names
    from playground.dialects.models import dialect_for
    from playground.plugins.guides.guide import GUIDE_MARK, guide_for

    if listed:
        say("\n".join(dialect_names()))
        return report(dialect_findings())
    if model:
        choice = dialect_for(model)
        dialect = choice.dialect or f"not known; shown: {choice.nearest}"
        say(f"{model}: {dialect} ({choice.reason})", err=True)
        name = choice.usable
    if not out:
        if not name:
            raise InputFault(
                "no dialect is named", expected="NAME (see `playground dialects`), or --model"
            )
        emit(guide_for(name).markdown())
        return 0
    stale: list[Path] = []
    with Batch(force=force, ours=GUIDE_MARK) as batch:
        for dialect_name in [name] if name else dialect_names():
            path, text = Path(out) / f"{dialect_name}.md", guide_for(dialect_name).markdown()
            with faults_naming(path, reading=True):
                if path.is_file() and path.read_bytes() == text.encode():
                    continue
            stale.append(path)
            if not check:
                with batch.file(path) as file:
                    file.write(text)
    for path in stale:
        say(f"{'stale' if check else 'written'}: {path}")
    return int(check and bool(stale))
