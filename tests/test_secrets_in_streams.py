"""What is read back of a scrubbed stream holds no secret: every API, every cutting, every spelling.

Secrets are put together as the test runs; no file holds a whole one.
"""

from __future__ import annotations

import base64
import json
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streaming import event
from test_secrets import BIG, KINDS, OWN, cut, gone, jwt, pem, some, through
from wires import FRAMINGS, NO_REASONING, TEXT_ALONE, WRITERS, Said, event_stream

import playground as pg
from playground.recordings.append_only_file import LinesInMemory
from playground.recordings.recorder import Recorder
from playground.recordings.scrubbing import scrubbed, searcher
from playground.recordings.wire_scrubbing import WireScrubber

SEARCH = searcher((OWN,))
LONG = 50_000


def spelled(data: bytes) -> Iterator[str]:
    """What the wire says in any other way: unescaped, in Base64, in numbers, in lists of tokens."""
    text = data.decode("utf-8", "replace")
    yield text
    for packed in re.findall(r"[A-Za-z0-9+/]{24,}={0,2}", text):
        whole = packed[: len(packed) // 4 * 4]
        yield base64.b64decode(whole).decode("utf-8", "replace")
    for row in re.findall(r"\[[\s\d,]+\]", text):
        yield "".join(chr(number) for number in json.loads(row) if number < 0x110000)


def read(data: bytes) -> Iterator[str]:
    """All that a reader gets of it."""
    recording = pg.decode_stream([data])
    for reply in recording.replies:
        yield reply.content
        yield reply.reasoning
        yield from (call.arguments_text for call in reply.tool_calls)


def assert_gone(secret: str, data: bytes) -> None:
    for text in (*read(data), *spelled(data)):
        forms = (text, text.replace("\\n", "\n").replace('\\"', '"').replace("\\\\", "\\"))
        assert all(gone(secret, form) for form in forms), (secret[:9], text[:300])


def wires(secret: str, around: str, size: int) -> Iterator[tuple[str, bytes]]:
    """A reply that says it thrice, by every API, in pieces of this size."""
    text = f"I say: {around.format(secret)} , and that is all."
    arguments = json.dumps({"text": text})
    for name, write in WRITERS.items():
        calls = () if name in TEXT_ALONE else (("tell", tuple(cut(arguments, size))),)
        reasoning = () if name in NO_REASONING else tuple(cut(text, size))
        frames = write(Said(reasoning, tuple(cut(text, size)), calls))
        yield name, FRAMINGS["JSON lines" if name.startswith("ollama") else "events"](frames)
        if name == "bedrock-converse":
            yield name, event_stream(frames)


@pytest.mark.parametrize(("size", "step"), [(1, 60), (4, 31), (30, 17)])
def test_no_api_gives_a_secret_back(size: int, step: int) -> None:
    """All of them: `python -m benchmarks.drill secrets`."""
    for name in list(KINDS)[size::step]:
        for _, sent in wires(*KINDS[name], size):
            kept = through(sent, 700, SEARCH)
            assert len(kept) == len(sent)
            assert_gone(KINDS[name][0], kept)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_no_framing_and_no_cutting_gives_a_secret_back(data: st.DataObject) -> None:
    secret, around = data.draw(st.sampled_from([*KINDS.values(), (OWN, "{}")]))
    api = data.draw(st.sampled_from(sorted(WRITERS)))
    text = f"{around.format(secret)} ."
    dice = random.Random(data.draw(st.integers(0, 1000)))
    pieces = tuple(ragged(text, dice))
    in_arguments = data.draw(st.booleans()) and api not in TEXT_ALONE
    told = tuple(ragged(json.dumps({"x": text}, ensure_ascii=dice.random() < 0.5), dice))
    said = Said((), () if in_arguments else pieces, (("f", told),) if in_arguments else ())
    framing = data.draw(st.sampled_from(sorted(FRAMINGS)))
    sent = FRAMINGS[framing](WRITERS[api](said))
    assert_gone(secret, through(sent, data.draw(st.integers(1, 900)), SEARCH))


def ragged(text: str, dice: random.Random) -> Iterator[str]:
    at = 0
    while at < len(text):
        size = dice.choice((1, 2, 3, 7, 40))
        yield text[at : at + size]
        at += size


# several answers at once


def openai_choices(told: list[list[str]], last: bool) -> Iterator[bytes]:
    for parts in zip(*told, strict=True):
        for index, part in enumerate(parts):
            choice = {"delta": {"content": part}, "index": index}
            choice = choice if last else dict(reversed(choice.items()))
            value = {"object": "chat.completion.chunk", "choices": [choice]}
            yield b"data: " + json.dumps(value).encode() + b"\n\n"


def gemini_candidates(told: list[list[str]], last: bool) -> Iterator[bytes]:
    for parts in zip(*told, strict=True):
        found: list[dict[str, Any]] = []
        for index, part in enumerate(parts):
            value: dict[str, Any] = {"content": {"parts": [{"text": part}]}}
            value |= {"index": index} if index else {}
            found.append(value)
        values = [{"candidates": found if last else found[::-1]}]
        values = values if last else [{"candidates": [each]} for each in found]
        for value in values:
            yield b"data: " + json.dumps(value).encode() + b"\n\n"


@pytest.mark.parametrize("write", [openai_choices, gemini_candidates])
@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("piece", [11, 100_000])
def test_several_answers_whose_index_comes_anywhere(
    write: Callable[[list[list[str]], bool], Iterator[bytes]], last: bool, piece: int
) -> None:
    keys = ["sk-proj-" + some(40), "ghp_" + some(44), "glpat-" + some(42)]
    sent = b"".join(write([cut(f"It is {key[:48]}.", 3) for key in keys], last))
    kept = through(sent, piece)
    for key, reply in zip(keys, pg.decode_stream([kept]).replies, strict=True):
        assert gone(key, reply.content)
        assert reply.content.startswith("It is ")


def test_texts_in_arrays_and_contents_that_change_their_form() -> None:
    key = "sk-ant-" + some(60)
    for write in (
        lambda part: {"choices": [{"delta": {"content": [{"type": "text", "text": part}]}}]},
        lambda part: {"choices": [{"delta": {"content": [part]}}]},
        lambda part: {"choices": [{"delta": {"content": list(part)}}]},
    ):
        parts = cut(f"It is {key}.", 4)
        values: list[dict[str, Any]] = [write(part) for part in parts]
        for number, part in enumerate(parts[5:8], 5):
            values[number] = {"choices": [{"delta": {"content": part}}]}
        kept = through(b"".join(json.dumps(value).encode() + b"\n" for value in values), 33)
        joined = "".join(
            re.sub(r'[\[\]{}":, ]|choices|delta|content|text|type|tokens', "", line)
            for line in kept.decode().splitlines()
        )
        assert gone(key, joined), joined


# what says it once more beside the text


def chat_logprobs(part: str, number: int) -> dict[str, Any]:
    def token(text: str) -> dict[str, Any]:
        return {"token": text, "logprob": -0.1, "bytes": list(text.encode())}

    others = [token("zz"), token(part)] if number % 3 else [token(part), token("zz")]
    content = [{**token(each), "top_logprobs": others} for each in cut(part, 2)]
    choice = {"logprobs": {"content": content}, "index": 0, "delta": {"content": part}}
    return {"object": "chat.completion.chunk", "choices": [choice]}


def completion_logprobs(part: str, number: int) -> dict[str, Any]:
    tops = [{each: -0.1, "zz": -2.5} for each in cut(part, 2)]
    told = {"tokens": cut(part, 2), "token_logprobs": [-0.1], "top_logprobs": tops}
    return {"object": "text_completion", "choices": [{"text": part, "index": 0, "logprobs": told}]}


def gemini_logprobs(part: str, number: int) -> dict[str, Any]:
    tokens = [{"token": each, "tokenId": 12345, "logProbability": -0.1} for each in cut(part, 2)]
    told = {"topCandidates": [{"candidates": tokens}], "chosenCandidates": tokens}
    content = {"parts": [{"text": part}]}
    return {"candidates": [{"content": content, "logprobsResult": told}]}


def ollama_context(part: str, number: int) -> dict[str, Any]:
    more = {"context": [9906, 12345, 77], "done": True} if part.endswith(".") else {}
    return {"model": "m", "response": part, "done": False, **more}


@pytest.mark.parametrize(
    "write", [chat_logprobs, completion_logprobs, gemini_logprobs, ollama_context]
)
@pytest.mark.parametrize("piece", [17, 100_000])
def test_tokens_and_their_numbers_say_no_secret(
    write: Callable[[str, int], dict[str, Any]], piece: int
) -> None:
    key = "sk-proj-" + some(60)
    values = [write(part, number) for number, part in enumerate(cut(f"It is {key} .", 4))]
    sent = b"".join(json.dumps(value).encode() + b"\n" for value in values)
    scrubber = WireScrubber(searcher())
    kept = b""
    for at in range(0, len(sent), piece):
        scrubber.feed(sent[at : at + piece])
        kept += scrubber.take(scrubber.ready)
    scrubber.finish()
    kept += scrubber.take(scrubber.ready)
    assert len(kept) == len(sent)
    assert scrubber.tally.counts == {"openai": 1}
    lines = [json.loads(line) for line in kept.decode().splitlines()]  # it is JSON still
    assert gone(key, pg.decode_stream([kept]).reply.content)
    for line in lines[4:14]:
        text = json.dumps(line)
        assert not any(each in text for at in range(8, 60) for each in [f'"{key[at : at + 2]}"'])
        assert "12345" not in text
        assert not re.search(r'"bytes": \[(?!0)', text), text
    assert "12345" not in json.dumps(lines[-1])


def test_numbers_that_spell_a_key_beside_no_text() -> None:
    key = "sk-proj-" + some(40)
    values = [{"data": list(part.encode()), "n": [1, 22, 333]} for part in cut(f"a {key} b", 5)]
    kept = through(b"".join(json.dumps(value).encode() + b"\n" for value in values), 50)
    numbers = [n for line in kept.decode().splitlines() for n in json.loads(line)["data"]]
    assert gone(key, "".join(map(chr, numbers)))
    assert kept.count(b"[1, 22, 333]") == len(values)


def test_a_frame_in_base64_stays_one() -> None:
    key = "sk-ant-" + some(60)
    frames = WRITERS["bedrock-invoke"](Said(text=tuple(cut(f"It is {key}, é.", 3))))
    kept = through(FRAMINGS["events"](frames), 29)
    back = pg.decode_stream([kept])
    assert back.reply.content == "It is " + "*" * len(key) + ", é."
    assert not back.findings


# secrets without an end


def endless() -> dict[str, str]:
    head = base64.urlsafe_b64encode(b'{"alg": "RS256"}').decode().rstrip("=")
    body = base64.b64encode(random.Random(3).randbytes(LONG * 3 // 4)).decode()
    lines = "\n".join(cut(body, 64))
    plain = body.replace("+", "-").replace("/", "_")
    return {
        "PEM": f"-----BEGIN RSA PRIVATE KEY-----\n{lines}\n-----END RSA PRIVATE KEY-----",
        "PEM in one line": f"-----BEGIN PRIVATE KEY-----{body}-----END PRIVATE KEY-----",
        "JWT": f"{head}.{plain[: LONG // 2]}.{plain[LONG // 2 :]}",
        "JWT with a long head": f"eyJ{plain[: LONG // 2]}.{plain[LONG // 2 : -40]}.{plain[-40:]}",
        "bearer": f"Authorization: Bearer {plain}",
        "named": f"client_secret={plain}",
        "query": f"https://host/x?sig={plain}",
        "header": f"x-api-key: {plain}",
    }


@pytest.mark.parametrize("name", endless())
def test_a_secret_without_an_end_is_starred_to_its_end(name: str) -> None:
    secret = endless()[name]
    lines = LinesInMemory()
    recorder = Recorder(lines, searcher(), name="r", dialect="native", model="m")
    for number, part in enumerate(cut(f"see {secret}, and on it goes.", 40)):
        recorder.record_bytes(number / 100, event(part))
    recording = recorder.end(None, cut=False)
    said = recording.reply.content
    assert said.startswith("see ")
    assert said.endswith(", and on it goes.")
    parts = [secret[at : at + 12] for at in range(60, len(secret) - 60, 9 * 7)]
    assert not any(part in said for part in parts)
    assert sum(recorder.starred.values()) == 1, recorder.starred
    assert not any(part in scrubbed(secret) for part in parts[::50])


def test_pieces_of_a_long_secret_are_not_searched_again_and_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The characters that are looked at, counted: no more than so many for each that came."""
    search = searcher()
    looked = 0
    real = type(search).search

    def counted(self: Any, text: str, start: int = 0, *, ended: bool = True) -> Any:
        nonlocal looked
        looked += len(text) - start
        return real(self, text, start, ended=ended)

    monkeypatch.setattr(type(search), "search", counted)
    for name in ("PEM in one line", "JWT", "bearer"):
        each = []
        for size in (10_000, 20_000):
            looked = 0
            through(b"".join(map(event, cut(endless()[name][:size], 8))), 1 << 20, search)
            each.append(looked / size)
        assert each[1] < 1.3 * each[0], (name, each)


# addresses of e-mail


def stalled(*parts: str) -> str:
    """What is written of parts between which nothing comes for too long."""
    scrubber = WireScrubber(searcher((), emails=True))
    kept = b""
    for part in parts:
        scrubber.feed(event(part))
        kept += scrubber.take(scrubber.ready)
        scrubber.give_up()
        kept += scrubber.take(scrubber.ready)
    return pg.decode_stream([kept]).reply.content


def test_an_open_address_is_starred_and_hides_nothing() -> None:
    assert stalled("write to me.too@exam", "ple.com now") == "write to " + "*" * 18 + " now"
    key = "sk-proj-" + some(20)
    assert gone(key, stalled(f"x.{key}", " is it"))
    assert stalled("a plain wor", "d") == "a plain word"


# counting


def test_each_secret_counts_once() -> None:
    keys = ["sk-proj-" + some(48), "ghp_" + some(36), pem("RSA "), jwt()]
    recorder = Recorder(LinesInMemory(), SEARCH, name="r", dialect="native", model="m")
    recorder.record_request("http://x/", {"messages": [{"content": f"my key is {keys[0]}"}]})
    text = " and ".join([*keys, OWN, keys[0]])
    pieces = tuple(cut(text, 3))
    for frame in WRITERS["openai-responses"](Said(pieces, pieces, (("f", pieces),))):
        recorder.record_bytes(0.1, b"data: " + json.dumps(frame).encode() + b"\n\n")
    for part in pieces:
        recorder.record_litellm_chunk({"choices": [{"index": 0, "delta": {"content": part}}]})
    recorder.end(None, cut=False)
    assert recorder.starred == {
        "openai": 1, "github": 1, "private-key": 1, "jwt": 1, "environment": 1
    }  # fmt: skip


def test_what_was_starred_undecided_is_counted_as_what_it_is() -> None:
    for rest, expected in (
        ("defGHIJ0123456789 on", {"openai": 1}),
        (" on", {"undecided": 1}),
    ):
        scrubber = WireScrubber(searcher())
        scrubber.feed(event("see sk-proj-abC1"))
        scrubber.give_up()
        scrubber.feed(event(rest))
        scrubber.finish()
        assert scrubber.tally.counts == expected


# JSON stays JSON

NAMES = ["authorization", "x-api-key", "password", "api-key", "token", "url", "client_secret"]
VALUES = [*(s for n, (s, _) in KINDS.items() if n not in BIG), OWN, 123456789012, 1.5e300, True]


@settings(max_examples=80, deadline=None)
@given(
    st.recursive(
        st.sampled_from(VALUES),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
        ),
        max_leaves=6,
    ),
    st.booleans(),
    st.integers(1, 80),
)  # fmt: skip
def test_json_stays_json(value: Any, spaces: bool, size: int) -> None:
    text = json.dumps({"v": value}, separators=None if spaces else (",", ":"))
    kept = through(text.encode(), size, SEARCH)
    assert shape(json.loads(kept)) == shape(json.loads(text))
    assert shape(json.loads(scrubbed(text, secrets=[OWN]))) == shape(json.loads(text))


def shape(value: Any) -> Any:
    if isinstance(value, dict):
        return [shape(each) for each in value.values()]
    if isinstance(value, list):
        return [shape(each) for each in value]
    return type(value) if isinstance(value, str) else value


def test_a_header_ends_where_its_value_ends() -> None:
    key = some(24)
    assert (
        scrubbed(f"{{a: {{x-api-key: {key}}}, b: [1]}}")
        == f"{{a: {{x-api-key: {'*' * 24}}}, b: [1]}}"
    )
    text = '{"authorization": 123456789012}'
    assert scrubbed(text) == text


@pytest.mark.parametrize("api", ["openai-chat", "bedrock-invoke", "gemini-generate"])
@pytest.mark.parametrize("size", [7, 97])
def test_who_cannot_wait_in_the_middle_of_a_frame_gives_no_secret_away(api: str, size: int) -> None:
    key = "sk-proj-" + some(60)
    sent = FRAMINGS["events"](WRITERS[api](Said(text=tuple(cut(f"It is {key} .", 9)))))
    scrubber = WireScrubber(searcher())
    kept = b""
    for number, at in enumerate(range(0, len(sent), size)):
        scrubber.feed(sent[at : at + size])
        if number % 3 == 0:
            scrubber.give_up()
        kept += scrubber.take(scrubber.ready)
    scrubber.finish()
    kept += scrubber.take(scrubber.ready)
    assert len(kept) == len(sent)
    assert_gone(key, kept)
