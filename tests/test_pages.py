"""Every page runs with every sample, shows its numbers, and survives what users do to it."""

from __future__ import annotations

import json
import re
import time
from dataclasses import asdict, fields, replace
from typing import Any

import pandas as pd
import pytest
import yaml
from golden_answers import Golden, page_elements
from serving import widened
from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import FileUploader, TextArea
from wires import FRAMINGS, WRITERS, Said

from playground.app.pages import page_entry, parent
from playground.app.shared import in_place
from playground.app.shared.readings import MOST_COLUMNS, Reading
from playground.base import paths
from playground.dialects import dialect_names, get_dialect
from playground.dialects.marks.policies import POLICIES
from playground.dialects.models import dialect_for
from playground.dialects.schema_losses import schema_facts
from playground.lab.guides import Guide, guide_for
from playground.parsing.switches import Switches
from playground.plugins.guides.board import server_readings
from playground.questions.comparison import compare
from playground.questions.recognition import recognise
from playground.recordings.recording import Recording, TextChunk
from playground.sessions.entries import new_entry
from playground.sessions.loading import first_session, load_session, sample_sessions
from playground.sessions.source import Source
from playground.sessions.workspaces import on_disk
from playground.show import dialect_board
from playground.show.exports import request_texts
from playground.show.policy_bars import title

PAGES = ("compare", "cache", "replay")  # those that show a session
HOSTILE = '<script>document.title="owned"</script><img src=x onerror=alert(1)> ![a](http://x/y)'


def page(name: str, **parameters: str) -> AppTest:
    """Open a page, or a view by its name."""
    if (shown := parent(entry := page_entry(name))) is not entry:
        parameters["view"] = entry.view
        name = shown.name
    app = AppTest.from_file(str(paths.app_file()), default_timeout=300)
    for key, value in parameters.items():
        app.query_params[key] = value
    app.run()
    if name != "start":
        app.switch_page(str(paths.pages() / f"{name}.py")).run()
    assert not app.exception
    return app


def boards(app: AppTest) -> list[dict[str, Any]]:
    """The boards of a page, in order."""
    shown = [json.loads(each.proto.json) for each in app.get("bidi_component")]
    return [each for each in shown if isinstance(each, dict) and "cards" in each]


def figures(app: AppTest) -> str:
    """The figures of all boards, each in a line with its label."""
    told = [figure for board in boards(app) for figure in board["figures"]]
    return "\n".join(f"{value} {label}" for value, label, _ in told)


def unfold(app: AppTest, *keys: str) -> None:
    """Open expanders, which draw nothing while they are folded."""
    for key in keys:
        app.session_state[key] = True
    app.run()


def editor(app: AppTest, key: str) -> TextArea:
    """The editor of this key; what changes its text from elsewhere puts another in its place."""
    return next(each for each in app.text_area if str(each.key).partition(" (")[0] == key)


def uploader(app: AppTest, label: str) -> FileUploader:
    found = (element for element in app.get("file_uploader") if isinstance(element, FileUploader))
    return next(element for element in found if element.label == label)


def payloads(app: AppTest) -> list[dict[str, Any]]:
    """What the page's components are fed; bars, keys and plain texts apart."""
    small = {"keys", "height", "title"}
    found = [data for data in _fed(app) if not small & set(data)]
    assert found
    return found


def verbatim(app: AppTest) -> list[str]:
    """The texts that the page shows as they are."""
    return [data["text"] for data in _fed(app) if "height" in data]


def _fed(app: AppTest) -> list[dict[str, Any]]:
    return [json.loads(element.proto.json) for element in app.get("bidi_component")]


@pytest.mark.parametrize("sample", paths.samples())
@pytest.mark.parametrize("name", PAGES)
def test_a_page_runs_with_a_sample(name: str, sample: str, golden: Golden) -> None:
    app = page(name, session=sample)
    assert app.selectbox(key="session").value == sample
    assert not app.error
    if sample[:2] in ("04", "06", "11"):  # with 02: test_page_list.py
        golden(page_elements(app, with_components=name != "compare"))


def test_compare_shows_every_chosen_dialect_with_its_counts() -> None:
    app = page("compare", session="02-parallel-calls")
    app.multiselect(key="dialects").set_value(dialect_names()).run()
    (data,) = payloads(app)
    while any(figures[1][0] == "…" for figures in data["figures"]):  # they are being counted
        time.sleep(0.2)
        (data,) = payloads(app.run())
    assert [pane["name"] for pane in data["panes"]] == dialect_names()
    for pane, figures in zip(data["panes"], data["figures"], strict=True):
        shown = sum(len(data["texts"][b[0]]) for _, blocks in pane["cells"] for b in blocks)
        assert pane["note"] == f"{shown:,} characters"
        assert figures[0][0] == f"{shown:,}"
    session = load_session(paths.samples()["02-parallel-calls"])
    columns = compare(session).columns
    heads = [[value for value, _, _ in figures[1:]] for figures in data["figures"]]
    for (tokens, lost, findings), column in zip(heads, columns, strict=True):
        assert tokens == f"~{column.tokens.tokens:,}"
        dropped = [fact for fact in column.schema_facts if not fact.kept]
        assert lost == (f"{len(dropped)} of {len(column.schema_facts)}" if dropped else "none")
        assert findings == f"{len(column.findings)}"
    assert len({findings for _, _, findings in heads}) > 1  # none, and some


def test_dialects_are_found_by_model_and_by_family_and_favourites_come_first() -> None:
    app = page("compare", session="02-parallel-calls")
    assert not app.get("button_group")  # nothing is listed before it is looked at
    app.session_state["find dialects"] = True
    app.run()
    assert group(app, "Name and arguments in one JSON object").value == ["hermes"]
    group(app, "A tag for each parameter").set_value(["xml", "glm"]).run()
    assert app.multiselect(key="dialects").value == ["xml", "hermes", "native", "glm"]
    press(app, "Make the chosen ones favourites")
    assert app.multiselect(key="dialects").options[:5] == ["xml", "hermes", "native", "glm", "json"]
    app.text_input(key="model wanted").set_value("Qwen3-Coder").run()
    assert group(app, "A tag for each parameter").options == ["qwen3-coder"]
    assert "trained on it" in told(app)
    group(app, "A tag for each parameter").set_value(["qwen3-coder"]).run()
    assert app.multiselect(key="dialects").value == [
        "xml",
        "hermes",
        "native",
        "glm",
        "qwen3-coder",
    ]


