"""Read content in any provider's shape: OpenAI, Anthropic, Gemini, OpenTelemetry, AI SDK.

A part's kind follows from its `type`, or from its keys (Gemini, Bedrock, AutoGen).
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable
from typing import Any, Final

from playground.base.findings import finding
from playground.nouns.messages import ImagePart, Part, ReasoningPart
from playground.sessions import unvalidated
from playground.sessions.building import Place, SessionBuilder, json_or_text, text_part
from playground.sessions.shapes.plain_parts import PLAIN_CALL, plain_part

_Reader = Callable[[SessionBuilder, dict[str, Any], Place], list[Part]]


def read_parts(
    builder: SessionBuilder, content: Any, place: Place, *steps: str | int
) -> list[Part]:
    """Return the parts of a message's content; anything that no part can hold gives a finding. The
    content's place is `place.at(*steps)`, which is not built for texts and plain parts."""
    if isinstance(content, str):
        return [text_part(content)] if content else []
    if isinstance(content, list):
        parts: list[Part] = []
        for index, item in enumerate(content):
            if (plain := plain_part(builder, item)) is not None:
                parts.append(plain)
            else:
                parts += read_parts(builder, item, place, *steps, index)
        return parts
    where = place.at(*steps) if steps else place
    if isinstance(content, dict):
        return _read(builder, content, where)
    if content is not None:
        builder.note_loss(f"content that is a {type(content).__name__}", where)
    return []


CITATIONS: Final = ("annotations", "citations")  # fields of a text that list its sources


def note_left_out(
    builder: SessionBuilder, value: dict[str, Any], place: Place, names: Iterable[str]
) -> None:
    """Add a finding for each of these fields that has a value, because it is left out."""
    for name in names:
        if value.get(name):
            builder.note_beside(name, place.at(name))


def plain_text(content: Any) -> str | None:
    """Return content as one text; None if it holds anything else."""
    match content:
        case None:
            return ""
        case str():
            return content
        case list():
            texts = [plain_text(item) for item in content]
            return None if None in texts else "".join(filter(None, texts))
        case {"type": "text" | "input_text" | "output_text", "text": str(text)}:
            return text
        case {"type": "reasoning_text" | "summary_text", "text": str(text)}:
            return text
        case {"type": "text", "content": str(text)}:
            return text
        case {"text": str(text)} if len(content) == 1:
            return text
        case _:
            return None


def result_value(content: Any) -> Any:
    """Return a result's content as text if it holds only text, else unchanged."""
    text = plain_text(content)
    return content if text is None else text


def _read(builder: SessionBuilder, value: dict[str, Any], place: Place) -> list[Part]:
    kind = value.get("type")
    reader = None
    if isinstance(kind, str):
        reader = _BY_TYPE.get(kind) or _hosted(kind)
    if reader is None:
        reader = next((read for key, read in _BY_KEY.items() if key in value), None)
    if reader is None and kind is None:  # AutoGen's parts have no type
        reader = next((read for keys, read in _BY_KEYS if keys <= value.keys()), None)
    if reader is None:
        builder.note_loss(
            f"a part of type {kind!r}" if kind else "a part of an unknown form", place
        )
        return []
    return reader(builder, value, place)


def _hosted(kind: str) -> _Reader | None:
    """Return the reader of a type that ends as hosted tools' do or begins with AI SDK's `tool-`."""
    if kind.endswith(("_tool_result", "_call_output", "_search_output")):
        return _result
    if kind.endswith("_tool_use"):
        return _call
    return _invocation if kind.startswith("tool-") else None


def _text(builder: SessionBuilder, value: dict[str, Any], place: Place) -> list[Part]:
    text = _first(value, "text", "content", "refusal", "value")
    if isinstance(text, dict):  # AI SDK and the assistants API: {"value": …}
        text = text.get("value")
    if not isinstance(text, str):
        builder.note_loss("a text part without text", place)
        return []
    note_left_out(builder, value, place, CITATIONS)
    if value.get("thought"):
        signature = value.get("thoughtSignature")
        return [ReasoningPart(text, signature if isinstance(signature, str) else None)]
    return [text_part(text)] if text else []


