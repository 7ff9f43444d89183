"""Ollama 0.33.0-rc2 (fb307609): a parser in Go for each family of models.

They walk the stream by states. A call that cannot be read is left out, with a line in the log, or
ends the request with an error; one that the end cuts off stays in the parser's buffer. A model
without such a parser has a template, and `tools` looks behind what that writes before a call for
the name of an offered tool and the next JSON object.
"""

from functools import partial
from typing import Final

from playground.servers.habits import (
    AS_WRITTEN,
    CLOSED_ONLY,
    ELSE_TEXT,
    JSON_IN_TAGS,
    LEFT_OUT,
    NO_WAY_BACK,
    OFFERED_ONLY,
    STRICT_JSON,
    Habit,
    parser,
)
from playground.servers.view import Server, Suite, View

_SOURCE: Final = "ollama fb307609 "
_PARSERS: Final = f"{_SOURCE}model/parsers/"
_read = partial(parser, _PARSERS)
_other = partial(parser, _SOURCE)

_IN_TAGS: Final[Habit] = {
    **dict(cut="dropped", broken="error", unread="error", until="closer"),
    **dict(partial="dropped", orphans="kept"),
}
"""What stands between two tags must be a call, or the request fails; it waits for the second."""
_JSON: Final[Habit] = {**_IN_TAGS, **AS_WRITTEN}
_CODER: Final[Habit] = {
    **_IN_TAGS,
    **CLOSED_ONLY,
    **ELSE_TEXT,
    "sectionless": "text",
    "unended": "error",
    "unclosed": "dropped",
}
_GLM: Final[Habit] = {**_IN_TAGS, **ELSE_TEXT, "cut": "whole call or error"}
_GEMMA: Final[Habit] = {**LEFT_OUT, "until": "closer", "strangers": ("call:",)}
_DEEPSEEK: Final[Habit] = {
    **{**LEFT_OUT, **AS_WRITTEN, "orphans": "closers kept"},
    **{"until": "closer", "sectionless": "text"},
}
_LFM: Final[Habit] = {
    **LEFT_OUT,
    "orphans": "kept",
    "until": "opener",
    "unclosed": "dropped",
    "sectionless": "text",
}
_TOOLS: Final[Habit] = {
    **{**LEFT_OUT, **NO_WAY_BACK, **OFFERED_ONLY, "partial": "dropped", "orphans": "kept"},
    "unmended": ("relaxed-json",),
}
_NO_THINKING: Final[Habit] = {"reasoning": "content"}

