"""The lanes of the engine: what is drawn for a number, and what has to hold of it.

``draw_*`` give an input (JSON data), ``check_*`` raise if something does not hold. The
rules are those of the ordinary tests (`checking`, `oracle`), here over
many more inputs:

- ``pieces``: the text engine alone. Cut anywhere, every character in one piece, no
  delimiter in what is shown, held text bounded.
- ``text``: whole streams of text: the same, and what any stream has to keep.
- ``long``: fragments over and over take linear work.
- ``turns``: content beside native reasoning, in documents cut anywhere.
- ``documents``: spoiled recordings of all wires, as documents and as a body in slices.
- ``bodies``: bodies and bytes under any framing and encoding.
"""

from __future__ import annotations

import base64
import json
from functools import lru_cache
from random import Random
from typing import Any

from checking import assert_sound, assert_traced, feed
from line_count import in_slices, is_linear
from notation import plain
from open_params import options_of
from oracle import healed, outside_code, tiles

from fuzz import inputs
from stream_sidecar.channel.setup import Surroundings, surroundings
from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.message.outlet import Outlet
from stream_sidecar.text.pieces import merged
from stream_sidecar.values.jsontext import is_portable

Input = dict[str, Any]

NEIGHBOURS = 8_192
FEW_NEIGHBOURS = 64
"""So many inputs in a row share `SETS` sets of parameters: each new one costs the
making of a lexicon, which takes as long as a hundred short inputs."""

SETS = 8


@lru_cache(maxsize=SETS)
def _shared_params(seed: int) -> Input:
    return inputs.text_params(Random(f"params {seed}"))


def draw_short(number: int) -> Input:
    """Many short texts find what few long ones do, and sooner."""
    return _draw_text(number, NEIGHBOURS, 4)


