"""Every Python reads the patterns of the package alike.

Two faults of CPython are known: possessive repeats of more than one item are misread up
to 3.11.4 (`stream_sidecar.patterns` writes them in another way there), and those that
have an alternative and a capture up to 3.12.3, which nothing mends.
"""

from __future__ import annotations

import re
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any

import pytest
from regex_sites import made

from stream_sidecar.patterns import compile, compile_atomic

POSSESSIVE = _constants.POSSESSIVE_REPEAT


def _nodes(tree: Any) -> list[tuple[Any, Any]]:
    """A tree and all below it: what each node is, and its parts."""
    if isinstance(tree, _parser.SubPattern | list):
        return [node for each in tree for node in _nodes(each)]
    if isinstance(tree, tuple):
        inside = [node for each in tree for node in _nodes(each)]
        return [tree[:2], *inside] if len(tree) == 2 else inside
    return []


def _tree(pattern: re.Pattern[Any]) -> Any:
    return _parser.parse(pattern.pattern, pattern.flags)


def _is_group(repeated: Any) -> bool:
    """Whether more than one item is repeated, or a group in parentheses."""
    return len(repeated) != 1 or str(repeated[0][0]) in {"SUBPATTERN", "BRANCH"}


def _in_other_words(tree: Any) -> Any:
    """A tree in which each possessive repeat is an atomic group."""
    if isinstance(tree, _parser.SubPattern | list):
        return [_in_other_words(each) for each in tree]
    if not isinstance(tree, tuple):
        return tree
    if tree and tree[0] is POSSESSIVE:
        repeat = (_constants.MAX_REPEAT, _in_other_words(tree[1]))
        return (_constants.ATOMIC_GROUP, [repeat])
    return tuple(map(_in_other_words, tree))


@pytest.mark.thorough
def test_atomic_groups_mean_the_same(subtests: pytest.Subtests) -> None:
    for each in made():
        with subtests.test(each.places[0], pattern=each.pattern.pattern):
            atomic = compile_atomic(each.pattern.pattern, each.pattern.flags)
            assert atomic.flags == each.pattern.flags
            kept = [at for kind, at in _nodes(_tree(atomic)) if kind is POSSESSIVE]
            assert not [at for at in kept if _is_group(at[2])]
            assert _in_other_words(_tree(atomic)) == _in_other_words(
                _tree(each.pattern)
            )


@pytest.mark.thorough
def test_no_possessive_repeat_has_alternatives_and_captures() -> None:
    for each in made():
        for kind, at in _nodes(_tree(each.pattern)):
            inside = _nodes(at[2]) if kind is POSSESSIVE else []
            kinds = {str(node) for node, _ in inside}
            has_captures = any(str(node) == "SUBPATTERN" and a[0] for node, a in inside)
            assert "BRANCH" not in kinds or not has_captures, each.places


REWRITTEN = {
    "(?:ab?c)*+": "(?>(?:ab?c)*)",
    "(a(?:b|c){2,3}+)++": "(?>(a(?>(?:b|c){2,3}))+)",
    "(?:a)?+(?:b){4}+(?:c){,5}+": "(?>(?:a)?)(?>(?:b){4})(?>(?:c){,5})",
    r"(?:\(a)*+": r"(?>(?:\(a)*)",
    "[)]*+[]()]*+[^]()]++": "[)]*+[]()]*+[^]()]++",
    r"[\](]++(?:a)*+": r"[\](]++(?>(?:a)*)",
    "(?#(a)(?:b)*+": "(?#(a)(?>(?:b)*)",
    "(?:a)*(?:b){}+(?:c)*?": "(?:a)*(?:b){}+(?:c)*?",
}


@pytest.mark.parametrize("pattern", REWRITTEN)
def test_a_possessive_group_becomes_atomic(pattern: str) -> None:
    """Whatever else has parentheses."""
    assert compile_atomic(pattern).pattern == REWRITTEN[pattern]
    assert compile_atomic(pattern.encode()).pattern == REWRITTEN[pattern].encode()


def test_a_turn_that_fails_keeps_nothing() -> None:
    for compiler in (compile, compile_atomic):
        found = compiler("(?:ab?c)*+").match("acaba")
        assert found is not None
        assert found.end() == 2


def test_a_pattern_is_compiled_when_it_is_used() -> None:
    broken = compile("(")
    with pytest.raises(AttributeError, match="matches"):
        broken.matches  # type: ignore[attr-defined] # noqa: B018
    with pytest.raises(re.error, match="unterminated"):
        broken.match("")