def group(app: AppTest, family: str) -> Any:
    return next(
        each
        for each in app.get("button_group")
        if str(each.key).partition(" (")[0] == f"family {family}"
    )


def test_a_chosen_origin_reaches_the_panes() -> None:
    app = page("compare", session="02-parallel-calls")
    app.selectbox(key="origin").set_value("tool:get_tides").run()
    (data,) = payloads(app)
    assert data["selected"] == "tool:get_tides"
    for pane in data["panes"]:
        assert "tool:get_tides" in [data["rows"][row][0] for row, _ in pane["cells"]]


def ask(app: AppTest, **what: Any) -> AppTest:
    """The panes' component asks for this."""
    return trigger(app, "panes", "asked", what)


def trigger(app: AppTest, component: str, event: str, value: Any) -> AppTest:
    """The last component of this kind sends an event, as a browser does."""
    found = [element.proto for element in app.get("bidi_component")]
    *_, drawn = (proto for proto in found if proto.component_name == f"playground_{component}")
    states = app._tree.get_widget_states()
    sent = json.dumps([{"event": event, "value": value}])
    states.widgets.add(id=_make_trigger_id(drawn.id, "events"), json_trigger_value=sent)
    app._run(states)
    assert not app.exception
    return app


def edit_block(app: AppTest, origin: str, *texts: str) -> AppTest:
    """A block is clicked, these are typed, and kept."""
    ask(app, do="open", origin=origin, number=7)
    return ask(app, do="keep", number=7, texts=[[text, False] for text in texts])


def rules(app: AppTest, on: bool) -> AppTest:
    """The general rules, switched in the menu of parts: an edit that no block stands for."""
    unfold(app, in_place.ADD)
    next(each for each in app.toggle if each.label == "General rules").set_value(on).run()
    assert not app.exception
    return app


def discard(app: AppTest) -> None:
    unfold(app, "workspace menu")
    press(app, "Back to the original")


def press(app: AppTest, label: str) -> None:
    next(button for button in app.button if button.label == label).click().run()
    assert not app.exception


def test_an_edit_is_seen_at_once_on_every_page_and_undone_there() -> None:
    app = rules(page("compare", session="02-parallel-calls"), on=False)
    assert "system-rules" not in json.dumps(payloads(app))
    app.switch_page(str(paths.pages() / "cache.py")).run()
    assert "# Working style" not in json.dumps(payloads(app))
    unfold(app, "workspace menu")
    assert "Edited: general rules" in told(app)
    press(app, "Undo")
    assert "# Working style" in json.dumps(payloads(app))
    press(app, "Redo")
    assert "# Working style" not in json.dumps(payloads(app))
    discard(app)
    assert "# Working style" in json.dumps(payloads(app))


def test_a_refused_edit_stays_in_its_box_says_why_and_is_no_step() -> None:
    app = page("compare", session="02-parallel-calls")
    edit_block(app, "tool:get_tides", '{"name": ')
    (data,) = payloads(app)
    assert "tool 1:1: not JSON" in data["editing"]["fault"]
    assert next(each for each in app.button if each.label == "Undo").disabled
    ask(app, do="keep", number=7, texts=[['{"name": "get_moon"}', False]])
    (data,) = payloads(app)
    assert data["editing"] == {}
    assert "get_moon" in json.dumps(data)
    press(app, "Undo")
    assert "get_moon" not in json.dumps(payloads(app))


def test_two_acts_on_a_sample_before_the_page_is_drawn_make_one_session() -> None:
    app = page("compare", session="02-parallel-calls")
    unfold(app, in_place.ADD)
    ask(app, do="open", origin="agent", number=7)
    next(each for each in app.toggle if each.label == "General rules").set_value(False)
    ask(app, do="keep", number=7, texts=[["You keep the harbour.", False]])
    assert on_disk().names() == ["02-parallel-calls, edited"]
    (data,) = payloads(app)
    assert data["editing"] == {}
    assert "You keep the harbour." in json.dumps(data)
    assert "# Working style" not in json.dumps(data)


def test_a_message_is_split_off_from_its_box() -> None:
    app = page("compare", session="02-parallel-calls")
    ask(app, do="open", origin="message:1", number=7)
    changes = payloads(app)[0]["editing"]["changes"]
    texts = [["ONE", False]]
    ask(app, do="change", number=7, texts=texts, at=changes.index("Split off from here"))
    assert app.selectbox(key="session").value == "02-parallel-calls, edited from message 1"
    rows = [row for row, _ in payloads(app)[0]["rows"]]
    assert "ONE" in json.dumps(payloads(app))
    assert "message:3" in rows
    assert "message:4" not in rows


def test_a_part_that_has_no_block_gets_a_row_to_be_edited_in() -> None:
    app = page("compare", session="01-plain-chat")
    for label, origin in (("Environment block", "environment"), ("Message", "message:3")):
        unfold(app, in_place.ADD)
        press(app, label)
        (data,) = payloads(app)
        assert data["editing"]["origin"] == origin
        assert [field["text"] for field in data["editing"]["fields"]] == [""]
        assert origin in [row for row, _ in data["rows"]]
    assert data["editing"]["changes"][0].startswith("Role: ")


def test_the_count_below_the_strip_stands_on_the_page_that_it_names(home: Any) -> None:
    """A request's thought signatures are in its body, but in nothing that a dialect writes."""
    call = {"functionCall": {"name": "tides", "args": {}}, "thoughtSignature": "QUJD" * 300}
    contents = [
        {"role": "user", "parts": [{"text": "When is high tide?"}]},
        {"role": "model", "parts": [call]},
        {"role": "user", "parts": [{"functionResponse": {"name": "tides", "response": {}}}]},
    ]
    body = json.dumps({"model": "gemini-2.5-pro", "contents": contents}).encode()
    on_disk().add("asked", new_entry(first_session(Source("asked.json", body)).session))
    for policy, name in (("as-sent", "diff"), ("none", "compare")):
        told = " ".join(
            each.value for each in page("cache", session="asked", policy=policy).caption
        )
        found = re.search(r"(Diff|Compare) counts .* ([\d,]+) \(", told)
        assert found and found[1] == name.capitalize()
        shown = page(name, session="asked", before="asked", dialects="native")
        assert f"~{found[2]}" in "".join(each.proto.json for each in shown.get("bidi_component"))


