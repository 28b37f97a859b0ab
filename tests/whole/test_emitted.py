"""What is emitted is what a provider sends: its SDK reads it, and so do we.

The recordings are those of the project, and where it lies beside it those of the
corpus (``SIDECAR_LONG=1``: all of them). The SDKs are the group ``sdks`` of
pyproject.toml; without them their tests are skipped.
"""

from __future__ import annotations

import base64
from importlib.util import find_spec
from itertools import chain
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from corpus import CORPUS
from cutting import LONG
from emitting import Emitted, differences, emitted, found
from recordings import PATHS, of_corpus, own

from stream_sidecar.message.message import TextBlock
from stream_sidecar.wires import WIRES, WRITERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recordings import Recording

    from stream_sidecar.message.message import Message

needs_corpus = pytest.mark.skipif(
    not CORPUS.exists(),
    reason="no corpus beside the project (SIDECAR_CORPUS): recordings were not emitted",
)
needs_sdks = pytest.mark.skipif(
    not all(map(find_spec, ("openai", "anthropic", "httpx2"))),
    reason="no SDKs (pip install --group sdks): what is emitted was not read by them",
)
quiet = pytest.mark.filterwarnings("ignore")  # theirs, not ours

EVERY = 1 if LONG else 8
"""Which share of the corpus is tried."""


def _both(recording: Recording, wire: str) -> list[Emitted]:
    """As a stream and as a body."""
    params, chunks, close = recording.params, recording.chunks, recording.close
    return [
        emitted(params, chunks, wire, whole=whole, close=close)
        for whole in (False, True)
    ]


@needs_corpus
@pytest.mark.parametrize("wire", WRITERS)
def test_the_corpus_comes_back(wire: str) -> None:
    for recording in of_corpus(EVERY):
        for trip in _both(recording, wire):
            if trip.whole or not trip.is_early:
                assert differences(trip, wire) == [], recording.name
            assert not found(trip.again), recording.name


def _sliced(recording: Recording) -> list[str]:
    """The recording's bytes in slices of seeded random size."""
    (chunk,), position, slices = recording.chunks, 0, []
    data, generator = base64.b64decode(chunk), Random(recording.name)
    while position < len(data):
        end = position + generator.randint(1, 400)
        slices.append(base64.b64encode(data[position:end]).decode())
        position = end
    return slices


@needs_corpus
@pytest.mark.parametrize("wire", WRITERS)
def test_however_it_is_cut_the_same_is_emitted(wire: str) -> None:
    """Documents may be cut otherwise; what they add up to is one thing."""
    fold = WIRES[wire].make_writer(wire, {}).fold
    for recording in of_corpus(EVERY * 2):
        whole = emitted(recording.params, recording.chunks, wire)
        cut = emitted(recording.params, _sliced(recording), wire)
        is_own = cut.chunks == whole.chunks
        assert is_own or fold(cut.chunks) == fold(whole.chunks), recording.name


def _signatures(value: Any) -> Iterator[str]:
    """The signatures of Gemini's parts, wherever they stand."""
    if isinstance(value, list):
        yield from chain.from_iterable(map(_signatures, value))
    elif isinstance(value, dict):
        if isinstance(value.get("thoughtSignature"), str):
            yield value["thoughtSignature"]
        yield from chain.from_iterable(map(_signatures, value.values()))


def _is_base64(text: str) -> bool:
    try:
        return bool(base64.b64decode(text, validate=True))
    except ValueError:
        return False


def _said(message: Message, wire: str) -> str:
    """The text that an SDK gives; OpenAI's has refusals in a field of their own."""
    texts = [each for each in message.blocks or () if isinstance(each, TextBlock)]
    has_field = wire.startswith("openai")
    return "".join(each.text for each in texts if not (has_field and each.refusal))


def _assert_read(recording: Recording, wire: str) -> None:
    """The SDK raises nothing but the error that was reported, and sees what we see."""
    from sdks import BODIES, STREAMS, FailedError

    for trip in _both(recording, wire):
        message = trip.again.message
        if any(call.state == "invalid" for call in message.tool_calls):
            continue  # what such a call is is up to the SDK
        if not all(map(_is_base64, _signatures(trip.chunks))):
            continue  # Google's SDK decodes them
        if trip.is_as_it_came(wire):
            continue  # what the provider sent its SDK may not be able to read
        try:
            seen = (BODIES if trip.whole else STREAMS)[wire](trip.chunks)
        except FailedError:
            assert message.errors or not message.finish.complete, recording.name
            continue
        assert seen.text == _said(message, wire), recording.name
        calls = [call for call in message.tool_calls if call.executor == "client"]
        if all(call.state == "complete" for call in calls):
            expected = [(call.name, call.input) for call in calls]
            assert sorted(map(str, seen.calls)) == sorted(map(str, expected))
        usage = message.usage
        if usage is None or "iterations" not in usage.raw:  # Anthropic's are apart
            counts = (usage.input_tokens, usage.output_tokens) if usage else (0, 0)
            assert seen.counts == tuple(count or 0 for count in counts)


@pytest.mark.thorough
@quiet
@needs_sdks
@pytest.mark.parametrize("wire", WRITERS)
def test_sdks_read_the_recordings(wire: str) -> None:
    for path in PATHS:
        _assert_read(own(path), wire)


@pytest.mark.thorough
@quiet
@needs_sdks
@needs_corpus
@pytest.mark.parametrize("wire", WRITERS)
def test_sdks_read_the_corpus(wire: str) -> None:
    for recording in of_corpus(EVERY):
        _assert_read(recording, wire)
