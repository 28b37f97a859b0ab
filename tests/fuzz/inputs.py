"""Seeded inputs: the same number gives the same input, on any machine.

Everything is drawn from a ``random.Random`` that the caller has seeded. An input is
plain JSON data, so that it can be written down, taken apart and run again.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

from oracle import healed
from strategies import HOST, TOOL, as_read

from fuzz.fragments import BAG, BODIES, EDGES, LITERALS, MODELS, RECORDED, WRITTEN
from stream_sidecar.dialects import DIALECTS
from stream_sidecar.framing.framer import FRAMINGS
from stream_sidecar.wires import WIRES

FAMILIES = tuple(DIALECTS)
TAGS = (["think"], ["a", "aa", "<aa"], ["[[x]]", "<a"], [], ["think", "[THINK]"])
TOOLS = ([], [TOOL], [TOOL, {"name": "g"}, {"name": "think"}])
KEYS = (
    *("choices", "delta", "content", "text", "type", "index", "id", "name", "role"),
    *("arguments", "reasoning", "error", "usage", "parts", "candidates", "x", "input"),
)
ENOUGH = 2_000
"""Code points after which a text is long enough."""

# --- Parameters -----------------------------------------------------------------------


def text_params(generator: Random) -> dict[str, Any]:
    """What ``stream/open`` may say of a text: policy, tools, model and limits."""
    chance, choice = generator.random, generator.choice
    params: dict[str, Any] = {"wire": "text"}
    if chance() < 0.3:
        params["model"] = choice(MODELS)
    if chance() < 0.6:
        params["tools"] = choice(TOOLS)
    if chance() < 0.3:
        held, call = choice((0, 1, 7, 20, 60)), choice((0, 1, 20, 60, 200))
        params["limits"] = {"maxHeldChars": held, "maxCallChars": call}
    if chance() < 0.5:
        params["policy"] = _policy(generator)
    return params


def _policy(generator: Random) -> dict[str, Any]:
    chance, choice = generator.random, generator.choice
    policy: dict[str, Any] = {}
    if chance() < 0.5:
        policy["reasoning"] = _reasoning(generator)
    if chance() < 0.3:
        policy["toolCalls"] = {"mode": choice(("report", "off"))}
    if chance() < 0.3:
        policy["toolResults"] = {"mode": choice(("report", "keep"))}
    if chance() < 0.4:
        policy["dialects"] = generator.sample(FAMILIES, generator.randint(0, 4))
    if chance() < 0.3:
        policy["echo"] = HOST
    return policy


_REASONING: dict[str, tuple[Any, ...]] = {
    "scope": ("everywhere", "boundary"),
    "startsOpen": ("open", "closed"),
    "unclosed": ("reasoning", "text"),
    "precedence": ("merge",),
    "tags": TAGS,
}


def _reasoning(generator: Random) -> dict[str, Any]:
    return {
        name: generator.choice(values)
        for name, values in _REASONING.items()
        if generator.random() < 0.35
    }


# --- Text -----------------------------------------------------------------------------

BLANKS = (" ", "\n", " " * 12, "\n" * 6, "\t \n")


def text_of(generator: Random, most: int = 9) -> str:
    """A text of at most ``most`` fragments, some of them broken or put into others, at
    times of a few that come again, with blanks between them."""
    count = generator.randint(1, most)
    if generator.random() < 0.15:
        few = [*(_fragment(generator) for _ in range(4)), *BLANKS]
        return "".join(generator.choices(few, k=count))[:ENOUGH]
    return "".join([_fragment(generator) for _ in range(count)])[:ENOUGH]


def _fragment(generator: Random) -> str:
    chance = generator.random()
    fragment = generator.choice(generator.choice(BAG))
    if chance < 0.8:
        return fragment
    at = generator.randint(0, len(fragment))
    if chance < 0.87:
        return fragment[:at]
    if chance < 0.94:
        return fragment[at:]
    return f"{fragment[:at]}{generator.choice(LITERALS)}{fragment[at:]}"


def written(generator: Random) -> tuple[dict[str, Any], str]:
    """One or two recorded texts with damage, and their parameters or others."""
    params, text = generator.choice(WRITTEN)
    if generator.random() < 0.3:
        text += generator.choice(WRITTEN)[1]
    if generator.random() < 0.4:
        params = text_params(generator)
    return params, damaged(generator, text)[:ENOUGH]


def damaged(generator: Random, text: str) -> str:
    """``text`` with parts lost, doubled, or interrupted by fragments."""
    for _ in range(generator.randint(1, 3)):
        start = generator.randint(0, len(text))
        end = min(len(text), start + generator.choice((0, 0, 1, 3, 10, 40)))
        middle = generator.choice(("", text[start:end] * 2, _fragment(generator)))
        text = f"{text[:start]}{middle}{text[end:]}"
    return text


def cut(generator: Random, text: str) -> list[str]:
    """``text`` in pieces: by character, or at some places."""
    size = len(text)
    if size < 2:
        return [text]
    style = generator.random()
    if style < 0.08:
        return list(text)
    count = 1 if style < 0.7 else generator.randint(2, min(size, 9))
    places = sorted({generator.randrange(1, size) for _ in range(count)})
    edges = zip([0, *places], [*places, size], strict=True)
    return [text[start:end] for start, end in edges]


# --- Documents and bodies -------------------------------------------------------------


def junk(generator: Random, depth: int = 3) -> Any:
    """Any JSON value, as it comes out of a request."""
    kind = generator.randrange(8 if depth else 6)
    if kind == 0:
        return generator.choice((None, True, False, 0, 1, -1, 2**70, 1.5, "1e999"))
    if kind < 3:
        return healed(generator.choice(EDGES))
    if kind < 6:
        return healed(text_of(generator, 3))
    items = [junk(generator, depth - 1) for _ in range(generator.randrange(4))]
    if kind == 6:
        return items
    return {generator.choice(KEYS): item for item in items}


def documents(generator: Random) -> tuple[dict[str, Any], list[Any]]:
    """A recording of any wire, its documents spoiled, lost, doubled and moved."""
    params, recorded = generator.choice(RECORDED)
    chunks = list(recorded)
    for _ in range(generator.randint(1, 4)):
        at = generator.randrange(len(chunks))
        here = _spoiled(generator, chunks[at])
        chunks[at : at + 1] = generator.choice(([here], [here], [], [here, here]))
        other = generator.choice(recorded)
        chunks.insert(generator.randint(0, len(chunks)), other)
    extra = {} if generator.random() < 0.7 else text_params(generator)
    extra.pop("wire", None)
    return {**extra, **params}, as_read(chunks)


def _spoiled(generator: Random, document: Any) -> Any:
    """``document`` with junk, a fragment or nothing in one place."""
    document = json.loads(json.dumps(document))
    place: Any = document
    path: list[tuple[Any, Any]] = []
    while isinstance(place, dict | list) and place:
        keys = list(place) if isinstance(place, dict) else range(len(place))
        path.append((place, generator.choice(keys)))
        place = place[path[-1][1]]
    if not path:
        return junk(generator)
    holder, key = path[-1] if generator.random() < 0.6 else generator.choice(path)
    if isinstance(holder[key], str) and generator.random() < 0.6:
        holder[key] = damaged(generator, holder[key])
    elif isinstance(holder, dict) and generator.random() < 0.2:
        del holder[key]
    else:
        holder[key] = junk(generator)
    return document


def body(generator: Random) -> tuple[dict[str, Any], str]:
    """A body of any framing, damaged; under ``base64`` its characters are bytes."""
    encoding = generator.choice(("utf-8", "utf-8", "base64"))
    params: dict[str, Any] = {"encoding": encoding}
    recorded, text = generator.choice(BODIES)
    style = generator.random()
    if style < 0.35 and recorded.get("encoding") != "base64":
        params.update(recorded, encoding=encoding)
    elif style < 0.8:
        params["wire"], text = _framed(generator)
    else:
        text = "".join(_noise(generator) for _ in range(generator.randint(1, 8)))
    if generator.random() < 0.3:
        params["framing"] = generator.choice(FRAMINGS)
    if generator.random() < 0.2:
        params["limits"] = {"maxDocumentChars": generator.choice((1, 20, 200))}
    if "text" in (params.get("framing"), params.get("wire")):
        params.update(wire="text", framing="text")
    text = damaged(generator, text) if generator.random() < 0.6 else text
    if encoding == "base64":
        text = text.encode("utf-8", "surrogatepass").decode("latin-1")
    return params, text


_SHAPES = (
    lambda each: "".join(f"data: {one}\n\n" for one in each),
    lambda each: "".join(f"event: x\r\ndata:{one}\r\n\r\n" for one in each),
    lambda each: "".join(f"{one}\n" for one in each),
    lambda each: "".join(each),
    lambda each: f"[{','.join(each)}]",
)


def _framed(generator: Random) -> tuple[str, str]:
    """The documents of a recording as a body, and the wire they are for."""
    params, chunks = documents(generator)
    chunks = chunks[: generator.randint(1, 12)]
    ascii_only = generator.random() < 0.5
    lines = [json.dumps(chunk, ensure_ascii=ascii_only) for chunk in chunks]
    wire = params.get("wire", "auto")
    if generator.random() < 0.3:
        wire = generator.choice(("auto", *WIRES))
    return wire, generator.choice(_SHAPES)(lines)


_NOISE = (
    *("[", "{", "}", "]", '"', ",", ":", "\n", "\r", "\r\n\r\n", "data: ", "data:"),
    *("[DONE]", "data: [DONE]\n\n", "event: error\n", "id: 1\n", ": c\n", "retry: 1\n"),
    *('{"choices":[{"delta":{"content":"a"}}]}', '{"error":{"message":"x"}}', "null"),
    *("<!DOCTYPE html>", "upstream connect error", "litellm.RateLimitError: x", " "),
)


def _noise(generator: Random) -> str:
    if generator.random() < 0.7:
        return generator.choice(_NOISE)
    return _fragment(generator)
