"""Collect the words of request bodies from the types of the installed SDKs.

Run: python benchmarks/cache_words.py [--write]. With `--write` it writes
`playground/nouns/wire_words.json`, by which a body is searched for unknown words. If an SDK is not
installed, the file keeps the words that it has of that SDK.
"""

from __future__ import annotations

import argparse
import json
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, get_args, get_origin

import typing_extensions

FILE = Path(__file__).parents[1] / "playground" / "nouns" / "wire_words.json"
_FREE_FIELDS = {  # JSON Schemas, and values that the user or the model makes up
    "input_schema", "parameters", "parametersJsonSchema", "responseJsonSchema", "schema", "input",
    "responseSchema", "output_schema", "outputSchema", "metadata", "json", "args", "response",
}  # fmt: skip
_WRAPPERS = (typing.Annotated, typing.Required, typing.NotRequired,
             typing_extensions.Required, typing_extensions.NotRequired)  # fmt: skip


class Leaves(NamedTuple):
    """The values that a type allows: classes, literal words, and whether anything else goes."""

    classes: list[Any]
    words: list[str]
    is_free: bool


class Field(NamedTuple):
    """A field of a class: its type, and whether an object must have it."""

    leaves: Leaves
    is_required: bool


def _leaves(kind: Any) -> Leaves:
    origin, parts = get_origin(kind), get_args(kind)
    if isinstance(kind, typing_extensions.TypeAliasType):
        return _leaves(kind.__value__)
    if origin in _WRAPPERS:
        return _leaves(parts[0])
    if origin in (typing.Union, UnionType) or _is_list(origin):
        found = [_leaves(part) for part in parts if part not in (NoneType, ...)]
        return Leaves(
            [one for some in found for one in some.classes],
            [word for some in found for word in some.words],
            any(some.is_free for some in found),
        )
    if origin is Literal:
        return Leaves([], [word for word in parts if isinstance(word, str)], False)
    if typing_extensions.is_typeddict(kind) or hasattr(kind, "model_fields"):
        return Leaves([kind], [], False)
    return Leaves([], [], kind is not bool)


def _is_list(origin: Any) -> bool:
    return (
        isinstance(origin, type)
        and origin not in (dict,)
        and (issubclass(origin, Iterable) and not issubclass(origin, Mapping))
    )


def _fields(kind: Any) -> dict[str, Field]:
    """Return the fields of a TypedDict, or of a pydantic model by the names on the wire."""
    if typing_extensions.is_typeddict(kind):
        hints = typing_extensions.get_type_hints(kind, include_extras=True)
        return {name: Field(_leaves(hint), _must_be(kind, hint)) for name, hint in hints.items()}
    return {
        field.alias or name: Field(_leaves(field.annotation), field.is_required())
        for name, field in kind.model_fields.items()
    }


def _must_be(kind: Any, hint: Any) -> bool:
    """Return True for a field that must be there; `__required_keys__` is wrong where annotations
    are strings.
    """
    if get_origin(hint) in (typing.Required, typing_extensions.Required):
        return True
    optional = (typing.NotRequired, typing_extensions.NotRequired)
    return bool(kind.__total__) and get_origin(hint) not in optional


