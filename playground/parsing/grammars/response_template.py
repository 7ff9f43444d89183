"""A dialect's replies as `transformers` reads them by a response template (`parse_response`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from playground.base.findings import Finding


@dataclass(frozen=True)
class ResponseTemplate:
    """A response template for transformers: `template` is the value of `response_template` in a
    tokenizer's configuration.

    `findings` say where the template reads more (`response-template-wider`) or less
    (`response-template-narrower`) than the dialect. If no template can express a dialect,
    `template` is empty, and a finding `no-response-template` says why.
    """

    dialect: str
    template: Mapping[str, Any]
    findings: tuple[Finding, ...] = ()

    @property
    def json(self) -> str:
        """The template as JSON; "" if there is none."""
        text = json.dumps(self.template, ensure_ascii=False, indent=2)
        return f"{text}\n" if self.template else ""