def _reasoning(builder: SessionBuilder, value: dict[str, Any], place: Place) -> list[Part]:
    inner = value.get("reasoningContent")  # Bedrock's
    if isinstance(inner, dict):
        value = inner["reasoningText"] if isinstance(inner.get("reasoningText"), dict) else inner
    summary = value.get("summary")
    thought = _first(value, "thinking", "text", "content", "reasoning", "value", "thought", "think")
    if isinstance(summary, list):
        summary = "\n\n".join(str(i.get("text", "")) for i in summary if isinstance(i, dict))
    text = "\n\n".join(map(str, thought)) if isinstance(thought, list) else thought or ""
    if isinstance(thought, list) and thought and isinstance(thought[0], dict):
        if (full_text := plain_text(thought)) is None:
            builder.note_loss("parts of a thought other than text", place)
        text = full_text or ""
    if isinstance(summary, str) and summary and summary != text:  # some formats have both
        text = f"{summary}\n\n{text}" if text else summary
    signature = _first(value, "signature", "thinkingSignature", "encrypted_content", "data")
    signature = str(signature) if isinstance(signature, str) else None
    if signature and not text:
        builder.findings.append(finding("reasoning-sealed", str(place)))
    return [unvalidated.reasoning(str(text), signature)] if text or signature else []


def _image(builder: SessionBuilder, value: dict[str, Any], place: Place) -> list[Part]:
    image = _first(value, "image_url", "source", "image", "url", "inlineData", "inline_data")
    image = image or value.get("fileData") or _first(value, "value", "path") or value
    detail = value.get("detail")
    if isinstance(image, dict) and isinstance(image.get("source"), dict):  # Bedrock
        kind, source = image.get("format") or "png", image["source"]
        image = {"mimeType": f"image/{kind}", "data": source.get("bytes")}
    if isinstance(image, dict):
        detail = image.get("detail", detail)
        kind = _first(image, "media_type", "mimeType", "mime_type", "mediaType") or "image/png"
        data = _first(image, "data", "base64", "bytes")
        url = _first(image, "url", "fileUri", "file_uri")
        image = url or (f"data:{kind};base64,{data}" if isinstance(data, str) else None)
    if not isinstance(image, str) or not image:
        builder.note_loss("an image without data or address", place)
        return []
    if image.startswith("data:") and not image.startswith("data:image/"):
        builder.note_loss(f"a file of type {image[5:].partition(';')[0]}", place)
        return []
    return [ImagePart(image, detail if isinstance(detail, str) else None)]


def _document(builder: SessionBuilder, value: dict[str, Any], place: Place) -> list[Part]:
    """Return a file in a message as an image or as parts of text; any other file gives a
    finding."""
    if isinstance(inner := value.get("document"), dict):  # Bedrock's
        value = {**inner, "type": "document"}
    source = value.get("source")
    kind = value.get("mimeType") or value.get("mediaType") or value.get("mime")
    if isinstance(kind, str) and kind.startswith("image/"):
        return _image(builder, value, place)
    if isinstance(source, dict) and (content := _document_content(value, source)) is not None:
        note_left_out(builder, value, place, ("title", "context"))
        return read_parts(builder, content, place)
    name = _first(value, "title", "filename", "name", "file_name") or value.get("type")
    builder.note_loss(f"the file {name!r}", place)
    return []


def _document_content(value: dict[str, Any], source: dict[str, Any]) -> Any:
    """Return the text of a document, or its parts; None if it has none."""
    if source.get("type") in ("text", "content"):
        return source.get("data") or source.get("content")
    data = source.get("bytes")  # Bedrock's form
    if isinstance(data, str) and value.get("format") in _TEXT_FORMATS:
        try:
            return base64.b64decode(data, validate=True).decode()
        except ValueError:
            return None
    return None if "type" in source else _first(source, "text", "content")


_TEXT_FORMATS: Final = ("txt", "md", "csv", "html")


