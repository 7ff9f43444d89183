"""What somebody brings is recognised by its content, and what cannot be read is said."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

import pytest
import yaml
from golden_answers import Golden, plain
from terminals import run
from wires import FRAMINGS, WRITERS, Said

from playground.base import paths
from playground.dialects import get_dialect
from playground.nouns.messages import ToolCallPart
from playground.questions.recognised_documents import Kind
from playground.questions.recognition import recognise
from playground.sessions.loading import first_session, load_sessions, read_sessions
from playground.sessions.pasted import unwrapped
from playground.sessions.source import Source

BODY = {
    "model": "gpt-5",
    "messages": [
        {"role": "system", "content": "You keep the harbour."},
        {"role": "user", "content": "It's high tide?"},
    ],
    "tools": [
        {
            "type": "function",
            "function": {"name": "get_tides", "description": "Tides.", "parameters": {}},
        }
    ],
}
TEXT = json.dumps(BODY)
REQUEST = "OpenAI request: system prompt, 1 message, 1 tool"
NO_CALL = "a reply of {} characters, in which no dialect reads a call, or a system prompt"
ANTHROPIC = {
    "model": "claude-sonnet-4-5",
    "system": "Be brief.",
    "messages": [{"role": "user", "content": "Hi"}],
}
CALL = ToolCallPart("call_00001", "get_tides", {"harbour": "Brest"})
SPOILED = TEXT.replace(": ", " ", 1)
QUOTED = TEXT.replace("'", "'\\''")
DOLLAR = TEXT.replace("\\", "\\\\").replace("'", "\\'")
DOUBLE = TEXT.replace("\\", "\\\\").replace('"', '\\"')
PYTHON_CALL = f"""
from openai import OpenAI
client = OpenAI(api_key=os.environ["KEY"])
messages = {BODY["messages"]!r}
reply = client.chat.completions.create(
    model="gpt-5", messages=messages, tools={BODY["tools"]!r}, user=who()
)
"""
FUNCTION = 'def get_tides(harbour: str) -> str:\n    """The tides of a harbour."""\n'
CASSETTE = """\
interactions:
- request: {method: POST, uri: https://x.com/v1/conversations/c/items, body: '{"items": []}'}
  response: {body: {string: '{"object": "list", "data": []}'}, status: {code: 200, message: OK}}
version: 1
"""

KNOWN: list[tuple[str, str, Kind, str]] = [
    ("a body", TEXT, "session", REQUEST),
    ("a body, indented", json.dumps(BODY, indent=2), "session", REQUEST),
    ("in a fence", f"```json\n{TEXT}\n```\n", "session", f"{REQUEST} (in a code fence)"),
    ("curl", f"curl https://x/v1 -H 'A: b' -d '{QUOTED}'", "session", f"{REQUEST} (in curl)"),
    (
        "curl of a browser",
        f"curl 'https://x/v1' \\\n  -H 'A: b' \\\n  --data-raw $'{DOLLAR}' \\\n  --compressed",
        "session",
        f"{REQUEST} (in curl)",
    ),
    ("curl, double", f'$ curl https://x --json "{DOUBLE}"', "session", f"{REQUEST} (in curl)"),
    ("curl, one word", f"curl https://x --data='{QUOTED}'", "session", f"{REQUEST} (in curl)"),
    ("a dict", repr(BODY), "session", f"{REQUEST} (in Python)"),
    ("an assignment", f"body = {BODY!r}", "session", f"{REQUEST} (in Python)"),
    ("a call", PYTHON_CALL, "session", f"{REQUEST} (in Python)"),
    ("requests", f"requests.post(url, json={BODY!r})", "session", f"{REQUEST} (in Python)"),
    (
        "messages",
        json.dumps(BODY["messages"]),
        "session",
        "messages: system prompt, 1 message",
    ),
    ("a message", '{"role": "user", "content": "Hi"}', "session", "messages: 1 message"),
    ("Anthropic", json.dumps(ANTHROPIC), "session", "Anthropic request: system prompt, 1 message"),
    ("tools", json.dumps(BODY["tools"]), "tools", "1 tool: get_tides"),
    ("a tool", json.dumps(BODY["tools"][0]), "tools", "1 tool: get_tides"),
    ("tools in Python", FUNCTION, "tools", "1 tool: get_tides"),
    ("tools in YAML", "- name: tide\n  description: High.\n", "tools", "1 tool: tide"),
    (
        "a template",
        "{% for m in messages %}{{ m.content }}{% endfor %}",
        "chat template",
        "chat template (Jinja), 50 characters",
    ),
    (
        "a tokenizer's file",
        json.dumps({"chat_template": "{{ messages }}", "bos_token": "<s>"}),
        "chat template",
        "chat template (tokenizer_config.json), 14 characters",
    ),
    (
        "a policy",
        '{"name": "tail", "marks": [{"role": "user"}]}',
        "policy",
        "cache policy tail: 1 mark",
    ),
    ("nothing", " \n", "nothing", "nothing: there is no text in it"),
    (
        "a body of Bedrock's Converse",
        '{"messages": [{"role": "user", "content": [{"text": "hi"}]}], "system": [{"text": "s"}]}',
        "session",
        "Bedrock Converse request: system prompt, 1 message",
    ),
    ("a cassette without a chat", CASSETTE, "nothing", "YAML in no form that is known here"),
    ("words", "Hello!", "reply", NO_CALL.format(6)),
    ("a body that is cut off", TEXT[:-9], "session", REQUEST),
    ("a broken body", SPOILED, "reply", "JSON that cannot be read"),
    (
        "another document",
        '{"a": 1}',
        "reply",
        "a JSON object in no form that is known here",
    ),
    (
        "curl of Windows' shell",
        'curl ^"https://x^" ^\r\n  -H ^"a: b^" ^\r\n  --data-raw ^"^{^\\^"messages^\\^":'
        '^[^{^\\^"role^\\^":^\\^"user^\\^",^\\^"content^\\^":^\\^"x^\\^"^}^]^}^"',
        "session",
        "OpenAI request: 1 message (in curl)",
    ),
    (
        "words about curl",
        "curl is what I would use here, it's simple.",
        "reply",
        NO_CALL.format(43),
    ),
    (
        "a call that is not well written as a command",
        'curl "https://x" fails.\n<tool_call>{"name": "f", "arguments": {}}</tool_call>',
        "reply",
        "a reply in hermes: 1 call",
    ),
    (
        "a call in a fence of whoever pasted it",
        '```xml\n<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>\n```',
        "reply",
        "a reply in hermes: 1 call (in a code fence)",
    ),
    (
        "a call as it stands inside a JSON string",
        r"<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>",
        "reply",
        "a reply in hermes: 1 call (in JSON's escapes)",
    ),
    (
        "a call whose JSON alone is escaped",  # as models write it, too
        '<tool_call>\n{\\"name\\": \\"f\\", \\"arguments\\": {}}\n</tool_call>',
        "reply",
        "a reply in hermes: 1 call",
    ),
    (
        "a stream in a log",
        "10:11:12,001 DEBUG httpx - data: "
        '{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hi"}}]}\n'
        "10:11:12,120 DEBUG httpx - data: [DONE]\n",
        "session",
        "stream: 1 message, 1 recording (in a log)",
    ),
    (
        "a call that is cut off",
        '<tool_call>\n{"name": "f", "arguments": {"a": ',
        "reply",
        "a reply in hermes: 1 aborted call",
    ),
    ("a call that is a fence", "```tool_code\nf(a=1)\n```", "reply", "a reply in gemma3: 1 call"),
    (
        "a call whose arguments are no schema",
        '{"name": "f", "parameters": {"city": "Paris"}}',
        "reply",
        "a reply in llama3-json: 1 call",
    ),
    (
        "a tool by its parameters alone",
        '{"name": "f", "parameters": {"city": {"type": "string"}}}',
        "tools",
        "1 tool: f",
    ),
    ("an open quote", "curl -d '{", "nothing", "a command that cannot be read"),
]


@pytest.mark.parametrize(
    ("text", "kind", "title"), [k[1:] for k in KNOWN], ids=[k[0] for k in KNOWN]
)
def test_a_text_is_known_by_its_content(text: str, kind: Kind, title: str, golden: Golden) -> None:
    found = recognise(text)
    assert (found.kind, found.title.partition(", or a reply of ")[0]) == (kind, title)
    assert recognise(text.encode(), "") == found
    data = "" if found.data == text.encode() else found.data.decode()
    golden(plain(found) | {"data": data})


@pytest.mark.parametrize("text", [k[1] for k in KNOWN if k[2] == "session"])
def test_what_is_kept_of_a_request_is_read_again_as_the_same(text: str) -> None:
    found = recognise(text)
    session = first_session(Source(found.name, found.data)).session
    assert (len(session.messages), len(session.tools)) == (found.messages, found.tools)


TOOLS_TEMPLATE = """{%- if tools %}
{{- '<|im_start|>system\\n' }}For each call return JSON within <tool_call></tool_call> tags:
<tool_call>
{"name": "get_tides", "arguments": {"harbour": "Brest"}}
</tool_call>
{%- endif %}
{%- for message in messages %}
{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}"""
IN_A_CALL = get_dialect("hermes").format_tool_call(
    ToolCallPart("call_00001", "write_file", {"path": "a.jinja", "text": TOOLS_TEMPLATE})
)


def test_a_finding_of_a_reply_says_what_it_means() -> None:
    found = recognise('<tool_call>\n{"name": "f", "arguments": {"a": !}}\n</tool_call>')
    assert found.unread[0] == "hermes: malformed-json (a call's JSON cannot be read: aborted)"
    assert all(line.endswith(")") for line in found.unread)


@pytest.mark.parametrize("head", ["", "\n", "{#- by hand -#}\n", "[gMASK]<sop>\n", "<|bos|>"])
@pytest.mark.parametrize("tail", ["", "\n", "<|im_start|>"])
def test_a_template_that_shows_calls_is_a_template(head: str, tail: str) -> None:
    found = recognise(head + TOOLS_TEMPLATE + tail)
    assert (found.kind, found.dialect) == ("chat template", "")
    size = len(head + TOOLS_TEMPLATE + tail)
    assert found.title == f"chat template (Jinja), {size} characters"


def test_a_template_may_begin_with_words() -> None:
    text = "Below is an instruction.\n\n{% for m in messages %}### {{ m.role }}:\n{% endfor %}\n"
    assert recognise(text).title == "chat template (Jinja), 80 characters"
    assert recognise(text.replace("messages", "letters")).kind == "reply"


def test_a_template_in_quotes_or_in_a_fence_is_kept_without_them() -> None:
    for given in (json.dumps(TOOLS_TEMPLATE), f"```jinja\n{TOOLS_TEMPLATE}\n```"):
        found = recognise(given)
        assert (found.kind, found.data.decode()) == ("chat template", TOOLS_TEMPLATE)


def test_a_file_named_as_a_template_is_one_whatever_it_holds() -> None:
    loop = "Call <tool_call></tool_call>, {{ question }}"
    found = recognise(loop, "ask.jinja")
    assert (found.kind, found.title) == (
        "chat template",
        "Jinja template, 44 characters, in which nothing asks for messages",
    )
    assert recognise("{%" * 1_000_000, "long.j2").kind == "chat template"


@pytest.mark.parametrize(
    "text",
    [
        "Loop with {% for message in messages %} and end it with {% endfor %}.",
        "{% for message in messages %} is what walks over the conversation.",
        f"Here is the template:\n\n```jinja\n{TOOLS_TEMPLATE}\n```\nSave it.",
        IN_A_CALL,
        IN_A_CALL.removesuffix('"}}\n</tool_call>'),
        f"I write it.\n{IN_A_CALL}",
    ],
    ids=["prose", "a tag first", "quoted", "in a call", "in a call that is cut", "after prose"],
)
def test_a_reply_that_talks_of_templates_is_a_reply(text: str) -> None:
    assert recognise(text).kind == "reply"


@pytest.mark.parametrize("name", ["hermes", "xml", "qwen3-coder", "llama3-json", "pythonic"])
def test_a_reply_is_known_by_who_would_have_written_it(name: str) -> None:
    found = recognise(get_dialect(name).format_tool_call(CALL))
    assert found.kind == "reply", found
    assert found.title.startswith("a reply in ")
    assert "1 call" in found.title


def test_a_reply_in_a_fence_or_in_quotes_is_a_reply() -> None:
    text = '<tool_call>\n{"name": "get_tides", "arguments": {"harbour": "Brest"}}\n</tool_call>'
    for given in (text, json.dumps(text), f"Well:\n\n{text}\n"):
        assert recognise(given).title == "a reply in hermes: 1 call"
    cut = recognise(text[:-30])
    assert (cut.kind, cut.title) == ("reply", "a reply in hermes: 1 aborted call")


@pytest.mark.parametrize("api", WRITERS)
def test_a_stream_is_a_stream(api: str) -> None:
    data = FRAMINGS["events"](WRITERS[api](Said(text=("Good ", "morning."))))
    found = recognise(data)
    assert (found.kind, found.recordings) == ("session", 1)
    assert found.title.startswith("stream: ")


@pytest.mark.parametrize("sample", paths.samples())
def test_a_session_file_is_one(sample: str) -> None:
    path = paths.samples()[sample]
    found = recognise(path.read_bytes(), path.name)
    assert found.kind == "session"
    assert found.title.startswith("session file: ")


def test_what_could_not_be_read_is_named_with_its_place() -> None:
    assert recognise(TEXT[:-9]).unread[0].startswith("line 1: not JSON")
    assert recognise(SPOILED).unread[0].startswith("pasted:1: not JSON")
    command = recognise(f"curl https://x -H 'Authorization: Bearer sk-abc' -d '{QUOTED}'")
    assert command.unread == ("a header was left out, so no API key is kept",)
    assert b"sk-abc" not in command.data
    named = recognise("curl -d @body.json https://x")
    assert named.unread[0].startswith("the curl command: its body is only the name of a file")
    source = recognise(PYTHON_CALL)
    assert source.unread == ("line 6: left out, because it is not a literal value",)
    mixed = [*BODY["tools"], 7]
    assert recognise(json.dumps({**BODY, "tools": mixed})).unread


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a picture (PNG)"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF\0", "a picture (JPEG)"),
        (b"PK\x03\x04 no zip", "nothing that can be read"),
        (b"\xff\xfe\0\xd8i", "nothing that can be read"),
        (b"\0\1\2\3", "a reply of 4 characters"),
    ],
)
def test_what_is_no_text_is_one_clear_line(data: bytes, words: str) -> None:
    found = recognise(data, "thing")
    assert found.title.startswith(words)
    assert len(found.unread) <= 1


LONG = {
    "words": "all work and no play " * 50_000,
    "one call": f'<tool_call>{{"name": "t", "arguments": {{"a": "{"x" * 1_000_000}"}}}}',
    "a body": json.dumps({**BODY, "messages": [{"role": "user", "content": "x" * 1_000_000}]}),
    "broken JSON": '{"a": [' * 140_000,
    "brackets": "[" * 1_000_000,
    "source": "x = [" + "1, " * 340_000,
    "a command": "curl -d '" + "x" * 1_000_000,
    "backslashes": "curl " + "\\" * 1_000_000,
    "quotes": 'curl "' + '\\"' * 500_000,
    "template": "{% for m in messages %}" * 44_000,
    "openers before a comment's end": "{{ " * 340_000 + "#}",
    "a function's name": "def " + "f" * 1_000_000,
    "frames in frames": "data: " * 160_000,
    "fence": "```\n" * 250_000,
    "blanks": " " * 1_000_000 + "x",
    "yaml": "a: &a [*a]\n" * 16_000,
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_a_megabyte_is_answered_soon(text: str) -> None:
    start = time.process_time()
    found = recognise(text)
    assert time.process_time() - start < 5  # it takes less than one; a square cost takes minutes
    assert found.title
    assert len(found.title) < 200


def test_a_dialects_own_call_is_never_taken_for_a_request() -> None:
    text = "[ask(messages=[1], input='x')]"
    assert recognise("[ask(prompt='x', harbour='Brest')]").kind == "reply"
    assert unwrapped("[ask(prompt='x')]") is None
    assert recognise(text).kind in ("reply", "session")


@pytest.mark.parametrize(
    ("dialect", "reply", "name"),
    [
        ("pythonic", '[send(messages=["hi"], to="Bob")]', "send"),
        ("sweagent", '```py\nx = search(query="tides")\n```', "bash"),
        ("sweagent", '```\n<tool_call>{"name": "f", "arguments": {}}</tool_call>\n```', "bash"),
    ],
)
def test_a_reply_comes_through_standard_input_as_it_is(dialect: str, reply: str, name: str) -> None:
    done = piped(reply, "replay", "-", "-d", dialect, "--json")
    assert [call["name"] for call in json.loads(done.stdout)["tool_calls"]] == [name]


@pytest.mark.parametrize("reply", ['{"thought": "go"}', '{"answer": 5, "log": [{"a"', "[]"])
def test_a_named_dialect_reads_json_in_no_known_form_as_a_reply(reply: str, tmp_path: Path) -> None:
    file = tmp_path / "reply.txt"
    file.write_text(reply)
    for done in (
        piped("", "replay", str(file), "-d", "dspy-json", "--json"),
        piped(reply, "replay", "-", "-d", "dspy-json", "--json"),
    ):
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["content"] == reply
    done = piped("", "replay", str(file))
    if reply.endswith(("}", "]")):
        assert done.returncode == 2
        assert done.stderr.endswith(", or -d DIALECT, if it is a model's reply\n")
    else:  # cut off
        assert "JSON that cannot be read: read as a reply;" in done.stderr


def test_bash_knows_more_escapes_than_json() -> None:
    words = r"""curl https://x -d $'{"messages":[{"role":"user","content":"\u0041😀!"}]}'"""
    assert json.loads(recognise(words).data)["messages"][0]["content"] == "A😀!"
    assert recognise(r"""curl x.y/z -d $'{"messages": [], "a\?": "\q"}'""").data.startswith(b"{")


def test_a_request_is_read_out_of_its_wrapping_from_a_file_too(tmp_path: Path) -> None:
    script = tmp_path / "request.sh"
    script.write_text(f"curl https://x -H 'Authorization: Bearer none' -d '{QUOTED}'")
    (loaded,) = load_sessions(script)
    assert len(loaded.session.messages) == 2
    assert "headers-left-out" in [f.code for f in loaded.findings]
    (told,) = load_sessions(PYTHON_CALL)
    assert "not-written-out" in [f.code for f in told.findings]


def test_nothing_in_source_is_run(tmp_path: Path) -> None:
    touched = tmp_path / "owned"
    command = f'__import__("pathlib").Path({str(touched)!r}).touch()'
    recognise(f'body = {{"messages": {command}}}')
    recognise(f'{{"messages": {command}}}')
    assert not touched.exists()


def piped(text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run(*arguments, stdin=text)


def test_every_command_that_reads_a_file_reads_standard_input() -> None:
    reply = get_dialect("qwen3-coder").format_tool_call(CALL)
    replayed = piped(reply, "replay", "-")
    assert "read as qwen3-coder" in replayed.stdout, replayed.stderr
    assert '=== call get_tides\n{"harbour": "Brest"}' in replayed.stdout
    assert replayed.returncode == 0
    curl = f"curl https://x -d '{QUOTED}'"
    assert "You keep the harbour." in piped(curl, "render", "-", "-d", "hermes").stdout
    assert "openai-chat, 2 messages, 1 tool" in piped(curl, "import", "-").stdout
    nothing = piped("", "render", "-", "-d", "xml")
    assert nothing.returncode == 2
    assert nothing.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("[[ ## reasoning ## ]]\nI think\n\n[[ ## answer ## ]]\n5", "reply"),
        ("[1] According to the log it was the pump.", "reply"),
        ("{thought: I look.} Then I answer.", "reply"),
        ("[ ] buy bread\n[x] mend the net", "reply"),
        ("{ a set of notes }", "reply"),
        ('{"model": "m", "messages": [{"role": "us', "reply"),
        ("{'model': 'm', 'messages': [}", "reply"),
        ('[{"a": 1}, {"b', "reply"),
        ('{"reasoning": "I think that the tide', "reply"),
        ('{"a": 1} is my answer.', "reply"),
        ('{"answer": 5}', "reply"),
        ('{"messages": [{"role": "user", "content": "When?"}]}', "session"),
    ],
)
def test_a_text_that_begins_with_a_bracket_is_a_reply_unless_it_is_json_of_a_known_form(
    text: str, kind: str
) -> None:
    assert recognise(text).kind == kind
    if kind == "reply" and text[0] in "{[" and recognise(text).title.startswith("JSON"):
        assert "not JSON" in recognise(text).unread[0]
        assert recognise(text, "a.json").kind == "nothing"
        assert recognise(text, "a.txt").kind == "reply"
    of_file = "nothing" if text == '{"answer": 5}' else kind
    assert recognise(text.encode(), "reply.txt").kind == of_file


