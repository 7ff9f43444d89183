"""`tokens`: count the tokens of a request, and say how sure the count is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from playground.base.wording import visible
from playground.cli.command import SESSION, command
from playground.cli.shared import csv_option, json_option, load, strict_option
from playground.cli.terminal import guarded, print_json, report, say, show_rows

if TYPE_CHECKING:
    from playground.base.findings import Finding
    from playground.tokens.count import TokenCount

_SESSION_KEYS = {"id", "uuid", "title", "sessionId", "session_id", "events", "recordings"}
_SESSION_KEYS |= {"playground", "format"}  # an object with one of these is no request body


@command("tokens 02-parallel-calls --model gpt-4o", "tokens session.json -d hermes")
@click.argument("file", type=SESSION)
@click.option("--model", default="", help="Instead of the request's or the session's model.")
@click.option("--api", default="", help="Such as openai-chat. Default: recognised.")
@click.option(
    "-d", "--dialect", default="", help="Count the session's next request in this dialect."
)
@click.option("--tokenizer", help="tokenizer.json, tokenizer.model, tekken.json, GGUF, or a name.")
@click.option(
    "--template", help="The model's chat template: a .jinja, tokenizer_config.json, GGUF."
)
@strict_option
@csv_option
@json_option
@guarded
def tokens(
    file: str,
    model: str,
    api: str,
    dialect: str,
    tokenizer: str | None,
    template: str | None,
    as_json: bool,
) -> int:
    """Count the input tokens of a request, by origin, tool and message; nothing is sent.

    FILE is a request body in JSON, a session in any format, or a sample. The count is `exact` if
    both the model's tokenizer and all text that the provider adds are known; `tokenizer` if only
    the tokenizer is known; otherwise `estimate`. Each count has its range.
    """
    from playground.questions import token_counts
    from playground.show import rows

    body = None if dialect else _request(file)
    findings: list[Finding] = []
    request: Any = body
    if body is None:
        loaded = load(file, model)
        request, findings = loaded.session, loaded.findings
    count = token_counts.count_tokens(
        request, dialect=dialect, model=model, api=api, tokenizer=tokenizer, template=template
    )
    if as_json:
        print_json({**token_counts.as_json(count), "rows": rows.tokens(count).dicts()})
    else:
        _print(count)
    return report([*findings, *count.findings])


def _request(file: str) -> dict[str, Any] | None:
    """Return the body of a request; None for a session, and for a file that cannot be read: loading
    that as a session gives the error message."""
    from playground.base.user_files import open_regular_file
    from playground.tokens.models import api_of

    path = Path(file)
    try:
        if not path.is_file():
            return None
        with open_regular_file(path) as stream:
            value = json.load(stream)
    except (OSError, ValueError, RecursionError):
        return None
    is_request = isinstance(value, dict) and api_of(value) and not _SESSION_KEYS & set(value)
    return value if is_request else None


def _print(count: TokenCount) -> None:
    from playground.show import rows

    low, high = count.range
    bounds = "" if count.kind == "exact" else f", {low:,} to {'?' if high is None else f'{high:,}'}"
    say(f"{count.tokens:,} tokens ({count.kind}{bounds})")
    show_rows(rows.tokens(count))
    say(visible(f"from: {count.source}"))
    for note in count.notes:
        say(visible(f"not exact: {note}"))
