"""The images that a provider refuses: too many, too large, or broken.

Limits are of a whole request. ``source``: where the limit is known from. An image that
is refused becomes a text that says so, the oldest first, because the newest are those
that the user is talking about. One with a wrong media type gets the type of its bytes.
An image that the provider had accepted stays where later thinking is bound to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.history.paths import at
from stream_sidecar.records import frozen
from stream_sidecar.resume.conversation import StoredPlace
from stream_sidecar.resume.findings import FileEdit
from stream_sidecar.values.jsontext import dumps
from stream_sidecar.wires.requests.seals import binding_of, seals_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.parts import JsonObject
    from stream_sidecar.resume.conversation import ResumedConversation, SentItem
    from stream_sidecar.resume.images import StoredImage
    from stream_sidecar.resume.records import StoredRecord


@frozen
class ImageLimit:
    """What the providers that the pattern finds refuse. ``side``: the longest side in
    pixels; ``many_side``: that in a request with more than ``many`` images. ``size``:
    of the base64, in characters. ``most``: the number of images. 0: no limit known."""

    wire: str
    provider: str
    source: str
    side: int = 0
    many: int = 0
    many_side: int = 0
    size: int = 0
    most: int = 0


LIMITS = (
    ImageLimit("", "opencode|console", "anomalyco/opencode#47493", most=50),
    ImageLimit(
        "anthropic",
        "",
        "platform.claude.com/docs/en/build-with-claude/vision;"
        " anthropics/claude-code#4778, #10612, #52220",
        side=8000,
        many=20,
        many_side=2000,
        size=5_242_880,
        most=100,
    ),
)
"""The first row that fits counts."""


@frozen
class RefusedImage:
    """``rule``: its name; ``edit``: what mends it in the file, if anything does."""

    rule: str
    source: StoredPlace
    message: str
    edits: tuple[FileEdit, ...]


def refused_images(conversation: ResumedConversation) -> Iterator[RefusedImage]:
    """The images of the request that its provider refuses, in their order."""
    wire, provider = conversation.wire, conversation.provider
    images = list(_sent(conversation))
    limit = next((row for row in LIMITS if _fits(row, wire, provider)), None)
    many = 0
    if limit is not None and limit.most:
        many = max(0, len(images) - limit.most)
    for number, (record, image) in enumerate(images):
        source = StoredPlace(record, (*record.path, *image.part))
        rule, message = "", ""
        if limit is not None:
            rule, message = _fault(limit, image, len(images))
        if not rule and number < many:
            assert limit is not None
            rule = "too-many-images"
            message = f"The request has {len(images)} images, and {limit.most} may go"
        if rule:
            edit = FileEdit(source, _in_place_of(image, record, message))
            if image.found and rule == "image-broken" and image.type_at:
                place = StoredPlace(record, (*record.path, *image.type_at))
                edit = FileEdit(place, dumps(image.found))
            is_bound = rule in _ONCE_ACCEPTED and _is_bound(conversation)
            yield RefusedImage(rule, source, message, () if is_bound else (edit,))


_ONCE_ACCEPTED = ("image-too-large-among-many", "too-many-images")
"""Rules that an image may break only since others came."""


def _is_bound(conversation: ResumedConversation) -> bool:
    """Whether there is thinking that is bound to all before it."""
    if binding_of(conversation.model) is None:
        return False
    return any(seals_in(sent.item) for sent in conversation.items)


def _fits(row: ImageLimit, wire: str, provider: str) -> bool:
    is_named = any(name in provider.lower() for name in row.provider.split("|"))
    return row.wire in ("", wire) and is_named


def _sent(
    conversation: ResumedConversation,
) -> Iterator[tuple[StoredRecord, StoredImage]]:
    """The images of the records whose values are sent, each once."""
    sources: dict[int, list[StoredPlace]] = {}
    for item in conversation.items:
        for source in _sources(item):
            sources.setdefault(source.record.number, []).append(source)
    for places in sources.values():
        record = places[0].record
        for image in record.images:
            path = (*record.path, *image.part)
            if any(path[: len(place.path)] == place.path for place in places):
                yield record, image


def _sources(item: SentItem) -> Iterator[StoredPlace]:
    yield item.source
    yield from item.parts
    yield from item.places.values()


def _fault(limit: ImageLimit, image: StoredImage, count: int) -> tuple[str, str]:
    """The rule that an image breaks alone, and the sentence; "" if none."""
    side = max(image.width, image.height)
    size = f"{image.width}x{image.height} pixels"
    if limit.size and image.size and -(-image.size // 3) * 4 > limit.size:
        return (
            "image-too-large",
            f"The image has {image.size:,} bytes, which is refused",
        )
    if limit.side and side > limit.side:
        return (
            "image-too-large",
            f"The image has {size}, and {limit.side} may be a side",
        )
    if limit.many and count > limit.many and side > limit.many_side:
        sentence = (
            f"The image has {size}, among {count} images {limit.many_side} may be"
        )
        return "image-too-large-among-many", f"{sentence} a side"
    if not image.found:
        return "image-broken", "The data are no PNG, JPEG, GIF or WebP"
    if image.declared and _name(image.declared) != image.found:
        sentence = f"The image is {image.found}, and its record says {image.declared}"
        return "image-broken", sentence
    return "", ""


def _name(media_type: str) -> str:
    return "image/jpeg" if media_type == "image/jpg" else media_type


_IDS = ("id", "sessionID", "messageID")
"""Members of a part by which its agent finds it."""


def _in_place_of(image: StoredImage, record: StoredRecord, message: str) -> str | None:
    """The part of text that takes the place of the part with an image, in the form of
    its neighbours. None: it goes, because its list has images only."""
    if "attachments" in image.part:
        return None
    part = at(record.value, image.part)
    members = part if isinstance(part, dict) else {}
    text = f"[image removed: {message[0].lower()}{message[1:]}]"
    said: JsonObject = {"text": text}
    if isinstance(members.get("data"), dict):
        said = {"data": said}
    kind = members.get("type")
    if kind is None:
        return dumps(said)
    ids = {name: members[name] for name in _IDS if name in members}
    name = "input_text" if kind == "input_image" else "text"
    return dumps({**ids, "type": name, **said})
