"""What plugins bring: commands, pages, drawings, formats, recognisers, public names.

A plugin is a value, `Plugin`, behind an entry point of the group `playground.plugins`. Nothing here
is looked for before somebody asks, and nothing of a plugin is loaded but what is used: all that it
brings are names of modules. A plugin whose folder is not there brings nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from playground.base.errors import PlaygroundError, in_words

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP: Final = "playground.plugins"


class PluginMissingError(PlaygroundError, ImportError):
    """A name belongs to a plugin that is not installed."""

    def __init__(self, plugin: str, name: str) -> None:
        self.plugin = plugin
        super().__init__(
            f"{name} belongs to the plugin {plugin!r}, which is not installed here; "
            f"expected an entry point {plugin!r} of the group {GROUP!r} (pip install writes it) "
            "and the code behind it"
        )


class PluginCommand(NamedTuple):
    """A command of the command line: `target` is `module:function`. One that is `lasting` runs
    until it is stopped."""

    target: str
    lasting: bool = False


class PageEntry(NamedTuple):
    """One page: `icon` is a Material Symbol's name, `question` what the page answers, in a line,
    `document` the file of `docs/` that tells more.

    A plugin's page names the module of its `parts`, and the page of the core `after` which it
    stands; `rank` orders those that stand after the same one. A page `within` another is a view of
    it, called `view` there: no menu lists it.
    """

    name: str
    title: str
    icon: str
    question: str
    document: str = "pages.md"
    parts: str = ""
    after: str = ""
    rank: int = 0
    within: str = ""
    view: str = ""


class Plugin(NamedTuple):
    """The contributions of a plugin, each by the name of what is loaded when it is used."""

    commands: Mapping[str, PluginCommand] = {}
    pages: tuple[PageEntry, ...] = ()
    drawings: tuple[str, ...] = ()  # modules that register drawings of their answers
    formats: tuple[str, ...] = ()  # `module:class` of session formats, asked after the core's
    recognisers: tuple[str, ...] = ()  # `module:function` for what somebody pastes, asked last
    names: Mapping[str, str] = {}  # of the public face, each with its module
    doors: Mapping[str, str] = {}  # modules below `playground`, each with the one that it leads to


@cache
def plugins() -> Mapping[str, Plugin]:
    """Every plugin that is there, by the name of its entry point."""
    from importlib.metadata import entry_points  # a tenth of a short command, which needs none

    return {
        entry.name: plugin
        for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name)
        if (plugin := _loaded(entry)) is not None
    }


def _loaded(entry: EntryPoint) -> Plugin | None:
    """The plugin behind an entry point; None where its folder is gone, or it is broken, which a
    warning says."""
    try:
        found = entry.load()
    except ModuleNotFoundError as error:
        if error.name and f"{entry.module}.".startswith(f"{error.name}."):
            return None  # the folder is not there
        reason = in_words(error)
    except Exception as error:
        reason = in_words(error)
    else:
        if isinstance(found, Plugin):
            return found
        reason = f"it is a {type(found).__name__}, and no Plugin"
    warnings.warn(f"plugin {entry.name!r} ({entry.value}) is left out: {reason}", stacklevel=3)
    return None


def load(target: str) -> Any:
    """Load what `module:name` names."""
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)


def command(name: str) -> PluginCommand | None:
    """A plugin's command; None where no plugin has one of this name."""
    return next((p.commands[name] for p in plugins().values() if name in p.commands), None)


def command_names() -> list[str]:
    return [name for plugin in plugins().values() for name in plugin.commands]


def pages_after(core: tuple[PageEntry, ...]) -> Iterator[PageEntry]:
    """The core's pages in their order, each with those of plugins that stand after it."""
    brought = sorted(
        (page for plugin in plugins().values() for page in plugin.pages), key=lambda page: page.rank
    )
    known = {page.name for page in core}
    for page in core:
        yield page
        yield from (each for each in brought if each.after == page.name)
    yield from (each for each in brought if each.after not in known)


def public_name(plugin: str, name: str) -> Any:
    """A name of the public face that a plugin brings. Raises PluginMissingError without it."""
    found = plugins().get(plugin)
    if found is None or name not in found.names:
        raise PluginMissingError(plugin, f"playground.{name}")
    return getattr(import_module(found.names[name]), name)


def door(plugin: str, name: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and the `__dir__` of a module that leads to a plugin's."""

    def load_module() -> ModuleType:
        found = plugins().get(plugin)
        if found is None or name not in found.doors:
            raise PluginMissingError(plugin, f"playground.{name}")
        return import_module(found.doors[name])

    def get(attribute: str) -> Any:
        if attribute == "__all__":
            return public_names(load_module())
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        return getattr(load_module(), attribute)

    return get, lambda: public_names(load_module())


def public_names(module: ModuleType) -> list[str]:
    """Return the names that `from module import *` gives."""
    given: list[str] | None = getattr(module, "__all__", None)
    return list(given) if given else [name for name in vars(module) if not name.startswith("_")]
