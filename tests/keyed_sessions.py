"""Sessions with a key in every text, whatever field it is in: none may be kept anywhere."""

from __future__ import annotations

from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from playground.sessions.session import RequestRow, Session

# A provider's key that no file ever holds, and what a corpus does not keep.
_LEFT = ("model_api_key", "recordings")


class Keys:
    """Values of any type of a session with a key in every text, each another one: whatever field
    is there, and whichever will be."""

    def __init__(self) -> None:
        self.made: dict[str, str] = {}  # the field that each stands in

    def key(self, place: str) -> str:
        key = "sk-" + "ant-api03-" + f"{len(self.made):04d}" + "a1B2" * 12
        self.made[key] = place
        return key

    def value(self, kind: Any, place: str) -> Any:
        if get_origin(kind) is Annotated:
            kind = kind.__origin__
        if get_origin(kind) in (Union, UnionType):
            return self.value(next(each for each in get_args(kind) if each is not NoneType), place)
        if get_origin(kind) is Literal or (isinstance(kind, type) and issubclass(kind, Enum)):
            return (get_args(kind) or list(kind))[0]
        if get_origin(kind) is tuple:
            item = get_args(kind)[0]
            unions = get_args(item.__origin__) if get_origin(item) is Annotated else ()
            return tuple(self.value(each, place) for each in unions or [item])
        if get_origin(kind) is dict or kind is Any:
            return {self.key(f"{place} (a name)"): [{"inner": self.key(place)}]}
        if kind is str:
            return self.key(place)
        return self.record(kind, place) if get_type_hints(kind) else kind(0)

    def record(self, kind: Any, place: str, **given: Any) -> Any:
        hints = get_type_hints(kind, include_extras=True)
        names = getattr(kind, "model_fields", None) or kind.__dataclass_fields__
        left = {name for name in names if name not in given and name not in _LEFT}
        return kind(
            **given, **{name: self.value(hints[name], f"{place}.{name}") for name in sorted(left)}
        )

    def session(self, *, with_rows: bool = True) -> Session:
        """A session with all that it can hold, but for recordings."""
        session: Session = self.record(Session, "session", rows=_rows(self) if with_rows else ())
        return session


def _rows(keys: Keys) -> tuple[RequestRow, ...]:
    body = {"model": keys.key("body.model"), "messages": [{"role": "user", "content": "Tides?"}]}
    more = {"extra_body": {"api_key": keys.key("extra_body")}, keys.key("a body's name"): 1}
    again = {"messages": [{"role": "user", "content": keys.key("a later body")}]}
    return (
        keys.record(RequestRow, "rows", body=body | more, gone=()),
        keys.record(RequestRow, "rows", body=again, gone=(keys.key("gone"),), shared=1),
    )
