"""The registry of drawings: `show` registers a function for each type of answer, and an answer
looks up its own.

A question's answer (a comparison, a replay, …) shows itself as a table, a figure or a page, but
must not import pandas, plotly or HTML. So this module is a layer below `questions` and `show`, and
imports neither. It knows the name of the module that draws each kind, and loads the module when a
drawing of that kind is first needed: a script that only counts never loads plotly.

The base class of an answer says what it can do: `Shown` (a table, a page, a notebook's display),
`Drawn` (also a figure), `Live` (also a component, as a widget).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Protocol, TypeVar, overload

from playground.base.wording import keep_order, short_repr, visible

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

Display = Literal["rows", "frame", "figure", "picture"]
Bundle = dict[str, str]  # texts by media type, as notebooks want them
Item = TypeVar("Item")
Drawing = TypeVar("Drawing", bound=Callable[[Any], Any])


class AnswerMarkup(Protocol):
    """An answer as markup: for a page, a notebook's display and a widget."""

    def page(self) -> str: ...
    def bundle(self) -> Bundle: ...
    def widget(self) -> Any: ...


_drawings: dict[tuple[Display, str], Callable[[Any], Any]] = {}  # by kind and dotted path of a type
_WIDEST: Final = 160  # characters of a cell that is printed
_LONGEST_ITEMS: Final = 100  # characters of the items that `repr` shows
_MODULES: Final[Mapping[Display, str]] = {  # imported when a kind is first drawn
    "rows": "playground.show.rows",
    "frame": "playground.show.frames",
    "figure": "playground.show.figures",
    "picture": "playground.show.pictures",
}


def draws(kind: Display, shown: type | str) -> Callable[[Drawing], Drawing]:
    """Make a decorator that registers the drawing of one kind for values of one type.

    `shown` may be the type's path, such as "playground.tokens.count.TokenCount": a module that
    draws many types then loads none of them.
    """

    def register(function: Drawing) -> Drawing:
        _drawings[kind, shown if isinstance(shown, str) else _path_of(shown)] = function
        return function

    return register


@overload
def draw(kind: Literal["rows"], value: object) -> Any: ...
@overload
def draw(kind: Literal["frame"], value: object) -> pd.DataFrame: ...
@overload
def draw(kind: Literal["figure"], value: object) -> go.Figure: ...
@overload
def draw(kind: Literal["picture"], value: object) -> AnswerMarkup: ...
def draw(kind: Display, value: object) -> Any:
    """Return the drawing of a value: that of its type, or of the nearest base class that has one.
    Raises KeyError if none is registered, which is a bug of this package."""
    return _drawings[kind, _drawn_type(kind, value) or _path_of(type(value))](value)


def _load_plugins() -> None:
    from playground.base.extras import MissingPackageError
    from playground.base.registry import plugins

    for module in (module for plugin in plugins().values() for module in plugin.drawings):
        with suppress(MissingPackageError):  # only this plugin's answers need the package
            _load(module)


def _load(module: str) -> None:
    try:
        import_module(module)
    except ModuleNotFoundError as error:
        from playground.base.extras import missing_package

        if missing := missing_package(error):
            raise missing from None
        raise


def _drawn_type(kind: Display, value: object) -> str | None:
    """Return the path of a value's type, or of its nearest base class, that has a drawing."""
    _load(_MODULES[kind])
    paths = [_path_of(each) for each in type(value).__mro__]
    if not any((kind, path) in _drawings for path in paths):  # perhaps a plugin draws it
        _load_plugins()
    return next((path for path in paths if (kind, path) in _drawings), None)


def _path_of(shown: type) -> str:
    return f"{shown.__module__}.{shown.__qualname__}"