def test_the_difference_shows_what_is_invisible() -> None:
    app = page("compare", session="02-parallel-calls", view="Lines")
    (data,) = payloads(app)
    assert {"removed", "added", "same"} <= {change for change, _ in data["lines"]}
    assert ["heading", "tool:get_tides"] in data["lines"]
    lines = [text for change, text in data["lines"] if change in ("removed", "added")]
    assert any(text.endswith("↵") for text in lines)


def strip(app: AppTest) -> dict[str, Any]:
    """What the picture of the cache is fed."""
    (data,) = [data for data in payloads(app) if "sentence" in data]
    return data


def test_the_model_decides_about_marks() -> None:
    app = page("cache", session="06-cache-eight-turns", dialect="xml")
    drawn = strip(app)
    assert drawn["sentence"] == (
        "3 marks, probably none can hit: about 849 tokens up to the last one, and this model "
        "needs 1,024."
    )
    assert drawn["note"] == "It probably costs the full price ($0.019)."
    assert [value for value, _, _ in drawn["figures"]] == ["0 %", "100 %", "0"]
    assert drawn["figures"][0][1] == "read from the cache, probably"  # as sure as the sentence
    app.selectbox(key="model").set_value("openai/gpt-5").run()
    assert "takes no cache_control marks" in strip(app)["note"]
    assert not any(marked for _, marked, _ in filter(None, strip(app)["parts"]))
    press(app, "Undo")
    assert app.selectbox(key="model").value is None
    assert strip(app) == drawn


ASKED = b'[{"role": "user", "content": "High tide?"}]'


def told(app: AppTest) -> str:
    return "\n".join(text.value for text in app.text)


def table(app: AppTest, *columns: str) -> pd.DataFrame:
    """The table that has columns of these names."""
    found: pd.DataFrame = next(t.value for t in app.dataframe if {*columns} <= {*t.value})
    return found


def test_what_a_session_costs_under_every_policy() -> None:
    app = page("cache", session="12-long-tool-run", shown="All policies")
    assert not app.exception
    every = table(app, "refused because")
    assert set(every["policy"]) == set(map(title, POLICIES))
    cost = every.set_index(["dialect", "policy"])["cost"]
    assert cost["native", "Default marks"] == 100  # percent, as everywhere
    assert 20 < cost["xml", "Default marks"] < 30
    styles = next(t.proto.arrow_data.styler.styles for t in app.dataframe)
    assert set(re.findall(r"rgba\(([^)]*)\)", styles)) == {"0, 158, 115, 0.34", "213, 94, 0, 0.00"}
    app = page("cache", session="12-long-tool-run", shown="Table", policy="claude-code")
    assert list(table(app, "request")["request"]) == list(range(1, 16))
    assert table(app, "request")["read"].sum() > 0
    app.selectbox(key="apart").set_value("5 min 30 s").run()
    late = table(app, "request")
    assert set(late["read"]) == {0}
    assert "had expired" in late["reason"].iloc[-1]


def test_a_session_is_drawn_as_a_strip_of_all_its_requests() -> None:
    app = page("cache", session="12-long-tool-run", dialect="xml")
    drawn = strip(app)
    requests = table(
        page("cache", session="12-long-tool-run", dialect="xml", shown="Table"), "request"
    )
    assert [one["read"] for one in drawn["requests"]] == list(requests["read"])
    blocks: list[Any] = []
    for one, (_, billed) in zip(drawn["requests"], requests.iterrows(), strict=True):
        blocks = [*blocks[: one["shared"]], *one["blocks"]]
        paid = [billed[name] for name in ("read", "written", "full price")]
        assert sum(block[3] for block in blocks) == sum(paid)
        assert all(start <= mark < len(blocks) for mark, start, _ in one["marks"])
    assert drawn["minimum"] == 1024
    marked = [number for number, part in enumerate(drawn["parts"]) if part and part[1]]
    assert marked == [mark for mark, _, _ in drawn["requests"][-1]["marks"]]
    unfold(app, "rules")
    rules = table(app, "others say").set_index("rule")
    assert rules.loc["collapse runs", "value"] == "true"
    assert str(rules.loc["collapse runs", "others say"]).startswith(
        "false (https://platform.claude.com"
    )
    assert any("fewest tokens that are cached: 1,024" in text.value for text in app.text)


def bars(app: AppTest) -> list[dict[str, Any]]:
    """The bars of policies, the best first."""
    (found,) = [data["rows"] for data in _fed(app) if "title" in data]
    return list(found)


def test_policies_are_bars_and_equal_ones_are_one() -> None:
    app = page("cache", session="12-long-tool-run")
    best, worst = bars(app)
    assert (best["figure"], worst["figure"]) == ("24 % · $0.054", "100 % · $0.23")
    assert (best["on"], worst["on"]) == (False, True)
    assert best["name"] == "Claude Code's marks and 11 more"
    assert sum(best["shares"]) < 0.27


def test_findings_stand_below_the_columns_with_what_to_do_and_what_they_are_about() -> None:
    app = page("replay", session="05-call-in-a-fence")
    (data,) = payloads(app)
    column, severity, _, at, message, fix, _ = next(
        found for found in data["findings"] if found[2] == "call-in-fence"
    )
    assert (column, severity, at) == ("xml", "warning", 53)
    assert message.startswith("a call is inside a code fence: kept as text")
    assert "the switch calls_in_fences=call" in message + fix
    # a finding that several columns share comes once, and a server's own words come in its place
    app = page("replay", session="04-truncated-call", columns="server:vllm,qwen3-coder,hermes")
    (data,) = payloads(app)
    codes = [(found[0], found[2]) for found in data["findings"]]
    assert ("qwen3-coder", "truncated-call") in codes
    assert [code for _, code in codes].count("unclosed-section") == 1


