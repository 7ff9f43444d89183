"""Audits of chat templates: how many have each fault, and whether transformers renders it so too.

`python benchmarks/template_audits.py FOLDER…` takes folders of `.jinja` files (llama.cpp keeps some
70 in `models/templates`). It installs transformers, without torch, into a scratch environment,
audits each template, renders every request that an audit shows with transformers' own code, and
prints the faults with their numbers, what differs, and the time. TRL's check of a preserved prefix
(a call, and the same with its result) is asked of each template and compared with the audit's.
"""

# ruff: noqa: E402
# Imports follow the change of environment.

from __future__ import annotations

import sys

from scratch import run_beside

run_beside("pydantic", "jinja2", "regex", "click", "transformers==5.23.0")

import datetime
import time
from collections import Counter
from pathlib import Path
from typing import Any

from transformers.utils import chat_template_utils  # type: ignore[import-not-found]

from playground.base.errors import InputFault
from playground.dialects.raw_prompts import ChatTemplate
from playground.dialects.raw_prompts.sources import template_of
from playground.plugins.own_dialects.asking import DAY, TemplateRendering
from playground.plugins.own_dialects.audit import TemplateAudit, audit_template

_DUMMY: Any = [{"type": "function", "function": {"name": "dummy", "arguments": {}}}]
_CALLED: Any = [
    {"role": "user", "content": "dummy"},
    {"role": "assistant", "content": "", "tool_calls": _DUMMY},
]
_TOLD: Any = [*_CALLED, {"role": "tool", "name": "dummy", "content": "dummy"}]
_BROKEN = "a call is written otherwise once its result is there"


class Day(datetime.datetime):
    """A clock in place of the one that transformers asks for the date."""

    shown = DAY

    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> Day:
        return cls.fromisoformat(cls.shown)


def by_transformers(template: ChatTemplate, request: dict[str, Any]) -> str | None:
    """Return a request rendered by transformers; None if transformers or the template refuses
    it."""
    try:
        texts, _ = chat_template_utils.render_jinja_template(
            [request["messages"]],
            tools=request["tools"],
            chat_template=template.source,
            add_generation_prompt=request["add_generation_prompt"],
            **request["variables"],
            **template.tokens,
        )
    except Exception:
        return None
    return str(texts[0])


def same(template: ChatTemplate, audit: TemplateAudit, rendering: TemplateRendering) -> bool:
    if audit.form and audit.form.mutable:
        return True  # transformers' sandbox refuses all of it, which is the finding
    Day.shown = rendering.day
    return by_transformers(template, rendering.to_dict()) == rendering.text


def preserves(template: ChatTemplate) -> bool | None:
    """Return the result of TRL's check; None if the template refuses one of its two requests."""
    request: dict[str, Any] = {"tools": None, "add_generation_prompt": False, "variables": {}}
    before = by_transformers(template, {**request, "messages": _CALLED})
    after = by_transformers(template, {"messages": _TOLD, **request, "add_generation_prompt": True})
    return None if before is None or after is None else after.startswith(before)


def main() -> None:
    chat_template_utils.datetime = Day
    faults: Counter[str] = Counter()
    rendered = alike = audited = 0
    prefixes: Counter[str] = Counter()
    seconds: list[float] = []
    for path in sorted(file for name in sys.argv[1:] for file in Path(name).glob("*.jinja")):
        begun = time.perf_counter()
        try:
            audit = audit_template(path)
        except InputFault as refused:
            print(f"not audited: {refused}")
            continue
        seconds.append(time.perf_counter() - begun)
        audited += 1
        template = template_of(path)
        faults.update({fault.finding.code for fault in audit.faults})
        for fault in audit.faults:
            for rendering in fault.shown:
                rendered += 1
                if same(template, audit, rendering):
                    alike += 1
                else:
                    print(f"differs: {path.stem} {fault.finding.code}")
        theirs = preserves(template)
        ours = not any(each.finding.message.startswith(_BROKEN) for each in audit.faults)
        if theirs is not None:
            prefixes["alike" if theirs == ours else f"{path.stem}: TRL says {theirs}"] += 1
    for code, number in faults.most_common():
        print(f"| {code} | {number} |")
    print(f"{audited} audited, {sum(seconds):.1f} s, {max(seconds):.2f} s at most")
    print(f"rendered as transformers does: {alike} of {rendered}")
    print(f"TRL's check of the prefix: {dict(prefixes)}")


if __name__ == "__main__":
    main()