class Shown:
    """An answer that shows itself: in a notebook, at the end of a cell."""

    __slots__ = ()
    _printed: ClassVar[Mapping[str, Mapping[str, str]]] = {}
    """By column, the words that the printed table shows for the column's values."""

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "__repr__" not in cls.__dict__:  # a dataclass would write out all fields of all fields
            setattr(cls, "__repr__", _short_repr)  # noqa: B010 - mypy refuses the assignment

    def _summary(self) -> str:
        """Return the values that matter, for `repr`; by default the fields in short."""
        names = getattr(self, "__dataclass_fields__", ())
        return ", ".join(filter(None, (_field(name, getattr(self, name)) for name in names)))

    def frame(self) -> pd.DataFrame:
        """Return the answer as a table of pandas. The answer's class says what a row is."""
        return draw("frame", self)

    def __str__(self) -> str:
        """Return the table as text, with all rows and columns; long texts are cut off."""
        if _drawn_type("rows", self) is None:  # another package may register only a frame
            return self.frame().to_string(index=False)
        return as_text(draw("rows", self), self._printed)

    def html(self) -> str:
        """Return the answer as one HTML page that needs no server.

        Without scripts it is a static picture; with scripts it is the app's own component.
        """
        return draw("picture", self).page()

    def _repr_mimebundle_(self, **_: Any) -> Bundle:
        return draw("picture", self).bundle()


def _short_repr(answer: Shown) -> str:
    """Return an answer in one line; `print` shows its table."""
    return short_repr(answer, answer._summary())


def _field(name: str, value: object) -> str:
    """Return a field in short: a text or number by its value, a list or mapping by its length, any
    other value by its `name`. Return "" for an empty text, and for a value without a `name`."""
    if isinstance(value, str | int | float):
        shown = f"{value[:39]}…" if isinstance(value, str) and len(value) > 40 else value
        return f"{name}={shown!r}" if value != "" else ""
    if isinstance(value, Sequence | Mapping):
        return f"{name}: {len(value)}"
    return f"{name}={own!r}" if isinstance(own := getattr(value, "name", None), str) else ""


def as_text(rows: Any, words: Mapping[str, Mapping[Any, str]] = MappingProxyType({})) -> str:
    """Return a table as text: a line for each row, texts aligned left, long ones cut off."""
    if not rows.cells:
        return "(nothing)"
    columns = []
    for name, values in zip(rows.columns, zip(*rows.cells, strict=True), strict=True):
        printed = words.get(name, {})
        texts = [
            _cell(name),
            *(_text(printed.get(value, value) if printed else value) for value in values),
        ]
        width = max(map(len, texts))
        is_number = all(value is None or isinstance(value, int | float) for value in values)
        columns.append([text.rjust(width) if is_number else text.ljust(width) for text in texts])
    lines = (" ".join(cells).rstrip() for cells in zip(*columns, strict=True))
    return "\n".join(map(keep_order, lines))


def _text(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) and abs(value) < 1_000 else _cell(str(value))


def _cell(text: str) -> str:
    rest = len(text) - _WIDEST
    text = f"{text[:_WIDEST]}… ({rest:,} more)" if rest > 0 else text
    return visible(text.replace("\n", "\\n").replace("\t", "\\t"))


class Listed(Sequence[Item], Shown):
    """A sequence of answers that shows itself as one table. It is no `list`, because notebooks
    print a `list` in their own way."""

    def __init__(self, items: Iterable[Item] = ()) -> None:
        self._items = list(items)

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> list[Item]: ...
    def __getitem__(self, index: int | slice) -> Item | list[Item]:
        return self._items[index]

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._items == list(other)

    __hash__ = None  # type: ignore[assignment]

    def _summary(self) -> str:
        items = repr(self._items)
        return items if len(items) < _LONGEST_ITEMS else f"{len(self)} items"


class Drawn(Shown):
    """An answer that also has a figure."""

    __slots__ = ()

    def figure(self) -> go.Figure:
        """Return the answer as a figure of plotly. The answer's class says what it shows."""
        return draw("figure", self)


class Live(Shown):
    """An answer that one of the app's components shows."""

    __slots__ = ()

    def widget(self) -> Any:
        """Return the component as a widget, for a notebook with the extra [notebook].

        A saved notebook does not keep widgets; it keeps `html()` and the plain display. Raises
        InputFault if anywidget is not installed.
        """
        return draw("picture", self).widget()