def test_dialects_and_servers_stand_in_columns_of_one_player() -> None:
    many = ",".join(dialect_names()[: MOST_COLUMNS + 1])
    app = page("replay", session="02-parallel-calls", columns=many)
    assert app.multiselect(key="columns").value == dialect_names()[:MOST_COLUMNS]
    app = page("replay", session="02-parallel-calls", columns="xml,hermes,server:vllm")
    (data,) = payloads(app)
    ours, other, server = data["columns"]
    assert (ours["name"], other["name"]) == ("xml", "hermes")
    assert server["name"].startswith("vllm")
    assert len(ours["calls"]) == 2
    assert ours["events"] != other["events"]
    assert len({len(column["steps"]) for column in data["columns"]}) == 1
    first = data["differences"][0]
    assert data["text"][first:].startswith("<get_weather>")
    app.multiselect(key="columns").set_value(["xml"]).run()
    (data,) = payloads(app)
    assert (len(data["columns"]), data["differences"]) == (1, [])
    old = page("replay", session="02-parallel-calls", **{"as": "hermes", "server": "ollama"})
    assert old.multiselect(key="columns").value == ["hermes", "server:ollama"]


def test_marks_can_be_set_and_are_a_policy_then() -> None:
    app = page("cache", session="12-long-tool-run")
    marks = next(box for box in app.multiselect if box.label == "Marks")
    assert marks.value == ["message 0 part 0 · system", "message 1 part 0 · user"]
    last = [option for option in marks.options if option.endswith("· tool")][-1]
    marks.set_value([*marks.value, last]).run()
    assert not app.exception
    assert "The marks you set: a policy of your own" in " ".join(c.value for c in app.caption)
    assert strip(app)["sentence"].startswith("15 requests: ")
    names = [row["name"] for row in bars(app) if row["on"]]
    assert names == ["The marks you set and 12 more"]


def test_what_if_changes_the_price() -> None:
    app = page("cache", session="12-long-tool-run", dialect="xml")
    unfold(app, "what-if")

    def cost() -> float:
        return float(strip(app)["figures"][1][0].removesuffix(" %"))

    app.toggle(key="if-clock").set_value(True).run()
    assert not app.exception
    assert cost() > 100
    assert any("time or id" in fix for _, _, fix, _ in strip(app)["findings"])
    app.toggle(key="if-clock").set_value(False).run()
    app.selectbox(key="if-environment").set_value("persisted").run()
    persisted = cost()
    app.selectbox(key="if-environment").set_value("after").run()
    assert persisted < cost()
    app.selectbox(key="if-ttl").set_value("1h").run()
    assert not app.exception


def test_a_policy_file_is_compared_and_a_bad_one_told() -> None:
    app = page("cache", session="12-long-tool-run", shown="All policies")
    unfold(app, "what-if")
    uploader(app, "A policy of your own").upload(
        "own.json", b'{"name": "mine", "marks": [{"role": "tool"}]}'
    ).run()
    assert "mine" in set(table(app, "refused because")["policy"])
    assert "mine" in [text.value for text in app.text]
    uploader(app, "A policy of your own").upload(
        "own.json", b'{"name": "**x**", "marks": []}'
    ).run()
    assert any("own.json, field name" in text.value for text in app.text)
    assert "mine" in set(table(app, "refused because")["policy"])  # what was loaded is kept
    app.button(key="forget mine").click().run()
    assert not app.exception
    assert "mine" not in [text.value for text in app.text]
    assert "mine" not in set(table(app, "refused because")["policy"])


def test_what_is_sent_is_told_with_the_marks_that_get_lost() -> None:
    app = page("cache", session="07-gemini-above", shown="Payload", dialect="xml")
    for _ in range(100):
        if verbatim(app):
            break
        time.sleep(0.2)
        app.run()
    assert not app.exception
    assert app.warning[-1].value == "Marks that get lost on the way: 1"
    assert set(table(app, "sent as")["sent as"]) == {"cached", "sent"}
    assert any("cachedContents" in text.value for text in app.text)


def test_a_brought_request_is_seen_with_its_own_marks_first_and_others_are_choices() -> None:
    mark = {"cache_control": {"type": "ephemeral"}}
    system = [{"type": "text", "text": "water and wind. " * 900, **mark}]
    body = {"model": "claude-sonnet-4-5", "system": system, "messages": [HELLO]}
    session = first_session(Source("request.json", json.dumps(body).encode())).session
    on_disk().add("asked", new_entry(session))
    app = page("cache", session="asked")
    assert app.selectbox(key="policy").value == "as-sent"
    assert "policy" not in app.query_params
    assert strip(app)["sentence"].startswith("1 mark: the first request only writes")
    assert [part[1] for part in strip(app)["parts"]] == [True, False]
    app.selectbox(key="policy").set_value("azad").run()
    assert app.query_params["policy"] == "azad"
    app.selectbox(key="session").set_value("01-plain-chat").run()
    assert app.selectbox(key="policy").value == "azad"
    app.selectbox(key="session").set_value("asked").run()
    assert app.selectbox(key="policy").value == "azad"  # which was chosen for it
    assert page("cache", session="asked", policy="none").selectbox(key="policy").value == "none"


def test_brought_requests_are_simulated_at_the_times_at_which_they_were_sent() -> None:
    """An answer of their history has no time: 20 seconds were put between all of them."""
    mark = {"cache_control": {"type": "ephemeral"}}
    system = [{"type": "text", "text": "water and wind. " * 1000, **mark}]
    body = {"model": "claude-sonnet-4-5", "system": system, "messages": [HELLO, ANSWER, HELLO]}
    answer = {"role": "assistant", "content": "At seven."}
    longer = {**body, "messages": [*body["messages"], answer, HELLO]}
    lines = [
        {"session_id": "s", "request": request, "response": answer, "timestamp": at}
        for request, at in ((body, "2026-11-01T10:00:00Z"), (longer, "2026-11-01T10:20:00Z"))
    ]
    data = "\n".join(map(json.dumps, lines)).encode()
    on_disk().add("a break for tea", new_entry(first_session(Source("log.jsonl", data)).session))
    app = page("cache", session="a break for tea")
    apart = app.selectbox(key="apart")
    assert (app.selectbox(key="policy").value, apart.value) == ("as-sent", "as noted")
    assert strip(app)["sentence"].startswith("1 mark, and none is ever hit")
    apart.set_value("20 s").run()
    assert "none is ever hit" not in strip(app)["sentence"]


