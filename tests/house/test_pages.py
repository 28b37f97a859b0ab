"""Pages: whatever cites one, or links to one, finds it, and the heading in it.

A citation is a page's name with headings in quotes, in a docstring, a comment or
another page: ``protocol.md, "Limits" and "Errors"``. The page is looked for beside the
file that cites it, in the folders above, and in ``sidecar/`` and its package. What has
numbers is cited by them: "invariant 3" (sidecar/README.md, "Invariants"), and the rules
of the text, which text/README.md numbers. A page that is not in the repository is an
error, and so is a number of anything else. Public issues have their owner:
``openlawlibrary/pygls#130``.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from pkgutil import resolve_name

from rpc_client import ROOT

MADE = {"node_modules", "target", "dist", "__pycache__"}
"""Folders of what is made or installed."""

FILES = [
    *(path for path in ROOT.iterdir() if path.is_file()),
    *(
        path
        for folder in (".github", "sidecar", "tests", "clients")
        for path in sorted((ROOT / folder).rglob("*"))
        if path.is_file() and not MADE.intersection(path.relative_to(ROOT).parts)
    ),
]
PAGES = [path for path in FILES if path.suffix == ".md"]
NAMES = {path: path.relative_to(ROOT).as_posix() for path in FILES}

MAP = ROOT / "sidecar" / "README.md"
PACKAGE = MAP.parent / "stream_sidecar"
RULES = PACKAGE / "text" / "README.md"

_CITED = re.compile(r'([\w./-]*\w\.md)\b((?:(?:, and|,| and) "[^"]+")*)')
_NUMBER = r"\d+(?:\.\d+)?"
_NUMBERED = re.compile(
    rf"\b((?:text )?rules?|invariants?|contract|sections?) "
    rf"({_NUMBER}(?:(?:, | and | to ){_NUMBER})*)",
    re.IGNORECASE,
)
_OURS = re.compile(r"\b(?:(?:sidecar|tests|clients)/[\w./-]+|(?<![\w/])test_\w+)\.py\b")
_OWNERLESS = re.compile(r"(?<![\w/.-])[A-Za-z][\w.-]+#\d+")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_FENCED = re.compile(r"^(`{3,}).*?^\1`*$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"//+!?([^\n]*)|/\*(.*?)\*/", re.DOTALL)


# --- What is read of a file -----------------------------------------------------------


@cache
def said(path: Path) -> str:
    """What a file says to people: a page, or docstrings and comments."""
    return " ".join(_READERS[path.suffix](path.read_text(encoding="utf-8")))


@cache
def prose(path: Path) -> str:
    """What a file says, on one line and without marks of code and links."""
    plain = re.sub(r"https?://\S+", "", said(path)).replace("`", "")
    return " ".join(plain.split())


def _of_python(text: str) -> Iterator[str]:
    """Docstrings, those of constants too, and comments."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield str(node.value.value)
    if "#" in text:  # tokens take long
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.string.lstrip("#")


def _of_markdown(text: str) -> Iterator[str]:
    """Without links, which are followed by themselves."""
    yield re.sub(r"\[[^\]]*\]\([^)\s]+\)", "", _FENCED.sub("", text))


def _of_slashes(text: str) -> Iterator[str]:
    """Comments of TypeScript and Rust."""
    for line, block in _COMMENT.findall(text):
        yield line + re.sub(r"^\s*\*", "", block, flags=re.MULTILINE)


def _of_hashes(text: str) -> Iterator[str]:
    yield from re.findall(r"#(.*)", text)


_READERS = {
    ".py": _of_python,
    ".md": _of_markdown,
    **dict.fromkeys((".ts", ".mjs", ".rs"), _of_slashes),
    ".toml": _of_hashes,
}

READ = [path for path in FILES if path.suffix in _READERS]
OF_PYTHON = [
    path
    for path in READ
    if path.suffix in (".py", ".md") and not NAMES[path].startswith("clients/")
]
"""Python files, and pages on which ``stream_sidecar`` is the package, and no object."""


@cache
def headings(page: Path) -> frozenset[str]:
    """The headings of a page, without marks of code."""
    text = _FENCED.sub("", page.read_text(encoding="utf-8"))
    found = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return frozenset(heading.replace("`", "") for heading in found)


def anchors(page: Path) -> set[str]:
    """The headings as GitHub names them in links."""
    kept = (re.sub(r"[^\w -]", "", heading).lower() for heading in headings(page))
    return {heading.replace(" ", "-") for heading in kept}


# --- Citations ------------------------------------------------------------------------


def cited(path: Path) -> Iterator[tuple[str, list[str]]]:
    """The pages that a file cites, each with its headings."""
    for name, quoted in _CITED.findall(prose(path)):
        yield name, re.findall(r'"([^"]+)"', quoted)


def page_of(name: str, path: Path) -> Path | None:
    """The page that ``path`` means by ``name``."""
    above = [folder for folder in path.parents if folder.is_relative_to(ROOT)]
    places = (folder / name for folder in (*above, MAP.parent, PACKAGE))
    return next((place for place in places if place.is_file()), None)


def test_what_is_cited_is_there() -> None:
    """Pages with their headings, numbers, and files of ours."""
    assert _wrong(READ, _lost) == {}


