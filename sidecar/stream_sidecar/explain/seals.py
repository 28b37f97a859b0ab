"""What the state in a message is bound to, in sentences.

Example: "Sealed: thinking in message 1 (/content/0) is bound to the system prompt, the
tools and everything before it (claude-opus-5-5): an edit of these breaks it." The table
of seals is `wires.requests.seals`; alike seals are in one sentence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from stream_sidecar.history.messages import Text
from stream_sidecar.history.paths import pointer_to
from stream_sidecar.history.signed_blocks import seals_of
from stream_sidecar.protocol.converter import unstructure
from stream_sidecar.wires.requests.seals import BoundState, binding_of, seals_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from stream_sidecar.history.messages import StoredMessage
    from stream_sidecar.message.message import Message

_BOUND_TO = {
    "system": "the system prompt",
    "tools": "the tools",
    "before": "everything before it",
    "account": "the account",
    "model": "its model",
    "maker": "the maker of its model",
    "next-item": "the item after it",
    "part": "its part",
}
_MOST_PLACES = 8
"""So many places are in a sentence; the others are counted."""

PlacedState: TypeAlias = tuple[str, str | None, BoundState]
"""The place of a message ("" for the only one), its model, and state in it."""


def sealed_in(message: Message, model: str | None) -> Iterator[PlacedState]:
    """The state in the message of a stream, or in each of its choices."""
    model = (message.metadata and message.metadata.model) or model
    for choice in message.choices or (message,):
        place = f"choice {choice.choice}" if message.choices else ""
        for state in seals_in(unstructure(choice), model):
            yield place, model, state


def sealed_in_stored(
    messages: Iterable[StoredMessage], model: str | None
) -> Iterator[PlacedState]:
    """The state in the messages of a session, in the spelling of any agent. Messages
    with text are numbered; state in a record without text is that of the next one."""
    number = 1
    for message in messages:
        name = message.own_model or message.model or model
        states = seals_in(message.message, name) if message.shape is not None else []
        paths = {state.path for state in states}
        if (row := binding_of(name)) is not None:
            for seal in seals_of(message, model):
                path = pointer_to(seal.path)
                if path not in paths:
                    states.append(BoundState(path, "thinking", row.to, row.source))
        for state in states:
            yield f"message {number}", name, state
        number += text_of(message) != ""


def text_of(message: StoredMessage) -> str:
    """The text of a model's message; "" of any other."""
    items = message.fields[0] if message.fields else ()
    return "".join(item.text for item in items if isinstance(item, Text))


def sentences_of(states: Iterable[PlacedState]) -> tuple[str, ...]:
    """A sentence for all state of one kind that is bound to the same."""
    places: dict[tuple[str | None, str, tuple[str, ...], str], list[str]] = {}
    for place, model, state in states:
        key = (model, state.kind, state.to, state.source)
        full_place = f"{place} ({state.path})" if place and state.path else ""
        places.setdefault(key, []).append(full_place or place or state.path)
    return tuple(_sentence(*key, group) for key, group in places.items())


def _sentence(
    model: str | None, kind: str, to: tuple[str, ...], source: str, places: list[str]
) -> str:
    place = ", ".join(places[:_MOST_PLACES])
    excess = len(places) - _MOST_PLACES
    if excess > 0:
        place += f" and {excess} more"
    of_model = f"{model}; " if model else ""
    *names, last_name = [_BOUND_TO[name] for name in to]
    bound = f"{', '.join(names)} and {last_name}" if names else last_name
    return (
        f"Sealed: {kind.replace('-', ' ')} in {place} is bound to {bound} "
        f"({of_model}{source}); an edit of that breaks it."
    )
