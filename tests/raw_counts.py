"""What a file holds, counted on its raw JSON or lines: messages, calls, results and usage.

It shares nothing with the importers: no code, no tables. Where it and an importer agree, nothing
was lost or made up on the way. A message here is what a speaker says; results are counted alone.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml


@dataclass
class Counts:
    messages: int = 0
    calls: int = 0
    results: int = 0
    usage: int = 0
    answers: set[str] = field(default_factory=set)  # ids of answers, which may stand on many lines

    def figures(self) -> tuple[int, int, int, int]:
        return self.messages, self.calls, self.results, self.usage


CALL_TYPES = {
    "tool_use", "server_tool_use", "mcp_tool_use", "tool_call", "tool-call", "toolCall",
    "function_call", "custom_tool_call", "toolRequest", "web_search_call", "code_interpreter_call",
    "mcp_call", "image_generation_call", "local_shell_call", "file_search_call", "computer_call",
}  # fmt: skip
RESULT_TYPES = {
    "tool_result", "tool-result", "tool_call_response", "function_call_output", "toolResponse",
    "custom_tool_call_output", "web_search_tool_result", "web_fetch_tool_result", "mcp_tool_result",
    "bash_code_execution_tool_result", "text_editor_code_execution_tool_result",
    "code_execution_tool_result",
}  # fmt: skip
TOOL_ROLES = {"tool", "toolresult", "function", "observation", "tool_response", "ipython"}
SPEAKERS = {
    "user", "human", "assistant", "ai", "model", "gpt", "system", "developer", "chatgpt", "gemini",
    "agent", "bot",
}  # fmt: skip
LISTS_OF_CALLS = ("tool_calls", "toolCalls", "toolRequests", "toolInvocations")
SAID = ("content", "parts", "value", "text", "message")


def blocks(content: Any, found: Counts) -> bool:
    """Count the calls and results in a message's content; whether anything else was said in it."""
    if isinstance(content, str):
        return bool(content)
    if isinstance(content, dict):
        content = [content]
    said = False
    for block in content if isinstance(content, list) else ():
        if not isinstance(block, dict):
            said |= bool(block)
            continue
        kind = str(block.get("type"))
        if kind in RESULT_TYPES or {"functionResponse", "toolResult", "codeExecutionResult"} & set(
            block
        ):
            found.results += 1
        elif kind in CALL_TYPES or {"functionCall", "toolUse", "executableCode"} & set(block):
            found.calls += 1
            said = True
        elif kind in ("thinking", "reasoning"):
            texts = (
                "thinking",
                "text",
                "signature",
                "data",
                "value",
                "summary",
                "encrypted_content",
            )
            said |= any(block.get(key) for key in texts)
        else:
            said |= any(
                block.get(key)
                for key in (
                    "text",
                    "data",
                    "source",
                    "image_url",
                    "url",
                    "content",
                    "value",
                    "inlineData",
                    "image",
                )
            )
    return said


def message(value: Any, found: Counts) -> None:
    """Count one chat message, whatever provider's."""
    if not isinstance(value, dict):
        return
    kind = str(value.get("type") or "")
    role = str(value.get("role") or value.get("from") or value.get("sender") or kind).lower()
    content = next((value[key] for key in SAID if value.get(key) is not None), None)
    if kind in RESULT_TYPES and "role" not in value:
        found.results += 1
    elif kind in CALL_TYPES and "role" not in value:
        found.calls += 1
    elif role in TOOL_ROLES:
        inner = Counts()
        blocks(content, inner)
        found.results += inner.results or 1
    elif role == "function_call":
        calls = json.loads(str(content))
        found.calls += len(calls) if isinstance(calls, list) else 1
        found.messages += 1
    else:
        spoken(value, content, found)


def spoken(value: dict[str, Any], content: Any, found: Counts) -> None:
    """Count what a speaker said, and the calls inside the content and beside it."""
    said = blocks(content, found)
    inside = [b.get("id") for b in content if isinstance(b, dict)] if type(content) is list else []
    for key in LISTS_OF_CALLS:
        for call in value.get(key) or ():
            if not (isinstance(call, dict) and call.get("id") and call["id"] in inside):
                found.calls += 1
                said = True
    if isinstance(value.get("function_call"), dict):
        found.calls += 1
        said = True
    thought = ("reasoning_content", "reasoning", "thinking")
    said |= any(isinstance(value.get(key), str) and value[key] for key in thought)
    found.messages += bool(said)
    found.usage += bool(value.get("usage")) and isinstance(value["usage"], dict)


def messages(values: Any, found: Counts) -> None:
    if isinstance(values, str):
        try:
            values = json.loads(values)
        except ValueError:
            found.messages += bool(values)
            return
    before = ""
    for value in values if isinstance(values, list) else [values]:
        kind = str(value.get("type") or "") if isinstance(value, dict) else ""
        message(value, found)
        if kind in CALL_TYPES and "role" not in value:  # an item: a run of them is one answer
            found.messages += before != "assistant"
            before = "assistant"
        else:
            before = str(value.get("role")) if isinstance(value, dict) else ""


def items(values: Any, found: Counts) -> None:
    """Items of a response of OpenAI's: calls beside messages are of the same answer."""
    said = False
    for value in values if isinstance(values, list) else ():
        one = Counts()
        message(value, one)
        found.calls += one.calls
        found.results += one.results
        kind = value.get("type") if isinstance(value, dict) else None
        said |= bool(one.messages or one.calls) or (
            kind == "reasoning" and bool(value.get("summary") or value.get("encrypted_content"))
        )
    found.messages += said


