"""Plays a provider on the loopback address. It answers what a scenario says, and keeps
what it was asked. The first step of a request's path names the run it belongs to. If
the scenario says so, it seals thinking (`sealing.py`), and refuses what breaks a seal.
"""

from __future__ import annotations

import gzip
import itertools
import json
import re
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent / "support"))

from scenarios import Answer, Kind, Scenario
from scenarios import Part as Said
from sealing import misfits, seal, unfit_places
from wires import Call, Gemini, Messages, Part, Reasoning, Text, Tool, Wire, wire_of

#: How a prompt names its turn; turns count from 0.
TURN = "[turn {}]"
_TURN = re.compile(r"\[turn (\d)\]")
_RESULT = re.compile(
    r'"role": "tool"|"tool_result"|"function_call_output"|"functionResponse"'
)
_SHELL = re.compile(r"bash|shell|exec|command|terminal", re.IGNORECASE)
_COMMAND = re.compile(r"command|cmd|script", re.IGNORECASE)
_EXTRA = "A few files"  # titles and summaries that agents ask for in between
_MOST_PIECES = 600


@dataclass
class Run:
    scenario: Scenario
    leaks: bool
    has_tools: bool
    #: What was asked of the model, with the wire of each.
    asked: list[tuple[Wire, dict[str, Any]]] = field(default_factory=list)
    #: Set when a stalling answer has begun, and when its client has gone away.
    stalls: threading.Event = field(default_factory=threading.Event)
    left: threading.Event = field(default_factory=threading.Event)
    failed: set[Kind] = field(default_factory=set)
    ids: itertools.count[int] = field(default_factory=itertools.count)
    #: Seals that did not fit: of requests that were refused, or that asked to drop
    #: such thinking; and how many asked.
    unfit: list[str] = field(default_factory=list)
    drops: int = 0

    def said(self, wire: Wire, body: dict[str, Any]) -> tuple[Said, ...] | None:
        """None: this is no turn of the scenario."""
        history = json.dumps(wire.history(body))
        found = [*_TURN.finditer(history)]
        if not found or (self.has_tools and not wire.tools(body)):
            return None
        answers = self.scenario.turns[int(found[-1][1])]
        step = bool(_RESULT.search(history, found[-1].end()))
        answer: Answer = answers[min(step, len(answers) - 1)]
        return answer.leaking if self.leaks else answer.clean