def _call(builder: SessionBuilder, value: dict[str, Any], place: Place) -> list[Part]:
    if value.get("id") and value.get("name") and "input" in value and PLAIN_CALL.issuperset(value):
        # most calls are like this
        return [builder.call(value["id"], value["name"], value["input"], place)]
    inner = _first(
        value, "functionCall", "function_call", "function", "toolCall", "tool_call", "toolUse",
        "custom",
    )  # fmt: skip
    if inner is None and "name" not in value and isinstance(value.get("value"), str):
        inner = json_or_text(value["value"])  # LLaMA-Factory: the call is text
    body = {**value, **inner} if isinstance(inner, dict) else value
    if isinstance(body.get("value"), dict) and "name" not in body:  # Goose
        body = {**body, **body["value"]}
    call_id = _first(body, "call_id", "tool_call_id", "toolCallId", "callID", "toolUseId", "id")
    call_id = call_id or _first(body, "tool_id", "callId", "tool_use_id")
    name = _first(body, "name", "toolName", "tool_name", "function_name", "function", "tool")
    name = name or body.get("toolType")  # a call of Gemini's own tools
    arguments = _first(body, "input", "arguments", "args", "code", "parameters", "params")
    arguments = body.get("tool_input") if arguments is None else arguments
    no_ids = "functionCall" in value or "function_call" in value or "value" in value
    if not call_id and no_ids:  # Gemini's calls need no ids
        call_id = builder.new_id()
    return [builder.call(call_id, name or value.get("type"), arguments, place)]


def _server_call(builder: SessionBuilder, value: dict[str, Any], place: Place) -> list[Part]:
    """Return a call of a tool that the provider runs; the same answer has its result."""
    builder.note_provider_tool(str(value.get("name") or value.get("type")), place)
    return _call(builder, value, place)


def _result(builder: SessionBuilder, value: dict[str, Any], place: Place) -> list[Part]:
    inner = _first(value, "functionResponse", "function_response", "toolResult", "toolResponse")
    body = {**value, **inner} if isinstance(inner, dict) else value
    call_id = _first(
        body, "tool_use_id", "tool_call_id", "toolCallId", "call_id", "toolUseId", "callId"
    )
    call_id = call_id or _first(body, "tool_id", "callID", "custom_tool_use_id", "toolUseID", "id")
    name = str(_first(body, "name", "toolName", "tool_name", "toolType") or "")
    if not call_id and isinstance(inner, dict):
        call_id = builder.open_call(name)
    content = _first(body, "content", "output", "response", "result", "value", "error", "text")
    if content is None and (others := _container_fields(body)):
        builder.note_loss(f"a result in a field that no known format uses: {others}", place)
    if isinstance(content, dict) and set(content) == {"type", "value"}:  # AI SDK
        content = content["value"]
    if isinstance(content, dict) and _is_of_mcp(content):
        _note_structured(builder, content, place)
        body, content = {**content, **body}, content["content"]
    elif isinstance(body.get("structuredContent"), dict):
        _note_structured(builder, body, place)
    match content:
        case [{"json": inside}]:  # Bedrock
            content = inside
    failed = bool(body.get("is_error") or body.get("isError") or body.get("status") == "error")
    failed = failed or bool(body.get("tool_result_is_error"))
    return [builder.result(call_id, result_value(content), name, is_error=failed)]


def _note_structured(builder: SessionBuilder, value: dict[str, Any], place: Place) -> None:
    """Add a finding about a result's structured content, unless the result's text is the same value
    written as JSON."""
    structured = value.get("structuredContent")
    if structured and json_or_text(plain_text(value.get("content")) or "") != structured:
        builder.note_beside("structuredContent", place.at("structuredContent"))


def _is_of_mcp(value: dict[str, Any]) -> bool:
    """Return True if a result has MCP's form: its content is a list, and all its fields are
    MCP's."""
    return (
        isinstance(value.get("content"), list)
        and _MCP_FIELDS.issuperset(value)
        and str(value.get("type", "mcp")).startswith("mcp")
    )


_MCP_FIELDS: Final = {"type", "content", "isError", "_meta", "structuredContent"}


def _container_fields(body: dict[str, Any]) -> str:
    """Return the names of fields that hold an object or a list that is not empty."""
    return ", ".join(key for key, field in body.items() if isinstance(field, dict | list) and field)