def body(value: dict[str, Any], found: Counts) -> None:
    """A request's body."""
    config = value.get("systemInstruction") or value.get("system_instruction") or {}
    names = ("system", "instructions", "system_prompt")
    system = next((value[name] for name in names if value.get(name)), config)
    found.messages += bool(system)
    for key in ("messages", "input", "contents", "prompt"):
        if value.get(key):
            messages(value[key], found)
            return


def reply(value: Any, found: Counts) -> None:
    """A whole reply."""
    if not isinstance(value, dict):
        return
    if value.get("choices"):
        message({"role": "assistant", **(value["choices"][0].get("message") or {})}, found)
    elif value.get("candidates"):
        message({"role": "model", **(value["candidates"][0].get("content") or {})}, found)
    elif isinstance(value.get("output"), list):
        items(value["output"], found)
    elif isinstance(value.get("output"), dict) and "message" in value["output"]:
        message(value["output"]["message"], found)
    elif value.get("content") is not None:
        message({"role": "assistant", "content": value["content"]}, found)
    else:
        return
    usage = value.get("usage") or value.get("usageMetadata") or value.get("usage_metadata")
    found.usage += bool(usage)


def lines_of(data: bytes) -> Iterator[Any]:
    for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        if line.strip():
            try:
                yield json.loads(line)
            except ValueError:
                continue


def rows_of(data: bytes) -> list[Any]:
    """The rows of a file of lines or of a list; a document alone is the only one."""
    try:
        value = json.loads(data)
    except ValueError:
        return list(lines_of(data))
    return value if isinstance(value, list) else [value]


# each format's own envelope


def chat_rows(data: bytes, found: Counts) -> None:
    for row in rows_of(data):
        if isinstance(row, dict) and "chosen_messages" in row:
            row = {"messages": row["chosen_messages"]}
        if isinstance(row, dict) and ("messages" in row or "contents" in row or "input" in row):
            body(row, found)
            if isinstance(row.get("response"), dict):
                reply(row["response"], found)
            elif row.get("choices"):
                reply(row, found)


def document(data: bytes, found: Counts) -> None:
    value = json.loads(data)
    body(
        value
        if isinstance(value, dict)
        else {"contents" if "parts" in value[0] else "messages": value},
        found,
    )
    if isinstance(value, dict) and isinstance(value.get("response"), dict):
        reply(value["response"], found)


def claude_lines(data: bytes, found: Counts) -> None:
    """An answer's id counts once; usage too; a result's text alone where no answer has it."""
    texts: list[str] = []
    usages: set[str] = set()
    for number, line in enumerate(rows_of(data)):
        inner = line.get("message") if isinstance(line, dict) else None
        if isinstance(line, dict) and isinstance(line.get("data"), dict):
            nested = line["data"].get("message")
            if isinstance(nested, dict) and isinstance(nested.get("message"), dict):
                inner, line = nested["message"], nested
        if not isinstance(inner, dict):
            told = line.get("result") if isinstance(line, dict) else None
            found.messages += bool(told) and str(told).strip() not in texts[-1:]
            continue
        one = Counts()
        message({"role": line.get("type"), **{k: v for k, v in inner.items() if k != "type"}}, one)
        answer = str(inner.get("id") or "")
        is_answer = line.get("type") == "assistant"
        key = answer or str(number)
        if is_answer and one.messages:
            one.messages = int(key not in found.answers)
            found.answers.add(key)
        if is_answer:
            content = inner.get("content")
            said = (
                content
                if isinstance(content, str)
                else "".join(
                    b.get("text") or ""
                    for b in content or ()
                    if isinstance(b, dict) and b.get("type") == "text"
                )
            )
            texts += [said.strip()]
        if (
            is_answer
            and inner.get("model") != "<synthetic>"
            and (inner.get("usage") or line.get("usageMetadata"))
        ):
            usages.add(key)
        found.messages += one.messages
        found.calls += one.calls
        found.results += one.results
    found.usage += len(usages)


def codex_said(item: Any) -> str:
    """A message's role, texts and pictures."""
    content = item.get("content")
    parts = content if isinstance(content, list) else [{"text": content}]
    role = {"developer": "system"}.get(item.get("role"), item.get("role"))
    told = (part.get("text") or part.get("image_url") and {**part} for part in parts)
    return " ".join([str(role), *(str(each) for each in told if each)])


def codex_left(payload: Any, said: list[str]) -> int:
    """How many messages of the history that replaces the old one nobody has said before."""
    listed = payload.get("replacement_history") or []
    told = [codex_said(each) for each in listed if each.get("type") == "message"]
    if not any((payload.get("message") or "") in each for each in told):
        told.append(f"user {payload['message']}")
    new = 0
    free = list(said)
    for each in told:
        if each in free:
            free.remove(each)
        else:
            new += 1
            said.append(each)
    return new


def codex_rollout(data: bytes, found: Counts) -> None:
    """Items of an answer stand one after another: a run of the assistant's is one message. A
    compaction's summary is a message; of the history that replaces the old, what is new."""
    before = ""
    said: list[str] = []
    for line in lines_of(data):
        payload = line.get("payload") if isinstance(line.get("payload"), dict) else None
        item = payload if line.get("type") == "response_item" else None
        item = line if payload is None else item
        if line.get("type") == "session_meta" and payload:
            given = payload.get("instructions") or payload.get("base_instructions")
            text = given.get("text") if isinstance(given, dict) else given
            item = {"role": "system", "content": text} if given else None
        elif line.get("type") == "compacted" and payload:
            found.messages += codex_left(payload, said)
            before = "user"
            continue
        if not isinstance(item, dict):
            continue
        kind = str(item.get("type") or "message")
        role = str(item.get("role") or kind)
        if kind.endswith(("_output", "_result")) or role == "tool":
            found.results += 1
            before = "tool"
        elif kind == "message" and role in ("user", "system", "developer"):
            found.messages += 1
            said.append(codex_said(item))
            before = role
        elif kind.endswith("_call") or kind == "reasoning" or role == "assistant":
            found.calls += kind.endswith("_call")
            found.messages += before != "assistant"
            before = "assistant"