SERVER: Final = Server(
    name="ollama",
    version="0.33.0-rc2",
    view=View(source=f"{_PARSERS}parsers.go", cut="dropped", broken="dropped"),
    parsers=(
        _read("qwen3-thinking", "qwen3.go:106-362", _JSON, aliases=("qwen3",), shares=JSON_IN_TAGS),
        _read(
            "qwen3-vl-instruct",
            "qwen3vl.go:79-269",
            _JSON,
            _NO_THINKING,
            aliases=("qwen3vl",),
            shares=JSON_IN_TAGS,
        ),
        _read(
            "qwen3-vl-thinking",
            "qwen3vl.go:79-269; 51-64: it begins in reasoning",
            _JSON,
            opens="<think>",
            shares=JSON_IN_TAGS,
        ),
        _read(
            "qwen3-coder",
            "qwen3coder.go:59-270",
            _CODER,
            _NO_THINKING,
            aliases=("qwen3coder",),
            shares=("qwen3-coder",),
        ),
        _read(
            "qwen3.5",
            "qwen35.go:97-269, qwen3coder.go:59-270",
            _CODER,
            aliases=("ornith", "qwen35"),
            reads=("qwen3-coder",),
        ),
        _read(
            "nemotron-3-nano",
            "nemotron3nano.go:64-198, qwen3coder.go:59-270",
            _CODER,
            aliases=("nemotron-3.5-nano", "nemotron3nano"),
            shares=("qwen3-coder",),
        ),
        _read(
            "ministral",
            "ministral.go:111-315",
            dict(cut="dropped", broken="error", partial="dropped", orphans="kept"),
            STRICT_JSON,
            until="opener",
            unknown="error",
            reads=("mistral",),
        ),
        _other(
            "harmony",
            "harmony/harmonyparser.go:113-230, 289-332, 430-455",
            dict(cut="error", broken="error", header="<|message|>"),
            STRICT_JSON,
            headless="dropped",
            reads=("harmony",),
        ),
        _read(
            "cogito",
            "cogito.go:157-341",
            _DEEPSEEK,
            orphans="kept",
            shares=("deepseek-v3",),
        ),
        _read("deepseek3", "deepseek3.go:147-312", _DEEPSEEK, reads=("deepseek-v3.1",)),
        _read(
            "olmo3",
            "olmo3.go:70-235",
            LEFT_OUT,
            _NO_THINKING,
            until="closer",
            partial="dropped",
            orphans="kept",
            sectionless="text",
            unclosed="dropped",
            reads=("olmo3",),
        ),
        _read(
            "olmo3-think",
            "olmo3_think.go:43-176; 34: it reads no calls",
            dict(
                calls="nowhere",
                orphans="kept",
                opens="<think>",
                switches={"calls_in_reasoning": "reasoning"},
            ),
            shares=("olmo3",),
        ),
        _read(
            "functiongemma",
            "functiongemma.go:110-186",
            LEFT_OUT,
            CLOSED_ONLY,
            until="closer",
            partial="dropped",
            orphans="kept",
            reads=("functiongemma",),
        ),
        _read(
            "glm-4.7",
            "glm46.go:95-192, 242-391, 593-663, glm47.go",
            _GLM,
            aliases=("glm46", "glm47"),
            reads=("glm",),
        ),
        _read(
            "glm-ocr",
            "glm46.go:95-192, 242-391, 593-663, glmocr.go",
            _GLM,
            aliases=("glmocr",),
            shares=("glm",),
        ),
        _read("gemma4", "gemma4.go:171-424", _GEMMA, reads=("gemma4",)),
        _read(
            "gemma4-no-thinking",
            "gemma4.go:171-424; 127: thinking is left out",
            _GEMMA,
            reasoning="dropped",
            shares=("gemma4",),
        ),
        _read("lfm2-thinking", "lfm2.go:117-362", _LFM, aliases=("lfm2",), reads=("lfm2",)),
        _read(
            "laguna",
            "laguna.go:206-325, 460-569",
            {**_IN_TAGS, **ELSE_TEXT, "cut": "call"},
            aliases=("poolside-v1",),
            shares=("glm",),
        ),
        _read(
            "cohere",
            "cohere.go:111-290",
            LEFT_OUT,
            STRICT_JSON,
            sectionless="text",
            calls="at the start",
            until="closer",
            reads=("cohere-action",),
        ),
        _read(
            "glimmer",
            "glimmer.go:69-211, 420-525",
            dict(cut="error", broken="error", header="<|message|>", unknown="text"),
            CLOSED_ONLY,
            ELSE_TEXT,
            unclosed="error",
            reads=("muse",),
        ),
        _other(
            "tools",
            "tools/tools.go:54-331",
            _TOOLS,
            tested=False,
            reads=("hermes", "granite", "functools"),
            shares=JSON_IN_TAGS,
        ),
        _other(
            "tools-no-tag",
            "tools/tools.go:54-331; 73-80: text before a brace",
            _TOOLS,
            tested=False,
            calls="at the start",
            cut="text",
            reads=("llama3-json",),
        ),
    ),
    suite=Suite(
        "go",
        """\
// model/parsers/
func TestNothingOfAReplyIsLost(t *testing.T) {
	var tools []api.Tool
	if err := json.Unmarshal([]byte({{tools}}), &tools); err != nil {
		t.Fatal(err)
	}
	parser := ParserForName("{{parser}}")
	parser.Init(tools, nil, &api.ThinkValue{Value: {{reasoning}} != ""})
	content, thinking, calls, err := parser.Add({{text}}, false)
	if err != nil {
		t.Fatal(err)
	}
	rest, thought, more, err := parser.Add("", true)
	if err != nil {
		t.Fatal(err)
	}
	content, thinking, calls = content+rest, thinking+thought, append(calls, more...)
	said := []any{}
	for _, call := range calls {
		function := call.Function
		said = append(said, map[string]any{"name": function.Name, "arguments": function.Arguments})
	}
	written, err := json.Marshal(said)
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	json.Unmarshal(written, &got)
	json.Unmarshal([]byte({{calls}}), &want)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("calls = %v, want %v", got, want)
	}
	if want := {{content}}; strings.TrimSpace(content) != want {
		t.Errorf("content = %q, want %q", content, want)
	}
	if want := {{reasoning}}; strings.TrimSpace(thinking) != want {
		t.Errorf("thinking = %q, want %q", thinking, want)
	}
}
""",
    ),
)