VERTEX = "https://x-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers"


@pytest.mark.parametrize(
    ("address", "model"),
    [
        ("https://g.example/v1beta/models/gemini-2.5-flash:generateContent", "gemini-2.5-flash"),
        (
            f"{VERTEX}/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
            "gemini-2.5-flash",
        ),
        (f"{VERTEX}/anthropic/models/claude-opus-5:streamRawPredict", "claude-opus-5"),
        ("https://b.example/model/us.amazon.nova-v1%3A0/converse", "us.amazon.nova-v1:0"),
        ("https://a.example/openai/deployments/gpt-4o/chat/completions?api-version=1", "gpt-4o"),
        ("https://o.example/v1/chat/completions", ""),
    ],
)
@pytest.mark.parametrize("option", ["", "--url "])
def test_a_command_gives_the_model_that_only_its_address_names(
    address: str, model: str, option: str
) -> None:
    """Every command for Gemini was read as one for its default model."""
    key = "contents" if "gemini" in model else "messages"
    part = {"parts": [{"text": "Hi"}]} if key == "contents" else {"content": "Hi"}
    body = json.dumps({key: [{"role": "user", **part}]})
    found = unwrapped(
        f"curl {option}'{address}' -H 'Referer: https://r/models/r:invoke' -d '{body}'"
    )
    assert found is not None
    assert json.loads(found.text) == {**({"model": model} if model else {}), **json.loads(body)}
    loaded = next(iter(read_sessions(Source("curl", found.text.encode()))))
    if model:
        assert loaded.session.task.model_name == model
    named = unwrapped(f"""curl {address} -d '{{"model": "own", {body[1:]}'""")
    assert named is not None
    assert json.loads(named.text)["model"] == "own"