def message_lines(data: bytes, found: Counts) -> None:
    for line in rows_of(data):
        for key in ("", "message", "payload", "data"):
            inner = line.get(key) if key and isinstance(line, dict) else line
            if not key and isinstance(line, dict) and isinstance(line.get("message"), dict):
                continue
            if isinstance(inner, dict):
                one = Counts()
                role = {"role": line["role"]} if key and "role" in line else {}
                message({**inner, **role}, one)
                known = str(inner.get("role") or inner.get("type") or role.get("role")).lower()
                if (one.messages or one.results or one.calls) and (
                    known in SPEAKERS | TOOL_ROLES or known in CALL_TYPES | RESULT_TYPES
                ):
                    for name in ("messages", "calls", "results", "usage"):
                        setattr(found, name, getattr(found, name) + getattr(one, name))
                    break


def chatgpt(data: bytes, found: Counts) -> None:
    """Each branch from its leaf up; what two branches share counts in both."""
    for conversation in rows_of(data):
        mapping = conversation["mapping"]
        parents = {node.get("parent") for node in mapping.values()}
        for leaf in (key for key in mapping if key not in parents):
            key: Any = leaf
            while key in mapping:
                said = mapping[key].get("message") or {}
                role = (said.get("author") or {}).get("role")
                content = said.get("content") or {}
                full = (
                    any(content.get("parts") or ()) or content.get("text") or content.get("result")
                )
                if role == "tool":
                    found.results += 1
                elif full or content.get("thoughts"):
                    found.messages += 1
                    found.calls += said.get("recipient") not in (None, "", "all", "assistant")
                key = mapping[key].get("parent")


def claude_ai(data: bytes, found: Counts) -> None:
    """Between calls and results an answer is cut, as it was when it was sent."""
    for conversation in rows_of(data):
        for said in conversation["chat_messages"]:
            speaking = False
            for block in said.get("content") or [{"type": "text", "text": said.get("text")}]:
                if block.get("type") == "tool_result":
                    found.results += 1
                    speaking = False
                elif block.get("type") in ("text", "tool_use", "thinking"):
                    found.calls += block["type"] == "tool_use"
                    found.messages += not speaking
                    speaking = True


def pi(data: bytes, found: Counts) -> None:
    for line in lines_of(data):
        inner = line.get("message")
        kind = line.get("type")
        told = line.get("summary") if kind in ("compaction", "branch_summary") else None
        found.messages += bool(told or (kind == "custom_message" and line.get("content")))
        if line.get("type") == "message" and isinstance(inner, dict):
            if inner.get("role") == "bashExecution":
                found.messages += not inner.get("excludeFromContext")
            else:
                message(inner, found)


def gemini_stream(data: bytes, found: Counts) -> None:
    answering = False
    for line in lines_of(data):
        kind = line.get("type")
        if kind == "tool_result":
            found.results += 1
            answering = False
        elif kind == "tool_use" or (
            kind == "message" and line.get("role") in ("assistant", "model")
        ):
            found.calls += kind == "tool_use"
            found.messages += not answering
            answering = True
        elif kind == "message":
            found.messages += 1
            answering = False
        elif kind == "result":
            found.usage += bool(line.get("stats"))


def codex_exec(data: bytes, found: Counts) -> None:
    answering = False
    for line in lines_of(data):
        item = line.get("item") or {}
        if line.get("type") == "turn.completed":
            found.usage += bool(line.get("usage"))
        if line.get("type") != "item.completed":
            continue
        kind = item.get("type") or item.get("item_type")
        if kind == "error":
            continue
        speaks = kind in ("agent_message", "assistant_message", "reasoning")
        found.messages += not answering
        answering = speaks
        if not speaks:
            found.calls += 1
            found.results += 1


def opencode_export(data: bytes, found: Counts) -> None:
    for entry in json.loads(data)["messages"]:
        said = False
        for part in entry["parts"]:
            kind = part.get("type")
            said |= kind in ("text", "reasoning", "tool") and bool(
                part.get("text") or part.get("tool")
            )
            if kind == "tool":
                state = part.get("state") or {}
                found.calls += 1
                found.results += "output" in state or "error" in state
        found.messages += said
        found.usage += bool(entry["info"].get("tokens"))


def sharegpt(data: bytes, found: Counts) -> None:
    """Calls as JSON, in Hermes' tags, or as a list of Python calls; results as each is tagged."""
    for row in rows_of(data):
        found.messages += bool(row.get("system")) + isinstance(row.get("chosen"), dict)
        for said in row.get("conversations") or ():
            role, text = (
                str(said.get("from") or said.get("role")),
                said.get("value", said.get("content")),
            )
            if role in ("tool", "observation", "function_response"):
                listed = re.match(r"\s*\[\s*\{", text)
                found.results += text.count("<tool_response>") or (
                    len(json.loads(text)) if listed else 1
                )
                continue
            found.messages += 1
            if role == "function_call":
                value = json.loads(text)
                found.calls += len(value) if isinstance(value, list) else 1
            elif role in ("gpt", "assistant"):
                tagged = text.count("<tool_call>")
                is_list = re.fullmatch(r"\s*\[\w[^()\[\]{}\"']*\(.*\)\]\s*", text, re.DOTALL)
                quoted = re.sub(r"'[^']*'|\"[^\"]*\"", "", text)
                found.calls += tagged or (
                    len(re.findall(r"[\[,]\s*[A-Za-z_][\w .]*\(", quoted)) if is_list else 0
                )


