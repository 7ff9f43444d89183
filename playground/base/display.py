"""The registry of drawings: `show` registers what it draws, an answer asks for its drawing here.

A question's answer (a comparison, a replay, …) shows itself as a table, a figure or a page, but
must not import pandas, plotly or HTML. So this module stands below both and imports neither: a
table says which module draws a kind, and that module is loaded when the kind is first asked for,
so that a script that only counts never pays for plotly.

An answer derives from what it can do: `Shown` (a table, a page, a notebook's display), `Drawn` (a
figure too), `Live` (a component too, as a widget).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeVar, overload

from playground.base.wording import keep_order, visible

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

Display = Literal["frame", "figure", "picture"]
Bundle = dict[str, str]  # a media type to its text, as notebooks ask for it
Item = TypeVar("Item")
Drawing = TypeVar("Drawing", bound=Callable[[Any], Any])


class AnswerMarkup(Protocol):
    """An answer as markup, in the three places where it is shown."""

    def page(self) -> str: ...
    def bundle(self) -> Bundle: ...
    def widget(self) -> Any: ...


_drawings: dict[tuple[Display, type], Callable[[Any], Any]] = {}
_MODULES: Final[Mapping[Display, str]] = {  # imported when the first of a kind is drawn
    "frame": "playground.show.frames",
    "figure": "playground.show.figures",
    "picture": "playground.show.pictures",
}


def draws(kind: Display, shown: type) -> Callable[[Drawing], Drawing]:
    """Register a function as the drawing of this kind for values of one type."""

    def register(function: Drawing) -> Drawing:
        _drawings[kind, shown] = function
        return function

    return register


@overload
def draw(kind: Literal["frame"], value: object) -> pd.DataFrame: ...
@overload
def draw(kind: Literal["figure"], value: object) -> go.Figure: ...
@overload
def draw(kind: Literal["picture"], value: object) -> AnswerMarkup: ...
def draw(kind: Display, value: object) -> Any:
    """Return the drawing of a value: that of its type, or of the nearest one it derives from.
    Raises KeyError where nobody has registered one: our own mistake.
    """
    import_module(_MODULES[kind])
    drawn = _drawn_type(kind, value)
    if drawn is None:  # an answer of a plugin's, which has its drawings
        from playground.base.registry import plugins

        for plugin in plugins().values():
            for module in plugin.drawings:
                import_module(module)
        drawn = _drawn_type(kind, value)
    return _drawings[kind, drawn or type(value)](value)


def _drawn_type(kind: Display, value: object) -> type | None:
    """The type of a value, or the nearest that it derives from, of which there is a drawing."""
    return next((each for each in type(value).__mro__ if (kind, each) in _drawings), None)


class Shown:
    """An answer that shows itself, in a notebook by standing at a cell's end."""

    __slots__ = ()

    def frame(self) -> pd.DataFrame:
        """Return the answer as a table of pandas; what a row is, the answer's own docstring
        says.
        """
        return draw("frame", self)

    def __str__(self) -> str:
        """Return the table, as `print` shows it outside of notebooks: all its rows and columns."""
        return as_text(self.frame())

    def html(self) -> str:
        """Return the answer as one HTML page that asks nothing of any server.

        Without scripts it is a static picture; where they run, the app's own component.
        """
        return draw("picture", self).page()

    def _repr_mimebundle_(self, **_: Any) -> Bundle:
        return draw("picture", self).bundle()


def as_text(frame: pd.DataFrame) -> str:
    """Return a row a line, texts on the left."""
    if frame.empty:
        return "(nothing)"
    columns: dict[str, list[Any]] = {}
    for name, column in frame.items():
        values = list(column)
        if not all(isinstance(value, int | float) for value in values):
            texts = [_cell(str(value)) for value in values]
            width = max(map(len, [_cell(str(name)), *texts]))
            name, values = _cell(str(name)).ljust(width), [text.ljust(width) for text in texts]
        columns[str(name)] = values
    lines = type(frame)(columns).to_string(index=False).split("\n")
    return "\n".join(map(keep_order, lines))


def _cell(text: str) -> str:
    return visible(text.replace("\n", "\\n").replace("\t", "\\t"))


class Listed(Sequence[Item], Shown):
    """Answers in a row that show themselves as one. It is no `list`: notebooks have a way of their
    own to print those, which would come before ours."""

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

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._items!r})"


class Drawn(Shown):
    """An answer that has a figure too."""

    __slots__ = ()

    def figure(self) -> go.Figure:
        """Return the answer as a figure of plotly; what it draws, the answer's own docstring
        says.
        """
        return draw("figure", self)


class Live(Shown):
    """An answer that one of the app's components shows."""

    __slots__ = ()

    def widget(self) -> Any:
        """Return the component as a widget, for a notebook with the extra [notebook].

        A saved notebook keeps nothing of a widget: `html()` and the plain display are for keeping.
        Raises InputFault where anywidget is not installed.
        """
        return draw("picture", self).widget()
