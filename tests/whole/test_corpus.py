"""Recorded streams that lie beside the project, where they are there.

``SIDECAR_CORPUS`` names the folder, by default ``shared`` beside the repository; the
data is not part of the project. The recordings have results that are known
independently: what the provider, the recording client or several libraries made of
them. Each is fed in slices of seeded random size. What bodies of failed requests say
is in the table `FAILURES`.
"""

from __future__ import annotations

import base64
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from checking import Fed, assert_sound, feed
from corpus import CORPUS
from cutting import LONG
from recordings import FRAMINGS
from recordings import WIRES as NAMES

from stream_sidecar.api import render
from stream_sidecar.provider_errors.normalize import normalize_error
from stream_sidecar.wires import REQUESTS, WIRES
from stream_sidecar.wires.requests.issuers import FOREIGN

pytestmark = pytest.mark.skipif(
    not CORPUS.exists(),
    reason="no corpus beside the project (SIDECAR_CORPUS): recordings were not run",
)

BUILT_IN = {"apply_patch_call", "local_shell_call", "shell_call", "computer_call"}
"""Items that are calls of the client's, but not counted as such by the provider."""

SEEDS = range(20) if LONG else range(2)
ENOUGH = 0.98
"""Share of the recordings' results that must be ours."""

WRONG = {
    "a delimiter of reasoning left in the text": (
        "test_converse_stream_no_content_tool_call__0",
        "test_converse_stream_with_content_tool_call__0",
        "ollama__rig__streaming_tools__streaming_tools_smoke",
    ),
    "a phase of the answer left out": ("openai-phase.1",),
    "the words of a spoken answer left out": ("google-live-speech-translation",),
    "two choices joined into one text": (
        "mistral__rig__capability_edges__streaming_with_two_candidates",
        "mistral__rig__terminal_metadata_matrix__streaming_ministral_3b_roomy_plain_two",
        "mistral__rig__terminal_metadata_matrix__streaming_mistral_small_roomy_plain_two",
        "openai__rig__chat_terminal_metadata_m__streaming_gpt_4_1_mini_roomy_plain_two",
        "test_async_chat_completion_multiple_choices_streaming",
    ),
}
"""Recordings whose expected text is wrong: what the libraries that agree did there."""


FAILURES: tuple[tuple[str, str, str], ...] = (
    # status, words of the body -> kind; the first row that fits counts
    ("40[0-9]", r"api[-_ ]key|authentication|security token|unauthorized", "auth"),
    ("400", r"too long|too many tokens|context (size|window)", "context-length"),
    ("40[04]", r"not[ _]exist|not[ _]found|invalid[ _]model", "not-found"),
    ("40[04]", r"was removed|deprecated|identifier is invalid|names are", "not-found"),
    ("403", r"have access", "permission"),
    ("404", r"model: ", "not-found"),
    ("429", r"rate ?limit|exceeded your current quota", "rate-limit"),
    ("4[0-9]{2}|501", r".", "invalid-request"),
    ("5[0-9]{2}", r".", "server"),
)
"""What is wrong, by the status and the words of a body."""


def _lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _slices(data: bytes, seed: object) -> list[str]:
    generator, position, slices = random.Random(str(seed)), 0, []
    while position < len(data):
        end = position + generator.randint(1, 400)
        slices.append(base64.b64encode(data[position:end]).decode())
        position = end
    return slices


def _recordings() -> list[dict[str, Any]]:
    rows = _lines(CORPUS / "index.jsonl")
    return [row for row in rows if NAMES.get(row["wire"]) in WIRES]


def _way(row: dict[str, Any]) -> tuple[str, str]:
    """Wire and framing of a recording."""
    return NAMES[row["wire"]], FRAMINGS.get(row["framing"], row["framing"])


def _feed_recording(
    row: dict[str, Any], seed: object, *, is_wire_given: bool = True
) -> Fed:
    """Feeds a recording; without ``is_wire_given``, wire and framing are detected."""
    wire, framing = _way(row)
    named = {key: row[key] for key in ("provider", "model") if row.get(key)}
    params = {**named, "encoding": "base64"}
    if is_wire_given:
        params |= {"wire": wire, "framing": framing}
    fed = feed(params, _slices((CORPUS / row["file"]).read_bytes(), seed))
    assert_sound(fed, params)
    return fed


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _client_calls(fed: Fed) -> list[tuple[str, Any]]:
    calls = fed.message.tool_calls
    return [(c.name, _json(c.arguments)) for c in calls if c.executor != "server"]


def _differs(expected: dict[str, Any], fed: Fed) -> list[str]:
    """The fields of one expected result that came out otherwise."""
    message = fed.message
    fields = [key for key in ("text", "reasoning") if key in expected]
    different = [
        key for key in fields if (expected[key] or "") != getattr(message, key)
    ]
    if "tool_calls" in expected and not BUILT_IN & {*expected.get("other_items", ())}:
        calls = [(c["name"], _json(c["arguments"])) for c in expected["tool_calls"]]
        if calls != _client_calls(fed):
            different.append("tool_calls")
    return different