def test_a_cassette_says_in_a_sentence_what_was_read_where_its_client_changed_replies() -> None:
    """It quoted every reply beside its copy: a screen of braces."""
    said = [{"role": "user", "content": "High tide?"}]
    exchanges = []
    for turn in range(3):
        answer = {"role": "assistant", "content": f"Observation {turn}: " + "the tide rises. " * 9}
        body = {"choices": [{"message": answer, "finish_reason": "stop"}], "model": "gpt-4o"}
        exchanges.append(
            {
                "request": {
                    "uri": "https://api.openai.com/v1/chat/completions",
                    "body": json.dumps({"model": "gpt-4o", "messages": said}),
                },
                "response": {
                    "status": {"code": 200},
                    "body": {"string": json.dumps({"object": "chat.completion", **body})},
                },
            }
        )
        copy = {"role": "assistant", "content": f"Observation {turn}: 42"}
        said = [*said, copy, {"role": "user", "content": "And then?"}]
    found = recognise(yaml.safe_dump({"version": 1, "interactions": exchanges}), "tides.yaml")
    assert found.title == "VCR cassette: 6 messages, 3 recordings"
    assert found.unread == (
        "a later request repeats a reply with changes: the model's own reply is kept "
        "(interactions.2.request.messages.1 and 1 more place)",
    )
