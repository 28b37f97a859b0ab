"""What characters are, in a few words, for a reader who knows none of the rules.

The legend and the list of findings show these words, and the first sentence names what
was dropped with them. The tables follow from the owner and the `Reason`, which name the
engine's decision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stream_sidecar.explain.explanation import Owner, Reason

_WRITTEN: dict[Owner, str] = {
    "answer": "visible text",
    "reasoning": "written into the answer",
    "call": "written as text",
    "result": "written by the model, no tool gave it",
    "delimiter": "tags of reasoning",
    "citation": "markers in the text",
    "dropped": "leftovers of tags",
}
"""Owner of characters in the model's text -> its kind."""

_SENT: dict[Owner, str] = {
    "reasoning": "in a field of its own",
    "call": "sent as a call",
    "result": "sent by the provider",
    "citation": "sources that the provider sent",
    "error": "sent by the provider",
}
"""Owner of what the provider sent apart from the text -> its kind."""
_OWN_FIELD = "8.1"

_COPIED = "reasoning beside the provider's own"
_REPEATED = "reasoning that was sent twice"
_DROPPED: dict[str, tuple[str, Owner | None]] = {
    "8.2": (_COPIED, "reasoning"),
    "8.3": (_COPIED, "reasoning"),
    "8.4": (_COPIED, "reasoning"),
    "8.5": (_COPIED, "reasoning"),
    "8.6": (_REPEATED, "reasoning"),
    "8.7": (_REPEATED, "reasoning"),
    "11.12": ("calls that the provider also sent in their field", "call"),
    "6": ("white space", None),
}
"""Rule that drops characters -> their kind, and the owner that they would have."""

_SPECIAL: dict[str, str] = {
    "3.6": "tags without a partner",
    "12": "tokens of the chat format",
    "10.5": "known results, repeated by the model",
    "12.1": "stop tokens that stay",
}
"""Rule -> the kind of its characters, if their owner does not say it."""

_UNUSED: dict[str, str] = {
    "malformed-chunk": "provider's text that is not JSON",
    "unknown-chunk": "provider's JSON of no known form",
    "document-limit": "provider's text that is too long",
}
"""Code of a diagnostic for input that was left out -> its kind."""

KINDS_DROPPED = tuple(
    dict.fromkeys([*(kind for kind, _ in _DROPPED.values()), _WRITTEN["dropped"]])
)
"""The kinds of what is dropped from an answer, in the order of the first sentence."""


def kind(owner: Owner, reason: Reason) -> str:
    """The kind of characters with this owner and reason."""
    if owner == "dropped" and reason.rule in _DROPPED:
        return _DROPPED[reason.rule][0]
    if owner == "dropped" and not reason.rule:
        return unused(reason.code)
    if reason.rule in _SPECIAL:
        return _SPECIAL[reason.rule]
    is_sent = reason.wire or reason.rule == _OWN_FIELD
    return (_SENT if is_sent else _WRITTEN)[owner]


def unused(code: str) -> str:
    """The kind of input that a diagnostic with ``code`` says was left out."""
    return _UNUSED.get(code, code.replace("-", " "))


def content(owner: Owner, reason: Reason) -> Owner:
    """The owner that dropped characters would have; any other owner as it is."""
    would_be = _DROPPED[reason.rule][1] if reason.rule in _DROPPED else None
    return would_be or owner
