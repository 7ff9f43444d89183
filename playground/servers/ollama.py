"""Ollama 0.33.0-rc2 (fb307609): a parser in Go for each family of models.

They walk the stream by states. A call that cannot be read is left out, with a line in the log
(qwen3 and qwen3coder end the request with an error instead); a closer that no state waits for is
content as it came.
"""

from functools import partial
from typing import Final

from playground.servers.habits import LEFT_OUT, parser
from playground.servers.view import Server, View

_PARSERS: Final = "ollama fb307609 model/parsers/"
_read = partial(parser, _PARSERS)

SERVER: Final = Server(
    name="ollama",
    version="0.33.0-rc2",
    view=View(source=f"{_PARSERS}parsers.go", cut="dropped", broken="dropped"),
    parsers=(
        _read("cogito", "cogito.go:205-285", LEFT_OUT, orphans="kept"),
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
    suite="""\
// model/parsers/
func TestNothingOfAReplyIsLost(t *testing.T) {
	parser := ParserForName("{{parser}}")
	parser.Init(nil, nil, nil)
	content, _, calls, err := parser.Add({{text}}, true)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, call := range calls {
		names = append(names, call.Function.Name)
	}
	if got, _ := json.Marshal(names); string(got) != `{{names}}` {
		t.Errorf("calls = %s", got)
	}
	if want := {{content}}; strings.TrimSpace(content) != want {
		t.Errorf("content = %q, want %q", content, want)
	}
}
""",
)