def xlam(data: bytes, found: Counts) -> None:
    for row in rows_of(data):
        answers = row["answers"]
        found.messages += 2
        found.calls += len(json.loads(answers) if isinstance(answers, str) else answers)


def glaive(data: bytes, found: Counts) -> None:
    for row in rows_of(data):
        found.messages += bool(row.get("system")) + len(
            re.findall(r"^\s*(?:USER|ASSISTANT):", row["chat"], re.MULTILINE)
        )
        found.calls += row["chat"].count("<functioncall>")
        found.results += row["chat"].count("FUNCTION RESPONSE:")


def alpaca(data: bytes, found: Counts) -> None:
    for row in rows_of(data):
        found.messages += 2 + bool(row.get("system")) + 2 * len(row.get("history") or ())


def goose(data: bytes, found: Counts) -> None:
    try:
        values = json.loads(data)["conversation"]
    except (ValueError, KeyError):
        values = [line for line in lines_of(data) if "role" in line]
    messages(values, found)


def managed(data: bytes, found: Counts) -> None:
    answering = False
    for line in rows_of(data):
        event = line.get("raw") or line
        kind = str(event.get("type"))
        if kind.endswith("tool_result"):
            found.results += 1
            answering = False
        elif kind == "agent.message" or kind.endswith("tool_use"):
            found.calls += kind.endswith("tool_use")
            found.messages += not answering
            answering = True
        elif kind == "span.model_request_start":
            answering = False
        elif kind == "span.model_request_end":
            found.usage += bool(event.get("model_usage"))
        elif kind.startswith("user.") and (event.get("content") or event.get("description")):
            found.messages += 1
            answering = False


def langsmith(data: bytes, found: Counts) -> None:
    """The last state of each run that is a call of a model."""
    runs: dict[str, dict[str, Any]] = {}
    value = rows_of(data)
    posted = [r for v in value for key in ("post", "patch") for r in v.get(key, ())] or value
    for run in posted:
        key = str(run.get("dotted_order") or run.get("id"))
        runs[key] = {**runs.get(key, {}), **{k: v for k, v in run.items() if v}}
    for run in runs.values():
        if run.get("run_type") == "llm":
            body(run.get("inputs") or {}, found)
            outputs = run.get("outputs") or {}
            found.usage += bool(outputs.get("usage_metadata") or outputs.get("usage"))
            reply({k: v for k, v in outputs.items() if not k.startswith("usage")}, found)


def aider_llm(data: bytes, found: Counts) -> None:
    found.messages += len(re.findall(rb"^LLM RESPONSE ", data, re.MULTILINE))


def aider_chat(data: bytes, found: Counts) -> None:
    speaker = ""
    for line in data.decode().split("\n"):
        who = (
            "user"
            if line.startswith("#### ")
            else "shown"
            if line.startswith(("> ", ">", "# aider chat"))
            else "assistant"
        )
        if not line.strip():
            continue
        found.messages += who != speaker and who != "shown"
        found.usage += who == "shown" and "Tokens:" in line
        speaker = who


def specstory(data: bytes, found: Counts) -> None:
    """Headings and tags at the start of lines, outside of a tool's block."""
    inside = False
    for line in data.decode().split("\n"):
        if line.startswith("<tool-use"):
            inside = True
            found.calls += 1
        elif not inside and re.match(
            r"_\*\*(User|Agent|Assistant).*\*\*_\s*$|\*\*(User|Cursor)\*\*\s*$", line
        ):
            found.messages += 1
        if "</tool-use>" in line:
            inside = False


def gemini_chat(data: bytes, found: Counts) -> None:
    """Changes and rewinds carried out, then message by message; a call holds its result."""
    kept: dict[Any, Any] = {}
    try:
        value = json.loads(data)
    except ValueError:
        value = None
    if isinstance(value, dict):
        kept = dict(enumerate(value.get("messages", value.get("history")) or ()))
    else:
        for number, line in enumerate(lines_of(data)):
            changed = (line.get("$set") or {}).get("messages") or ()
            if "$rewindTo" in line:
                names = list(kept)
                if line["$rewindTo"] in names:
                    kept = {name: kept[name] for name in names[: names.index(line["$rewindTo"])]}
            for said in changed:
                kept[said.get("id")] = said
            if "$set" not in line and ("type" in line or "role" in line):
                kept[line.get("id") or -number] = line
    for said in kept.values():
        role = str(said.get("type") or said.get("role"))
        if role not in ("user", "gemini", "model", "assistant"):
            continue
        calls = said.get("toolCalls") or ()
        found.messages += bool(
            said.get("content") or said.get("parts") or calls or said.get("thoughts")
        )
        found.calls += len(calls)
        found.results += sum(call.get("result") is not None for call in calls)
        found.usage += bool(said.get("tokens")) and role != "user"


def copilot(data: bytes, found: Counts) -> None:
    for line in lines_of(data):
        kind, given = line.get("type"), line.get("data") or {}
        found.results += kind == "tool.execution_complete"
        found.usage += kind == "assistant.usage" or bool(given.get("outputTokens"))
        if kind in ("user.message", "system.message", "assistant.message"):
            calls = len(given.get("toolRequests") or ())
            found.calls += calls
            found.messages += bool(given.get("content") or calls or given.get("reasoningText"))
        found.messages += kind == "assistant.reasoning"


def antigravity(data: bytes, found: Counts) -> None:
    """What a planner asks for, and what the tools' steps say; an output may have no call."""
    asked = answered = 0
    for line in lines_of(data):
        kind = line.get("type")
        calls = len(line.get("tool_calls") or ())
        asked += calls
        if kind == "PLANNER_RESPONSE" or kind == "USER_INPUT":
            found.messages += bool(line.get("content") or line.get("thinking") or calls)
        elif line.get("source") == "MODEL":
            found.results += 1
            answered += 1
        elif line.get("content") and kind != "CHECKPOINT":
            found.messages += 1
    found.calls += max(asked, answered)


