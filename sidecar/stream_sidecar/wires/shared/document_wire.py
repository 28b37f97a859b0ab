"""The base of wires that read one JSON object at a time.

A wire's ``read`` appends to ``parts``. It accesses every value through the methods
here, which turn a wrong type into a ``malformed-chunk`` diagnostic and an empty value,
so that the rest of the document is still used.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from stream_sidecar.parts import (
    DiagnosticPart,
    DonePart,
    FinishPart,
    JsonObject,
    MetadataPart,
    UsagePart,
)
from stream_sidecar.provider_errors.normalize import find_error, normalize_error
from stream_sidecar.records import evolve
from stream_sidecar.wires.shared.fields import details, malformed, objects_of, unused
from stream_sidecar.wires.shared.usage import merge_usage, own_usage, read_usage

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from stream_sidecar.parts import Document, Json, Part
    from stream_sidecar.wires.shared.row import WireRow


_LATEST_TIME = 10**12
"""A larger number of seconds is a mistake, not a time."""

_COUNTED_EACH = 32
"""Counts that come in every document are reported once in so many documents."""

_ENDS = frozenset((FinishPart, DonePart))


class DocumentWire(ABC):
    """Reads documents into ``parts``. ``choice``: the choice that is being read."""

    def __init__(self, row: WireRow, provider: str | None) -> None:
        self.row = row
        self.provider = provider
        self.parts: list[Part] = []
        self.choice = 0
        self._known: JsonObject = {}
        self._usage: Json = None
        self._counted = 0  # how many documents had counts
        self._waiting_counts: JsonObject = {}  # reported at a finish or the end

    @abstractmethod
    def read(self, value: JsonObject, event: str | None) -> None:
        """Reads one object. ``event``: its name, if the framing has one."""

    def end(self) -> None:  # noqa: B027 - most wires need nothing here
        """Adds parts that need the end of the stream."""

    def push(self, document: Document) -> list[Part]:
        value, self.parts = document.value, []
        if type(value) is dict:  # the usual case
            self.read(value, document.event)
            return self.parts
        for item in value if isinstance(value, list) and value else [value]:
            if isinstance(item, dict):
                self.read(item, document.event)
            else:
                self.unread(item, document.event)
        return self.parts

    def close(self) -> list[Part]:
        self.parts = []
        self.end()
        self._report_counts()
        return self.parts

    def identify(self, **identity: Json) -> None:
        """Adds what is new about the response: ids and times once (some dialects send
        another id in every chunk), the model whenever it changes."""
        fresh = {
            name: value
            for name, value in identity.items()
            if value
            and self._known.get(name) != value
            and (name == "model" or name not in self._known)
        }
        if fresh:
            self._known |= fresh
            self.parts.append(MetadataPart(**fresh))

    def count(self, counts: JsonObject) -> None:
        """Reads counts, which are totals; a missing count keeps its value. Gemini sends
        them in every chunk, so only some are reported: the first, every
        `_COUNTED_EACH`-th, those beside a finish, and the last."""
        if counts:
            self._usage = merge_usage(self._usage, counts)
            self._waiting_counts = counts
            is_due = self._counted % _COUNTED_EACH == 0
            self._counted += 1
            if is_due or not _ENDS.isdisjoint(map(type, self.parts)):
                self._report_counts()

    def _report_counts(self) -> None:
        counts, self._waiting_counts = self._waiting_counts, {}
        usage = read_usage(self._usage, self.row.usage) if counts else None
        if usage is not None:
            raw = own_usage(self._usage, counts)
            part = usage if raw is self._usage else evolve(usage, raw=raw)
            self.parts.append(part)

    def fail(self, body: Json) -> None:
        """Adds the error that the provider's ``body`` describes."""
        self.parts.append(normalize_error(body, provider=self.provider))

    def fail_if(self, value: JsonObject, event: str | None) -> None:
        """Adds an error that a document contains besides its other content."""
        if value.get("error") or event:
            body = find_error(value, event)
            if body is not None:
                self.fail(body)

    def unread(self, value: Json, event: str | None) -> None:
        """Reports a document of no known shape: as an error if it is one."""
        body = find_error(value, event)
        if body is not None:
            self.fail(body)
        else:
            self.unknown(value)

    def unknown(self, value: Json) -> None:
        message = f"the document is no {self.row.name} document"
        self.parts.append(DiagnosticPart("unknown-chunk", message, "warning", value))

    def report_details(self, body: JsonObject, names: Collection[str]) -> None:
        """Reports the members ``names``, in which a response describes itself."""
        filled = {name: body[name] for name in names if _is_filled(body.get(name))}
        if filled:
            self.parts.append(details(filled, self.choice))

    # Access

    def text(self, holder: JsonObject, name: str) -> str:
        """``holder[name]``; "" if it is no string."""
        value = holder.get(name)
        if isinstance(value, str):
            return value
        if value is not None:
            self.malformed(name, value)
        return ""

    def number(self, holder: JsonObject, name: str) -> int | None:
        """``holder[name]`` if it is an integer and not negative, else None."""
        value = holder.get(name)
        if type(value) is int and value >= 0:
            return value
        if value is not None:
            self.malformed(name, value)
        return None

    def body(self, holder: JsonObject, name: str) -> JsonObject:
        """``holder[name]`` if it is an object, else an empty one."""
        value = holder.get(name)
        if isinstance(value, dict):
            return value
        if value is not None:
            self.malformed(name, value)
        return {}

    def objects(self, holder: JsonObject, name: str) -> Iterable[JsonObject]:
        """The objects in the list ``holder[name]``; null items are skipped."""
        value = holder.get(name)
        if isinstance(value, list):
            return objects_of(value, name, self.malformed)
        if value is not None:
            self.malformed(name, value)
        return ()

    def malformed(
        self, name: str, value: Json, reason: str = "is of an unexpected type"
    ) -> None:
        """Reports a ``value`` that cannot be used, and the ``reason``."""
        self.parts.append(malformed(name, value, self.choice, reason))

    def unused(
        self, name: str, holder: JsonObject, known_names: Collection[str], start: int
    ) -> None:
        """Reports ``holder``, called ``name``, if nothing of it was used: the parts
        from ``start`` on are only counts and ends, and an unknown member has text."""
        if all(type(part) in _BESIDE for part in self.parts[start:]) and any(
            name not in known_names and _is_filled(holder[name], str) for name in holder
        ):
            self.parts.append(unused(name, holder, self.choice))

    def ignored(self, name: str, value: Json) -> None:
        """Reports a ``value`` that may be content, but that no event carries."""
        message = f"{name} is no text and was left out"
        self.parts.append(
            DiagnosticPart("unknown-chunk", message, "info", value, self.choice)
        )


_BESIDE = (MetadataPart, UsagePart, FinishPart, DonePart)


def _is_filled(value: Json, kind: type = object) -> bool:
    """Whether any value inside, of type ``kind``, is neither null nor empty."""
    todo = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, dict):
            todo += item.values()
        elif isinstance(item, list):
            todo += item
        elif item and isinstance(item, kind):
            return True
    return False


def seconds(value: Json) -> int | None:
    """Seconds since 1970, from such a number or an RFC 3339 time, else None."""
    if isinstance(value, str):
        try:
            time = datetime.fromisoformat(value)
        except ValueError:
            return None
        value = (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    if type(value) in (int, float) and 0 < value < _LATEST_TIME:
        return int(value)
    return None
