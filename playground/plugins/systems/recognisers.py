"""Recognise the files of other systems: signatures, agents, prompts and conversation templates.

Each recogniser gets any text that a user pasted or dropped, with the name of its file or "", and
answers only if the text is clearly of the recogniser's kind. The code in a file is never run.
"""

from __future__ import annotations

import json
import re
from typing import Final

from playground.base.errors import InputFault
from playground.base.wording import counted
from playground.questions.recognised_documents import Recognised
from playground.sessions.bounded import read_yaml
from playground.sessions.pasted import in_a_fence

_MOST_CHARACTERS: Final = 1_000_000  # a larger file is taken for a conversation
_LINE: Final = re.compile(r"[\w\s,:.\[\]|'\"]+->[\w\s,:.\[\]|'\"]+")
_TEMPLATE_ROLE: Final = re.compile(
    r"""["']role["']:\s*["'](?:default-request|request|truncate)["']"""
)
_YAML: Final = re.compile(r"^[ \t]*(?:-[ \t]*)?[\w.\"'-]{1,200}:", re.M)

# Signs of conversation templates in broken YAML: if they match, the YAML's fault is reported.
_TEMPLATES: Final = re.compile(
    r"(?m)^(?:default|new-conversation):[ \t]*\n[ \t]*-|"
    r"^[ \t]*-[ \t]*\{?[ \t]*role:[ \t]*[\"']?(?:default-request|request|truncate)\b"
)
_DECLARED: Final = re.compile(
    r"(?m)^(?:prompts|agents|chat_model_setups):[ \t]*\n[ \t]*-[ \t]*\{?[ \t]*name:"
)
_CONVENTIONAL_NAMES: Final = {"default", "new-conversation"}  # of the templates of a set


def recognise_signature(text: str, name: str) -> Recognised | None:
    """Recognise a DSPy signature: one line, or a class."""
    source = _source(text)
    is_line = "->" in source and "\n" not in source.strip() and bool(_LINE.fullmatch(source))
    if not is_line and "InputField" not in source:
        return None
    from playground.plugins.systems.dspy.signature_source import read_signature, signature_classes

    try:
        classes = signature_classes(source)
    except InputFault as fault:
        return _broken("a DSPy signature", fault)
    if not is_line and not classes:
        return None
    try:
        signature = read_signature(source)
    except InputFault as fault:
        return None if not classes else _broken("a DSPy signature", fault)
    fields = f"{', '.join(signature.inputs)} -> {', '.join(signature.outputs)}"
    more = f"; the first of {len(classes)} classes" if len(classes) > 1 else ""
    title = f"DSPy signature {classes[0].name}: {fields}" if classes else f"signature: {fields}"
    key = "signature class" if classes else "signature"
    inputs = {k: f"({k})" for k, field in signature.inputs.items() if field.annotation is str}
    return Recognised(
        "signature",
        title + more,
        offer="Open the signature",
        page="signatures",
        view=(
            ("signature class", ""),
            (key, source.strip()),
            ("signature inputs", json.dumps(inputs)),
            ("signature demos", "[]"),
        ),
    )


def recognise_agents(text: str, name: str) -> Recognised | None:
    """Recognise the source of Flink-Agents' agents, and count the first agent's declarations."""
    source = _source(text)
    if not ("@" in source or "ReActAgent(" in source) or len(source) > _MOST_CHARACTERS:
        return None
    from playground.plugins.systems.flink_agents.agent_source import agents_in

    try:
        agents = agents_in(source)
    except InputFault as fault:
        return _broken("a Flink-Agents agent", fault)
    if not agents or not any(agent.prompts or agent.actions or agent.models for agent in agents):
        return None
    first = agents[0]
    counts = ", ".join(counted(number, noun) for noun, number in first.counts().items() if number)
    more = f"; the first of {len(agents)} agents" if len(agents) > 1 else ""
    unread = [line for agent in agents for line in agent.unread]
    has_prompts = any(agent.prompts for agent in agents)
    if not has_prompts:
        unread.append(f"{first.name}: the file holds no prompt; pg.agents runs it in Python")
    return Recognised(
        "agent",
        f"Flink-Agents agent {first.name}: {counts}{more}",
        name=name if name.endswith(".py") else "agent.py",
        data=source.encode("utf-8", "surrogatepass"),
        unread=tuple(unread),
        tools=sum(len(agent.tools) for agent in agents),
        offer="Open its prompts",
        page="prompts" if has_prompts else "",
        view=(("prompt template", source),),
    )


