"""The page "My session does not resume" and the table of refusals: they have the same
numbers, the same rules and the same words."""

from __future__ import annotations

import csv
import re

from rpc_client import ROOT

PAGE = ROOT / "resume.md"
TABLE = ROOT / "sidecar/stream_sidecar/provider_errors/refusals.csv"

_ROW = re.compile(r"^\| (\d+) \| `([\w-]+)` \| (.+) \| ([^|]+) \|$", re.MULTILINE)
_RULE = re.compile(r"^\| `([a-z-]+)` \| [^|]+ \| ([^|]+) \|$", re.MULTILINE)
_MENDS = {"file": "`repair --write`", "request": "the gateway", "none": "nothing yet"}


def rows() -> dict[int, tuple[str, str]]:
    """Number -> the rule and the provider's words."""
    text = PAGE.read_text(encoding="utf-8")
    found = _ROW.findall(text)
    assert len({number for number, *_ in found}) == len(found)
    return {int(number): (rule, words) for number, rule, words, _ in found}


def explained() -> dict[str, str]:
    """Rule -> what mends it."""
    text = PAGE.read_text(encoding="utf-8")
    section = text.partition("\n## The rules\n")[2].partition("\n## ")[0]
    return dict(_RULE.findall(section))


def plain(words: str) -> str:
    """Words without marks of code, which differ between a page and a table."""
    return " ".join(words.replace("`", "").split())


def test_numbers_are_complete_and_rules_are_explained() -> None:
    numbers = [*rows()]
    assert sorted(numbers) == [*range(1, len(numbers) + 1)]
    assert {rule for rule, _ in rows().values()} <= explained().keys()


def test_page_and_table_agree() -> None:
    if not TABLE.is_file():
        return
    page, mends, lost = rows(), explained(), []
    with TABLE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            rule, words = page.get(int(row["number"]), ("", ""))
            is_same = rule == row["rule"] and plain(row["text"]) in plain(words)
            if not is_same or mends[rule] != _MENDS[row["mend"]]:
                lost.append((row["number"], row["rule"], row["text"]))
    assert lost == []
