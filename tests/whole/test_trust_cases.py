"""Cases of trust that lie beside the project: what leaks is known, the rest is left.

``fresh*.jsonl`` have public reports of leaks, ``legit*.jsonl`` answers that were
damaged or held back although nothing leaked; what their fields mean is said in the
README beside them. A case that is not right yet is named in `OPEN`, and a name there
that is right fails, so the list says exactly how far the rules go.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from checking import Fed, assert_sound, feed
from corpus import CASES, cases_in
from feeding_cases import case_cuts, params_of, text_cuts
from open_params import options_of

from stream_sidecar.stream.stream import Stream
from stream_sidecar.values.jsontext import dumps

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.skipif(
    not CASES.exists(),
    reason="no cases beside the project (SIDECAR_CORPUS): they were not run",
)

OPEN: dict[str, frozenset[str]] = {
    "fresh.jsonl": frozenset(),
    "legit.jsonl": frozenset(),
    "fresh3.jsonl": frozenset(),
    "legit3.jsonl": frozenset(),
}
"""The cases of each file that are not right yet."""

LEGITIMATE = {
    "legit.jsonl": ("damage", "hold"),
    "legit3.jsonl": ("damage", "hold"),
}
"""The kinds of cases of each file that have one right answer."""

MOST_HELD = 300
"""So many characters of a legitimate answer may wait at most."""

NAMES = {
    "id": "tool_call_id",
    "name": "name",
    "origin": "origin",
    "executable": "executable",
    "dialect": "dialect",
    "executor": "executor",
    "state": "state",
    "declared": "declared",
}
"""A field of a wanted call: the field of ours."""

COUNTS = {
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "totalTokens": "total_tokens",
    "cacheReadTokens": "cache_read_tokens",
    "cacheWriteTokens": "cache_write_tokens",
    "reasoningTokens": "reasoning_tokens",
}
"""A wanted count of tokens: the field of ours."""

Expected = dict[str, Any]


def _squeezed(text: str | None) -> str:
    return "".join((text or "").split())


def _seen(text: str, compare: str) -> str:
    """The text as far as a case compares it."""
    if compare == "collapse":
        return " ".join(text.split())
    return text.strip() if compare == "trim" else text


def _text(expected: Expected, fed: Fed, compare: str) -> bool:
    visible = fed.message.text or ""
    wanted = expected.get("visible_any_of", [expected["visible"]])
    hidden = any(text in visible for text in expected.get("must_not_contain", ()))
    seen = [_seen(text, compare) for text in wanted]
    return not hidden and _seen(visible, compare) in seen


def _reasoning(expected: Expected, fed: Fed, _: str) -> bool:
    wanted = expected.get("reasoning_any_of", [expected["reasoning"]])
    return _squeezed(fed.message.reasoning) in [_squeezed(text) for text in wanted]


def _is_call(call: Any, want: dict[str, Any], expected: Expected) -> bool:
    given = (call.input, call.arguments)
    wanted = expected.get("arguments_any_of", [want.get("arguments", call.input)])
    named = all(getattr(call, NAMES[key]) == want[key] for key in NAMES if key in want)
    return named and any(each in given for each in wanted)


def _calls(expected: Expected, fed: Fed, _: str) -> bool:
    calls = fed.message.tool_calls
    said = [(call.input, call.arguments) for call in calls]
    if any(each in pair for each in expected.get("forbid_args", ()) for pair in said):
        return False
    ways = [expected["tool_calls"], *expected.get("calls_alt", ())]
    return "calls_any" in expected or any(
        len(calls) == len(way)
        and all(_is_call(*pair, expected) for pair in zip(calls, way, strict=True))
        for way in ways
    )


def _results(expected: Expected, fed: Fed, _: str) -> bool:
    """A result as the model wrote it, or what it says without its frame."""
    if expected.get("results_any"):
        return True
    wanted = [_squeezed(text) for text in expected["tool_results"]]
    results = fed.message.tool_results
    raws = [_squeezed(str(each.raw)) for each in results if each.source == "echo"]
    said = [
        _squeezed(
            each.content if isinstance(each.content, str) else dumps(each.content)
        )
        for each in results
    ]
    return wanted in (raws, said)


def _errors(expected: Expected, fed: Fed, _: str) -> bool:
    errors = fed.message.errors
    if expected.get("errors_optional"):
        return True
    names = {"kind": "kind", "message": "message", "code": "code", "type": "kind"}
    return len(errors) == len(expected["errors"]) and all(
        getattr(error, names[key]) == want[key]
        for error, want in zip(errors, expected["errors"], strict=True)
        for key in names.keys() & want.keys()
    )


def _end(expected: Expected, fed: Fed, _: str) -> bool:
    finish, usage = fed.message.finish, fed.message.usage
    wanted = expected.get("finish", finish.reason)
    reasons = wanted if isinstance(wanted, list) else [wanted]
    empty = expected.get("empty_answer", finish.empty_answer)
    counts = expected.get("usage", {})
    return (
        finish.reason in reasons
        and finish.empty_answer == empty
        and all(getattr(usage, COUNTS[key]) == counts[key] for key in counts)
    )


def _diagnostics(expected: Expected, fed: Fed, _: str) -> bool:
    """Codes of diagnostics, and strings that must stand somewhere."""
    codes = {event.code for event in fed.events if event.type == "diagnostic"}
    everything = repr(fed.events)
    return codes.issuperset(expected.get("diag", ())) and all(
        text in everything for text in expected.get("keeps", ())
    )


CHECKS: tuple[Callable[[Expected, Fed, str], bool], ...] = (
    *(_text, _reasoning, _calls, _results),
    *(_errors, _end, _diagnostics),
)


def _faults(case: dict[str, Any]) -> Counter[str]:
    """What is wrong with a report's case, and in how many ways of feeding."""
    params, faults = params_of(case), Counter[str]()
    for cut in case_cuts(case):
        fed = feed(params, cut)
        assert_sound(fed, params)
        faults.update(
            check.__name__
            for check in CHECKS
            if not check(case["expected"], fed, case["compare"])
        )
    return faults


