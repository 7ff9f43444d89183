"""Transcripts of Claude Code in a corpus: what they tell twice, and what they do not tell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import playground as pg
from playground.plugins.corpus.asking import Corpus
from playground.plugins.corpus.building import build_corpus
from playground.plugins.corpus.compaction import compact_corpus

MODEL = "claude-sonnet-4-5"


def reply(agent: str, turn: int) -> dict[str, Any]:
    """An answer with one call, and its bill of 1,000 tokens."""
    call = {"type": "tool_use", "id": f"toolu_{agent}{turn}", "name": "Read", "input": {"p": "a"}}
    usage = {"input_tokens": 900, "cache_read_input_tokens": 100, "output_tokens": 5}
    said = {"id": f"msg_{agent}{turn}", "role": "assistant", "model": MODEL, "content": [call]}
    return {"type": "assistant", "message": {**said, "usage": usage}}


def line(value: dict[str, Any], **more: Any) -> str:
    known = {"sessionId": "s1", "version": "2.1", "timestamp": "2026-11-02T10:00:00Z"}
    return json.dumps({**known, "isSidechain": False, "parentUuid": None, **more, **value}) + "\n"


def user(text: str) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": text}}


def written(folder: Path) -> Path:
    """A transcript whose sub-agent's lines are in it as progress, but for the last one, and in a
    file of its own; another sub-agent's are in it alone."""
    lines = [line(user("Begin " * 100)), line(reply("", 1))]
    for agent, turns in (("a1", 2), ("b2", 1)):
        said = [user("Look"), *(reply(agent, turn) for turn in range(turns))]
        lines += [
            line({"type": "progress", "data": {"agentId": agent, "message": each}}) for each in said
        ]
    own = [user("Look"), *(reply("a1", turn) for turn in range(3))]
    at = {"isSidechain": True, "agentId": "a1"}
    (folder / "s1" / "subagents").mkdir(parents=True)
    (folder / "s1.jsonl").write_text("".join([*lines, line(reply("", 2))]))
    file = folder / "s1" / "subagents" / "agent-a1.jsonl"
    file.write_text("".join(line(each, **at) for each in own))
    return file


def counted(corpus: Corpus) -> dict[str, tuple[int, int, int]]:
    """Of each sub-agent its sessions, requests and calls, by the tables of each."""
    sql = (
        "SELECT sub_agent, count(*), sum((SELECT count(*) FROM requests r WHERE r.session = "
        "s.session)), sum((SELECT count(*) FROM calls c WHERE c.session = s.session)) "
        "FROM sessions s GROUP BY 1 ORDER BY 1"
    )
    return {
        name: (n, int(requests), int(calls)) for name, n, requests, calls in corpus.sql(sql).rows
    }


def test_a_sub_agent_that_a_transcript_tells_too_counts_once(tmp_path: Path) -> None:
    """Of 949 requests of a user's transcripts 45 were counted twice."""
    given, out = tmp_path / "in", tmp_path / "o"
    own = written(given)
    build_corpus(out, [given], engine="serial")
    once = {"": (1, 2, 2), "a1": (1, 3, 3), "b2": (1, 1, 1)}
    assert counted(pg.corpus(out)) == once
    assert pg.corpus(out).sql("SELECT count(*) FROM requests").rows == [(6,)]
    compact_corpus(out)
    assert counted(pg.corpus(out)) == once
    own.unlink()  # what the transcript tells of it is then all that there is
    build_corpus(out, [given], engine="serial")
    assert counted(pg.corpus(out)) == {**once, "a1": (1, 2, 2)}


def test_what_is_told_twice_is_no_list_that_each_row_is_compared_with(tmp_path: Path) -> None:
    """Of a million rows and 20,000 such sessions each question took three seconds more."""
    given, out = tmp_path / "in", tmp_path / "o"
    written(given)
    build_corpus(out, [given], engine="serial")
    corpus = pg.corpus(out)
    twice = corpus.sql("SELECT session FROM repeated_sessions").rows
    assert len(twice) == 1
    made = corpus.sql("SELECT sql FROM duckdb_views() WHERE NOT internal").rows
    assert len(made) > 6
    assert not [sql for (sql,) in made if str(twice[0][0]) in sql]


def test_tokens_of_what_a_transcript_has_not_are_told_apart(tmp_path: Path) -> None:
    """Claude Code writes neither tools nor system prompt: the rest had their tokens, too."""
    given, out = tmp_path / "s1.jsonl", tmp_path / "o"
    given.write_text(line(user("word " * 80)) + line(reply("", 1)))
    build_corpus(out, [given], engine="serial")
    (row,) = pg.corpus(out).ask("tokens").records()
    told = ("tools", "system_prompt", "users", "assistants", "results", "not_in_transcript")
    assert [row[name] for name in told] == [None, None, 100, 0, 0, 900]
    sql = "SELECT tool_characters, system_characters, user_characters FROM requests"
    assert pg.corpus(out).sql(sql).rows == [(None, None, 400)]


