"""The pages of templates and payloads, and what Compare says of tools."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest
from test_pages import HOSTILE, page, payloads, table, unfold, upload, verbatim

from playground.base import paths
from playground.plugins.systems.aichatflow.runs import TemplateRun
from playground.plugins.systems.pages import templates
from playground.plugins.trials.demo_server import serving
from playground.questions.provider_models import PROVIDERS


def until(app: AppTest, done: Callable[[], bool], seconds: float = 60) -> None:
    """Run the page again until something is on it."""
    end = time.monotonic() + seconds
    while not done() and time.monotonic() < end:
        time.sleep(0.2)
        app.run()
    assert done()
    assert not app.exception


# Templates


@pytest.mark.parametrize("name", paths.sample_templates())
def test_a_sample_is_run_and_every_step_can_be_looked_at(name: str) -> None:
    app = page("formats", templates=name)
    frame = app.dataframe[0].value
    assert len(frame) > 5
    for number in range(1, len(frame) + 1):
        app.number_input(key="template step").set_value(number).run()
        assert not app.exception
        assert not app.error
    for other in paths.sample_templates():  # that may have fewer steps
        app.selectbox(key="templates").set_value(other).run()
        assert not app.exception


def test_a_message_is_shown_with_source_text_and_variables() -> None:
    app = page("formats", templates="harbour-desk")
    app.number_input(key="template step").set_value(3).run()
    source, text = verbatim(app)
    assert source.startswith("{{.question}}")
    assert text == "When can I come in? (Mona, 11.5 m)"
    variables = app.dataframe[1].value
    assert dict(zip(variables["variable"], variables["in the input"], strict=True)) == {
        ".question": "there",
        ".visitor.name": "there",
        ".visitor.length": "there",
        ".visitor.draught": "missing",
    }
    app.number_input(key="template step").set_value(5).run()
    request = json.loads(verbatim(app)[0])
    assert request["function_call"] == {"name": "get_tides"}


def test_another_input_is_another_run_and_a_bad_one_is_told() -> None:
    app = page("formats", templates="tide-talk")
    field = app.text_area(key="input of tide-talk")
    field.set_value('{"port": "Nantes", "questions": ["Why?"]}').run()
    assert "Nantes" in app.dataframe[0].value["text"][1]
    field.set_value("{").run()
    assert app.error[0].value.startswith("This cannot be run")
    assert any("input:1: not JSON" in text.value for text in app.text)
    assert app.text_area(key="input of tide-talk").value == "{"
    field.set_value('{"port": 3, "questions": 4}').run()
    assert "The run broke off" in app.error[0].value
    assert any("template 'default', message 2" in text.value for text in app.text)
    assert list(app.dataframe[0].value["what"]) == ["message", "message"]  # as far as it came


def test_the_set_can_be_edited_and_a_mistake_is_told() -> None:
    app = page("formats", templates="tide-talk")
    app.text_area(key="set of tide-talk").set_value(
        "short:\n- {role: user, content: 'In {{.port}}?'}\n"
    ).run()
    assert [box.value for box in app.selectbox if box.label == "Template"] == ["short"]
    assert app.dataframe[0].value["text"][0] == "In Brest?"
    app.text_area(key="set of tide-talk").set_value("short:\n- {role: pirate}\n").run()
    assert any("template 'short', message 0" in text.value for text in app.text)
    assert str(app.text_area(key="set of tide-talk").value).endswith("pirate}\n")


def test_an_uploaded_set_is_used_and_its_text_is_only_text() -> None:
    app = page("formats")
    source = f"default:\n- {{role: user, content: {json.dumps(HOSTILE)}}}\n"
    app.file_uploader(key="template set").set_value([("own.yaml", source.encode(), "text/yaml")])
    app.run()
    app.text_area(key="answers of own.yaml").set_value('["ok"]').run()
    assert app.dataframe[0].value["text"][0] == HOSTILE
    assert not [m for m in app.markdown if "<script>" in m.value]
    app.file_uploader(key="template set").set_value([("bad.yaml", b"default: [{role: x}]", "")])
    app.run()
    assert "cannot be read" in app.error[0].value
    assert any("one of the roles system" in text.value for text in app.text)


def test_a_model_is_asked_and_the_request_is_opened_in_compare() -> None:
    with serving() as server:
        app = page("formats", templates="harbour-desk")
        app.segmented_control(key="answers").set_value("A model's").run()
        app.text_input(key="template model").set_value("openai/demo")
        app.text_input(key="template server").set_value(f"{server.url}/v1").run()
        assert any("Press Run" in info.value for info in app.info)
        app.button(key="run template").click().run()
        until(app, lambda: any(b.key == "open request" for b in app.button))
    assert "Here is what I found. ✅" in list(app.dataframe[0].value["text"])
    app.button(key="open request").click().run()
    assert not app.exception
    assert app.selectbox(key="session").value == "harbour-desk default, request 4"
    assert "Open in Compare" in [link.proto.label for link in app.get("page_link")]
    app.switch_page(str(paths.pages() / "compare.py")).run()
    (data, *_) = payloads(app)
    assert "Is there a berth for me?" in json.dumps(data, ensure_ascii=False)


def test_a_run_that_ends_while_the_page_is_drawn_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = templates.steps

    def late(run: TemplateRun) -> None:
        while run.under_way:
            time.sleep(0.05)
        draw(run)

    monkeypatch.setattr(templates, "steps", late)
    app = page("formats", templates="harbour-desk")
    app.segmented_control(key="answers").set_value("A model's").run()
    app.text_input(key="template model").set_value("openai/demo")
    app.text_input(key="template server").set_value("http://127.0.0.1:9/v1").run()
    app.button(key="run template").click().run()
    assert not app.exception
    assert [error.value for error in app.error] == [
        "The run broke off, and the history is as it was before it."
    ]
    assert not app.button(key="run template").disabled


# Payload


def test_what_providers_get_stands_beside_what_was_rendered() -> None:
    app = page("payload", session="02-parallel-calls", dialect="native")
    app.multiselect(key="providers").set_value(["Anthropic", "Gemini"]).run()
    until(app, lambda: len(app.get("bidi_component")) > 1)
    (data,) = payloads(app)
    assert [pane["name"] for pane in data["panes"]] == [
        "native, as rendered",
        "Anthropic",
        "Gemini",
    ]
    frame = app.dataframe[0].value
    assert set(frame["provider"]) == {"Anthropic", "Gemini"}
    assert {"system-moved", "messages-merged", "schema-changed"} <= set(frame["code"])
    decided = [b[3] for _, blocks in data["panes"][1]["cells"] for b in blocks if len(b) > 3]
    assert any("messages-merged" in each["badge"] for each in decided)
    assert not verbatim(app)  # the bodies wait until they are looked at


def components_key(app: AppTest) -> str:
    (data,) = payloads(app)
    return str(data["key"])


def test_every_provider_at_once_and_one_that_refuses() -> None:
    app = page("payload", session="02-parallel-calls", dialect="hermes")
    app.multiselect(key="providers").set_value(list(PROVIDERS)).run()
    until(app, lambda: len(app.get("bidi_component")) > 1)
    assert any("LiteLLM refuses" in text.value for text in app.text)
    (data,) = payloads(app)
    assert len(data["panes"]) == 1 + len(PROVIDERS) - 2  # Anthropic and Gemini want ids


def test_parameters_are_part_of_the_request_and_nonsense_is_told() -> None:
    app = page("payload", session="01-plain-chat", dialect="native")
    app.multiselect(key="providers").set_value(["Anthropic"])
    app.text_input(key="parameters").set_value('{"temperature": 0.25}').run()
    until(app, lambda: len(app.get("bidi_component")) > 1)
    first = components_key(app)
    assert "parameter-dropped" not in set(app.dataframe[0].value["code"])
    app.text_input(key="parameters").set_value('{"seed": 1}').run()
    until(app, lambda: len(app.get("bidi_component")) > 1)
    assert "parameter-dropped" in set(app.dataframe[0].value["code"])
    assert components_key(app) != first  # what is drawn anew has another key
    app.text_input(key="parameters").set_value("[1]").run()
    assert any("not a JSON object" in text.value for text in app.text)
    assert not app.exception


# tools


def test_compare_says_what_each_dialect_drops_of_the_tools() -> None:
    app = page("compare", session="02-parallel-calls", view="Tools")
    frame = app.dataframe[0].value.set_index("dialect")
    assert frame.loc["native", "enums"] == "1/1"
    assert frame.loc["xml", "enums"] == "0/1"
    dropped = app.dataframe[1].value
    assert ["get_weather", "unit", "enum", "enums"] in dropped.values.tolist()
    app = page("compare", session="01-plain-chat", view="Tools")
    assert app.info[0].value == "This session has no tools."


def test_tools_of_any_form_can_be_uploaded() -> None:
    app = page("compare", session="02-parallel-calls", view="Tools")
    source = b'def moor(berth: str, *rest: int) -> None:\n    """Moor a boat."""\n'
    upload(app, "tools.py", source)
    app.switch_page(str(paths.pages() / "compare.py")).run()
    facts = app.dataframe[0].value
    assert facts.set_index("dialect").loc["native", "types"] == "1/1"


def test_an_imported_history_stands_before_the_next_run() -> None:
    app = page("formats", templates="harbour-desk")
    before = [{"role": "user", "content": "Earlier."}, {"role": "assistant", "content": "Yes."}]
    app.session_state["brought template history"] = json.dumps(before)
    app.run()
    (editor,) = (each for each in app.text_area if each.label.startswith("History"))
    assert json.loads(editor.value or "") == before
    unfold(app, "new history")
    assert json.loads(verbatim(app)[-1])[:2] == before
    assert not app.exception


# Prompts


def test_a_prompt_is_shown_in_every_form_with_what_is_missing() -> None:
    app = page("prompts", session="02-parallel-calls")
    variables = app.dataframe[0].value
    assert variables.values.tolist() == [["port", "yes", "Brest"], ["question", "missing", ""]]
    text, messages, openai, anthropic = verbatim(app)[:4]
    assert text == "You answer for the harbour of Brest. {question}"
    assert json.loads(messages)[0]["role"] == "system"
    assert json.loads(openai) == [{"role": "system", "content": text}]
    assert json.loads(anthropic)["system"] == [{"type": "text", "text": text}]
    assert len(verbatim(app)) == 4  # the tools wait until they are looked at


def test_a_prompt_of_messages_and_what_is_wrong_with_one() -> None:
    app = page("prompts", session="01-plain-chat")
    call = {"id": "1", "function": {"name": "f", "arguments": {}}}
    template = [{"role": "assistant", "content": "{q}", "tool_calls": [call]}]
    app.text_area(key="prompt template").set_value(json.dumps(template)).run()
    assert "do not reach Anthropic" in app.warning[0].value
    app.text_area(key="prompt template").set_value('[{"role": "pirate"}]').run()
    assert any("one of system, user, assistant, tool" in text.value for text in app.text)
    app.text_area(key="prompt values").set_value("3").run()
    assert app.error[0].value == "The values are not a JSON object."
    assert not app.exception


def test_a_prompt_of_an_agents_class_is_chosen_and_asked_with_a_script() -> None:
    app = page("prompts", session="02-parallel-calls")
    source = (
        "class Harbour(Agent):\n"
        "    @prompt\n    def desk():\n        return Prompt.from_text('For {port}.')\n"
        "    @prompt\n    def end():\n        return Prompt.from_text('Bye, {port}.')\n"
    )
    app.text_area(key="prompt template").set_value(source).run()
    app.selectbox(key="prompt of several").set_value("end").run()
    assert verbatim(app)[0] == "Bye, Brest."
    unfold(app, "prompt chat")
    call = {"id": "1", "function": {"name": "get_weather", "arguments": {"city": "Brest"}}}
    app.text_area(key="chat answers").set_value(json.dumps([{"tool_calls": [call]}, "Rain."])).run()
    events = table(app, "event")
    assert list(events["event"]) == [
        "ChatRequestEvent",
        "ToolRequestEvent",
        "ToolResponseEvent",
        "ChatResponseEvent",
    ]
    assert list(events["text"])[0] == "system: Bye, Brest.\nuser: When is high water?"
    assert list(events["text"])[-1] == "Rain."
    app.text_area(key="chat answers").set_value("[1]").run()
    assert "This chat cannot be run" in app.error[0].value
    assert not app.exception


def test_a_prompt_is_asked_of_a_model_that_litellm_reaches() -> None:
    with serving() as server:
        app = page("prompts", session="01-plain-chat")
        unfold(app, "prompt chat")
        app.segmented_control(key="chat origin").set_value("A model's").run()
        assert any("no model is named" in text.value for text in app.text)
        app.text_input(key="chat model").set_value("openai/demo")
        app.text_input(key="chat server").set_value(f"{server.url}/v1").run()
        app.button(key="run chat").click().run()
        until(app, lambda: list(table(app, "event")["event"])[-1:] == ["ChatResponseEvent"])
        assert table(app, "event")["text"].tolist()[-1]
    assert not app.exception


def test_a_signature_is_read_from_a_class() -> None:
    app = page("signatures", session="01-plain-chat")
    source = (
        "class Count(dspy.Signature):\n"
        "    question: str = dspy.InputField()\n"
        "    answer: int = dspy.OutputField(desc='how many', ge=0)\n"
    )
    assert not app.text_input(key="signature").disabled
    app.text_area(key="signature class").set_value(source).run()
    assert app.text_input(key="signature").disabled
    assert "greater than or equal to: 0" in " ".join(verbatim(app))
    app.session_state["signature view"] = "Fields"
    app.run()
    assert "how many" in app.dataframe[0].value.to_string()
    assert not app.exception


# Deferred tools


def test_the_cache_page_plans_the_tools_of_a_session_that_has_some() -> None:
    app = page("cache", session="12-long-tool-run")
    unfold(app, "deferred-tools")
    until(app, lambda: any("are called" in each.value for each in app.info))
    assert list(table(app, "way")["way"])[:2] == ["as they are", "deferred, searched"]
    assert list(table(app, "cheapest")["tool"]) == ["read_file", "write_file"]
    assert any("Assumed: a search finds 3 tools" in each.value for each in app.caption)
    other = page("cache", session="01-plain-chat")
    assert "deferred-tools" not in other.session_state
    assert not any("If tools were deferred" in each.label for each in other.expander)
