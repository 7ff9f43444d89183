"""Templates that take time or memory without end: each must end in one error, and the next render.

Every form is tried with several sizes, as a chat template and, where Go has it, as a Go template.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from playground.base.errors import PlaygroundError
from playground.dialects.raw_prompts import ChatTemplate, chat_template
from playground.plugins.systems.go_templates import bounded, execute

from . import Try

HI = [{"role": "user", "content": "hi"}]
PATIENCE = 10.0  # seconds for one error; the limit of a render is set to one
CHAT = {
    "power": "{{ (((9**64)**N)**64)**64 > 1 }}",
    "ljust": "{{ ('a'.ljust(N000000))|length }}",
    "zfill": "{{ ('1'.zfill(N000000))|length }}",
    "center": "{{ ('a'.center(N000000))|length }}",
    "percent": "{{ ('%*d' % (N000000, 1))|length }}",
    "format": "{{ ('{:N000000}'.format(1))|length }}",
    "replace": "{% set a = 'x' * N000 %}{{ a.replace('x', a)|length }}",
    "join": "{{ (['x' * N0] * N0)|join('y' * N0)|length }}",
    "double": "{% set n = namespace(x='a' * 99) %}{% for i in range(N) %}"
    "{% set n.x = n.x ~ n.x %}{% endfor %}{{ n.x|length }}",
    "loops": "{% for a in range(N0) %}{% for b in range(N0) %}{% for c in range(N0) %}"
    "{% endfor %}{% endfor %}{% endfor %}",
    "lists": "{% set n = namespace(x=[1] * 99) %}{% for i in range(N) %}"
    "{% set n.x = n.x + n.x %}{% endfor %}{{ n.x|length }}",
    "sort": "{{ (range(99999)|list * N0)|sort|length }}",
}
GO = {
    "printf": '{{printf "%N000000d" 1 | len}}',
    "range": '{{$x := printf "%1000000d" 1}}{{range N00000}}{{$y := printf "%q" $x}}{{end}}',
    "digits": "{{" + "9" * 5000 + "}}",
    "nested": '{{define "a"}}{{template "a"}}{{template "a"}}{{end}}{{template "a"}}',
}


def tries() -> Iterator[Try]:
    chat_template.TIME_LIMIT = bounded.TIME_LIMIT = 1.0  # type: ignore[misc]
    for size in (40, 400, 4000):
        for name, source in CHAT.items():
            text = source.replace("N", str(size))
            yield _tried(f"chat {name} {size}", lambda t=text: ChatTemplate(t).render(HI))
        for name, source in GO.items():
            text = source.replace("N", str(size))
            yield _tried(f"go {name} {size}", lambda t=text: execute(t, {}))


def _tried(name: str, render: object) -> Try:
    """Held where it ends soon, in text or in one of our errors, and the next template renders."""
    start = time.monotonic()
    fault = ""
    try:
        assert callable(render)
        render()
    except PlaygroundError as error:
        fault = "" if "\n" not in str(error) else "an error of several lines"
    except Exception as error:
        fault = f"{type(error).__name__}: {error}"[:90]
    seconds = time.monotonic() - start
    if seconds > PATIENCE:
        fault = f"ended after {seconds:.0f} s"
    if ChatTemplate("{{ messages[0].content }}").render(HI) != "hi":
        fault = "the next one was not rendered"
    return Try(name, not fault, fault)
