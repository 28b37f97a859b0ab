"""What `NativeText` keeps to compare; what it tells is in ``spec/native-first.md``."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_sidecar.channel.native_text import NativeText


@pytest.mark.parametrize(
    "text", ["", "one", "\u00e9" * 9, "\u4e16" * 9, "\U0001f33f" * 9]
)
def test_the_head_is_whole_characters(text: str) -> None:
    native = NativeText(1000)
    native.push("reasoning", text, 0)
    for size in range(12):
        head = native.head(size)
        assert text.startswith(head)
        assert len(head) >= min(size, len(text))


def test_the_head_has_what_a_mirror_adds() -> None:
    native = NativeText(1000)
    native.push("reasoning", "one", 0)
    native.push("reasoning_content", "one two", 0)
    assert native.head(99) == "one two"
    native.push("reasoning", "\ud83d", 1)
    assert native.head(99) == "one two\ud83d"


@given(st.lists(st.sampled_from(["a", "ab", "ab" * 8, "ab" * 9, "ab" * 16, "again"])))
def test_nothing_of_a_field_vanishes(deltas: list[str]) -> None:
    """What is new of a delta and what its field has said before are the delta; and only
    what the field has said is reported as such."""
    native, begun = NativeText(1000), ""
    for document, text in enumerate([*deltas, "".join(deltas), "".join(deltas) + "!"]):
        new, said = native.push("reasoning", text, document)
        assert said + new == text
        assert said in ("", begun)
        begun += new
    assert native.head(1000) == begun