HELLO = {"role": "user", "content": "High tide?"}
ANSWER = {"role": "assistant", "content": "At six."}


def test_the_gemini_threshold_stands_on_the_strip_of_samples_and_of_what_is_pasted() -> None:
    app = page("cache", session="07-gemini-above")
    assert strip(app)["sentence"].startswith("10 characters above the Gemini threshold")
    assert strip(app)["threshold"] == {"characters": 16_010, "of": 16_000}
    assert strip(app)["minimum"] == 2_048
    below = strip(page("cache", session="08-gemini-below"))
    assert below["sentence"].startswith("10 characters below the Gemini threshold")
    assert "too few characters for an explicit Gemini cache" in below["note"]
    unfold(app, "what-if")
    app.selectbox(key="explicit-caching").set_value("off").run()
    assert "explicit caching is not enabled" in strip(app)["note"]
    body = {"contents": [{"role": "user", "parts": [{"text": "tide " * 100}]}]}
    loaded = first_session(Source("request.json", json.dumps(body).encode())).session
    assert loaded.named_model == ""  # the address of such a request names it
    on_disk().add("asked", new_entry(loaded))
    pasted = strip(page("cache", session="asked"))
    assert pasted["threshold"] == {"characters": 500, "of": 16_000}
    assert pasted["minimum"] == 2_048
    assert "No model is named: rules and prices are those of gemini" in str(pasted["findings"])


def test_the_player_gets_every_step_and_character() -> None:
    app = page("replay", session="09-reasoning", step="20")
    (data,) = payloads(app)
    assert data["step"] == 20
    for column in data["columns"]:
        segments = column["segments"]
        assert (segments[0][1], segments[-1][2]) == (0, len(data["text"]))
        for (_, _, stop), (_, start, _) in zip(segments, segments[1:], strict=False):
            assert stop == start
        assert column["steps"][-1][2] == len(column["events"])
        assert len(column["steps"]) == len(data["steps"])


def test_a_recording_may_be_read_as_another_dialect() -> None:
    app = page("replay", session="02-parallel-calls")
    assert any("Complete calls: get_weather, get_tides." in text.value for text in app.text)
    app.multiselect(key="columns").set_value(["hermes"]).run()
    assert any("Complete calls: none." in text.value for text in app.text)


def test_the_carry_page_tells_what_is_refused() -> None:
    app = page("values")
    app.multiselect(key="dialects").set_value(["xml"]).run()
    (board,) = boards(app)
    matrix = app.dataframe[0].value
    cells = dict(zip(matrix["value"], matrix["xml"], strict=True))
    assert (cells["a fence"], cells["a whole own call"]) == ("carried", "refused: cannot-carry")
    refused = [value for value, code in cells.items() if code != "carried"]
    assert board["sentence"] == f"xml refuses {len(refused)} of {len(cells)} difficult values."
    (row,) = board["cards"][0]["rows"]
    assert [value for value, code in row["squares"] if code] == refused


def test_the_list_has_every_dialect_with_a_call_that_it_reads_back() -> None:
    app = page("dialects", session="02-parallel-calls")
    rows = boards(app)[0]["cards"][0]["rows"]
    assert sorted(row["key"] for row in rows) == sorted(dialect_names())
    model = sample_sessions()["02-parallel-calls"].task.model_name
    assert rows[0]["key"] == dialect_for(model).dialect
    tools = sample_sessions()["02-parallel-calls"].tools
    for row in rows:
        dialect = get_dialect(row["key"])
        assert dialect_board.example_call(dialect).replace("\n", "↵") == row["cells"][0][0]
        facts = [fact.kept for tool in tools for fact in schema_facts(dialect, tool)]
        lost = facts.count(False)
        assert row["cells"][3][0] == (f"{lost} of {len(facts)}" if lost else "none")
        assert row["key"] in row["found"]


def test_nonsense_in_the_url_is_ignored() -> None:
    for name in PAGES:
        app = page(name, session="nope", step="-1e9", dialects="klingon", page="99", view="x")
        assert not app.exception


# uploads


@pytest.mark.parametrize(
    ("over", "more"), [("compare", ["See what its cache does"]), ("cache", [])]
)
def test_a_transcript_is_brought_to_the_page_or_to_its_cache(over: str, more: list[str]) -> None:
    app = page(over)
    turns = [{"role": role, "content": role} for role in ("user", "assistant", "user")]
    found = recognise(json.dumps({"model": "gpt-4o", "messages": turns}), "talk.json")
    app.session_state["brought"] = {"number": 1, "found": asdict(found)}
    app.button(key="bring").click().run()
    offers = [b.label for b in app.button if str(b.key).startswith("bring box ")]
    assert offers == ["New session", *more]


def test_a_stream_is_brought_to_its_replay() -> None:
    app = page("compare")
    chunk = {"model": "m", "choices": [{"index": 0, "delta": {"content": "Hi"}}]}
    stream = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n"
    app.session_state["brought"] = {"number": 1, "found": asdict(recognise(stream, ""))}
    app.button(key="bring").click().run()
    offers = [b.label for b in app.button if str(b.key).startswith("bring box ")]
    assert offers[0] == "Replay it"


@pytest.mark.parametrize(
    "body",
    [
        {"messages": [{"role": "user", "content": "Hi"}]},
        {"system": "Be brief.", "messages": [{"role": "user", "content": "Hi"}]},
    ],
)
def test_a_request_of_one_turn_is_brought_to_its_cache_too(body: dict[str, Any]) -> None:
    sent = json.dumps({"model": "claude-sonnet-4-5", "max_tokens": 9, **body})
    command = f"curl https://api.anthropic.com/v1/messages -d '{sent}'"
    for given, name in ((sent, "body.json"), (command, "")):
        app = page("compare")
        found = recognise(given, name)
        app.session_state["brought"] = {"number": 1, "found": asdict(found)}
        app.button(key="bring").click().run()
        offers = [b.label for b in app.button if str(b.key).startswith("bring box ")]
        assert offers == ["New session", "See what its cache does"], name


