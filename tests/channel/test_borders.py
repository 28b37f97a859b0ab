"""What text behind a block's end may complete; the rule is in ``text/README.md``."""

from __future__ import annotations

import pytest
from checking import feed


@pytest.mark.parametrize(
    ("before", "behind", "shown"),
    [
        ("One.", "Two.", "One.Two."),
        ("One.", " Two.", "One. Two."),
        ("One.\n", "- two\n- three", "One.\n- two\n- three"),
        ("One.\n\n", "    two", "One.\n\n    two"),
        ("", "\nOne.", "\nOne."),
        ("`a", "` b `", "`a` b `"),
        ("a <thi", "nk> b", "a <thi b"),
        ("a <thi", "ng> b", "a <thing> b"),
    ],
)
@pytest.mark.parametrize("most", [4, 8192])
def test_text_behind_a_block(before: str, behind: str, shown: str, most: int) -> None:
    """It goes on as the text that it is, unless it completes a delimiter."""
    params = {"wire": "anthropic", "limits": {"maxHeldChars": most}}
    for cut in range(len(behind)):
        first, second = _block(0, before), _block(1, behind[:cut], behind[cut:])
        assert feed(params, [*first, *second]).message.text == shown


def _block(number: int, *texts: str) -> list[dict[str, object]]:
    """A block of text, as the Messages API sends it."""
    begun = {"type": "text", "text": ""}
    deltas = [{"type": "text_delta", "text": text} for text in texts]
    return [
        {"type": "content_block_start", "index": number, "content_block": begun},
        *(
            {"type": "content_block_delta", "index": number, "delta": delta}
            for delta in deltas
        ),
        {"type": "content_block_stop", "index": number},
    ]