class Provider(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.runs: dict[str, Run] = {}
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """An agent that leaves between two requests is no error."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def base(self, run: str) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/{run}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Provider

    def log_message(self, *_: object) -> None:
        """Agents have the terminal."""

    def do_HEAD(self) -> None:
        self._json({})

    def do_GET(self) -> None:
        models = [
            {
                "id": "test-model",
                "object": "model",
                "created": 1,
                "owned_by": "provider",
            }
        ]
        self._json(
            {"object": "list", "data": models, "models": models, "has_more": False}
        )

    def do_POST(self) -> None:
        _, name, path = self.path.partition("?")[0].split("/", 2)
        run, wire = self.server.runs[name], wire_of(f"/{path}")
        body = json.loads(self._body())
        if wire is None:
            self._json({"input_tokens": 100, "totalTokens": 100})
            return
        said = run.said(wire, body)
        if said is None:
            self._answer(run, wire, body, (Said(Kind.TEXT, _extra(body)),))
            return
        run.asked.append((wire, body))
        if run.scenario.seals:
            run.unfit += unfit_places("anthropic", body)
            run.drops += "block_binding" in body.get("thinking", {})
            if refused := misfits("anthropic", body, self.headers):
                error = {"type": "invalid_request_error", "message": refused[0]}
                self._json({"type": "error", "error": error}, 400)
                return
        try:
            self._answer(run, wire, body, said)
        except (BrokenPipeError, ConnectionResetError):
            run.left.set()
            self.close_connection = True

    def _body(self) -> bytes:
        if "chunked" in self.headers.get("transfer-encoding", ""):
            raw = b"".join(self._chunks())
        else:
            raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        encoding = self.headers.get("content-encoding")
        if encoding == "zstd":  # Python has it from 3.14 on
            return subprocess.run(
                ["zstd", "-dc"], input=raw, capture_output=True, check=True
            ).stdout
        return gzip.decompress(raw) if encoding == "gzip" else raw

    def _chunks(self) -> list[bytes]:
        chunks = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return chunks

    def _answer(
        self, run: Run, wire: Wire, body: dict[str, Any], said: tuple[Said, ...]
    ) -> None:
        kinds = {each.kind for each in said}
        new = (kinds & {Kind.LIMIT, Kind.ERROR}) - run.failed
        run.failed |= new
        if Kind.LIMIT in new:
            error = {
                "type": "rate_limit_error",
                "code": 429,
                "message": "Too fast",
                "status": "RESOURCE_EXHAUSTED",
            }
            self._json({"type": "error", "error": error}, 429)
            return
        name = f"answer{next(run.ids)}"
        parts = _parts(run, wire.tools(body), said)
        if run.scenario.seals:
            parts = _sealed(body, parts)
        streams = body.get("stream") or (
            isinstance(wire, Gemini) and "stream" in self.path
        )
        if not streams:
            self._json(_whole(wire, name, parts))
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for number, document in enumerate(wire.stream(name, parts)):
            if run.scenario.seals and document["type"] == "message_start":
                document["message"]["model"] = body["model"]
            self._write(document, number)
        if Kind.STALL in kinds:
            self._stall(run, wire, name)
        ends = [wire.failure] if Kind.ERROR in new else [*wire.finish(name, parts)]
        for document in ends:
            self._write(document, 9_999)
        self._send("" if Kind.ERROR in new else wire.end)
        self.wfile.write(b"0\r\n\r\n")

    def _stall(self, run: Run, wire: Wire, name: str) -> None:
        pieces = [
            each
            for each in wire.stream(name, [Text("word ")])
            if "word " in json.dumps(each)
        ]
        run.stalls.set()
        for number in range(_MOST_PIECES):
            self._write(pieces[0], number)
            run.left.wait(0.05)

    def _write(self, document: dict[str, Any], number: int) -> None:
        kind = document.get("type")
        numbered = (
            {**document, "sequence_number": number}
            if str(kind).startswith("response.")
            else document
        )
        event = f"event: {kind}\n" if kind else ""
        self._send(f"{event}data: {json.dumps(numbered)}\n\n")

    def _send(self, text: str) -> None:
        if text:
            data = text.encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()

    def _json(self, document: dict[str, Any], status: int = 200) -> None:
        data = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        if status == 429:
            self.send_header("retry-after", "1")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


def _parts(run: Run, tools: list[Tool], said: tuple[Said, ...]) -> list[Part]:
    """Scripted parts as those of a wire; texts that follow one another are one."""
    parts: list[Part] = []
    for each in said:
        part = _part(run, tools, each)
        last = parts[-1] if parts else None
        if isinstance(part, Text) and isinstance(last, Text):
            parts[-1] = Text(last.words + part.words)
        elif part:
            parts.append(part)
    return parts


def _sealed(body: dict[str, Any], parts: list[Part]) -> list[Part]:
    """The parts, whose reasoning is bound to all before it."""
    sealed: list[Part] = []
    before: list[dict[str, Any]] = []
    for part in parts:
        if isinstance(part, Reasoning):
            signature = seal("anthropic", body, before)
            sealed.append(Reasoning(part.words, signature))
            thought = {"type": "thinking", "thinking": part.words}
            before.append({**thought, "signature": signature})
        else:
            sealed.append(part)
            before.append({"type": "text", "text": getattr(part, "words", "call")})
    return sealed


def _part(run: Run, tools: list[Tool], said: Said) -> Part | None:
    if said.kind is Kind.TEXT:
        return Text(said.text)
    if said.kind is Kind.REASONING:
        return Reasoning(said.text)
    if said.kind not in (Kind.CALL, Kind.CLAIM) or not run.has_tools:
        return None
    tool = next(each for each in tools if _SHELL.search(each.name))
    arguments = example(tool.schema, said.text)
    if said.kind is Kind.CALL:
        return Call(f"call_{next(run.ids)}", tool.name, arguments)
    claim = json.dumps({"name": tool.name, "arguments": arguments})
    return Text(f"<tool_call>\n{claim}\n</tool_call>\n")


def example(schema: dict[str, Any], command: str, name: str = "") -> Any:
    """A value of a schema; what is a command is ``command``."""
    kind = schema.get("type")
    kind = next(iter(kind), None) if isinstance(kind, list) else kind
    if "enum" in schema:
        return schema["enum"][0]
    if "properties" in schema:
        members = schema["properties"]
        wanted = [each for each in schema.get("required", ()) if each in members]
        return {each: example(members[each], command, each) for each in wanted}
    if kind == "array":
        return ["bash", "-lc", command] if _COMMAND.search(name) else []
    values: dict[str | None, Any] = {
        "boolean": False,
        "integer": 9_000,
        "number": 9_000,
        "object": {},
    }
    words = command if _COMMAND.search(name) else "write a file"
    return values.get(str(kind).lower(), words)


def _extra(body: dict[str, Any]) -> str:
    """As text, or in the form that the request wants."""
    settings = body.get("generationConfig", {})
    schema = settings.get("responseJsonSchema") or settings.get("responseSchema")
    return json.dumps(example(schema, "")) if schema else _EXTRA


def _whole(wire: Wire, name: str, parts: list[Part]) -> dict[str, Any]:
    """An answer that is not streamed: agents ask so for asides only, which are text."""
    words = "".join(each.words for each in parts if isinstance(each, Text))
    last = [*wire.finish(name, parts)]
    if isinstance(wire, Gemini):
        return next(iter(wire.stream(name, [Text("")])), {}) | _gemini(last[0], words)
    if isinstance(wire, Messages):
        first = next(wire.stream(name, parts))
        return {
            **first["message"],
            "content": [{"type": "text", "text": words}],
            "stop_reason": "end_turn",
        }
    if "response" in last[0]:
        return dict(last[0]["response"])
    message = {"role": "assistant", "content": words}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    return {**last[1], "object": "chat.completion", "choices": [choice]}


def _gemini(document: dict[str, Any], words: str) -> dict[str, Any]:
    document["candidates"][0]["content"]["parts"] = [{"text": words}]
    return document