def test_a_file_that_is_brought_has_a_receipt() -> None:
    app = page("start")
    note = "A remark beside the conversation, which no session holds"
    turns = [{"role": role, "content": role} for role in ("user", "assistant")]
    found = recognise(json.dumps({"chat": {"turns": turns}, "of": {"mine": note}}), "talk.json")
    app.session_state["brought"] = {"number": 1, "found": asdict(found)}
    app.session_state["bring box receipt"] = True  # opened
    app.button(key="bring").click().run()
    assert not app.exception
    assert note in str([each.value.to_dict() for each in app.dataframe])


def test_the_receipt_of_a_file_is_not_read_while_it_is_folded() -> None:
    app = page("start")
    turns = [{"role": role, "content": role} for role in ("user", "assistant")]
    found = recognise(json.dumps({"chat": {"turns": turns}}), "talk.json")
    app.session_state["brought"] = {"number": 1, "found": asdict(found)}
    app.button(key="bring").click().run()
    assert not app.dataframe


def test_a_pasted_reply_that_nobody_reads_has_a_plain_name() -> None:
    app = page("start")
    upload(app, "", b"<|call|> get_tides <|done|>")
    assert app.selectbox(key="session").value == "pasted reply of 27 characters"


def test_a_text_may_be_imported_as_a_system_prompt() -> None:
    app = page("compare")
    prompt = "You pilot ships into Brest."
    upload(app, "", prompt.encode(), wanted="As a system prompt")
    app.run()  # with the imported session
    assert app.selectbox(key="session").value == "pasted system prompt"
    (data,) = (data for data in payloads(app) if "panes" in data)
    assert data["texts"] == [prompt]
    assert [pane["parts"]["History"] for pane in data["panes"]] == [len(prompt)] * 3


def test_a_reply_in_a_file_is_called_as_the_file_is_and_was_not_recorded() -> None:
    app = page("replay")
    reply = b'<tool_call>{"name": "get_tides", "arguments": {}}</tool_call>'
    upload(app, "tides at noon.txt", reply)
    assert app.selectbox(key="session").value == "tides at noon"
    assert "A text, not a recorded stream" in told(app)
    assert app.selectbox(key="model").proto.placeholder == "No model named"  # it was Claude
    first, second = app.multiselect(key="columns").value  # native reads nothing of it
    assert (first, second) == ("hermes", "llama3-json")  # which reads the call, its tags as text
    for other in ("compare", "cache"):  # which were empty pictures
        app.switch_page(str(paths.pages() / f"{other}.py")).run()
        assert app.info[0].value == "This session holds a reply and no request."
        assert "Replay it" in [link.proto.label for link in app.get("page_link")]


def upload(app: AppTest, file_name: str, data: bytes, wanted: str = "") -> None:
    """Bring a file by the dialog of the page, and do what is wanted, or what is offered first."""
    found = recognise(data, file_name)
    app.session_state["brought"] = {"number": 1, "found": asdict(found)}
    app.button(key="bring").click().run()
    offers = [b for b in app.button if str(b.key).startswith(f"bring box {wanted}")]
    if offers:
        offers[0].click().run()


def test_an_uploaded_session_is_chosen_and_its_text_is_only_text() -> None:
    message = {"role": "user", "parts": [{"type": "text", "text": HOSTILE}]}
    session = {
        "format": "playground-session/1",
        "title": HOSTILE,
        "purpose": HOSTILE,
        "task": {"user_agent_prompt": HOSTILE, "model_name": HOSTILE},
        "messages": [message],
        "tools": [{"name": "t", "description": HOSTILE}],
        "recordings": [{"name": HOSTILE, "dialect": "xml", "chunks": [{"text": HOSTILE}]}],
    }
    for name in PAGES:
        app = page(name)
        upload(app, "mine.json", json.dumps(session).encode())
        assert app.selectbox(key="session").value == "mine"
        for element in app.markdown:
            assert HOSTILE not in element.value


def test_a_model_whose_rules_nobody_noted_costs_nothing_known() -> None:
    session = {"format": "playground-session/1", "task": {"model_name": f"cohere/{HOSTILE}"}}
    app = page("cache")
    upload(app, "mine.json", json.dumps(session).encode())
    app.switch_page(str(paths.pages() / "cache.py")).run()
    assert "no caching rules are known for this model" in strip(app)["sentence"]
    unfold(app, "rules")
    assert f"known for model {session['task']['model_name']!r}" in told(app)  # type: ignore[index]
    for element in (*app.markdown, *app.info, *app.error, *app.caption):
        assert HOSTILE not in element.value
    app.selectbox(key="model").set_value("openai/gpt-5").run()
    assert "no caching rules" not in strip(app)["sentence"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"a"', "bad.json:1: not JSON: "),
        (b'{"format": "playground-session/1", "messages": 3}', "field messages"),
        (b"\xff\x80", "bad.json:1: byte 0xff is not UTF-8"),
        (b'[{"description": "no name"}]', "bad.json:1, field tools.0.name"),
    ],
)
@pytest.mark.parametrize("name", PAGES)
def test_a_broken_file_is_one_message_and_loses_nothing(
    name: str, data: bytes, message: str
) -> None:
    app = page(name, session="06-cache-eight-turns")
    app.run()  # counts of tokens that were not there in time stand in the next run
    before = [drawn(data) for data in payloads(app)]
    upload(app, "bad.json", data)
    assert not [button for button in app.button if str(button.key).startswith("bring box ")]
    assert any(message in text.value for text in app.text)
    assert app.selectbox(key="session").value == "06-cache-eight-turns"
    assert [drawn(data) for data in payloads(app) if "said" not in data] == before


def drawn(data: dict[str, Any]) -> dict[str, Any]:
    """The data that a component draws, without the figures that may come a run later."""
    return {key: value for key, value in data.items() if key != "figures"}


def test_an_uploaded_tool_list_becomes_the_sessions_tools() -> None:
    app = page("compare", session="01-plain-chat")
    schema = {"type": "object", "properties": {}}
    tools = [{"type": "function", "function": {"name": "dig", "parameters": schema}}]
    upload(app, "tools.yaml", yaml.safe_dump(tools).encode())
    app.switch_page(str(paths.pages() / "compare.py")).run()
    assert '"tool:dig"' in json.dumps(payloads(app))