@pytest.mark.parametrize("name", ["fresh.jsonl", "fresh3.jsonl"])
def test_reports(name: str) -> None:
    """What leaks goes to its channel, however it is cut."""
    cases = [case for case in cases_in(name) if not case["ambiguous"]]
    assert len(cases) > 100
    wrong = {case["id"]: faults for case in cases if (faults := _faults(case))}
    _agree(name, wrong)


@pytest.mark.parametrize("name", ["legit.jsonl", "legit3.jsonl"])
def test_legitimate_answers(name: str) -> None:
    """An answer in which nothing leaked comes out as it went in, and soon."""
    cases = [case for case in cases_in(name) if case["kind"] in LEGITIMATE[name]]
    assert len(cases) > 17
    wrong = {case["id"]: faults for case in cases if (faults := _damage(case))}
    _agree(name, wrong)


def _damage(case: dict[str, Any]) -> list[Any]:
    """How an answer differs from what was written, or how much of it waited."""
    text = case["input"]
    right = (text, case.get("expected", text))
    params: dict[str, Any] = {"wire": "text"}
    if case["model"]:
        params["model"] = case["model"]
    if case["tools"] is not None:
        params["tools"] = [{"name": name} for name in case["tools"]]
    pieces = [text[start : start + 7] for start in range(0, len(text), 7)]
    damaged = [
        fed.lines
        for cut in (pieces, *text_cuts([text]))
        if not _is_untouched(fed := feed(params, cut), right)
    ]
    if case["kind"] == "hold" and (held := _most_held(params, pieces)) > MOST_HELD:
        damaged.append([f"held {held}"])
    return damaged[:1]


def _is_untouched(fed: Fed, right: tuple[str, ...]) -> bool:
    message = fed.message
    found = (message.reasoning, message.tool_calls, message.tool_results)
    return message.text in right and not any(found)


def _most_held(params: dict[str, Any], pieces: list[str]) -> int:
    """How many characters had been pushed and not shown, at most, at a border."""
    stream, pushed, shown, most = Stream(options_of(params)), 0, 0, 0
    for piece in pieces:
        events = stream.push(piece)
        pushed += len(piece)
        shown += sum(len(event.text) for event in events if event.type == "text-delta")
        most = max(most, pushed - shown)
    return most


def _agree(name: str, wrong: dict[str, Any]) -> None:
    """The wrong cases are those that are known to be."""
    new = {key: wrong[key] for key in wrong.keys() - OPEN[name]}
    assert not new, f"{name}: wrong"
    assert not OPEN[name] - wrong.keys(), f"{name}: named as open, and right"