def kimi(data: bytes, found: Counts) -> None:
    text = data.decode()
    found.calls += len(re.findall(r'"event": ?\{"type": ?"tool\.call"', text))
    found.results += len(re.findall(r'"event": ?\{"type": ?"tool\.result"', text))
    found.usage += len(re.findall(r'^\{"type": ?"usage\.record"', text, re.MULTILINE))


def atif(data: bytes, found: Counts) -> None:
    for step in json.loads(data)["steps"]:
        calls = step.get("tool_calls") or ()
        results = (step.get("observation") or {}).get("results") or ()
        found.calls += len(calls)
        found.results += len(results)
        found.messages += bool(step.get("message") or calls or step.get("reasoning_content"))
        found.usage += bool(step.get("metrics")) and step["source"] == "agent"


def native(data: bytes, found: Counts) -> None:
    for session in rows_of(data):
        for said in session.get("messages", ()):
            kinds = [part["type"] for part in said.get("parts", ())]
            found.calls += kinds.count("tool_call")
            found.results += kinds.count("tool_result")
            found.messages += said["role"] != "tool" and bool(kinds)
        found.usage += sum(bool(record.get("usage")) for record in session.get("requests", ()))


def inspect(data: bytes, found: Counts) -> None:
    if data[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = [name for name in archive.namelist() if name.startswith("samples/")]
            samples = [json.loads(archive.read(name)) for name in names]
    else:
        samples = json.loads(data).get("samples") or []
    for sample in samples:
        messages(sample.get("messages") or [], found)


def tau(data: bytes, found: Counts) -> None:
    for episode in json.loads(data):
        messages(episode["traj"], found)


def ticks(data: bytes, found: Counts) -> None:
    """A speaker's words are one message until the other one's, or a result."""
    value, before = json.loads(data), ""
    for run in value.get("simulations", [value]):
        for tick in run["ticks"]:
            agent, user = (tick[f"{who}_chunk"].get("content") for who in ("agent", "user"))
            calls = tick.get("agent_tool_calls") or []
            for who, said in (("agent", agent or calls), ("user", tick.get("user_transcript"))):
                said = said or (user if who == "user" else None)
                found.messages += bool(said) and before != who
                before = who if said else before
            found.calls += len(calls)
            results = tick.get("agent_tool_results") or []
            found.results += len(results)
            before = "tool" if results else before


def swe(data: bytes, found: Counts) -> None:
    value = json.loads(data)
    messages(value["history"] if isinstance(value, dict) and "history" in value else value, found)


def mini_swe(data: bytes, found: Counts) -> None:
    value = json.loads(data)
    messages(value["messages"] if isinstance(value, dict) else value, found)


def swe_demo(data: bytes, found: Counts) -> None:
    """An answer is what stands between two outputs."""
    for run in json.loads(data):
        found.messages += bool(run["issue_text"])
        answers: list[list[Any]] = [[]]
        for step in run["history"]:
            found.calls += step["type"] == "action"
            found.results += step["type"] == "output"
            answers = [*answers, []] if step["type"] == "output" else answers
            answers[-1] += [step] if step.get("thought") or step.get("action") else []
        found.messages += sum(map(bool, answers))


def agent_sdk(data: bytes, found: Counts) -> None:
    value = yaml.safe_load(data)
    before = None
    found.messages += bool(value.get("prompt"))
    for message in value["messages"]:
        kinds = [block["type"] for block in message.get("content") or ()]
        found.calls += kinds.count("ToolUseBlock")
        found.results += kinds.count("ToolResultBlock")
        found.usage += bool(message.get("usage"))
        speaker = message["type"], message.get("parent_tool_use_id")
        found.messages += "TextBlock" in kinds and speaker != before
        before = speaker


def one_exchange(data: bytes, found: Counts) -> None:
    """The request and the reply of OpenHands' log of one call."""
    value = json.loads(data)
    for messages_, gave in (
        (value["messages"], value.get("response")),
        (value.get("raw_messages"), value.get("raw_response")),
    ):
        if messages_ and (messages_ is value["messages"] or messages_ != value["messages"]):
            messages(messages_, found)
            reply(gave, found)


# traces and recorded HTTP: where one conversation's requests repeat one another, the last counts


def longest(bodies: list[Any], found: Counts) -> None:
    """The messages of the request that holds the others."""
    known = [each for each in bodies if isinstance(each, dict)]
    if known:
        body(max(known, key=lambda each: len(json.dumps(each))), found)


def replied(data: Any, found: Counts, last: bool = True) -> None:
    """A reply's bytes: a whole one, or a stream, of which the frames with text or calls tell."""
    text = data if isinstance(data, str) else json.dumps(data)
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    one = Counts()
    if isinstance(value, dict):
        reply(value, one)
    else:
        frames = [line.removeprefix("data: ") for line in text.split("\n")]
        one.messages = int(any('"content"' in frame or '"text"' in frame for frame in frames))
        one.usage = int(any('"usage": {' in frame or "usageMetadata" in frame for frame in frames))
    found.usage += one.usage
    if last:
        found.messages += one.messages
        found.calls += one.calls


def har(data: bytes, found: Counts) -> None:
    entries = json.loads(data)["log"]["entries"]
    longest([json.loads(each["request"]["postData"]["text"]) for each in entries], found)
    for number, each in enumerate(entries, 1):
        replied(each["response"]["content"]["text"], found, number == len(entries))


def nock(data: bytes, found: Counts) -> None:
    items_ = json.loads(data)
    longest([each["body"] for each in items_], found)
    for number, each in enumerate(items_, 1):
        replied(bytes.fromhex("".join(each["response"])).decode(), found, number == len(items_))


def llama_stack(data: bytes, found: Counts) -> None:
    value = json.loads(data)
    longest([value["request"]["body"]], found)
    frames = [json.dumps(chunk["__data__"]) for chunk in value["response"]["body"]]
    replied("\n".join(frames), found)


def vcr(data: bytes, found: Counts) -> None:
    import yaml

    exchanges = yaml.safe_load(data)["interactions"]
    longest([json.loads(each["request"]["body"]) for each in exchanges], found)
    for number, each in enumerate(exchanges, 1):
        replied(each["response"]["body"]["string"], found, number == len(exchanges))


def copilot_sdk(data: bytes, found: Counts) -> None:
    longest([each for each in yaml.safe_load(data)["conversations"]], found)


def httprr(data: bytes, found: Counts) -> None:
    asked = re.findall(rb"\r\n\r\n(\{.*?\})HTTP/", data, re.DOTALL)
    longest([json.loads(each) for each in asked], found)
    replies = re.findall(rb"HTTP/1\.1 200 OK\r\n.*?\r\n\r\n(.*?)(?=\r\n0\r\n)", data, re.DOTALL)
    for number, each in enumerate(replies, 1):
        replied(each.decode(), found, number == len(replies))


def httpmock(data: bytes, found: Counts) -> None:
    import yaml

    documents = list(yaml.safe_load_all(data))
    longest([json.loads(each["when"]["body"]) for each in documents], found)
    for number, each in enumerate(documents, 1):
        replied(each["then"]["body"], found, number == len(documents))


def atof(data: bytes, found: Counts) -> None:
    events = list(lines_of(data))
    asked = [each["data"] for each in events if each["category"] == "llm"]
    longest(asked[::2], found)
    found.messages += 1
    found.usage += sum("usage" in each for each in asked[1::2])


def agents_run(data: bytes, found: Counts) -> None:
    state = json.loads(data)
    found.messages += 1  # what was asked
    for response in state["model_responses"]:
        kinds = [item["type"] for item in response["output"]]
        found.messages += 1
        found.calls += kinds.count("function_call")
        found.usage += any(response["usage"].values())
    made = [item["raw_item"]["type"] for item in state["generated_items"]]
    found.results += made.count("function_call_output")


def request_rows(data: bytes, found: Counts) -> None:
    values = list(lines_of(data))
    longest([each["request"]["body"] for each in values], found)
    for number, each in enumerate(values, 1):
        came = each["response"]
        frames = "\n".join(json.dumps(event) for event in came.get("sse_events", ()))
        replied(frames or came["body"], found, number == len(values))


def langfuse(data: bytes, found: Counts) -> None:
    for each in json.loads(data)["observations"]:
        if each["type"] == "GENERATION":
            body(json.loads(each["input"]), found)
            message(json.loads(each["output"]), found)
            found.usage += bool(each.get("usage"))


def openinference(data: bytes, found: Counts) -> None:
    for span in json.loads(data)["spans"]:
        for key, value in span["attributes"].items():
            is_role = re.fullmatch(r"llm\.(in|out)put_messages\.\d+\.message\.role", key)
            found.messages += bool(is_role) and value != "tool"
            found.results += bool(is_role) and value == "tool"
            found.calls += key.endswith(".tool_call.function.name")
        found.usage += any(key.startswith("llm.token_count.") for key in span["attributes"])


def otel(data: bytes, found: Counts) -> None:
    for resource in json.loads(data)["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                pairs = {pair["key"]: pair["value"] for pair in span["attributes"]}
                for key in ("gen_ai.input.messages", "gen_ai.output.messages"):
                    messages_of_otel(json.loads(pairs[key]["stringValue"]), found)
                found.usage += any(key.startswith("gen_ai.usage.") for key in pairs)


def ai_sdk(data: bytes, found: Counts) -> None:
    """The requests' spans alone: those of the program's calls hold the same again."""
    for span in json.loads(data):
        given = span["attributes"]
        if "ai.prompt.messages" not in given:
            continue
        for value in json.loads(given["ai.prompt.messages"]):
            kinds = [part["type"] for part in value["content"]]
            found.messages += value["role"] != "tool"
            found.calls += kinds.count("tool-call")
            found.results += kinds.count("tool-result")
        found.messages += "ai.response.text" in given or "ai.response.toolCalls" in given
        found.calls += len(json.loads(given.get("ai.response.toolCalls", "[]")))
        found.usage += any(key.startswith("ai.usage.") for key in given)


def pydantic_ai(data: bytes, found: Counts) -> None:
    """A response is a message; of a request each run of prompts of one role is."""
    for value in json.loads(data):
        kinds = [part["part_kind"] for part in value["parts"]]
        found.results += sum(kind.endswith("tool-return") for kind in kinds)
        found.calls += sum(kind.endswith("tool-call") for kind in kinds)
        said = [kind for kind in kinds if kind.endswith("-prompt")]
        found.messages += value["kind"] == "response" or len(set(said))
        found.usage += bool(value.get("usage"))


def messages_of_otel(values: list[Any], found: Counts) -> None:
    for value in values:
        kinds = [part["type"] for part in value["parts"]]
        found.calls += kinds.count("tool_call")
        found.results += kinds.count("tool_call_response")
        found.messages += any(kind != "tool_call_response" for kind in kinds)


def openhands(data: bytes, found: Counts) -> None:
    """Messages, and actions with the observations that they caused."""
    values = rows_of(data)
    events = [e for v in values for e in v.get("history", ())] if "history" in values[0] else values
    for event in events:
        found.results += "observation" in event
        if event.get("action") == "message":
            found.messages += 1
        elif "action" in event:
            found.messages += 1
            found.calls += 1
            tool = event.get("tool_call_metadata") or {}
            found.usage += bool((tool.get("model_response") or {}).get("usage"))


def openhands_sdk(data: bytes, found: Counts) -> None:
    """The calls of one answer are one message."""
    for event in rows_of(data):
        kind = event.get("kind")
        answer = str(event.get("llm_response_id") or event.get("id"))
        found.calls += kind == "ActionEvent"
        found.results += kind in ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation")
        if kind == "ActionEvent":
            found.messages += answer not in found.answers
            found.answers.add(answer)
        elif kind == "MessageEvent":
            message(event["llm_message"], found)
        elif kind in ("SystemPromptEvent", "Condensation"):
            found.messages += bool(event.get("system_prompt") or event.get("summary"))


def gemini_responses(data: bytes, found: Counts) -> None:
    for line in lines_of(data):
        found.messages += 1
        found.usage += any(chunk.get("usageMetadata") for chunk in line["response"])


def any_chat(data: bytes, found: Counts) -> None:
    for chat in json.loads(data)["chats"]:
        messages(chat["log"], found)


def cline(files: dict[str, bytes], found: Counts) -> None:
    for name, data in files.items():
        if name.endswith("api_conversation_history.json"):
            messages(json.loads(data), found)
        elif name.endswith("ui_messages.json"):
            found.usage += sum("api_req_started" in str(said) for said in json.loads(data))


def opencode(files: dict[str, bytes], found: Counts) -> None:
    for name, data in files.items():
        value = json.loads(data)
        found.usage += name.startswith("message/") and bool(value.get("tokens"))
        found.messages += name.startswith("message/")
        if value.get("type") == "tool":
            found.calls += 1
            found.results += "output" in value["state"]


def copilot_chat(data: bytes, found: Counts) -> None:
    """Rounds are answers; where there are none, what the window shows between calls is one."""
    for request in json.loads(data)["requests"]:
        found.messages += bool(request["message"].get("text"))
        about = (request.get("result") or {}).get("metadata") or {}
        results = about.get("toolCallResults") or {}
        rounds = about.get("toolCallRounds") or []
        for each in rounds:
            found.messages += bool(each.get("response") or each["toolCalls"])
            found.calls += len(each["toolCalls"])
            found.results += sum(call["id"] in results for call in each["toolCalls"])
        if not rounds:
            shown: dict[str, str] = {}
            for index, item in enumerate(request.get("response") or ()):
                kind = item.get("kind")
                if kind == "toolInvocationSerialized":
                    shown[str(item.get("toolCallId"))] = "call"
                elif kind is None:
                    shown[str(index)] = "text"
            order = list(shown.values())
            found.calls += order.count("call")
            found.results += order.count("call")
            ends = [i for i, kind in enumerate(order) if kind == "call" or i == len(order) - 1]
            found.messages += len(ends)
        found.usage += "promptTokens" in about


def zed(data: bytes, found: Counts) -> None:
    value = json.loads(data)
    users = set()
    for said in value["messages"]:
        for kind, inner in said.items():
            found.messages += bool(inner["content"])
            found.calls += sum("ToolUse" in part for part in inner["content"])
            found.results += len(inner.get("tool_results") or ())
            users |= {inner["id"]} if kind == "User" else set()
    found.usage += len(users & set(value.get("request_token_usage") or ()))


def librechat(data: bytes, found: Counts) -> None:
    """One branch: an answer is cut where a call's result stands in it."""
    waiting = list(json.loads(data)["messagesTree"])
    while waiting:
        said = waiting.pop()
        waiting += said.get("children") or ()
        speaking = False
        for block in said.get("content") or [{"type": "text", "text": said["text"]}]:
            found.messages += not speaking
            called = block["type"] == "tool_call"
            found.calls += called
            found.results += called and "output" in block["tool_call"]
            speaking = not called


def lm_studio(data: bytes, found: Counts) -> None:
    for said in json.loads(data)["messages"]:
        version = said["versions"][said["currentlySelected"]]
        speaking = False
        for step in version.get("steps") or [version]:
            for block in step.get("content") or ():
                is_result = block["type"] == "toolCallResult"
                found.results += is_result
                found.calls += block["type"] == "toolCallRequest"
                found.messages += not is_result and not speaking
                speaking = not is_result
            found.usage += "genInfo" in step


def llm_logs(data: bytes, found: Counts) -> None:
    for row in json.loads(data):
        found.messages += bool(row["prompt"]) + bool(row["response"] or row["tool_calls"])
        found.calls += len(row["tool_calls"])
        found.results += len(row["tool_results"])
        found.usage += isinstance(row.get("input_tokens"), int)


def openai_list(data: bytes, found: Counts) -> None:
    """A call is an item of its own, and belongs to the answer that was begun before it."""
    for item in json.loads(data)["data"]:
        found.results += item["type"] == "function_call_output"
        found.calls += item["type"] == "function_call"
        found.messages += item["type"] == "message"


def a2a_task(data: bytes, found: Counts) -> None:
    value = json.loads(data)
    task = value.get("result", value)
    for said in [*task["history"], *task.get("artifacts", [])]:
        kinds = [part.get("metadata", {}).get("adk_type") for part in said["parts"]]
        found.calls += kinds.count("function_call")
        found.results += kinds.count("function_response")
        found.messages += any(kind != "function_response" for kind in kinds)
    found.usage += "adk_usage_metadata" in task.get("metadata", {})


def ai_studio(data: bytes, found: Counts) -> None:
    """Pieces of the model in a row are one message."""
    before = ""
    for chunk in json.loads(data)["chunkedPrompt"]["chunks"]:
        parts = [*chunk.get("parts", ()), chunk]
        calls = sum("functionCall" in part or "executableCode" in part for part in parts)
        results = sum("functionResponse" in p or "codeExecutionResult" in p for p in parts)
        found.calls += calls
        found.results += results
        said = bool(calls or any(part.get("text") for part in parts))
        role = "tool" if results and not said else chunk["role"]
        found.messages += said and not (role == before == "model")
        before = "tool" if results else role


def adk_eval(data: bytes, found: Counts) -> None:
    for case in json.loads(data)["eval_cases"]:
        for turn in case["conversation"]:
            between = turn["intermediate_data"]
            calls = between["tool_uses"]
            found.messages += bool(turn["user_content"]) + bool(turn["final_response"])
            found.messages += bool(calls or between["intermediate_responses"])
            found.calls += len(calls)
            found.results += len(between.get("tool_responses") or ())


def one_call(data: bytes, found: Counts) -> None:
    """A trace of one model call: its messages, then its reply, wherever JSON in text holds them."""
    waiting: list[Any] = rows_of(data)
    while waiting:
        value = waiting.pop()
        if isinstance(value, str) and value[:1] in ("{", "["):
            waiting.append(json.loads(value))
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, dict) and "role" in value:
            message(value, found)
        elif isinstance(value, dict):
            waiting += value.values()
            found.usage += bool({"usage", "$ai_input_tokens"} & value.keys())


Walk = Callable[[bytes, Counts], None]
WALKS: dict[str, Walk] = {
    "playground": native,
    "atif": atif,
    "inspect-log": inspect,
    "tau-bench": tau,
    "openhands-sdk": openhands_sdk,
    "tau2-ticks": ticks,
    "swe-agent": swe,
    "mini-swe-agent": mini_swe,
    "openhands-llm-log": one_exchange,
    "claude-code": claude_lines,
    "claude-stream-json": claude_lines,
    "codex-rollout": codex_rollout,
    "codex-exec": codex_exec,
    "gemini-cli-chat": gemini_chat,
    "gemini-stream-json": gemini_stream,
    "antigravity": antigravity,
    "kimi-wire": kimi,
    "copilot-cli": copilot,
    "chatgpt-export": chatgpt,
    "claude-ai-export": claude_ai,
    "pi-session": pi,
    "goose": goose,
    "managed-agent-events": managed,
    "opencode-export": opencode_export,
    "langsmith-runs": langsmith,
    "aider-llm-history": aider_llm,
    "aider-chat-history": aider_chat,
    "specstory": specstory,
    "sharegpt": sharegpt,
    "xlam": xlam,
    "glaive": glaive,
    "alpaca": alpaca,
    "openai-lines": chat_rows,
    "message-lines": message_lines,
    "openai-chat": document,
    "anthropic-messages": document,
    "gemini-contents": document,
    "reply": lambda data, found: reply(json.loads(data), found),
}
# Walks of one conversation: they know the least that a tool writes, as the examples are.
SMALL_WALKS: dict[str, Walk] = {
    "swe-agent-demo": swe_demo,
    "claude-agent-sdk": agent_sdk,
    "har": har,
    "nock": nock,
    "llama-stack-recording": llama_stack,
    "httprr": httprr,
    "copilot-sdk": copilot_sdk,
    "vcr-cassette": vcr,
    "httpmock": httpmock,
    "atof": atof,
    "openai-agents-run": agents_run,
    "request-rows": request_rows,
    "langfuse-trace": langfuse,
    "openinference-spans": openinference,
    "ai-sdk-spans": ai_sdk,
    "pydantic-ai-messages": pydantic_ai,
    "otel-spans": otel,
    "openhands-events": openhands,
    "openhands-output": openhands,
    "gemini-cli-responses": gemini_responses,
    "any-chat": any_chat,
    "copilot-chat": copilot_chat,
    "zed-thread": zed,
    "librechat": librechat,
    "lm-studio": lm_studio,
    "llm-logs": llm_logs,
    "openai-lists": openai_list,
    "ai-studio": ai_studio,
    "adk-eval": adk_eval,
    "a2a-task": a2a_task,
    "mlflow-trace": one_call,
    "weave-calls": one_call,
    "posthog-events": one_call,
    "stream": lambda data, found: replied(data.decode(), found),
}
FOLDER_WALKS: dict[str, Callable[[dict[str, bytes], Counts], None]] = {
    "cline-task": cline,
    "opencode": opencode,
}
# What a walk leaves uncounted, since the raw file says it in no one place: messages that several
# requests repeat, or usage that stands in a stream.
UNCOUNTED: dict[str, set[str]] = {
    "kimi-wire": {"messages"},
    "antigravity": {"messages", "calls"},
    "aider-llm-history": {"messages"},
    "specstory": {"messages", "results"},
    "codex-rollout": {"usage"},
    "inspect-log": {"usage"},
    "message-lines": {"usage"},
    "chatgpt-export": {"messages"},
}


def raw_counts(data: bytes, form: str) -> Counts | None:
    """The counts of a file of this format; None where no walk knows it."""
    walk = WALKS.get(form)
    if walk is None:
        return None
    found = Counts()
    walk(data, found)
    return found


def any_counts(value: Any, found: Counts | None = None) -> Counts:
    """Calls and results anywhere in a JSON value, without knowing its format: a lower bound to
    look for what an importer overlooked."""
    found = found or Counts()
    if isinstance(value, list):
        for item in value:
            any_counts(item, found)
    elif isinstance(value, dict):
        kind, role = value.get("type"), value.get("role")
        if kind in RESULT_TYPES or role in TOOL_ROLES:
            found.results += 1
            return found
        if kind in CALL_TYPES:
            found.calls += 1
            return found
        for item in value.values():
            any_counts(item, found)
    return found