@pytest.mark.parametrize(
    "name", widened(["xml", "llama3-json", "react", "gemma4", "native", "continue"], at_once=2)
)
def test_the_guide_shows_each_use_case_as_it_is(name: str) -> None:
    guide = guide_for(name)
    assert isinstance(guide, Guide)
    for case in guide.use_cases:
        app = page("dialects", guide=name, case=case.title)
        shown = verbatim(app)
        texts = [d for d in case.dialogs if not isinstance(d, str)]
        for dialog in texts:
            assert guide.prompt(case, dialog) in shown
        assert len(shown) >= len(texts)


def test_the_guide_opens_with_the_dialect_of_the_sessions_model() -> None:
    app = page("guide", session="01-plain-chat")
    model = sample_sessions()["01-plain-chat"].task.model_name
    assert app.selectbox(key="guide").value == dialect_for(model).dialect


@pytest.mark.parametrize("name", ["hermes", "qwen3-coder"])
def test_a_guide_says_what_each_server_loses_of_one_reply(name: str) -> None:
    app = page("dialects", guide=name)
    (told,) = [c for b in boards(app) for c in b["cards"] if c["title"] == "Servers that read it"]
    guide = guide_for(name)
    assert isinstance(guide, Guide)
    readings = server_readings(guide)
    assert [row["cells"][0] for row in told["rows"]] == [title for title, _ in readings]
    whole = 0
    for row, (_, reading) in zip(told["rows"], readings, strict=True):
        nothing = bool(reading.tool_calls) and not any(e.text.split() for e in reading.dropped)
        assert (row["cells"][1] == "nothing lost") == nothing
        whole += nothing
    assert f"{whole} of {len(readings)} servers lose nothing" in figures(app)


def test_the_raw_prompt_is_shown_whole_and_a_template_is_asked_for() -> None:
    app = page("raw")
    (prompt,) = verbatim(app)
    assert prompt.startswith("<|begin_of_text|>")
    assert prompt.endswith("<|start_header_id|>assistant<|end_header_id|>\n\n")
    assert "2 line breaks at its start or end" in " ".join(text.value for text in app.text)
    asked = page("raw", format="A chat template")
    assert "tokenizer_config.json" in asked.info[0].value


def test_replay_offers_every_switch() -> None:
    app = page("replay", session="05-call-in-a-fence", dialect="xml")
    offered = {box.key.removesuffix("-xml") for box in app.selectbox if box.key}
    assert {field.name for field in fields(Switches)} <= offered


def test_a_switch_changes_what_replay_reads() -> None:
    app = page("replay", session="05-call-in-a-fence", dialect="xml")
    switch = app.selectbox(key="calls_in_fences-xml")
    assert switch.value == "text"
    before = app.text[0].value
    switch.select("call").run()
    assert not app.exception
    assert app.text[0].value != before or "none" not in before


# streams, imports, experiments


def stream() -> bytes:
    said = Said(("hm",), ("Hello ", "there"), (("get_weather", ('{"city": "Oslo"}',)),))
    return FRAMINGS["events"](WRITERS["anthropic-messages"](said))


def test_an_uploaded_stream_is_replayed_with_what_the_provider_said() -> None:
    app = page("replay")
    upload(app, "answer.sse", stream())
    assert app.selectbox(key="session").value == "answer"
    texts = [text.value for text in app.text]
    assert any("Complete calls: get_weather." in text for text in texts)
    assert any(text.startswith("anthropic-messages · m · ended: stop") for text in texts)
    (data,) = payloads(app)
    assert data["timing"] == "none"
    assert data["text"] == 'hmHello thereget_weather{"city": "Oslo"}'
    assert {segment[0] for segment in data["columns"][0]["segments"]} == {
        "reasoning",
        "text",
        "call-named",
        "argument",
    }


def test_a_broken_stream_says_so() -> None:
    app = page("replay")
    upload(app, "answer.sse", stream().partition(b'data: {"type": "message_delta')[0])
    assert any("ended: no end" in text.value for text in app.text)
    (data,) = payloads(app)  # the player says it, and the page does not say it again
    assert ("stream", "no-end") in [(column, code) for column, _, code, *_ in data["findings"]]
    assert not any("about the stream" in box.label for box in app.expander)


@pytest.mark.parametrize(
    ("came", "said"),
    [
        ('{"error": {"message": "no key"}}', "The provider sent an error in place of a reply."),
        ("<html>502</html>", "What came is no stream of a reply, so there is no text to read."),
        ("", "Nothing came, so there is no text to read."),
    ],
)
def test_a_recording_without_text_says_what_it_is(home: Any, came: str, said: str) -> None:
    lines = [
        {"format": "playground-recording/2", "model": "m"},
        {"request": {"model": "m", "messages": [{"role": "user", "content": "hi"}]}, "url": "u"},
        *([{"t": 0.2, "raw": came}] if came else []),
        {"end": 0.3, "error": None},
    ]
    data = "\n".join(map(json.dumps, lines)).encode()
    on_disk().add("refused", new_entry(first_session(Source("refused.jsonl", data)).session))
    app = page("replay", session="refused")
    assert said in {box.value for box in (*app.error, *app.info)}
    assert not any("columns" in data for data in _fed(app))


def test_a_conversation_with_its_streams_is_offered_to_replay() -> None:
    """It opened in Compare, though three streams were what had been recorded."""
    app = page("compare", session="02-parallel-calls")
    data = paths.samples()["11-provider-streams"].read_bytes()
    session = load_session(data)
    assert session.recordings and len(session.messages) > 1
    upload(app, "mine.json", data, "Replay its recordings")
    assert not app.exception
    assert app.selectbox(key="recording").value == session.recordings[0].name


def test_an_import_of_many_sessions_offers_each_and_repairs() -> None:
    call = {"id": "", "type": "function", "function": {"name": "t", "arguments": "{}"}}
    said = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "", "content": "r"},
    ]
    line = json.dumps({"messages": said}).encode()
    app = page("compare")
    upload(app, "chats.jsonl", line + b"\n" + line)
    assert {"chats", "chats 2"} <= set(app.selectbox(key="session").options)
    unfold(app, "workspace menu")
    (button,) = [b for b in app.button if b.label.startswith("Repair")]
    button.click().run()
    assert app.selectbox(key="session").value == "chats (repaired)"
    assert not [b for b in app.button if b.label.startswith("Repair")]


