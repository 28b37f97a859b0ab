"""A provider on this machine whose answers leak, and that refuses a request in which a
leak stands, or anything that the provider of its name refuses (`refusing.py`).

An address begins with the name of a server of `refusing.SERVERS` and a script:
``http://127.0.0.1:1234/deepseek/native/v1/chat/completions``. A script says how the
model calls (`CALLS`), what it answers without calls (`TEXTS`), or where the answer
stops (`STOPS`). The model calls twice, and answers when it has two results.

``native+sealed`` seals: the model thinks before and behind its leaking text, and the
server refuses what breaks a seal, and only that and what its name refuses.
``native+numbered`` begins its items with reasoning, and numbers them in each answer
anew.
"""

from __future__ import annotations

import base64
import json
import select
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from attrs import frozen
from refusing import LISTS, objections, turns
from sdk_table import ARGUMENTS, TOOL
from sealing import misfits, seal

Document = dict[str, Any]

ANSWER = "Two files."
_THOUGHT = ["<thi", "nk>First the", " folder.</think", ">"]
_WRITTEN = ["<tool_", f'call>{{"name": "{TOOL}", "arguments": ']
_WRITTEN += [json.dumps(ARGUMENTS), "}</tool", "_call>"]
_LEAKS = ("<think", "</think", "<tool_call", "</tool_call")

CALLS = ("native", "written")
"""The provider's own calls, and calls as text."""

TEXTS = {"answer": ANSWER, "json": '{"names": ["a.txt", "b.txt"]}'}
"""Scripts without calls."""

WORDS = ["One ", "two ", "three ", "four."]
STOPS = {"silent": None, "opened": 0, "open": 2, "cut": 2, "late": 2, "said": 4}
"""How many words a script sends before it stops; ``silent`` sends no headers. ``cut``
breaks the connection off, the others wait until the client closes it. ``late`` marks
the place with a comment, for a transport that is out of patience there."""

LATE = b": late\n\n"

_ENDPOINTS = {
    "/chat/completions": "openai-chat",
    "/responses": "openai-responses",
    "/messages": "anthropic",
    "enerateContent": "gemini",
}


_OTHERS = "item-without-its-reasoning"
"""What a server of Responses refuses only if the item came with reasoning: here none
does."""


@frozen
class Reply:
    """``stop``: "" ends the body, "cut" breaks it off, else the server waits."""

    status: int
    type: str
    pieces: list[bytes]
    stop: str = ""


def reply(path: str, body: Any, headers: Any = None) -> Reply:
    """The answer to a request; ``path`` has the server and the script."""
    address = path.partition("?")[0]
    server, script, *_ = address.strip("/").split("/")
    script, _, kind = script.partition("+")
    wire = next(wire for end, wire in _ENDPOINTS.items() if address.endswith(end))
    sealed = kind == "sealed"
    own = _misfits(wire, body, headers) if sealed else _leaks(wire, body)
    refused = [*own, *objections(server, wire, body)]
    refused = [each for each in refused if each != _OTHERS or kind == "numbered"]
    if refused:
        said = {"type": "invalid_request_error", "message": ", ".join(refused)}
        return Reply(400, "application/json", [json.dumps({"error": said}).encode()])
    streams = body.get("stream") or ":streamGenerateContent" in address
    results = sum(len(turn.answers) for turn in turns(wire, body))
    texts, call = _script(script, results)
    states = {"": [], "numbered": ["rs_0"]}
    state = _seals(wire, body, texts, call) if sealed else states[kind]
    made = MAKERS[wire](results, texts, call, state)
    if not streams:
        *_, whole = made
        return Reply(200, "application/json", [json.dumps(whole).encode()])
    *documents, _whole = made
    pieces = [_event(wire, each) for each in documents]
    if wire == "openai-chat":
        pieces.append(b"data: [DONE]\n\n")
    if script in STOPS:
        pieces = _stopped(pieces, STOPS[script], script)
    return Reply(200, "text/event-stream", pieces, script if script in STOPS else "")


def _leaks(wire: str, body: Any) -> list[str]:
    history = json.dumps(body.get(LISTS.get(wire, "messages"), []))
    return [f"the leak {leak}" for leak in _LEAKS if leak in history]


def _script(script: str, results: int) -> tuple[list[str], Document | None]:
    """The text of the next turn, and its call."""
    if script in STOPS:
        return WORDS, None
    if results == 2 or script in TEXTS:
        return [*_THOUGHT, TEXTS.get(script, ANSWER)], None
    if script == "written":
        return [*_THOUGHT, "Let me look.", *_WRITTEN], None
    call = {"id": f"call{results:05}", "name": TOOL, "arguments": ARGUMENTS}
    return [*_THOUGHT, "Let me look."], call


def _stopped(pieces: list[bytes], words: int | None, script: str) -> list[bytes]:
    """The pieces up to the place where the script stops."""
    if words is None:
        return []
    spoken = [n for n, each in enumerate(pieces) if _is_word(each)]
    end = spoken[words - 1] + 1 if words else spoken[0]
    return [*pieces[:end], *([LATE] if script == "late" else [])]


