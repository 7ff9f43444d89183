"""Read zips, folders and YAML within limits of size. No YAML tag builds an object of a class."""

from __future__ import annotations

import os
import stat
import zipfile
import zlib
from functools import cache
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final

from playground.base.errors import InputFault
from playground.base.json_numbers import refused_words
from playground.base.user_files import kind_of_stream

_MEMBERS: Final = 10_000  # files of a zip or folder
_UNPACKED: Final = 512 * 1024 * 1024  # bytes of all files of a zip
_RATIO: Final = 200  # unpacked bytes for each packed byte
_YAML_NODES: Final = 5_000_000  # values, counted again for each alias
_ZIP_FAULTS: Final = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    OSError,
    ValueError,  # an offset before the file's beginning
)


def files_within(folder: Path) -> tuple[dict[str, Path], dict[str, str]]:
    """Return the files in a folder and its subfolders, and for entries such as pipes and devices
    their kinds in words ("a pipe"). The keys of both are paths inside the folder, with `/`.
    Symbolic links, and files that vanish meanwhile, are left out. Raises InputFault if there are
    too many files."""
    found: dict[str, Path] = {}
    others: dict[str, str] = {}
    for inside, folders, files in os.walk(folder):
        folders.sort()
        for path in (Path(inside, name) for name in sorted(files)):
            try:
                status = path.lstat()
            except FileNotFoundError:  # the file vanished after it was listed
                continue
            name = path.relative_to(folder).as_posix()
            if kind := kind_of_stream(status):
                others[name] = kind
            elif not stat.S_ISLNK(status.st_mode):
                found[name] = path
        if len(found) > _MEMBERS:
            limit = f"at most {_MEMBERS:,}"
            raise InputFault("a folder with too many files", where=str(folder), expected=limit)
    return found, others


def unzipped(file: IO[bytes], where: str) -> dict[str, bytes]:
    """Return a zip's files by name. Nothing is written to disk.

    Raises InputFault for a broken zip, for too many files or bytes, for a compression that is too
    high to be honest, and for a file's name that leads outside the zip.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            infos = [info for info in archive.infolist() if not info.is_dir()]
            _check(infos, where)
            return {info.filename: _read_member(archive, info) for info in infos}
    except _ZIP_FAULTS as error:
        raise InputFault(
            f"the zip cannot be read ({error})", where=where, expected="a whole zip"
        ) from error


def _check(infos: list[zipfile.ZipInfo], where: str) -> None:
    unpacked = sum(info.file_size for info in infos)
    packed = max(1, sum(info.compress_size for info in infos))
    limit = f"at most {_MEMBERS:,} files, {_UNPACKED // 1024**2} MB, {_RATIO}-fold compression"
    if len(infos) > _MEMBERS or unpacked > _UNPACKED or unpacked / packed > _RATIO:
        problem = f"{len(infos):,} files of {unpacked / 1024**2:.0f} MB in {packed:,} bytes"
        raise InputFault(problem, where=where, expected=limit)
    for info in infos:
        steps = PurePosixPath(info.filename.replace("\\", "/"))
        if steps.is_absolute() or ".." in steps.parts or ":" in info.filename:
            raise InputFault(
                f"a name that points outside the zip: {info.filename!r}",
                where=where,
                expected="names inside the zip",
            )


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """Return a member's bytes. Raises BadZipFile if there are more than the zip states."""
    with archive.open(info) as member:
        data = member.read(info.file_size + 1)
    if len(data) > info.file_size:
        raise zipfile.BadZipFile(f"{info.filename} is larger than it says")
    return data


def read_yaml(text: str, where: str, *, several: bool = False, unique_keys: bool = False) -> Any:
    """Return a YAML document, read by the safe loader. With `several`, return a list of documents.

    If a mapping has a key twice, the last value counts; with `unique_keys` this is a fault. Raises
    InputFault for tags that build objects, aliases that expand to too many values, and broken YAML.
    """
    import yaml

    try:
        if several:
            value = list(yaml.load_all(text, Loader=_loader(unique_keys)))
        else:
            value = yaml.load(text, Loader=_loader(unique_keys))  # `_loader` makes a safe loader
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error)
        raise InputFault(
            f"not plain YAML: {problem}",
            where=where,
            line=mark.line + 1 if mark else None,
            expected="YAML without language-specific tags" if " the tag " in problem else "",
        ) from error
    except (RecursionError, ValueError) as error:
        raise InputFault(
            f"YAML that cannot be read ({refused_words(error)})", where=where
        ) from error
    if _nodes(value) > _YAML_NODES:
        raise InputFault(
            "aliases that expand to too many values",
            where=where,
            expected=f"at most {_YAML_NODES:,} values",
        )
    return value


@cache
def _loader(unique_keys: bool = False) -> Any:
    """Return PyYAML's safe loader with two additions for VCR's cassettes. `!binary` is Ruby's way
    to write bodies that are not ASCII. Headers that VCR.py writes as objects of aiohttp's text
    classes are read as texts."""
    import yaml

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        """A subclass, because additions to PyYAML's class would affect all other code that uses
        it."""

    if unique_keys:
        tag = yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG
        Loader.add_constructor(tag, _with_unique_keys)
    Loader.add_constructor("!binary", yaml.constructor.SafeConstructor.construct_yaml_binary)
    for kind in ("apply", "new"):
        tag = f"tag:yaml.org,2002:python/object/{kind}:multidict."
        Loader.add_multi_constructor(tag, _text_of_class)
    return Loader


def _with_unique_keys(loader: Any, node: Any) -> Any:
    """Return the mapping of a node. Raises ConstructorError if a text is a key twice."""
    from yaml.constructor import ConstructorError

    keys: set[str] = set()
    for key, _ in node.value:
        if isinstance(name := key.value, str) and name in keys:
            problem = f"the key {name!r} occurs twice in one mapping"
            raise ConstructorError(None, None, problem, key.start_mark)
        keys.update([name] if isinstance(name, str) else ())
    return loader.construct_yaml_map(node)


def _text_of_class(loader: Any, suffix: str, node: Any) -> str:
    """Return the text that a tag passes to a class; "" if it passes anything but one text."""
    values = getattr(node, "value", None)
    text = values[0].value if isinstance(values, list) and len(values) == 1 else ""
    return text if isinstance(text, str) else ""


def _nodes(value: Any) -> int:
    """Count the values in a document; a value that YAML aliases repeat counts each time."""
    sizes: dict[int, int] = {}

    def size(node: Any, open_nodes: frozenset[int]) -> int:
        if not isinstance(node, dict | list):
            return 1
        if id(node) in open_nodes:
            return _YAML_NODES + 1  # the value contains itself
        if id(node) not in sizes:
            inner = node.values() if isinstance(node, dict) else node
            within = open_nodes | {id(node)}
            sizes[id(node)] = 1 + sum(size(item, within) for item in inner)
        return sizes[id(node)]

    try:
        return size(value, frozenset())
    except RecursionError:
        return _YAML_NODES + 1
