"""Ollama 0.33.0-rc2 (fb307609): a parser in Go for each family of models.

They walk the stream by states. A call that cannot be read is left out, with a line in the log
(qwen3 and qwen3coder end the request with an error instead); a closer that no state waits for is
content as it came.
"""

from typing import Final

from playground.servers.view import Parser, Server, View

_PARSERS: Final = "ollama fb307609 model/parsers/"

SERVER: Final = Server(
    name="ollama",
    version="0.33.0-rc2",
    view=View(source=f"{_PARSERS}parsers.go", cut="dropped", broken="dropped"),
    parsers=(
        Parser(
            "cogito",
            View(
                source=f"{_PARSERS}cogito.go:205-285",
                orphans="kept",
                cut="dropped",
                broken="dropped",
            ),
        ),
        Parser(
            "cohere",
            View(
                source=f"{_PARSERS}cohere.go:111-290",
                until="closer",
                cut="dropped",
                broken="dropped",
            ),
            reads=("cohere-action",),
        ),
        Parser(
            "glimmer",
            View(
                source=f"{_PARSERS}glimmer.go:69-160",
                header="<|message|>",
                unknown="text",
                cut="dropped",
                broken="dropped",
            ),
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