def _is_wrong(file: str) -> bool:
    return any(name in file for names in WRONG.values() for name in names)


@pytest.mark.parametrize("is_wire_given", [True, False], ids=["wire given", "auto"])
def test_recordings(record_property: Any, is_wire_given: bool) -> None:
    """Text, reasoning and the client's calls are what others know them to be."""
    fed = {
        row["file"]: _feed_recording(row, row["file"], is_wire_given=is_wire_given)
        for row in _recordings()
    }
    counted, different = 0, []
    for row in _lines(CORPUS / "expected.jsonl"):
        if row["file"] not in fed or _is_wrong(row["file"]):
            continue
        fields = _differs(row, fed[row["file"]])
        if {"note", "disagree", "reference_differs"} & row.keys():
            if fields:
                record_property("note", f"weak: {row['file']} {fields}")
            continue
        counted += 1
        different += [(row["file"], row["source"], fields)] if fields else []
    assert counted > 200
    assert 1 - len(different) / counted >= ENOUGH, different
    for row in different:
        record_property("note", f"differs: {row}")


def _proxied() -> list[dict[str, Any]]:
    return [row for row in _recordings() if row.get("dialect") == "litellm"]


def _passed_on(row: dict[str, Any]) -> tuple[set[str], set[str]]:
    """Ids of the calls that a proxy's server ran, and the citations that it passed on:
    those of Anthropic as JSON, of annotations and grounding their addresses."""
    ids, cited = set(), set()
    for line in (CORPUS / row["file"]).read_text("utf-8").splitlines():
        document = _json(line.removeprefix("data: "))
        for choice in document.get("choices", ()) if isinstance(document, dict) else ():
            delta = choice.get("delta") or {}
            calls = [call.get("id") or "" for call in delta.get("tool_calls") or ()]
            ids |= {id for id in calls if id.startswith(("srvtoolu_", "mcptoolu_"))}
            own = (delta.get("provider_specific_fields") or {}).get("citation")
            cited |= {json.dumps(own)} if own else set()
            notes = delta.get("annotations") or ()
            cited |= {note["url_citation"]["url"] for note in notes}
    return ids, cited


def test_a_proxy_s_server_tools_and_citations() -> None:
    """What the proxy's providers ran is no call of the client's, and what they cite is
    found with its place."""
    found = 0
    for row in _proxied():
        fed, (ids, cited) = _feed_recording(row, row["file"]), _passed_on(row)
        ran = {call.tool_call_id: call.executor for call in fed.message.tool_calls}
        assert dict.fromkeys(ids, "server").items() <= ran.items(), row["file"]
        declared = [
            c for c in fed.message.tool_calls if c.name in row["declared_tools"]
        ]
        assert {call.executor for call in declared} <= {"client"}, row["file"]
        citations = fed.message.citations
        got = {json.dumps(each.raw) for each in citations} | {e.url for e in citations}
        assert cited <= got, row["file"]
        assert bool(citations) >= row["has_citations"], row["file"]
        assert all(each.blocks for each in citations), row["file"]
        found += len(cited)
    assert found > 50


def test_state_goes_back_to_the_model_that_issued_it() -> None:
    """What a recording's message has is not taken for another maker's."""
    for row in _recordings():
        message = _feed_recording(row, 0).message
        for choice in message.choices or (message,):
            wire = NAMES[row["wire"]]
            lost = (
                render(choice, wire, reasoning="all").lost if wire in REQUESTS else ()
            )
            assert FOREIGN not in {each.why for each in lost}, row["file"]


def test_recordings_are_recognised() -> None:
    """``auto`` finds wire and framing, wherever the bytes are cut."""
    for row in _recordings() if LONG else _recordings()[::4]:
        with_wire = _feed_recording(row, 0)
        for seed in SEEDS:
            fed = _feed_recording(row, seed, is_wire_given=False)
            found = [e for e in fed.events if e.type == "metadata" and e.wire]
            assert [(e.wire, e.framing) for e in found] == [_way(row)], row["file"]
            assert fed.message.text == with_wire.message.text, row["file"]
            assert _client_calls(fed) == _client_calls(with_wire), row["file"]


def test_bodies_of_failed_requests() -> None:
    """Each body that says what is wrong has the kind that its status and words say."""
    rows = _lines(CORPUS / "errors" / "http_errors.jsonl")
    assert len(rows) > 50
    for row in rows:
        body, status = row["body"], str(row["status"])
        kind = next(
            kind
            for of, words, kind in FAILURES
            if re.fullmatch(of, status) and re.search(words, body, re.IGNORECASE)
        )
        part = normalize_error(body, row["status"], None, row["provider"])
        assert part.kind == kind, body
        assert part.message
        assert part.retryable is (kind in ("rate-limit", "server") or status == "409")
