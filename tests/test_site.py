"""The site builds without a warning, asks no other host, and its lists lead somewhere."""

from __future__ import annotations

import inspect
import re
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import jsonschema
import pytest
import yaml
from conftest import ROOT
from site_building import build_site, needs_the_docs_packages

import playground

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.early

DOCS = ROOT / "docs"
# What a browser fetches by itself, by the attribute that names it.
FETCHED = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src"}


class Page(HTMLParser):
    """The addresses of a page: what a browser fetches, and where links lead; and its places."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attrs}
        if address := named.get(FETCHED.get(tag, ""), ""):
            self.fetched.append(address)
        if tag == "a":
            self.links.append(named.get("href", ""))
        self.places |= {named[name] for name in ("id", "name") if name in named}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site in a folder of its own, built strictly."""
    folder = tmp_path_factory.mktemp("site")
    done = build_site(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in site.rglob("*.html")}


@needs_the_docs_packages
def test_every_document_is_a_page(site: Path, pages: dict[Path, Page]) -> None:
    documents = [path.relative_to(DOCS) for path in DOCS.rglob("*.md")]
    built = {path.relative_to(site).with_suffix(".md") for path in pages} - {Path("404.md")}
    assert {path.with_name(path.name.replace("README", "index")) for path in documents} == built
    for path in documents:
        assert (site / path).read_bytes() == (DOCS / path).read_bytes()


@needs_the_docs_packages
def test_nothing_of_python_is_in_the_site(site: Path) -> None:
    assert [*DOCS.rglob("*.py")]  # the site's own programs, which Python compiles in building it
    assert [path for path in site.rglob("*") if re.search(r"\.py|__pycache__", str(path))] == []


@needs_the_docs_packages
def test_a_page_asks_no_other_host_and_its_links_lead_somewhere(
    site: Path, pages: dict[Path, Page]
) -> None:
    known = {path: page.places for path, page in pages.items()}
    for path, page in pages.items():
        for address in page.fetched:
            assert not re.match(r"(\w+:)?//", address), f"{path.relative_to(site)}: {address}"
        for link in [*page.fetched, *page.links]:
            target, _, place = unquote(link).partition("#")
            if path.name == "404.html" or re.match(r"\w+:", target):
                continue  # the page of a wrong address stands nowhere; others' addresses
            file = (path.parent / target.partition("?")[0]).resolve() if target else path
            assert file.exists(), f"{path.relative_to(site)}: {link}"
            assert not place or place in known[file] | {"__skip"}, link
    for style in site.rglob("*.css"):
        fetched = re.findall(r"url\([\"']?([^)\"']+)|@import [\"']([^\"']+)", style.read_text())
        assert not [a + b for a, b in fetched if re.match(r"(https?:)?//", a + b)], style


@needs_the_docs_packages
def test_a_public_name_has_its_place_and_its_docstring(site: Path, pages: dict[Path, Page]) -> None:
    found = {
        place.removeprefix("playground.")
        for path, page in pages.items()
        if path.parent.name == "api"
        for place in page.places
    }
    assert set(playground.__all__) <= found
    text = (site / "api" / "replies.html").read_text()
    assert "Read a complete answer: text, bytes, or byte pieces cut anywhere." in text
    assert "ParseResult" in text


@needs_the_docs_packages
def test_a_bar_in_the_code_of_a_table_is_a_bar(site: Path) -> None:
    assert "<code>&lt;|im_end|&gt;</code>" in (site / "formats" / "hermes.html").read_text()


@needs_the_docs_packages
@pytest.mark.browser
def test_a_page_opened_as_a_file_searches(site: Path, browser: Browser) -> None:
    """There a browser starts no worker and fetches no JSON; another host is not asked either."""
    asked: list[str] = []
    errors: list[str] = []
    tab = browser.new_page()
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.goto((site / "formats/hermes.html").as_uri())
    tab.locator("[data-md-component=search-query]").press_sequentially("load_session")
    tab.locator(".md-search-result__link").first.click()
    tab.wait_for_url(re.compile(r"/api/sessions\.html"))
    tab.close()
    assert errors == []
    assert [url for url in asked if not url.startswith(f"{site.as_uri()}/")] == []


def test_a_public_name_stands_on_one_page_of_the_reference() -> None:
    text = "".join(path.read_text() for path in (DOCS / "api").glob("*.md"))
    names = re.findall(r"^::: playground\.(\w+)$", text, re.M)
    assert sorted(names) == sorted(playground.__all__)


def test_the_reference_is_of_use_as_markdown() -> None:
    """GitHub shows what follows `:::` as it stands: a row above has the name in its short form."""
    for path in (DOCS / "api").glob("[a-z]*.md"):
        text = path.read_text()
        rows = re.findall(r"^\| \[`(.+)`\]\(#(.+)\) \| [A-Z].+\. \|$", text, re.M)
        assert [place for _, place in rows] == re.findall(r"^::: (.+)$", text, re.M)
        for form, place in rows:
            assert re.fullmatch(r"\w+(\(.*\))?", form), form
            function = getattr(playground, place.rpartition(".")[2], None)
            if inspect.isfunction(function):
                names = re.findall(r"(\w+)(?:=…)?(?=[,)])", form)
                assert names == [*inspect.signature(function).parameters], form


def test_llms_txt_has_its_form_and_names_every_page() -> None:
    """https://llmstxt.org: a title, a quotation, text, and sections of links with a sentence."""
    head, *sections = (DOCS / "llms.txt").read_text().split("\n## ")
    assert re.match(r"# Dialect Playground\n\n> \S.*\n\n", head)
    lines = [line for section in sections for line in section.splitlines()[1:] if line]
    links = [re.fullmatch(r"- \[[^]]+\]\(([^)]+)\): [A-Z].*\.", line) for line in lines]
    assert all(links), [line for line, link in zip(lines, links, strict=True) if not link]
    named = [link[1] for link in links if link]
    assert [name for name in named if not (DOCS / name).is_file()] == []
    # what a list leads to: dialects.md, api/README.md and decisions/README.md
    pages = {
        path.relative_to(DOCS).as_posix()
        for path in [*DOCS.glob("*.md"), *(DOCS / "contributing").glob("*.md")]
    } - {"index.md"}
    assert pages - set(named) == set()
    assert len(set(named)) == len(named)


# Of the Citation File Format 1.2.0: what it requires, and the form of what we say.
CITATION = {
    "type": "object",
    "required": ["authors", "cff-version", "message", "title"],
    "additionalProperties": False,
    "properties": {
        "abstract": {"type": "string", "minLength": 1},
        "authors": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["name"],
                "additionalProperties": False,
                "properties": {"name": {"type": "string", "minLength": 1}},
            },
        },
        "cff-version": {"const": "1.2.0"},
        "date-released": {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$"},
        "keywords": {"type": "array", "uniqueItems": True, "items": {"type": "string"}},
        "license": {"const": "Apache-2.0"},
        "message": {"type": "string", "minLength": 1},
        "title": {"type": "string", "minLength": 1},
        "type": {"enum": ["dataset", "software"]},
        "version": {"type": "string"},
    },
}


def test_the_citation_is_valid_and_of_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    jsonschema.validate(citation, CITATION)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert citation["version"] == project["version"]
    assert (citation["license"], citation["keywords"]) == (project["license"], project["keywords"])
    changes = (ROOT / "CHANGELOG.md").read_text()
    head = re.search(rf"^## {re.escape(project['version'])} \((.+)\)$", changes, re.M)
    assert head and citation.get("date-released", "unreleased") == head[1]
    assert ("is not released" in citation["message"]) == (head[1] == "unreleased")
