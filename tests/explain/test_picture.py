"""The picture of the front page is that of a real run, and moves only where it may."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from goldens import assert_golden
from picture import CHUNKS, picture

PATH = Path(__file__).parent / "picture.svg"


@pytest.mark.golden
def test_the_picture_is_that_of_a_run() -> None:
    assert_golden(PATH, picture())


def test_it_shows_every_chunk_and_asks_nobody() -> None:
    text = PATH.read_text("utf-8")
    words = "".join(each.text or "" for each in ElementTree.fromstring(text).iter())
    said = "".join(CHUNKS).replace("\n", "").replace(" ", "\u00a0")
    assert said in words.replace("\n", "")
    assert "http" not in text.replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert "prefers-reduced-motion" in text
    assert "prefers-color-scheme" in text