def _is_word(piece: bytes) -> bool:
    is_done = b".done" in piece or b"completed" in piece
    return not is_done and any(word.encode() in piece for word in WORDS)


def _event(wire: str, document: Document) -> bytes:
    named = f"event: {document['type']}\n" if "type" in document else ""
    return f"{named}data: {json.dumps(document)}\n\n".encode()


# --- Documents of an answer; the last is the whole one --------------------------------


def _chat(
    number: int, texts: list[str], call: Document | None, seals: list[str]
) -> Iterator[Document]:
    shared = {"id": f"c{number}", "created": 1, "model": "m"}
    arguments = call and json.dumps(call["arguments"])
    function = call and {"name": call["name"], "arguments": arguments}
    called = call and {"id": call["id"], "type": "function", "function": function}
    reason = "tool_calls" if call else "stop"
    deltas: list[Document] = [{"role": "assistant", "content": ""}]
    signed = [{**_THINKS, "signature": each} for each in seals]
    thoughts = [{"thinking_blocks": [each]} for each in signed]
    said = [{"content": text} for text in texts]
    deltas += [*thoughts[:1], *said, *thoughts[1:]]
    deltas += [{"tool_calls": [{"index": 0, **called}]}] if called else []
    for delta in [*deltas, {}]:
        ended = None if delta else reason
        choice = {"index": 0, "delta": delta, "finish_reason": ended}
        yield {**shared, "object": "chat.completion.chunk", "choices": [choice]}
    message: Document = {"role": "assistant", "content": "".join(texts)}
    message |= {"tool_calls": [called]} if called else {}
    message |= {"thinking_blocks": signed} if signed else {}
    choice = {"index": 0, "message": message, "finish_reason": reason}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    whole = {"object": "chat.completion", "choices": [choice], "usage": usage}
    yield {**shared, **whole}


def _misfits(wire: str, body: Any, headers: Any) -> list[str]:
    """What the seals of a request do not fit. Gemini's are bound to their part."""
    if wire != "gemini":
        return misfits(wire, body, headers)
    parts = [part for item in body["contents"] for part in item["parts"]]
    signed = [part for part in parts if "thoughtSignature" in part]
    return [
        f"Corrupted thought signature: {part}"
        for part in signed
        if part["thoughtSignature"] not in (_part_seal(part["functionCall"]), _UNSEALED)
    ]


_UNSEALED = "skip_thought_signature_validator"
"""Google's own word for a call that another model made
(ai.google.dev/gemini-api/docs/thought-signatures)."""


def _part_seal(call: Document) -> str:
    said = json.dumps([call["name"], call.get("args", call.get("arguments"))])
    return base64.b64encode(said.encode()).decode()


def _seals(wire: str, body: Any, texts: list[str], call: Document | None) -> list[str]:
    """The signatures of the thinking before and behind the text; Gemini's of its
    call."""
    if wire == "gemini":
        return [_part_seal(call)] if call else []
    first = {**_THINKS, "signature": seal(wire, body)}
    said = [first, {"type": "text", "text": "".join(texts)}]
    return [first["signature"], seal(wire, body, said)]


_THINKS = {"type": "thinking", "thinking": "Hm."}


def _messages(
    number: int, texts: list[str], call: Document | None, seals: list[str]
) -> Iterator[Document]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    shared = {"id": f"m{number}", "type": "message", "role": "assistant", "model": "m"}
    shared |= {"stop_sequence": None, "usage": usage}
    begun = {**shared, "content": [], "stop_reason": None}
    yield {"type": "message_start", "message": begun}
    text = {"type": "text", "text": ""}
    blocks = [(text, [{"type": "text_delta", "text": each} for each in texts])]
    signed = [{**_THINKS, "signature": each} for each in seals]
    thinks = {**_THINKS, "thinking": "", "signature": ""}
    thoughts = [(thinks, _thinking_deltas(each)) for each in signed]
    blocks = [*thoughts[:1], *blocks, *thoughts[1:]]
    used = call and {"type": "tool_use", "id": call["id"], "name": call["name"]}
    if used:
        json_delta = {"type": "input_json_delta"}
        json_delta["partial_json"] = json.dumps(call["arguments"])
        blocks.append(({**used, "input": {}}, [json_delta]))
    for index, (block, deltas) in enumerate(blocks):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    reason = "tool_use" if call else "end_turn"
    delta = {"stop_reason": reason, "stop_sequence": None}
    yield {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 9}}
    yield {"type": "message_stop"}
    content: list[Any] = [{"type": "text", "text": "".join(texts)}]
    content = [*signed[:1], *content, *signed[1:]]
    content += [{**used, "input": call["arguments"]}] if used else []
    yield {**shared, "content": content, "stop_reason": reason}