class Collector:
    """The table of the forms of objects: each is a table of fields, or several by a field's word.

    A field is 0 (a value of which nothing is checked), a list of words, or the number of a form.
    """

    def __init__(self) -> None:
        self.forms: list[dict[str, Any]] = [{}]  # 0 stands for no form
        self._numbers: dict[Any, int] = {}

    def form(self, classes: Sequence[Any]) -> int:
        key = frozenset(map(id, classes))
        if key in self._numbers:
            return self._numbers[key]
        number = self._numbers[key] = len(self.forms)
        self.forms.append({})
        fields = [_fields(kind) for kind in dict.fromkeys(classes)]
        by = next((name for name in ("type", "role") if self._tells(name, fields)), "")
        if not by:
            self.forms[number] = {"fields": self._merged(fields)}
            return number
        words = dict.fromkeys(word for one in fields if by in one for word in one[by].leaves.words)
        kinds = {word: [one for one in fields if self._may_be(one, by, word)] for word in words}
        plain = [one for one in fields if by not in one or not one[by].is_required]
        self.forms[number] = {
            "by": by,
            "kinds": {word: self._number(some) for word, some in kinds.items()},
            **({"fields": self._merged(plain)} if plain else {}),
        }
        return number

    def _number(self, fields: list[dict[str, Field]]) -> int:
        """Return the number of a form of one kind; kinds of equal fields share it."""
        form = {"fields": self._merged(fields)}
        key = json.dumps(form, sort_keys=True)
        if key not in self._numbers:
            self._numbers[key] = len(self.forms)
            self.forms.append(form)
        return self._numbers[key]

    @staticmethod
    def _tells(name: str, fields: list[dict[str, Field]]) -> bool:
        told = [one[name].leaves for one in fields if name in one]
        return len(told) > 0 and all(leaves.words and not leaves.is_free for leaves in told)

    @staticmethod
    def _may_be(one: dict[str, Field], by: str, word: str) -> bool:
        return by in one and word in one[by].leaves.words

    def _merged(self, several: list[dict[str, Field]]) -> dict[str, Any]:
        names = dict.fromkeys(name for one in several for name in one)
        return {name: self._value(name, [o[name] for o in several if name in o]) for name in names}

    def _value(self, name: str, fields: list[Field]) -> Any:
        classes = [kind for field in fields for kind in field.leaves.classes]
        if name in _FREE_FIELDS and not classes_are_named(name, classes):
            return 0
        if classes:
            return self.form(classes)
        words = list(dict.fromkeys(word for field in fields for word in field.leaves.words))
        free = any(field.leaves.is_free or not field.leaves.words for field in fields)
        # lives are compared with the rules, which know those of every provider
        return 0 if free or name == "ttl" else words


def classes_are_named(name: str, classes: Sequence[Any]) -> bool:
    """Return True if a field of a free name is the list of a Responses body's items."""
    return name == "input" and len(classes) > 5


def _class(module: str, name: str) -> Any:
    return getattr(import_module(module), name)


def _anthropic() -> list[Any]:
    standard = _class("anthropic.types.message_create_params", "MessageCreateParamsBase")
    beta = _class("anthropic.types.beta.message_create_params", "MessageCreateParamsBase")
    return [standard, beta]


def _chat() -> list[Any]:
    return [_class("openai.types.chat.completion_create_params", "CompletionCreateParamsBase")]


def _responses() -> list[Any]:
    module = "openai.types.responses.response_create_params"
    return [_class(module, "ResponseCreateParamsBase")]


def _with_marks(found: Collector, number: int) -> int:
    """Add the marks that LiteLLM takes on messages, parts and tools of OpenAI's form."""
    marks = found.form([_class("anthropic.types", "CacheControlEphemeralParam")])
    body = found.forms[number]["fields"]
    for name in ("messages", "tools"):
        for kind in found.forms[body[name]]["kinds"].values():
            _add_marks(found, kind, marks)
            for inner in ("function", "content"):
                if held := found.forms[kind]["fields"].get(inner):
                    _add_marks(found, held, marks)
    return number


def _add_marks(found: Collector, number: int, marks: int) -> None:
    form = found.forms[number]
    for fields in (form, *(found.forms[kind] for kind in form.get("kinds", {}).values())):
        if "fields" in fields:
            fields["fields"].setdefault("cache_control", marks)


def _gemini(found: Collector) -> int:
    types = "google.genai.types"
    names = {"contents": "Content", "systemInstruction": "Content", "tools": "Tool",
             "toolConfig": "ToolConfig", "safetySettings": "SafetySetting",
             "generationConfig": "GenerationConfig"}  # fmt: skip
    fields = {name: found.form([_class(types, kind)]) for name, kind in names.items()}
    found.forms[fields["contents"]]["fields"]["role"] = ["user", "model", "function"]
    found.forms.append({"fields": {**fields, "cachedContent": 0, "labels": 0, "serviceTier": 0}})
    for form in found.forms[1:]:
        form["fields"] |= {_snake(name): value for name, value in form["fields"].items()}
    return len(found.forms) - 1


def _snake(name: str) -> str:
    return "".join(f"_{one.lower()}" if one.isupper() else one for one in name)


