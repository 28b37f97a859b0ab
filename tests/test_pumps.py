"""No regular expression takes more than linear work, whatever it is pumped with.

Every pattern that the package makes (`regex_sites`) is pumped with strings made from
itself (`regex_pumps`), and the steps are counted that a backtracking matcher takes
(`regex_steps`): no time is measured. Where a repetition has a bound, work grows faster
up to it; then twice as much takes twice the steps, sooner or later.
"""

from __future__ import annotations

import re
from re import _parser  # type: ignore[attr-defined]
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from regex_pumps import Pump, pumps_of
from regex_sites import Made, calls, made
from regex_steps import MODES, Program, Steps

FEW, MANY = 10, 100
LATER = (500, 1_000, 2_000)
MOST = 100_000, 2_000_000
"""Steps that are counted of the first texts, and of the later ones: more than that is
more than linear."""


def worst(pattern: re.Pattern[Any], modes: tuple[str, ...] = MODES) -> Pump | None:
    """What pumps more than linear work out of a pattern; None if nothing does."""
    program = Program(pattern)
    for pump in pumps_of(pattern):
        if not all(_is_linear(program, pump, mode) for mode in modes):
            return pump
    return None


def _is_linear(program: Program[Any], pump: Pump, mode: str) -> bool:
    few, many = (_steps(program, pump, mode, size, MOST[0]) for size in (FEW, MANY))
    if many > MOST[0]:
        return False
    if many <= 11 * few + 300:
        return True
    few, some, many = (_steps(program, pump, mode, size, MOST[1]) for size in LATER)
    return many < MOST[1] and many - some < 2.4 * (some - few) + 200


def _steps(program: Program[Any], pump: Pump, mode: str, size: int, most: int) -> int:
    return Steps(program, pump.text(size), mode, most).count


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


@pytest.mark.parametrize("each", _pumped(), ids=lambda each: " ".join(each.places[:2]))
def test_pattern_takes_linear_work(each: Made) -> None:
    modes = ("fullmatch", "findall") if each.searches else ("fullmatch",)
    assert worst(each.pattern, modes) is None, each.pattern.pattern


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
    r"(a*)\1b",
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


@pytest.mark.parametrize("pattern", HOSTILE)
def test_pump_is_found(pattern: str) -> None:
    assert worst(re.compile(pattern, re.DOTALL)) is not None


@pytest.mark.parametrize("pattern", HARMLESS)
def test_harmless_pattern(pattern: str) -> None:
    modes = ("findall",) if pattern != r"\s*+=" else ("fullmatch",)
    assert worst(re.compile(pattern), modes) is None


def _matches(pattern: re.Pattern[str], text: str, mode: str) -> list[tuple[int, int]]:
    if mode == "findall":
        return [match.span() for match in pattern.finditer(text)]
    match = getattr(pattern, mode)(text)
    return [match.span()] if match else []


@pytest.mark.parametrize("pattern", [*HOSTILE, *HARMLESS, r"(?i:[^A]){2,5}?$|\bc"])
@given(text=st.text('abx"\\<>=, \n.c', max_size=9))
def test_matcher_is_that_of_python(pattern: str, text: str) -> None:
    compiled = re.compile(pattern)
    program = Program(compiled)
    for mode in MODES:
        spans = Steps(program, text, mode, 1_000_000).spans
        assert spans == _matches(compiled, text, mode), mode


def test_matcher_knows_what_it_does_not_know() -> None:
    with pytest.raises(NotImplementedError):
        Program(re.compile("(a)?(?(1)b|c)"))