def _wrong(
    paths: list[Path], check: Callable[[Path], Iterator[str]]
) -> dict[str, list[str]]:
    """The problems that ``check`` finds, by file; files without one are left out."""
    found = ((NAMES[path], [*check(path)]) for path in paths)
    return {name: wrong for name, wrong in found if wrong}


def _lost(path: Path) -> Iterator[str]:
    yield from (*_lost_pages(path), *_lost_numbers(path), *_lost_files(path))
    yield from (f"whose is {issue}?" for issue in _OWNERLESS.findall(prose(path)))


def _lost_pages(path: Path) -> Iterator[str]:
    for name, wanted in cited(path):
        page = page_of(name, path)
        if page is None:
            yield f"no page {name}"
        else:
            yield from (f'{name}, "{each}"' for each in {*wanted} - headings(page))


def _lost_numbers(path: Path) -> Iterator[str]:
    for kind, listed in _NUMBERED.findall(prose(path)):
        for number in re.findall(_NUMBER, listed):
            if number not in numbers(kind.lower().removesuffix("s")):
                yield f"no {kind} {number}"


@cache
def numbers(kind: str) -> frozenset[str]:
    """The numbers that begin lines of the page that has what is called ``kind``."""
    if kind == "text rule" and RULES.is_file():
        text = _FENCED.sub("", RULES.read_text(encoding="utf-8"))
        return frozenset(re.findall(r"^\W*(\d+\.\d+)\b", text, re.MULTILINE))
    if kind == "invariant":
        text = MAP.read_text(encoding="utf-8").partition("## Invariants")[2]
        return frozenset(re.findall(r"^(\d+)\. ", text.partition("\n## ")[0], re.M))
    return frozenset()


def _lost_files(path: Path) -> Iterator[str]:
    """Names that begin as ours do and are no file; a page's fences count, too."""
    is_page = path.suffix == ".md"
    text = path.read_text(encoding="utf-8") if is_page else prose(path)
    for name in _OURS.findall(text):
        if not any(f"/{known}".endswith(f"/{name}") for known in NAMES.values()):
            yield f"no file {name}"


_MODULE = re.compile(r"`(stream_sidecar(?:\.\w+)+)`")


def test_what_is_named_in_code_marks_is_there() -> None:
    """A module, or what it has: ``stream_sidecar.parts.TextPart``."""
    assert _wrong(OF_PYTHON, _lost_names) == {}


def _lost_names(path: Path) -> Iterator[str]:
    for name in _MODULE.findall(said(path)):
        try:
            resolve_name(name)
        except (ImportError, AttributeError):
            yield f"nothing is called {name}"


def test_citations_are_found() -> None:
    """This test's own reading: were it blind, the one above would pass."""
    found = {name for path in READ for name, wanted in cited(path) if wanted}
    assert {"protocol.md", "wires/README.md", "sidecar/README.md"} <= found
    assert numbers("invariant") == {str(number) for number in range(1, 11)}


# --- Links ----------------------------------------------------------------------------


def links(page: Path) -> Iterator[tuple[str, Path, str]]:
    """The relative links of a page: as written, the file or folder, the anchor."""
    text = _FENCED.sub("", page.read_text(encoding="utf-8"))
    for target in _LINK.findall(re.sub(r"``.+?``|`[^`\n]+`", "", text)):
        if not re.match(r"[a-z]+:", target):
            name, _, anchor = target.partition("#")
            yield target, (page.parent / name).resolve() if name else page, anchor


def test_links_lead_somewhere() -> None:
    assert _wrong(PAGES, _lost_links) == {}


def _lost_links(page: Path) -> Iterator[str]:
    for written, target, anchor in links(page):
        file = target / "README.md" if anchor and target.is_dir() else target
        if not file.exists() or (anchor and anchor not in anchors(file)):
            yield written


_INDEXES = re.compile(
    r"https?://(?:[\w-]+\.)*(?:pypi\.org|npmjs\.com|crates\.io|docs\.rs|lib\.rs|"
    r"unpkg\.com|jsdelivr\.net|visualstudio\.com|open-vsx\.org)/[^\s)\"'>`]*"
)
_OUR_PACKAGES = re.compile(r"stream[-_]sidecar")


def test_no_page_links_to_a_package_that_is_not_published() -> None:
    """While the pages say that nothing is released, an index of packages has none of
    ours. A page of the repository is linked in its place."""
    text = (ROOT / "protocol.md").read_text("utf-8")
    assert "It is not released yet" in text
    linked = {
        NAMES[page]: found
        for page in PAGES
        if (found := [*filter(_OUR_PACKAGES.search, _index_links(page))])
    }
    assert linked == {}


def _index_links(page: Path) -> list[str]:
    return _INDEXES.findall(page.read_text("utf-8"))


def test_every_page_is_found_from_the_front_page() -> None:
    """By links; one to a folder leads to its page, or to all pages that it has."""
    found: set[Path] = set()
    left = [ROOT / "README.md"]
    while left:
        page = left.pop()
        if page not in found:
            found.add(page)
            left += (each for _, to, _ in links(page) for each in _pages_at(to))
    assert [*{*PAGES} - found] == []


def _pages_at(place: Path) -> list[Path]:
    if place.is_dir():
        own = place / "README.md"
        return [own] if own.is_file() else sorted(place.glob("*.md"))
    return [place] if place.suffix == ".md" else []
