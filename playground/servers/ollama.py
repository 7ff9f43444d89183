"""Ollama 0.33.0-rc2 (fb307609): a parser in Go for each family of models.

They walk the stream by states. A call that cannot be read is left out, with a line in the log
(qwen3 and qwen3coder end the request with an error instead); a closer that no state waits for is
content as it came.
"""

from functools import partial
from typing import Final

from playground.servers.habits import LEFT_OUT, parser
from playground.servers.view import Server, Suite, View

_PARSERS: Final = "ollama fb307609 model/parsers/"
_read = partial(parser, _PARSERS)

SERVER: Final = Server(
    name="ollama",
    version="0.33.0-rc2",
    view=View(source=f"{_PARSERS}parsers.go", cut="dropped", broken="dropped"),
    parsers=(
        _read("cogito", "cogito.go:205-285", LEFT_OUT, orphans="kept", shares=("deepseek-v3",)),
        _read("cohere", "cohere.go:111-290", LEFT_OUT, until="closer", reads=("cohere-action",)),
        _read(
            "glimmer",
            "glimmer.go:69-160",
            LEFT_OUT,
            header="<|message|>",
            unknown="text",
            reads=("muse",),
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
	parser.Init(tools, nil, nil)
	content, thinking, calls, err := parser.Add({{text}}, true)
	if err != nil {
		t.Fatal(err)
	}
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