def _thinking_deltas(block: Document) -> list[Document]:
    return [
        {"type": f"{name}_delta", name: block[name]}
        for name in ("thinking", "signature")
    ]


def _responses(
    number: int, texts: list[str], call: Document | None, numbered: list[str]
) -> Iterator[Document]:
    response: Document = {"id": f"r{number}", "object": "response", "created_at": 1}
    response |= {"model": "m", "tools": [], "tool_choice": "auto", "error": None}
    response |= {"parallel_tool_calls": True, "incomplete_details": None}
    text = "".join(texts)
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    output: list[Document] = [
        {"type": "reasoning", "id": each, "summary": []} for each in numbered
    ]
    place = len(output)
    id = "msg_1" if numbered else f"msg_{number}"
    message = {"type": "message", "id": id, "role": "assistant"}
    done = {**message, "status": "completed", "content": [part]}
    at = {"item_id": id, "output_index": place, "content_index": 0}
    begun = {**message, "status": "in_progress", "content": []}
    said: list[tuple[str, Document]] = [
        ("created", {"response": {**response, "status": "in_progress", "output": []}}),
        *(
            (f"output_item.{step}", {"output_index": 0, "item": item})
            for item in output
            for step in ("added", "done")
        ),
        ("output_item.added", {"output_index": place, "item": begun}),
        ("content_part.added", {**at, "part": {**part, "text": ""}}),
        *(("output_text.delta", {**at, "delta": e, "logprobs": []}) for e in texts),
        ("output_text.done", {**at, "text": text, "logprobs": []}),
        ("content_part.done", {**at, "part": part}),
        ("output_item.done", {"output_index": place, "item": done}),
    ]
    output.append(done)
    if call:
        arguments = json.dumps(call["arguments"])
        id = "fc_2" if numbered else f"fc_{call['id']}"
        item = {"type": "function_call", "id": id}
        item |= {"call_id": call["id"], "name": call["name"]}
        called = {**item, "arguments": arguments, "status": "completed"}
        output.append(called)
        begun = {**item, "arguments": "", "status": "in_progress"}
        at = {"item_id": id, "output_index": place + 1}
        said += [
            ("output_item.added", {"output_index": place + 1, "item": begun}),
            ("function_call_arguments.delta", {**at, "delta": arguments}),
            (
                "function_call_arguments.done",
                {**at, "name": call["name"], "arguments": arguments},
            ),
            ("output_item.done", {"output_index": place + 1, "item": called}),
        ]
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    usage |= {"input_tokens_details": {"cached_tokens": 0}}
    usage |= {"output_tokens_details": {"reasoning_tokens": 0}}
    whole = {**response, "status": "completed", "output": output, "usage": usage}
    for order, (name, members) in enumerate(
        [*said, ("completed", {"response": whole})]
    ):
        yield {"type": f"response.{name}", "sequence_number": order, **members}
    yield whole


def _gemini(
    _number: int, texts: list[str], call: Document | None, seals: list[str]
) -> Iterator[Document]:
    parts: list[Document] = [{"text": text} for text in texts]
    if call:
        function = {"name": call["name"], "args": call["arguments"]}
        signature = seals[0] if seals else "c2lnbmVk"
        signed = {"functionCall": function, "thoughtSignature": signature}
        parts.append(signed)
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    for part in [*parts, {"text": ""}]:
        candidate: Document = {"content": {"role": "model", "parts": [part]}}
        if part == {"text": ""}:
            candidate["finishReason"] = "STOP"
        yield {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m"}
    joined = [{"text": "".join(texts)}, *parts[len(texts) :]]
    content = {"role": "model", "parts": joined}
    candidate = {"content": content, "finishReason": "STOP"}
    yield {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m"}


MAKERS = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic": _messages,
    "gemini": _gemini,
}


# --- The server -----------------------------------------------------------------------


class Strict(ThreadingHTTPServer):
    """``asked`` has the bodies of all requests, ``refused`` the reasons. ``waiting`` is
    set when an answer has stopped and waits for the client to close, ``gone`` when the
    client has."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[Any] = []
        self.refused: list[str] = []
        self.waiting, self.gone = threading.Event(), threading.Event()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, *_: Any) -> None:
        """Says nothing when a client has closed its connection."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Strict

    def do_POST(self) -> None:
        try:
            self._answer()
        finally:
            self.server.gone.set()

    def _answer(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append(body)
        answer = reply(self.path, body, self.headers)
        if answer.status != 200:
            self.server.refused.append(answer.pieces[0].decode())
        if answer.stop != "silent":
            self.send_response(answer.status)
            self.send_header("content-type", answer.type)
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
        for piece in answer.pieces:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        if not answer.stop:
            self.wfile.write(b"0\r\n\r\n")
            return
        self.close_connection = True
        if answer.stop != "cut":
            self.server.waiting.set()
            select.select([self.connection], [], [])

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@contextmanager
def serving() -> Iterator[Strict]:
    with Strict() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
