"""State of native reasoning that goes back to the provider, on wires without blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.records import define, field
from stream_sidecar.values.equality import equal

if TYPE_CHECKING:
    from stream_sidecar.parts import Json, JsonObject

_TEXTS = ("text", "summary")


@define
class ProviderBlocks:
    """Counts the provider's reasoning blocks in one field. A block is over if its
    signature (or other state) has come, and text follows without this signature
    (wires/README.md, "LiteLLM's proxy")."""

    count: int = 0
    is_used: bool = False
    is_sealed: bool = False
    signature: str | None = None

    @property
    def key(self) -> int | None:
        """The block's number; None while there has been only one block."""
        return self.count or None

    def text(self, signature: str | None) -> None:
        """Notes text. ``signature``: the signature in its item, or None."""
        if self.is_sealed and (signature is None or signature != self.signature):
            self._next()
        self.is_used = True

    def sign(self, signature: str) -> None:
        """Notes a signature; a repetition of the block's own changes nothing."""
        if signature == self.signature:
            return
        if self.is_sealed:
            self._next()
        self.seal()
        self.signature = signature

    def seal(self) -> None:
        """Notes state without a signature, which ends the current block."""
        self.is_used = self.is_sealed = True

    def single(self) -> None:
        """Notes a block that is one complete item (redacted thinking)."""
        if self.is_used:
            self._next()
        self.seal()

    def _next(self) -> None:
        self.count += 1
        self.is_used = self.is_sealed = False
        self.signature = None


@define
class _Detail:
    """One item of the merged ``reasoning_details``."""

    fields: JsonObject = field(factory=dict)
    texts: dict[str, list[str]] = field(factory=dict)

    def merge(self, item: JsonObject) -> None:
        for name, value in item.items():
            if name in _TEXTS and isinstance(value, str):
                self.texts.setdefault(name, []).append(value)
                self.fields.setdefault(name, "")
            elif value is not None or name not in self.fields:
                self.fields[name] = value

    def build(self) -> JsonObject:
        return self.fields | {name: "".join(of) for name, of in self.texts.items()}

    def continues(self, item: JsonObject) -> bool:
        """Whether ``item`` is a further fragment of this item."""
        fields = self.fields
        if any(_differ(fields.get(n), item.get(n)) for n in ("id", "signature")):
            return False
        if any(item.get(name) for name in _TEXTS):
            return not fields.get("signature") or bool(item.get("signature"))
        return bool(item.get("id")) or not _differ(fields.get("data"), item.get("data"))


def _differ(one: Json, other: Json) -> bool:
    return bool(one and other) and not equal(one, other)


@define
class Details:
    """``reasoning_details`` as the next request must carry them, with fragments merged.

    Fragments of one item have the same type and index. Their text is joined; for other
    members the last value counts (OpenRouter, "Preserving reasoning"). A new item
    begins with another id or signature, with text after the signature, and with
    encrypted data, unless the same id shows that it is a newer version.
    """

    items: list[_Detail] = field(factory=list)
    latest: dict[tuple[str, str], _Detail] = field(factory=dict)

    def merge(self, item: JsonObject) -> None:
        key = (_word(item.get("type")), _word(item.get("index")))
        detail = self.latest.get(key)
        if detail is None or not detail.continues(item):
            detail = self.latest[key] = _Detail()
            self.items.append(detail)
        detail.merge(item)

    def build(self) -> list[JsonObject]:
        return [detail.build() for detail in self.items]


def _word(value: Json) -> str:
    return str(value) if isinstance(value, str | int) else ""


@define
class ReasoningState:
    """The state of one choice's reasoning.

    ``block``: the key of the latest block in any field; fields without blocks use it.
    ``carried``: lists in LiteLLM's ``provider_specific_fields`` that the next request
    needs. ``unchanged``: fields of the message that it needs as they came. ``bound``:
    signatures that came with a call, and go back with it.
    """

    block: int | None = None
    fields: dict[str, ProviderBlocks] = field(factory=dict)
    signed: dict[int | None, str] = field(factory=dict)
    details: Details = field(factory=Details)
    carried: dict[str, list[Json]] = field(factory=dict)
    unchanged: JsonObject = field(factory=dict)
    bound: set[str] = field(factory=set)
    has_grown: bool = False

    def blocks(self, name: str) -> ProviderBlocks:
        return self.fields.setdefault(name, ProviderBlocks())

    def sign(self, blocks: ProviderBlocks, signature: str) -> bool:
        """Notes a signature. False: it came already, in another field's copy."""
        blocks.sign(signature)
        is_known = self.signed.get(blocks.key) == signature
        self.signed[blocks.key] = signature
        return not is_known

    def merge(self, item: JsonObject) -> None:
        self.details.merge(item)
        self.has_grown = True

    def carry(self, name: str) -> list[Json]:
        """The list ``name`` of ``carried``, for the caller to change."""
        self.has_grown = True
        return self.carried.setdefault(name, [])

    def keep(self, name: str, value: Json) -> None:
        self.unchanged[name] = value
        self.has_grown = True

    def opaque(self) -> JsonObject | None:
        """The message fields to send back; None if nothing changed since last time."""
        if not self.has_grown:
            return None
        self.has_grown = False
        bound = self.bound
        fields = {
            name: [x for x in items if not (isinstance(x, str) and x in bound)]
            for name, items in self.carried.items()
        }
        opaque: JsonObject = {
            "reasoning_details": self.details.build(),
            "provider_specific_fields": {
                name: items for name, items in fields.items() if items
            },
            **self.unchanged,
        }
        return {name: value for name, value in opaque.items() if value} or None