def _invocation(builder: SessionBuilder, value: dict[str, Any], place: Place) -> list[Part]:
    """Return the call and the result of a part that the AI SDK's user interface stores."""
    inner = value.get("toolInvocation")
    body = {**value, **inner} if isinstance(inner, dict) else value
    name = body.get("toolName") or str(value.get("type")).removeprefix("tool-")
    call_id = body.get("toolCallId") or builder.new_id()
    arguments = _first(body, "input", "args", "rawInput")
    parts: list[Part] = [builder.call(call_id, name, arguments, place)]
    result = _first(body, "output", "result", "errorText")
    if result is not None:
        failed = body.get("state") == "output-error"
        parts.append(builder.result(call_id, result_value(result), name, is_error=failed))
    return parts


def _code(builder: SessionBuilder, value: dict[str, Any], place: Place) -> list[Part]:
    """Return a call for code that Gemini runs itself, or a result for that code's output."""
    if code := value.get("executableCode") or value.get("executable_code"):
        call_id = builder.new_id()
        text = code.get("code", "") if isinstance(code, dict) else code
        return [builder.call(call_id, "code_execution", {"code": text}, place)]
    result = value.get("codeExecutionResult") or value.get("code_execution_result") or {}
    call_id = builder.open_call("code_execution")
    text = result.get("output") if isinstance(result, dict) else result
    return [builder.result(call_id, text or "", "code_execution")]


def _mark(builder: SessionBuilder, value: dict[str, Any], place: Place) -> list[Part]:
    """Return no part for a cache mark or the beginning of a step, which have no content."""
    return []


def _first(value: dict[str, Any], *keys: str) -> Any:
    """Return the first field that is not null."""
    return next((value[key] for key in keys if value.get(key) is not None), None)


_BY_TYPE: Final[dict[str, _Reader]] = {
    **dict.fromkeys(("text", "input_text", "output_text", "refusal", "summary_text"), _text),
    **dict.fromkeys(("program", "mcp_approval_request"), _call),
    "compaction": _text,  # the summary that replaces earlier messages
    **dict.fromkeys(("thinking", "reasoning", "redacted_thinking", "reasoning_text"), _reasoning),
    **dict.fromkeys(("thought", "think", "reasoning.text", "reasoning.summary"), _reasoning),
    **dict.fromkeys(("reasoning.encrypted", "redacted_reasoning", "redactedThinking"), _reasoning),
    **dict.fromkeys(("image", "image_url", "input_image"), _image),
    **dict.fromkeys(("document", "file", "input_file", "attachment"), _document),
    **dict.fromkeys(("tool_use", "tool_call", "tool-call", "mcp_call"), _call),
    **dict.fromkeys(("server_tool_use", "mcp_tool_use"), _server_call),
    **dict.fromkeys(("function_call", "custom_tool_call", "toolCall", "toolRequest"), _call),
    **dict.fromkeys(("function", "toolUse", "tool_request", "frontendToolRequest"), _call),
    **dict.fromkeys(("tool_result", "tool-result", "tool_call_response"), _result),
    **dict.fromkeys(("function_call_output", "custom_tool_call_output", "toolResult"), _result),
    **dict.fromkeys(("toolResponse", "tool_response", "tool_output", "program_output"), _result),
    **dict.fromkeys(("tool-invocation", "dynamic-tool"), _invocation),
    **dict.fromkeys(("step-start", "cache_point"), _mark),
}
_BY_KEY: Final[dict[str, _Reader]] = {
    "functionCall": _call,
    "function_call": _call,
    "functionResponse": _result,
    "function_response": _result,
    "toolUse": _call,
    "toolResult": _result,
    "toolCall": _call,
    "toolResponse": _result,
    "image": _image,
    "executableCode": _code,
    "executable_code": _code,
    "codeExecutionResult": _code,
    "code_execution_result": _code,
    "inlineData": _image,
    "inline_data": _image,
    "fileData": _image,
    "reasoningContent": _reasoning,
    "text": _text,
    "thinking": _reasoning,
    "cachePoint": _mark,
    "document": _document,
}
_BY_KEYS: Final[tuple[tuple[set[str], _Reader], ...]] = (
    ({"name", "arguments"}, _call),
    ({"call_id", "content"}, _result),
)
