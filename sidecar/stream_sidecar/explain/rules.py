"""The rules of the text by their numbers, read from text/README.md.

That page is part of the package, so an explanation can quote the rule.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from stream_sidecar import patterns
from stream_sidecar.records import frozen
from stream_sidecar.wires import WIRES

PAGES = "https://github.com/stream-sidecar/stream-sidecar/blob/main/"
"""The address of the project's pages."""

_PAGE = "sidecar/stream_sidecar/text/README.md"
_EXAMPLE = patterns.compile(
    r"^`{32} example.*+\n(?:(?!`{32}).*+\n)*+`{32}$", re.MULTILINE
)
_HEADING = patterns.compile(r"^##++ (?P<title>(?P<number>[\d.]++) .*+)\n", re.MULTILINE)
_LINK = patterns.compile(r"\[([^\[\]]*+)\]\([^()]*+\)")
_NO_ANCHOR = patterns.compile(r"[^\w -]")


@frozen
class TextRule:
    """A rule, or a section of rules. ``title`` begins with its number, ``text`` is the
    rule without its example, ``link`` is the address of its heading."""

    title: str
    text: str
    link: str


@cache
def rules() -> dict[str, TextRule]:
    """All rules and sections, by number."""
    page = (
        files("stream_sidecar.text").joinpath("README.md").read_text(encoding="utf-8")
    )
    headings = list(_HEADING.finditer(page := _EXAMPLE.sub("", page)))
    ends = [match.start() for match in headings[1:]] + [len(page)]
    return {
        match["number"]: _rule(match["title"], page[match.end() : end])
        for match, end in zip(headings, ends, strict=True)
    }


def wire_links() -> dict[str, str]:
    """Wire -> the address of the section about its fields."""
    page = f"{PAGES}sidecar/stream_sidecar/wires/README.md"
    return {
        name: f"{page}#{_anchor(row.title)}" for name, row in WIRES.items() if row.title
    }


def _anchor(title: str) -> str:
    """The anchor of a heading in links: ``3.3 A pair`` -> ``33-a-pair``."""
    return _NO_ANCHOR.sub("", title).lower().replace(" ", "-")


def _rule(title: str, text: str) -> TextRule:
    words = " ".join(_LINK.sub(r"\1", text).split())
    return TextRule(title.replace("`", ""), words, f"{PAGES}{_PAGE}#{_anchor(title)}")