@pytest.mark.parametrize("kind", ["cut otherwise", "find a cut that changes anything", "lose"])
def test_experiments_on_the_page(kind: str) -> None:
    app = page("replay", session="02-parallel-calls", listed="Experiments", experiment=kind)
    if kind == "lose":
        assert any("events differ" in text.value for text in app.text)
        assert "removed" in set(app.dataframe[-1].value["change"])
    else:
        assert len(app.success) == 1


def test_every_dialect_is_listed_and_a_row_becomes_a_column() -> None:
    app = page("replay", session="02-parallel-calls", listed="Detect")
    frame = app.dataframe[-1].value
    assert frame["dialect"][0] == "xml"
    assert frame["same calls"][0]
    assert {"vllm drops", "ollama drops"} <= set(frame.columns)


def test_an_export_holds_the_columns_that_are_shown() -> None:
    app = page("replay", session="02-parallel-calls", columns="xml,server:vllm")
    unfold(app, "export")
    assert not app.exception
    files = Reading(
        load_session(paths.samples()["02-parallel-calls"]).recordings[0],
        "xml",
        (),
        Switches(),
        ("xml", "server:vllm"),
    )
    for form in ("pytest", "html", "json"):
        assert "vllm" in files.file(form), form


def test_a_servers_reading_stands_beside_ours() -> None:
    app = page("replay", session="09-reasoning", columns="hermes,server:vllm")
    said = next(text.value for text in app.text if "hands over" in text.value)
    assert said.startswith("vllm")
    (data,) = payloads(app)
    ours, theirs = data["columns"]
    assert theirs["note"].startswith("server's parser, given a complete reply: vllm 0.")
    assert "of a complete reply. It may read a stream differently." in said
    assert ours["note"] == "this project's parser"
    assert data["step"] == len(data["steps"]) - 1  # the end first


def test_the_server_beside_our_reading_at_first_was_run_on_such_replies() -> None:
    """vLLM, whose reading of a value that is cut off is assumed, comes third: it hands over the
    call."""
    app = page("replay", session="04-truncated-call")
    shown = ["qwen3-coder", "server:ollama", "server:vllm"]
    assert app.multiselect(key="columns").value == shown
    told = " ".join(text.value for text in app.text)
    assert "vllm:qwen3_coder is assumed, not known, to hand over the call write_file" in told
    said = next(text.value for text in app.text if text.value.startswith("ollama"))
    assert "hands over" in said
    assert said.endswith("Its parser was run on such replies.")


def test_what_drops_most_stands_beside_the_own_reading_at_first() -> None:
    call = "<tool_call>\n<function=t>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>"
    reply = f"{call}\nAnd so on."
    recorded = Recording("r", "qwen3-coder", (TextChunk(reply),))
    on_disk().add("r", new_entry(replace(load_session(ASKED), recordings=(recorded,))))
    app = page("replay", session="r")
    own, other = app.multiselect(key="columns").value
    assert own == "qwen3-coder"
    assert other.startswith("server:")
    (data,) = payloads(app)
    assert data["columns"][1]["dropped"] >= len("And so on.")
    assert "columns" not in app.query_params


def test_the_switches_are_part_of_the_link() -> None:
    app = page("replay", session="02-parallel-calls", **{"misfits-xml": "text"})
    assert app.selectbox(key="misfits-xml").value == "text"


def test_a_whole_request_is_taken_along_as_it_is_sent() -> None:
    """Every form gives the same messages, all pages of them, and no sign for a line's end."""
    session = sample_sessions()["12-long-tool-run"]
    for name in ("native", "xml"):
        column = compare(session, [name]).columns[0]
        texts = {form: text for form, (_, text) in request_texts(column).items()}
        sent = json.loads(texts["JSON"])
        assert sent["messages"] == column.rendering.messages
        assert sent.get("tools") == column.rendering.tools
        given: dict[str, Any] = {}
        exec(texts["Python"], given)
        assert given["messages"] == column.rendering.messages
        assert "↵" not in "".join(texts.values())
    app = page("compare", session="12-long-tool-run", **{"take along": "true"})
    assert not app.exception


def test_nothing_is_added_to_a_session_that_was_brought_unless_it_is_switched_on() -> None:
    app = page("compare", dialects="native")
    body = {"messages": [{"role": "system", "content": "MINE"}, {"role": "user", "content": "Hi"}]}
    upload(app, "mine.json", json.dumps(body).encode())
    app.switch_page(str(paths.pages() / "compare.py")).run()
    assert "system-rules" not in json.dumps(payloads(app))
    rules(app, on=True)
    assert "system-rules" in json.dumps(payloads(app))
    assert "system-rules" in json.dumps(payloads(page("compare", session="02-parallel-calls")))


def test_an_answer_that_nobody_recorded_is_streamed_again() -> None:
    app = page("replay", session="12-long-tool-run")
    assert not app.exception
    assert app.selectbox(key="recording").value == "answer in message 29, re-streamed"
    assert "the model may have written the rest differently." in told(app)
    app.selectbox(key="recording").set_value("answer in message 1, re-streamed").run()
    assert "Aborted calls: 0" in told(app)
    assert "as xml would write it" in told(app)
    assert "Complete calls: read_file" in told(app)


def test_a_stream_whose_text_holds_calls_is_read_so_with_one_click() -> None:
    """Recorded as native, its call is text: nothing said so before a tab was opened."""
    reply = '<tool_call>\n{"name": "t", "arguments": {"a": 1}}\n</tool_call>'
    recorded = Recording("streamed", "native", (TextChunk("I look. "), TextChunk(reply)))
    on_disk().add("streamed", new_entry(replace(load_session(ASKED), recordings=(recorded,))))
    app = page("replay", session="streamed")
    assert "No call is read this way, but the text looks like hermes: 1 call." in told(app)
    press(app, "Read it as hermes")
    assert "Complete calls: t." in told(app)
    assert "looks like" not in told(app)
    assert "looks like" not in told(page("replay", session="03-argument-kinds"))


def test_a_session_without_an_answer_says_what_to_bring() -> None:
    app = page("replay", session="08-gemini-below")
    assert not app.exception
    on_disk().add("asked", new_entry(load_session(ASKED)))
    app.run()
    app.run()
    app.selectbox(key="session").set_value("asked").run()
    assert not app.exception
    assert "No reply yet. Import one" in app.info[0].value
