"""No regular expression takes more than linear work, whatever it is pumped with.

Every pattern that the package makes (`regex_sites`) is pumped with strings made from
itself (`regex_pumps`): ten times the string may take some ten times the processor time,
where quadratic work takes a hundred times. Between the two lies a wide margin, so a
busy machine decides nothing.
"""

from __future__ import annotations

import re
from re import _parser  # type: ignore[attr-defined]
from typing import Any

import pytest
from processor_time import grows_linearly, seconds
from regex_pumps import Pump, pumps_of
from regex_sites import Made, calls, made

TEASERS = (*range(6, 42, 3), 60, 100, 200)
"""Code points that show exponential work before it takes minutes."""

FEW, MANY = 500, 5_000
QUICK = 0.02e-3
"""Seconds for `FEW` code points that no quadratic work is done in."""

LONG = 0.2
"""Seconds for at most `FEW` code points: no linear work takes so long."""

MODES = ("fullmatch", "search", "findall")


def worst(pattern: re.Pattern[Any], modes: tuple[str, ...] = MODES) -> Pump | None:
    """What pumps more than linear work out of a pattern; None if nothing does."""
    for pump in pumps_of(pattern):
        if not all(_is_linear(getattr(pattern, mode), pump) for mode in modes):
            return pump
    return None


def _is_linear(use: Any, pump: Pump) -> bool:
    for size in TEASERS:
        if _seconds(use, pump, size) > LONG:
            return False
    few = min(_seconds(use, pump, FEW) for _ in range(3))
    if few < QUICK:
        return True
    return few < LONG and grows_linearly(few, lambda: _seconds(use, pump, MANY))


def _seconds(use: Any, pump: Pump, size: int) -> float:
    text = pump.text(size)
    return seconds(lambda: use(text))


# --- The patterns of the package ------------------------------------------------------


def _shape(node: Any) -> Any:
    """What is alike in patterns that one line of the source makes from tables: literals
    and sets may differ."""
    if isinstance(node, _parser.SubPattern | list):
        parts = [_shape(each) for each in node]
        return tuple(part for part in parts if part != "character")
    kind, value = str(node[0]), node[1]
    if kind in ("LITERAL", "NOT_LITERAL", "ANY", "IN"):
        return "character"
    if kind == "BRANCH":
        return kind, frozenset(map(_shape, value[1]))
    if kind.endswith("REPEAT"):
        return kind, value[0], value[1], _shape(value[2])
    if kind == "SUBPATTERN":
        return kind, _shape(value[3])
    if kind.startswith("ASSERT"):
        return kind, value[0], _shape(value[1])
    return (kind, _shape(value)) if kind == "ATOMIC_GROUP" else kind


def _pumped() -> list[Made]:
    """Of patterns that one place makes and that are alike, the longest."""
    chosen: dict[Any, Made] = {}
    for each in sorted(made(), key=lambda each: len(each.pattern.pattern)):
        shape = _shape(_parser.parse(each.pattern.pattern, each.pattern.flags))
        chosen[each.places, shape] = each
    return list(chosen.values())


@pytest.mark.thorough
def test_patterns_take_linear_work(subtests: pytest.Subtests) -> None:
    for each in _pumped():
        modes = ("fullmatch", "findall") if each.searches else ("fullmatch",)
        with subtests.test(" ".join(each.places[:2]), pattern=each.pattern.pattern):
            assert worst(each.pattern, modes) is None


@pytest.mark.thorough
def test_no_pattern_hides() -> None:
    """Each call of ``re`` in the source was seen, with the patterns it was given."""
    seen = {place for each in made() for place in each.places}
    assert seen == set(calls())


# --- The measure itself ---------------------------------------------------------------

HOSTILE = (
    r"(a+)+b",
    r"(?:a|a)*b",
    r"a*a*b",
    r"\s*=\s*",
    r"\s*(\w+)\s*=\s*(.*?)\s*(?=,\s*\w+\s*=|\Z)",
    r"<(/?)([^<>\s/]+)[^<>]*>",
    r"<(/?)([^<>\s/]+)[^<>]*+>",
    r"(?:(?>a*b)|a)*+",
    r"(?>a*b)",
    r"a*?b",
    r"(?=.*b)a",
    r"a(?:a*b)?",
    r"\d+\.\d+",
    r"(.*),(.*)",
    r'"(?:\\.|[^"])*"',
    r"(x+x+)+y",
    r"(?:ab|a|b)*c",
    r"^\s+|\s+$",
)
"""Each takes more than linear work, for a string that has to be found."""

HARMLESS = (
    r"[^<>]*+",
    r"\s*+=",
    r"(?<!\w)\w++\s*+=",
    r'"(?:[^"\\]++|\\.)*+"?',
    r"<[^<>]{0,300}>",
    r"(?:,\s*+\w++)*+",
    r"`+|\n",
    r"\s+|\S+",
    r"a{2,5}b|c*",
)


@pytest.mark.thorough
@pytest.mark.parametrize("pattern", HOSTILE)
def test_pump_is_found(pattern: str) -> None:
    assert worst(re.compile(pattern, re.DOTALL)) is not None


@pytest.mark.parametrize("pattern", HARMLESS)
def test_harmless_pattern(pattern: str) -> None:
    modes = ("findall",) if pattern != r"\s*+=" else ("fullmatch",)
    assert worst(re.compile(pattern), modes) is None
