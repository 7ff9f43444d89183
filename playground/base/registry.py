"""Plugins and their contributions: commands, pages, drawings, formats, recognisers, public names.

A plugin is a value, `Plugin`, at an entry point of the group `playground.plugins`. It contributes
only names of modules: entry points are searched when they are first needed, and a module is loaded
when it is used. A plugin whose folder is missing contributes nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from playground.base.errors import PlaygroundError, in_words
from playground.base.extras import missing_package

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP: Final = "playground.plugins"


class PluginMissingError(PlaygroundError, ImportError):
    """Raised for a name that belongs to a plugin which is not installed."""

    def __init__(self, plugin: str, name: str) -> None:
        self.plugin = plugin
        super().__init__(
            f"{name} belongs to the plugin {plugin!r}, which is not installed here; "
            f"expected an entry point {plugin!r} of the group {GROUP!r} (pip install writes it) "
            "and the code behind it"
        )


class PluginCommand(NamedTuple):
    """A command of the command line: `target` is `module:function`. A `lasting` command runs until
    it is stopped."""

    target: str
    lasting: bool = False


class PageEntry(NamedTuple):
    """A page: `icon` is the name of a Material Symbol, `question` what the page answers, in a line,
    `document` its file in `docs/`.

    `parts` names the module that draws the page; if it is empty, the module in `app` with the
    page's name does. A plugin's page comes `after` a page of the core, in the order of `rank`.

    An entry `within` another page is a view of that page, drawn by `show` in its module; if the
    page is missing, the entry is a page of its own. `view` is the label of a view, also of a page's
    own content next to its views. `older` is a former address, which is redirected to the entry.
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
    older: str = ""


class SessionForm(NamedTuple):
    """A form in which sessions can be written. `dump` is `module:function`; `omits` are the fields
    of a session that the form does not hold; `notes` is `module:function` for further findings."""

    dump: str
    omits: tuple[str, ...] = ()
    notes: str = ""


class Plugin(NamedTuple):
    """The contributions of a plugin, by the names of modules that are loaded when they are used."""

    commands: Mapping[str, PluginCommand] = {}
    pages: tuple[PageEntry, ...] = ()
    drawings: tuple[str, ...] = ()  # modules that register drawings of the plugin's answers
    formats: tuple[str, ...] = ()  # `module:class` of session formats, tried after the core's
    # Formats that are tried before a more general one of the core, whose class's name is the key.
    narrow_formats: Mapping[str, tuple[str, ...]] = {}
    recognisers: tuple[str, ...] = ()  # `module:function` for pasted text, tried first
    session_forms: Mapping[str, SessionForm] = {}  # by the name for `import --to`
    unwrappers: tuple[str, ...] = ()  # `module:function`: a pasted text → its JSON, or None
    # `module:function` by the name of the place, in a page or command of the core, that calls it.
    additions: Mapping[str, str] = {}
    names: Mapping[str, str] = {}  # public names, each with its module
    doors: Mapping[str, str] = {}  # module of `playground` → the plugin's module that it re-exports
    # `module:function` that writes a check's outcomes, by file ending
    reports: Mapping[str, str] = {}


@cache
def plugins() -> Mapping[str, Plugin]:
    """Return every plugin that can be loaded, by the name of its entry point."""
    from importlib.metadata import entry_points  # slow: a tenth of the time of a short command

    return {
        entry.name: plugin
        for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name)
        if (plugin := _load_plugin(entry)) is not None
    }


def _load_plugin(entry: EntryPoint) -> Plugin | None:
    """Load the plugin of an entry point. Return None if its folder is missing, or, with a warning,
    if it is broken."""
    try:
        plugin = entry.load()
    except ModuleNotFoundError as error:
        if error.name and f"{entry.module}.".startswith(f"{error.name}."):
            return None  # the plugin's folder is missing
        reason = in_words(error)
    except Exception as error:
        reason = in_words(error)
    else:
        if isinstance(plugin, Plugin):
            return plugin
        reason = f"its value is a {type(plugin).__name__}, not a Plugin"
    warnings.warn(f"plugin {entry.name!r} ({entry.value}) is left out: {reason}", stacklevel=3)
    return None


def load(target: str) -> Any:
    """Load the object that `module:name` names."""
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)


def addition(place: str) -> Any:
    """Return what a plugin adds at a place in a page or command of the core; None if no plugin
    adds anything there."""
    targets = (p.additions[place] for p in plugins().values() if place in p.additions)
    target = next(targets, None)
    return load(target) if target else None


def command(name: str) -> PluginCommand | None:
    """Return a plugin's command; None if no plugin has it."""
    return next((p.commands[name] for p in plugins().values() if name in p.commands), None)


def command_names() -> list[str]:
    return [name for plugin in plugins().values() for name in plugin.commands]


def session_forms() -> dict[str, SessionForm]:
    """Return the plugins' forms in which sessions can be written."""
    return {k: form for plugin in plugins().values() for k, form in plugin.session_forms.items()}


def pages_after(core: tuple[PageEntry, ...]) -> Iterator[PageEntry]:
    """Yield the core's pages, each followed by the plugins' pages `after` it; then all others."""
    plugin_pages = sorted(
        (page for plugin in plugins().values() for page in plugin.pages), key=lambda page: page.rank
    )
    core_names = {page.name for page in core}
    for page in core:
        yield page
        yield from (other for other in plugin_pages if other.after == page.name)
    yield from (other for other in plugin_pages if other.after not in core_names)


def public_name(plugin: str, name: str) -> Any:
    """Return the object with a public name. Raises PluginMissingError without plugin or name."""
    provider = plugins().get(plugin)
    if provider is None or name not in provider.names:
        raise PluginMissingError(plugin, f"playground.{name}")
    return getattr(_imported(provider.names[name]), name)


def _imported(module: str) -> ModuleType:
    """Import a plugin's module. Raises MissingPackageError if its extra is not installed."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise missing_package(error) or error from None


def delegate_to_plugin(
    plugin: str, name: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` for a module that re-exports a plugin's module."""

    def load_module() -> ModuleType:
        provider = plugins().get(plugin)
        if provider is None or name not in provider.doors:
            raise PluginMissingError(plugin, f"playground.{name}")
        return _imported(provider.doors[name])

    def get(attribute: str) -> Any:
        if attribute == "__all__":
            return public_names(load_module())
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        return getattr(load_module(), attribute)

    return get, lambda: public_names(load_module())


def public_names(module: ModuleType) -> list[str]:
    """Return the names that `from module import *` imports."""
    exported: list[str] | None = getattr(module, "__all__", None)
    return (
        list(exported) if exported else [name for name in vars(module) if not name.startswith("_")]
    )