def _draw_text(number: int, neighbours: int, most: int) -> Input:
    generator = Random(number)
    params = _shared_params(number // neighbours * SETS + number % SETS)
    text = inputs.text_of(generator, most)
    return {"params": params, "chunks": inputs.cut(generator, text)}


def draw_any_text(number: int) -> Input:
    """A text as in the lane of pieces, or one that was recorded, damaged."""
    if number % 3:
        return _draw_text(number, FEW_NEIGHBOURS, 9)
    generator = Random(number)
    params, text = inputs.written(generator)
    return {"params": params, "chunks": inputs.cut(generator, text)}


# --- The text engine ------------------------------------------------------------------


def check_pieces(given: Input) -> None:
    chunks = given["chunks"]
    text = "".join(chunks)
    if not text.isascii():
        text = healed(text)
        if sum(map(len, chunks)) != len(text) or text != "".join(chunks):
            chunks = list(text)  # a cut between the halves of a character
    shared = _surroundings(json.dumps(given["params"]))
    twice = len(text) % 2 == 0  # as in a channel; or one reading alone
    whole, taken, held = _split(shared, [text], twice=twice)
    cut, taken_cut, held_cut = _split(shared, chunks, twice=twice)
    assert _meaning(cut) == _meaning(whole), "another cut, other pieces"
    assert taken_cut == taken, "another cut, other calls"
    written = [(start, end, part) for _, part, start, end in whole if part]
    assert not tiles(text, written), "something is in two pieces"
    _assert_hidden(shared, whole)
    limits = shared.options.limits
    begun = shared.lexicon.literals.longest * (1 + twice)  # a literal in each reading
    most = limits.max_held_chars + limits.max_call_chars + begun
    assert max(held, held_cut) <= most, "too much was held"


def _meaning(pieces: list[Any]) -> list[Any]:
    """``pieces`` without white space, which may be cut anywhere (`tiles` checks it)."""
    return [piece for piece in pieces if piece[0] is not PieceKind.BLANK]


@lru_cache(maxsize=SETS * 2)
def _surroundings(params: str) -> Surroundings:
    options = options_of(json.loads(params))
    return surroundings(options, Outlet(parts=True, trace=False))


def _split(
    shared: Surroundings, chunks: list[str], *, twice: bool
) -> tuple[list[Any], list[Any], int]:
    """The pieces of a text, what was taken for a form, and the most that was held."""
    pieces: list[Any] = []
    held = 0
    both = shared.answer(
        lambda: both.share(), settle=lambda: pieces.extend(both.take_decided())
    )
    splitter = both if twice else shared.answer().first
    for chunk in chunks:
        pieces += splitter.push(chunk)
        held = max(held, splitter.held)
    pieces += splitter.flush()
    return list(merged(pieces)), list(splitter.verdicts), held


def _assert_hidden(shared: Surroundings, pieces: list[Any]) -> None:
    """No delimiter of the stream in visible text outside code."""
    visible: list[str] = []
    for kind, part, _, _ in pieces:
        if kind is PieceKind.TEXT:
            visible.append(part)
        elif kind is PieceKind.REOPEN:
            visible.clear()
    text, scope = "".join(visible), shared.policy.reasoning.scope
    delimiters = shared.lexicon.delimiters
    if delimiters.any.search(text) is None:
        return
    literals = delimiters.literals if scope != "boundary" else delimiters.closers
    shown = [each for each in literals if each and each in text]
    if scope != "everywhere":
        shown = [each for _, each in outside_code(text, shown)]
    assert not shown, "a delimiter is shown"


# --- Whole streams --------------------------------------------------------------------


def check_text(given: Input) -> None:
    params, chunks = given["params"], given["chunks"]
    text = "".join(chunks)
    whole, fed = feed(params, [text]), feed(params, chunks)
    _assert_same(whole, fed)
    assert_sound(whole, params)
    assert_sound(fed, params)
    assert_traced(fed, params, chunks)


def _assert_same(first: Any, other: Any) -> None:
    assert other.lines == first.lines, "another cut, other events"
    assert plain(other.message) == plain(first.message), "another cut, another message"


def draw_long(number: int) -> Input:
    """Some fragments, to be repeated."""
    generator = Random(number)
    unit = healed(inputs.text_of(generator, 3)) or "a"
    params = inputs.text_params(generator)
    params.pop("limits", None)
    return {"params": params, "unit": unit, "sliced": generator.random() < 0.5}


def check_long(given: Input) -> None:
    """Ten times the input takes ten times the work, counted in lines of ours."""
    unit, params = given["unit"] or "a", given["params"]

    def work(size: int) -> None:
        text = unit * (size // len(unit) + 1)
        feed(params, in_slices(text) if given["sliced"] else [text])

    assert is_linear(work), "more than linear work"


def draw_turns(number: int) -> Input:
    """Content and native reasoning of a chat, in turn."""
    generator = Random(number)
    params = _shared_params(number // FEW_NEIGHBOURS * SETS + number % SETS)
    fields = ("content", "content", "reasoning", "reasoning_content")
    turns = [
        [generator.choice(fields), healed(inputs.text_of(generator, 5))]
        for _ in range(generator.randint(1, 5))
    ]
    seed = generator.randrange(2**32)
    return {"params": {**params, "wire": "openai-chat"}, "turns": turns, "seed": seed}


def check_turns(given: Input) -> None:
    """How the content is cut into documents changes nothing."""
    params, generator = given["params"], Random(given["seed"])
    whole = [_delta(field, text) for field, text in given["turns"]]
    cut = [
        _delta(field, piece)
        for field, text in given["turns"]
        for piece in (inputs.cut(generator, text) if field == "content" else [text])
    ]
    fed = feed(params, cut)
    _assert_same(feed(params, whole), fed)
    assert_sound(fed, params)
    assert_traced(fed, params, cut)


def _delta(field: str, text: str) -> Input:
    return {"choices": [{"index": 0, "delta": {field: text}}]}


def draw_documents(number: int) -> Input:
    generator = Random(number)
    params, documents = inputs.documents(generator)
    seed = generator.randrange(2**32)
    return {"params": params, "documents": documents, "seed": seed}


def check_documents(given: Input) -> None:
    params, documents = given["params"], given["documents"]
    fed = feed(params, documents)
    assert_sound(fed, params)
    again = feed(params, documents, snapshots=True)
    assert again.events == fed.events, "a replay is another one"
    known = params.get("wire", "auto") != "auto" and "framing" not in params
    # A number that is kept as text would be written as a string.
    if known and all(isinstance(e, dict) and is_portable(e) for e in documents):
        body = "".join(f"data: {json.dumps(each)}\n\n" for each in documents)
        slices = inputs.cut(Random(given["seed"]), body)
        _assert_same(fed, feed({**params, "framing": "sse"}, slices))


def draw_body(number: int) -> Input:
    generator = Random(number)
    params, text = inputs.body(generator)
    return {"params": params, "chunks": inputs.cut(generator, text)}


def check_body(given: Input) -> None:
    params, chunks = given["params"], given["chunks"]
    whole, cut = ["".join(chunks)], chunks
    if params["encoding"] == "base64":
        whole, cut = _base64(whole), _base64(cut)
    fed, first = feed(params, cut), feed(params, whole)
    assert_sound(fed, params)
    assert feed(params, cut, snapshots=True).events == fed.events, "no replay"
    if params.get("framing") != "json":  # there a string is a document, however cut
        _assert_same(first, fed)


def _base64(pieces: list[str]) -> list[str]:
    """Pieces of bytes, spelled as latin-1, as a host would send them."""
    return [base64.b64encode(piece.encode("latin-1")).decode() for piece in pieces]
