"""`check`: whether all that has to hold does hold for one input.

It feeds one input in every way it may be cut and asserts that each gives the same
joined events and the same message (text rule 1.1), and what holds for any stream
(protocol.md, "Events"): numbers without gaps, a replay that is equal, every character
accounted for (text rule 2.1), no delimiter shown (text rule 5.1), blocks that end, held
text bounded (text rule 13.1), ``finish`` last, the same events if the message has no
parts.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from attrs import evolve
from cutting import IS_FEW, LONG, cuttings
from feeding import Chunks, Fed, Params, feed
from notation import plain
from open_params import options_of
from oracle import delimiters_of, healed, outside_code, tiles

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.events import Event
    from stream_sidecar.message.message import Message

_SMALL, _TRACED = (0, 3) if IS_FEW else (400, 20)
"""Inputs up to this size have every feeding replayed and traced, longer ones so many;
where inputs are cut at few places: whole, by character and in two."""

_LONGEST = 64
"""No delimiter is longer, so much may be held beside ``maxHeldChars``."""


def check(
    params: Params,
    chunks: Chunks,
    expected: list[str] | None = None,
    *,
    close: Params | None = None,
) -> list[str]:
    """Asserts everything above; gives the lines of the first feeding, which must be
    ``expected`` where that is given."""
    first = feed(params, chunks, close=close)
    lines, message = first.lines, plain(first.message)
    if expected is not None:
        assert lines == expected
    bare = feed(params, chunks, close=close, parts=False)
    assert bare.events == first.events, "message.parts: false changes the events"
    small = sum(len(str(chunk)) for chunk in chunks) <= _SMALL
    for number, (given, cut) in enumerate(feedings(params, chunks)):
        fed = feed(given, cut, close=close)
        assert fed.lines == lines, cut
        assert plain(fed.message) == message, cut
        assert_sound(fed, given)
        if small or number < _TRACED:
            again = feed(given, cut, close=close, snapshots=True)
            assert again.events == fed.events, cut
            assert_traced(fed, given, cut, close=close)
    return lines


def feedings(params: Params, chunks: Chunks) -> Iterator[tuple[Params, Chunks]]:
    """All the ways to feed one input: with which parameters, and cut how."""
    yield params, chunks
    if all(isinstance(chunk, str) for chunk in chunks):
        if params.get("framing") != "json":
            text = "".join(chunks)
            yield from ((params, cut) for cut in cuttings(text))
    elif "framing" not in params and params.get("wire", "auto") != "auto":
        body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
        seeded = 200 if LONG else 30
        for cut in cuttings(body, every=0, seeded=seeded):
            yield {**params, "framing": "sse"}, cut


# --- What holds for any stream --------------------------------------------------------


def assert_sound(fed: Fed, params: Params) -> None:
    """What does not need to know the input."""
    events = fed.events
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    finishes = [event for event in events if event.type == "finish"]
    assert events[len(events) - len(finishes) :] == finishes, "finish is not last"
    choices = [event.choice for event in finishes]
    assert choices == sorted(set(choices))
    spoken = {event.choice for event in events if event.type != "diagnostic"}
    assert spoken <= {0, *choices}
    messages = fed.message.choices or (fed.message,)
    for choice, message in zip(sorted({0, *choices}), messages, strict=True):
        mine = [event for event in events if event.choice == choice]
        _assert_blocks(mine)
        _assert_calls(mine)
        _assert_joined(mine, message)
        _assert_no_text_of_cut_calls(mine)
        _assert_clean(message, params)
    limits, policy = options_of(params).limits, options_of(params).policy
    calls = 0 if policy.tool_calls.mode == "off" else limits.max_call_chars
    most = limits.max_held_chars + calls + _LONGEST
    assert fed.stats.held_peak <= most, "too much was held"
    assert fed.stats.events == len(events)


def _assert_blocks(events: list[Event]) -> None:
    """Blocks of one choice never interleave; each ends after its last delta."""
    channels = {"text-delta": "text", "reasoning-delta": "reasoning"}
    current, ended = None, set()
    for event in events:
        if event.type in channels:
            key = (event.block, channels[event.type])
            assert event.block not in ended, "a delta after its block-end"
            assert current in (None, key), "a block began before the last one ended"
            assert event.text, "an empty delta"
            current = key
        elif event.type == "block-end":
            ended.add(event.block)
            if current and current[0] == event.block:
                assert current[1] == event.channel
                current = None
    assert current is None, "a block without its end"


def _assert_calls(events: list[Event]) -> None:
    """A call is sent once, after its deltas, and the deltas are its arguments, unless a
    diagnostic reports that the finished call was different."""
    replaced = [event.raw for event in events if event.type == "diagnostic"]
    deltas: dict[int, list[Event]] = {}
    ended = set()
    for event in events:
        if event.type == "tool-call-delta":
            assert event.block not in ended, "a delta after its call"
            deltas.setdefault(event.block, []).append(event)
        elif event.type == "tool-call":
            assert event.block not in ended, "a call came twice"
            ended.add(event.block)
            mine = deltas.pop(event.block, [])
            assert not mine or event.origin != "text", "a delta of a call in the text"
            ids = [(delta.tool_call_id, delta.name) for delta in mine]
            expected = [
                (event.tool_call_id, event.name),
                *[(None, None)] * len(ids),
            ]
            assert ids == expected[: len(ids)], "not once whose arguments"
            joined = "".join(delta.arguments_delta for delta in mine)
            assert joined in ("", event.arguments, *replaced)
            assert bool(joined) or not mine or not event.arguments.strip("{}")
    assert not deltas, "deltas without a call"


def _assert_joined(events: list[Event], message: Message) -> None:
    """The live deltas equal the message, and the finish reports an empty answer."""
    texts: dict[int, list[str]] = {}
    for event in events:
        if event.type in ("text-delta", "reasoning-delta"):
            channel = event.type.removesuffix("-delta")
            texts.setdefault(event.block, [channel, ""])[1] += event.text
        elif event.type == "reclassify":
            assert event.blocks
            for block in event.blocks:
                assert texts[block][0] != event.to
                texts[block][0] = event.to
        elif event.type == "retract":
            for block in event.blocks:
                texts.pop(block, None)
    if message.text is None:
        return
    for channel in ("text", "reasoning"):
        live = [text for _, (kind, text) in sorted(texts.items()) if kind == channel]
        assert "".join(live) == getattr(message, channel)
    if message.finish is not None:
        empty = not message.text.strip() and not message.tool_calls
        assert message.finish.empty_answer is empty


def _assert_no_text_of_cut_calls(events: list[Event]) -> None:
    """No text is reported only by a diagnostic of a call: half a name is text."""
    diagnostics = [event for event in events if event.type == "diagnostic"]
    assert all(e.raw is None for e in diagnostics if e.code == "truncated-tool-call")


def _assert_clean(message: Message, params: Params) -> None:
    """No supported delimiter in visible text outside code."""
    policy = params.get("policy", {}).get("reasoning", {})
    template = params.get("responseTemplate")
    delimiters = delimiters_of(policy.get("tags", None if template is None else []))
    delimiters = (*delimiters, *_delimiters_in(template or {}))
    scope = policy.get("scope", "outside-code")
    text = message.text or ""
    if scope == "everywhere":
        shown = [(text.find(each), each) for each in delimiters if each in text]
    else:
        shown = outside_code(text, delimiters)
    if scope == "boundary":
        shown = [each for each in shown if "/" in each[1]]
    assert not [each for each in shown if not _is_attributed(text, *each)], text


def _delimiters_in(template: Params) -> list[str]:
    """The literals around reasoning in a response template, where both are that."""
    thinking = template.get("fields", {}).get("thinking", {})
    if not {"open", "close"} <= thinking.keys():
        return []
    given = [thinking[side] for side in ("open", "close")]
    found = [each for one in given for each in ([one] if isinstance(one, str) else one)]
    return [each.strip() for each in found]


def _is_attributed(text: str, place: int, closer: str) -> bool:
    """Whether an opener with attributes stands before the closer, which is text."""
    return re.search(rf"<{re.escape(closer[2:-1])}\s", text[:place]) is not None


def assert_traced(
    fed: Fed, params: Params, chunks: Chunks, *, close: Params | None = None
) -> None:
    """The policy ``trace`` gives the same for ``fed``, and the place of each character.

    With ``trace`` no text skips the engine, so the statistics are counted in another
    way, and the beginning of a delimiter in indented code is not held back.
    """
    traced = feed(params, chunks, close=close, trace=True)
    assert plain(traced.message) == plain(fed.message), "trace changes the message"
    same = {"events": fed.stats.events, "held_peak": fed.stats.held_peak}
    stats = evolve(traced.stats, **same)
    assert stats == fed.stats, "trace changes the statistics"
    more = fed.stats.held_peak - traced.stats.held_peak
    assert abs(more) < _LONGEST, "trace changes what is held"
    assert_conserved(traced, params, chunks)


def assert_conserved(fed: Fed, params: Params, chunks: Chunks) -> None:
    """Every character of every channel is in exactly one event (policy ``trace``)."""
    for choice in {event.choice for event in fed.events}:
        mine = [event for event in fed.events if event.choice == choice]
        raw = raw_answer(params, chunks, choice)
        if raw is None:
            continue
        native = [_piece(event) for event in mine if _is_native(event)]
        # A call of relaxed JSON may have no text: the call before has it.
        answer = [e for e in mine if not _is_native(e) and getattr(e, "raw", 0) != ""]
        answer = _read_once(answer)
        # A removal may be one of native reasoning, so deltas are laid first.
        answer.sort(key=lambda event: event.type == "diagnostic")
        rest = tiles(raw, [piece for event in answer if (piece := _piece(event))])
        position = 0
        for start, end, text in sorted([*rest, *filter(None, native)]):
            assert start == position, "a gap in native reasoning"
            assert len(text) == end - start
            position = end


def _read_once(events: list[Event]) -> list[Event]:
    """The events without the reports about repeated text that was read as answer."""
    for retract in [each for each in events if each.type == "retract"]:
        if retract.reason == "read-as-text":
            start, end = retract.span
            later = [each for each in events if each.seq > retract.seq]
            before = [each for each in events if each.seq < retract.seq]
            known = [e for e in before if not start <= (_piece(e) or (-1,))[0] < end]
            # At the end a removal of both readings may be reported after all text.
            events = [*{(_piece(e) or e.seq): e for e in (*known, *later)}.values()]
    return events


def _is_native(event: Any) -> bool:
    return event.type == "reasoning-delta" and event.source == "native"


def _piece(event: Any) -> tuple[int, int, str] | None:
    span = getattr(event, "span", None) if event.type != "retract" else None
    if span is None:
        return None
    text = event.text if event.type.endswith("-delta") else event.raw
    assert isinstance(text, str)
    return (*span, text)


def raw_answer(params: Params, chunks: Chunks, choice: int) -> str | None:
    """The provider's text of a choice's answer; None if it is not plain text."""
    if params.get("wire") == "text" and params.get("encoding", "utf-8") == "utf-8":
        return healed("".join(chunks))
    if params.get("wire") != "openai-chat":
        return None
    texts: list[str] = []
    for chunk in chunks:
        if not isinstance(chunk, dict) or "error" in chunk:
            return None
        for item in chunk.get("choices") or []:
            content = (item.get("delta") or item.get("message") or {}).get("content")
            if not isinstance(content, str | None) or content != healed(content or ""):
                return None
            if item.get("index", 0) == choice:
                texts.append(content or "")
    return healed("".join(texts))