def test_a_session_that_keeps_its_tools_has_nothing_that_is_not_in_it(tmp_path: Path) -> None:
    """Ours says that there were no tools; its bill is that of what is there."""
    usage = {"input_tokens": 1_000, "output_tokens": 5}
    said = [("user", "word " * 80), ("assistant", "Yes.")]
    parts = [{"role": role, "parts": [{"type": "text", "text": text}]} for role, text in said]
    session = {
        "format": "playground-session/1",
        "task": {"model_name": MODEL, "user_agent_prompt": "", "system_rules": False},
        "messages": parts,
        "requests": [{"reply": 1, "usage": usage}],
    }
    given, out = tmp_path / "one.json", tmp_path / "o"
    given.write_text(json.dumps(session))
    build_corpus(out, [given], engine="serial")
    (row,) = pg.corpus(out).ask("tokens").records()
    told = ("tools", "system_prompt", "users", "not_in_transcript")
    assert [row[name] for name in told] == [0, 0, 1_000, None]
    beside = tmp_path / "s1.jsonl"  # together 0 would say too much
    beside.write_text(line(user("word " * 80)) + line(reply("", 1)))
    build_corpus(out, [beside], engine="serial")
    (row,) = pg.corpus(out).ask("tokens").records()
    assert [row[name] for name in told] == [None, None, 1_100, 900]


def test_a_tool_of_transcripts_without_a_list_was_not_refused_to_them(tmp_path: Path) -> None:
    """Bash, Read and Edit were "never offered"."""
    given, out = tmp_path / "s1.jsonl", tmp_path / "o"
    given.write_text(line(user("Look")) + line(reply("", 1)) + line(reply("", 2)))
    listed = {
        "format": "playground-session/1",
        "task": {"model_name": MODEL},
        "tools": [{"name": name, "input_schema": {"type": "object"}} for name in ("Look", "List")],
        "messages": [
            {
                "role": "assistant",
                "parts": [
                    {"type": "tool_call", "tool_call_id": name, "tool_name": name, "args": {}}
                    for name in ("Look", "Move")
                ],
            }
        ],
    }
    beside = tmp_path / "one.json"
    beside.write_text(json.dumps(listed))
    build_corpus(out, [given, beside], engine="serial")
    rows = pg.corpus(out).ask("tools").records()
    assert {row["tool"]: (row["offered_in"], row["calls"], row["note"]) for row in rows} == {
        "Read": (None, 2, "no list of tools"),
        "List": (1, 0, "never used"),
        "Look": (1, 1, ""),
        "Move": (0, 1, "never offered"),
    }


def test_a_tool_that_only_the_history_of_a_request_calls_is_not_called_unused(
    tmp_path: Path,
) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "Look", "arguments": "{}"}}
    said = [
        {"role": "user", "content": "Look around"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "the sea"},
        {"role": "assistant", "content": "I see the sea."},
        {"role": "user", "content": "And now?"},
    ]
    tools = [{"type": "function", "function": {"name": name}} for name in ("Look", "List")]
    given, out = tmp_path / "bodies.jsonl", tmp_path / "o"
    given.write_text(f"{json.dumps({'model': 'gpt-4o', 'messages': said, 'tools': tools})}\n" * 2)
    build_corpus(out, [given], engine="serial")
    rows = pg.corpus(out).ask("tools").records()
    assert {r["tool"]: (r["calls"], r["in_histories"], r["note"]) for r in rows} == {
        "List": (0, 0, "never used"),
        "Look": (0, 2, "only in histories"),
    }


def test_sessions_behind_a_number_tell_the_first_request_as_the_cache_lab_numbers_it(
    tmp_path: Path,
) -> None:
    given, out = tmp_path / "s1.jsonl", tmp_path / "o"
    lost = reply("", 2)
    lost["message"]["usage"] |= {"cache_read_input_tokens": 0, "input_tokens": 9_500}
    billed = reply("", 1)
    billed["message"]["usage"]["cache_read_input_tokens"] = 9_000
    given.write_text(line(user("Look")) + line(billed) + line(lost))
    build_corpus(out, [given], engine="serial")
    corpus = pg.corpus(out)
    assert corpus.sql("SELECT n FROM breaks").rows == [(1,)]
    (row,) = corpus.behind("breaks").records()
    assert row["first"] == 2  # of the session's two requests
    (row,) = corpus.behind("sessions").records()
    assert row["first"] == 1
