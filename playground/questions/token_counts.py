"""Count the tokens of a request, a rendering or a session, the same for pages and commands."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Final

from playground.base.arguments import refuse_unused, takes
from playground.base.errors import InputFault
from playground.cache.answers.as_sent import sent_requests
from playground.dialects import Dialect, get_dialect
from playground.dialects.older_calls import formerly_second
from playground.dialects.raw_prompts import ChatTemplate
from playground.dialects.raw_prompts.sources import template_of
from playground.dialects.request_messages import Rendering
from playground.nouns.prompt_data import TaskConfig
from playground.sessions.building import assuming_model
from playground.sessions.loading import session_or_sample
from playground.sessions.session import Session
from playground.tokens.count import TokenCount, count_request
from playground.tokens.given import load_tokenizer

if TYPE_CHECKING:
    from playground.tokens.tokenizer import Tokenizer

_NOT_AS_SENT: Final = (
    "the session holds no request as it was sent: its next request in the dialect native is "
    "counted, which may differ from the body that was really sent"
)
_PICTURE_AS_TEXT: Final = (
    "an image in a tool's result is counted as the text that the dialect writes, not as a picture"
)


@formerly_second("model", "api", "dialect", "tokenizer", "template")
@takes(
    request=(Session, str, Mapping),
    model="text",
    api="text",
    dialect=(str, Dialect),
    tokenizer=(str, PathLike, type(None)),
    template=(str, PathLike, ChatTemplate, type(None)),
)
def count_tokens(
    request: Mapping[str, Any] | Session | str,
    dialect: str | Dialect = "",
    *,
    model: str = "",
    api: str = "",
    tokenizer: str | PathLike[str] | None = None,
    template: str | PathLike[str] | ChatTemplate | None = None,
) -> TokenCount:
    """Count the tokens of a request's input; the table's first row is the total.

    The kind is `exact` (as billed), `tokenizer` (by the model's own tokenizer, but `.notes` name
    unknown parts) or `estimate` (without it). `request` is a body of OpenAI's, Anthropic's,
    Gemini's, Bedrock's, Mistral's or Ollama's APIs, a session or a sample's name. Of a session, the
    last sent request is counted. With a `dialect`, or if the session holds no sent request, its
    next request is counted in that dialect (by default native). `model` replaces the request's own.
    `api` names the API if the body alone does not show it. `tokenizer` is a file of the model's
    tokenizer or a known name, `template` the model's chat template: with both, any model is counted
    exactly. Raises InputFault for what cannot be read, and UnknownNameError for an unknown name.
    """
    vocabulary: Tokenizer | None = load_tokenizer(tokenizer) if tokenizer is not None else None
    own_template = template_of(template) if template is not None else None
    if isinstance(request, Session | str):
        request = session_or_sample(request)
        body = _body_of(request, model, dialect)
        assumed_model = "" if model or request.named_model else request.task.model_name
        count = count_request(body, model or request.task.model_name, api, vocabulary, own_template)
        notes = [f"the session names no model: counted as {assumed_model}"] if assumed_model else []
        is_as_sent = not dialect and any(not row.sub_agent for row in request.rows)
        notes += [] if dialect or is_as_sent else [_NOT_AS_SENT]
        parts = () if is_as_sent else [part for each in request.messages for part in each.parts]
        if any(getattr(part, "images", 0) for part in parts):
            notes.append(_PICTURE_AS_TEXT)
        return replace(count, notes=[*count.notes, *notes])
    unused = {"dialect": get_dialect(dialect or "native") is not get_dialect("native")}
    problem = "a request body is counted as it was sent"
    refuse_unused("count_tokens", unused, problem, "a session, as pg.load_session(body)")
    body = dict(request)
    for key in ("messages", "contents", "tools"):
        if not isinstance(body.get(key) or [], list):
            problem = f"{type(body[key]).__name__} {body[key]!r:.60} was given"
            raise InputFault(problem, where=f"request, {key}", expected="a list")
    assumed_model = "" if model else _assumed_model(body)
    count = count_request(body, model or assumed_model, api, vocabulary, own_template)
    notes = [f"the request names no model: counted as {assumed_model}"] if assumed_model else []
    return replace(count, notes=[*count.notes, *notes])


def _assumed_model(body: Mapping[str, Any]) -> str:
    """Return the model that a session assumes for a body of Gemini's form that names none."""
    is_named = body.get("model") or "contents" not in body
    return "" if is_named else assuming_model(TaskConfig(), [body]).model_name


def count_rendering(rendering: Rendering, model: str) -> TokenCount:
    """Count the tokens of a rendered request, as it would be sent to Chat Completions."""
    return count_request(chat_body(rendering, model), model, "openai-chat")


def _body_of(session: Session, model: str, dialect: str | Dialect) -> dict[str, Any]:
    if not dialect and any(not row.sub_agent for row in session.rows):
        return sent_requests(session).bodies[-1]
    session_for_model = session.with_model(model)
    rendering = get_dialect(dialect or "native").render(session_for_model.prompt_data())
    return chat_body(rendering, session_for_model.task.model_name)


def chat_body(rendering: Rendering, model: str) -> dict[str, Any]:
    """Return a rendered request as the body of a Chat Completion."""
    body: dict[str, Any] = {"model": model, "messages": rendering.messages}
    return body | ({"tools": list(rendering.tools)} if rendering.tools else {})


def as_json(count: TokenCount) -> dict[str, Any]:
    """Return a count as JSON values; the keys of `by_message` are the messages' indexes as text."""
    value = dataclasses.asdict(count)
    value["range"] = list(count.range)
    value["by_message"] = {str(index): size for index, size in count.by_message.items()}
    return value