def _converse(found: Collector) -> int:
    """Read the shapes of Bedrock's Converse, a service model of botocore."""
    loader = _class("botocore.loaders", "Loader")()
    shapes = loader.load_service_model("bedrock-runtime", "service-2")["shapes"]
    numbers: dict[str, int] = {}

    def value(name: str) -> Any:
        shape = shapes[name]
        if shape["type"] == "list":
            return value(shape["member"]["shape"])
        if shape["type"] == "structure" and not shape.get("document"):
            return number_of(name)
        return [] if name == "Empty" else shape.get("enum", 0) if not name.endswith("TTL") else 0

    def number_of(name: str) -> int:
        if name not in numbers:
            numbers[name] = len(found.forms)
            found.forms.append({})
            members = shapes[name].get("members", {})
            fields = {key: value(member["shape"]) for key, member in members.items()}
            found.forms[numbers[name]] |= {"fields": fields}
        return numbers[name]

    root = number_of("ConverseRequest")
    body = found.forms[found.form(_anthropic())]["fields"]
    more = {name: body[name] for name in ("thinking", "output_config", "tool_choice")}
    found.forms.append({"fields": {**more, "anthropic_beta": 0, "top_k": 0}})
    found.forms[root]["fields"]["additionalModelRequestFields"] = len(found.forms) - 1
    return root


_SDKS: dict[str, tuple[str, Callable[[Collector], int]]] = {
    "anthropic": ("anthropic", lambda found: found.form(_anthropic())),
    "chat": ("openai", lambda found: found.form(_chat())),
    "either": ("openai", lambda found: _with_marks(found, found.form([*_anthropic(), *_chat()]))),
    "responses": ("openai", lambda found: found.form(_responses())),
    "gemini": ("google-genai", _gemini),
    "converse": ("botocore", _converse),
}


def vocabularies() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the words of each form of a body; those of an SDK that is not installed are skipped."""
    for name, (package, collect) in _SDKS.items():
        found = Collector()
        try:
            root = collect(found)
        except ImportError as error:
            print(f"skipped, {name}: {error}")
            continue
        yield name, {"sdk": f"{package} {version(package)}", **_renumbered(found.forms, root)}


def _renumbered(forms: list[dict[str, Any]], root: int) -> dict[str, Any]:
    """Return the forms that the root holds; forms that are equal become one."""
    same = list(range(len(forms)))
    while True:
        keys = [json.dumps(_with_numbers(form, same), sort_keys=True) for form in forms]
        first: dict[str, int] = {}
        merged = [first.setdefault(key, number) for number, key in enumerate(keys)]
        if merged == same:
            break
        same = merged
    order: dict[int, int] = {}
    rows: list[dict[str, Any]] = []

    def visit(number: int) -> None:
        number = same[number]
        if number in order:
            return
        order[number] = len(rows)
        rows.append(forms[number])
        for child in _children(forms[number]):
            visit(child)

    visit(root)
    final = [order.get(number, -1) for number in same]
    return {"forms": [_with_numbers(form, final) for form in rows]}


def _children(form: Mapping[str, Any]) -> list[int]:
    values = [*form.get("kinds", {}).values(), *form.get("fields", {}).values()]
    return [value for value in values if isinstance(value, int) and value]


def _with_numbers(form: Mapping[str, Any], numbers: Sequence[int]) -> dict[str, Any]:
    def renamed(value: Any) -> Any:
        return numbers[value] if isinstance(value, int) and value else value

    return {
        name: {key: renamed(value) for key, value in held.items()}
        if isinstance(held, dict)
        else held
        for name, held in form.items()
    }


def known_words() -> dict[str, Any]:
    """Return what the file holds now."""
    held: dict[str, Any] = json.loads(FILE.read_bytes()) if FILE.exists() else {}
    return held


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true")
    known = known_words()
    found = {**known, **dict(vocabularies())}
    for name, words in found.items():
        told = "as it is" if words == known.get(name) else "other than in the file"
        print(f"{name}: {words['sdk']}, {len(words['forms'])} forms, {told}")
    if parser.parse_args().write:
        FILE.write_text(json.dumps(found, separators=(",", ":"), sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
