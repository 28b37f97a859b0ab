"""The size and the type of an image, read from its first bytes."""

from __future__ import annotations

import base64
import json
import struct
from typing import Any

import pytest

from stream_sidecar.resume.images import images_in, may_have_image

PNG = (
    b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR" + struct.pack(">II", 30, 20) + b"\x08\x06\0\0\0"
)
GIF = b"GIF89a" + struct.pack("<HH", 30, 20)
_FRAME = b"\xff\xc2\0\x11\x08" + struct.pack(">HH", 20, 30) + b"\3"
JPEG = b"\xff\xd8\xff\xe1\0\x12" + b"\xff\xc0" * 8 + b"\xff\xc4\0\4\0\0" + _FRAME
VP8 = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 30, 20)
VP8L = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f" + struct.pack("<I", 29 | 19 << 14)
VP8X = b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0" + b"\x1d\0\0\x13\0\0"


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (PNG, "image/png"),
        (GIF, "image/gif"),
        (JPEG, "image/jpeg"),
        (VP8, "image/webp"),
        (VP8L, "image/webp"),
        (VP8X, "image/webp"),
    ],
)
def test_sizes(data: bytes, found: str) -> None:
    text = base64.b64encode(data).decode()
    source = {"type": "base64", "media_type": found, "data": text}
    (image,) = images_in({"content": [{"type": "image", "source": source}]})

    assert (image.found, image.width, image.height) == (found, 30, 20)
    assert (image.part, image.size) == (("content", 0), len(data))


TEXT = base64.b64encode(PNG).decode()
URL = f"data:image/png;base64,{TEXT}"


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image", "source": {"media_type": "image/png", "data": TEXT}},
        {"type": "image_url", "image_url": {"url": URL}},
        {"type": "input_image", "image_url": URL},
        {"inlineData": {"mimeType": "image/png", "data": TEXT}},
        {"image": {"format": "png", "source": {"bytes": TEXT}}},
        {"type": "file", "mime": "image/png", "url": URL},
    ],
)
def test_shapes_of_wires(part: Any) -> None:
    result = {"type": "tool_result", "content": [{"text": "see"}, part]}
    (image,) = images_in({"message": {"content": [result]}})

    assert image.part == ("message", "content", 0, "content", 1)
    assert (image.declared, image.width, image.height) == ("image/png", 30, 20)


@pytest.mark.parametrize("data", ["", "!", "bm8gaW1hZ2U=", TEXT[:8]])
def test_broken_data(data: str) -> None:
    found = images_in([{"source": {"media_type": "image/png", "data": data}}])
    assert [(each.width, each.found) for each in found] in ([], [(0, "")])


def test_text_is_no_image() -> None:
    assert images_in({"content": [{"type": "text", "text": "image/png"}]}) == ()


@pytest.mark.parametrize(
    "text",
    [
        rb'{"source": {"media_type": "image/png", "data": "iVBORw0KGgo="}}',
        rb'{"source": {"media_type": "image\/png", "data": "iVBORw0KGgo="}}',
        rb'{"source": {"media_type": "\u0069mage/png", "data": "iVBORw0KGgo="}}',
        rb'{"format": "png", "source": {"bytes": "iVBORw0KGgo="}}',
        rb'{"f\u006Frmat": "png", "source": {"bytes": "iVBORw0KGgo="}}',
        rb'{"url": "data:image/png;base64,iVBORw0KGgo="}',
    ],
)
def test_a_line_with_an_image_is_searched(text: bytes) -> None:
    assert images_in(json.loads(text))
    assert may_have_image(text)


def test_a_line_of_text_is_not_searched() -> None:
    assert not may_have_image(rb'{"role": "user", "content": "a picture\nof \\u 1"}')