def recognise_yaml(text: str, name: str) -> Recognised | None:
    """Recognise conversation templates and their histories, and Flink-Agents' declarations."""
    source = _source(text)
    if len(source) > _MOST_CHARACTERS:
        return None
    first = source.lstrip()[:1]
    may_match = bool(_TEMPLATE_ROLE.search(source)) if first in ("{", "[") else _YAML.search(source)
    if first == "<" or not may_match:
        return None
    try:
        value = read_yaml(source, name or "pasted")  # JSON, too
    except InputFault as fault:
        if first in ("{", "["):
            return None  # the reader of JSON reports the fault
        if _TEMPLATES.search(source):
            return _broken("conversation templates", fault)
        return _broken("Flink-Agents declarations", fault) if _DECLARED.search(source) else None
    if isinstance(value, dict) and any(
        _are_named(value.get(key)) for key in ("prompts", "agents", "chat_model_setups")
    ):
        return _declarations(value, source)
    return _templates(value, source, name)


def _are_named(items: object) -> bool:
    return isinstance(items, list) and all(isinstance(i, dict) and "name" in i for i in items)


_NOUNS: Final = {"chat_model_setups": "chat model", "chat_model_connections": "connection"}


def _declarations(value: dict[object, object], source: str) -> Recognised:
    """Recognise the declarations of a Flink-Agents file and of its agents; list their names."""
    from playground.plugins.systems.flink_agents.declarations import holders_of
    from playground.plugins.systems.flink_agents.views import read_prompts

    names: dict[str, list[str]] = {}
    unread: list[str] = []
    for place, holder in holders_of(value):
        for key, items in holder.items():
            if isinstance(items, list):
                listed = [str(i.get("name") if isinstance(i, dict) else i) for i in items]
                names.setdefault(str(key), []).extend(listed)
                if listed and key not in ("agents", "prompts"):
                    unread.append(f"{place}{key}: {', '.join(listed)}: {_why_unread(str(key))}")
    counts = [
        counted(len(listed), _NOUNS.get(key) or key.removesuffix("s").replace("_", " "))
        for key, listed in names.items()
        if listed
    ]
    try:
        prompts = read_prompts(source)
    except InputFault as fault:
        unread.append(str(fault))
        prompts = {}
    return Recognised(
        "agent",
        f"Flink-Agents declarations: {', '.join(counts)}",
        data=source.encode("utf-8", "surrogatepass"),
        unread=tuple(unread),
        offer="Open its prompts",
        page="prompts" if prompts else "",
        view=(("prompt template", source),),
    )


def _why_unread(key: str) -> str:
    match key:
        case "tools" | "actions":
            return "the functions are in another file"
        case "chat_model_setups" | "chat_model_connections":
            return "only the name is read; the prompts are sent to a model that you choose"
    return "needs Flink-Agents itself"


def _templates(value: object, source: str, name: str) -> Recognised | None:
    """Recognise conversation templates by their names, roles that no chat format has, or `{{`."""
    lists = list(value.values()) if isinstance(value, dict) else [value]
    messages = [m for items in lists if isinstance(items, list) for m in items]
    if not messages or not all(isinstance(m, dict) for m in messages):
        return None
    is_certain = any(m.get("role") in ("default-request", "request", "truncate") for m in messages)
    if isinstance(value, dict) and _CONVENTIONAL_NAMES & value.keys():
        is_certain |= any("role" in m for m in messages)
    if not is_certain and not (
        "{{" in source and all(isinstance(m.get("role"), str) for m in messages)
    ):
        return None  # messages of a conversation
    from playground.plugins.systems.aichatflow import parse_templates

    if isinstance(value, list) and is_certain and messages[-1].get("role") == "assistant":
        return _history(messages, source)
    file_name = name or "pasted.yaml"
    try:
        names = list(parse_templates(source, file_name))
    except InputFault as fault:
        return _broken("conversation templates", fault)
    return Recognised(
        "templates",
        f"{counted(len(names), 'conversation template')}: {', '.join(names)}",
        name=file_name,
        data=source.encode("utf-8", "surrogatepass"),
        offer="Run the templates",
        page="formats",
        view=(("brought template set", source), ("brought template name", file_name)),
    )


def _history(messages: list[dict[str, object]], source: str) -> Recognised:
    """Recognise the history that a run of templates returned; it ends with a model's answer."""
    return Recognised(
        "templates",
        f"history of conversation templates: {counted(len(messages), 'message')}",
        data=source.encode("utf-8", "surrogatepass"),
        offer="Go on from it",
        page="formats",
        view=(("brought template history", json.dumps(messages, ensure_ascii=False, indent=1)),),
    )


def _broken(what: str, fault: InputFault) -> Recognised:
    """Recognise a text that looks like a known kind but cannot be read, with the reason."""
    title = f"{what} that cannot be read"
    return Recognised("nothing", title, unread=(str(fault),), may_be_reply=True)


def _source(text: str) -> str:
    """Return a text without the code fence around it, if there is one."""
    fenced = in_a_fence(text)
    return fenced[1] if fenced else text
