"""What state is bound to, as an explanation says it: of streams and stored sessions."""

from __future__ import annotations

import json
from typing import Any

from stream_sidecar.explain.page import document, page
from stream_sidecar.explain.stored import explain_file
from stream_sidecar.options import StreamOptions

MODEL = "claude-opus-5-5"
THINKING = {"type": "thinking", "thinking": "Hm", "signature": "c2ln"}
TEXT = {"type": "text", "text": "Four."}
TO = "is bound to the system prompt, the tools and everything before it"


def seals(value: Any, **options: Any) -> list[str]:
    data = json.dumps(value).encode()
    explanation = explain_file("a.json", data, StreamOptions(**options))
    assert document(explanation)["seals"] == [*explanation.seals]
    assert 'id="seals"' in page(explanation)
    return [*explanation.seals]


def test_a_stored_session() -> None:
    said = {"role": "assistant", "model": MODEL}
    session = [
        {"role": "user", "content": "2 + 2?"},
        {**said, "content": [THINKING]},
        {**said, "content": [TEXT]},
        {**said, "content": [THINKING, TEXT]},
    ]
    (sentence,) = seals(session)
    places = "message 1 (/content/0), message 2 (/content/0)"
    assert sentence.startswith(f"Sealed: thinking in {places} {TO} ({MODEL}; ")
    assert sentence.endswith("; an edit of that breaks it.")
    (sentence,) = seals([*session[:1], *[session[3]] * 10])
    assert "message 8 (/content/0) and 2 more" in sentence
    (sentence,) = seals([{**session[3], "model": "claude-opus-5"}])
    assert "is bound to its model" in sentence
    assert seals([{**said, "content": [TEXT]}]) == []


def test_the_spelling_of_an_agent() -> None:
    state = {"anthropic": {"signature": "c2ln"}}
    parts = [{"type": "reasoning", "text": "Hm", "metadata": state}, TEXT]
    message = {"info": {"role": "assistant", "modelID": MODEL}, "parts": parts}
    (sentence,) = seals({"messages": [message]})
    assert f"message 1 (/parts/0) {TO} ({MODEL}; " in sentence


def test_a_response() -> None:
    answer = {"type": "message", "role": "assistant", "content": [THINKING, TEXT]}
    more = {"id": "msg_1", "model": MODEL, "stop_reason": "end_turn", "usage": {}}
    (sentence,) = seals({**answer, **more}, wire="anthropic")
    assert sentence.startswith(f"Sealed: thinking in /blocks/0 {TO} ({MODEL}; ")


def test_a_message_that_is_thinking() -> None:
    thought = {"role": "thinking", "content": "Hm", "signature": "c2ln"}
    said = {"role": "assistant", "content": "Four."}
    talk = [{**each, "model": MODEL} for each in (said, thought)]
    (sentence,) = seals(talk)
    assert sentence.startswith(f"Sealed: thinking in message 2 {TO}")


def test_each_choice_of_a_response() -> None:
    said = {"role": "assistant", "content": "Four.", "thinking_blocks": [THINKING]}
    choices = [{"index": n, "message": said, "finish_reason": "stop"} for n in (0, 1)]
    (sentence, *_) = seals({"choices": choices, "model": MODEL}, wire="openai-chat")
    assert "choice 0 (/blocks/" in sentence
    assert "choice 1 (/blocks/" in sentence
