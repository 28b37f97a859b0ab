"""The Python examples of all pages are run, and show an answer to its last character.

Each answer ends in text that is held until the stream ends. `ELSEWHERE` has the pages
whose examples other tests run.
"""

from __future__ import annotations

import inspect
import json
import re
import textwrap
from collections.abc import Iterator
from functools import partial, partialmethod
from pathlib import Path
from typing import Any

import pytest
from places import ROOT

pytest.importorskip("openai", reason="no SDKs (pip install --group sdks)")
pytest.importorskip("httpx", reason="no httpx (pip install --group sdks)")
pytest.importorskip("httpx2", reason="no httpx2 (pip install --group sdks)")

import httpx
import httpx2

import stream_sidecar

ANSWERS = (
    *("[1, 2, 3]", "See [1", "[]", "if a <", "Use the tag <thi", "Hello. <|im"),
    *("Set<string>", "```py\nx = 1\n``", '{"name": "bob", "age": 3}', "Done.\n\n"),
    'Call:\n{"name": "f", ',
)

LOOP = """
for chunk in chunks:
    print(chunk.choices[0].delta.content or "", end="")
"""
"""How the user of a client that an example made shows an answer."""

ELSEWHERE = {
    "clients/frameworks.md": "tests/sdks/test_frameworks.py",
    "sidecar/stream_sidecar/wires/README.md": "tests/wires/test_row.py",
}

MADE = {"node_modules", "target", "dist"}

_FENCE = re.compile(r"^( *)```(?:python|py)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"::\n\n((?: {4}.*\n|\n)+)")


def pages() -> Iterator[Path]:
    yield from ROOT.glob("*.md")
    yield ROOT / "tests" / "README.md"
    for folder in ("sidecar", "clients"):
        for path in (ROOT / folder).rglob("*.md"):
            if not MADE.intersection(path.relative_to(ROOT).parts):
                yield path


def examples() -> Iterator[Any]:
    for path in sorted(pages()):
        name = path.relative_to(ROOT).as_posix()
        for number, found in enumerate(_FENCE.findall(path.read_text("utf-8"))):
            if name not in ELSEWHERE:
                yield pytest.param(textwrap.dedent(found[1]), id=f"{name}-{number}")
    for thing in (stream_sidecar, stream_sidecar.Stream):
        (code, *_) = _BLOCK.findall(f"{inspect.getdoc(thing)}\n")
        yield pytest.param(textwrap.dedent(code), id=f"help-{thing.__name__}")


class Provider:
    """Answers with ``answer``; a request with tools first gets a call."""

    def __init__(self, answer: str) -> None:
        self.answer = answer

    def __call__(self, request: Any) -> httpx.Response:
        return self.response(httpx, request)

    def response(self, library: Any, request: Any) -> Any:
        body = json.loads(request.content)
        calls = body.get("tools") and body["messages"][-1]["role"] == "user"
        deltas = [{"tool_calls": [CALL]}] if calls else map(_content, self.answer)
        chunks = [_chunk(delta) for delta in deltas]
        chunks.append(_chunk({}, "tool_calls" if calls else "stop"))
        lines = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
        headers = {"content-type": "text/event-stream"}
        content = f"{lines}data: [DONE]\n\n".encode()
        return library.Response(200, headers=headers, content=content)


CALL = {
    "index": 0,
    "id": "call_1",
    "type": "function",
    "function": {"name": "branch", "arguments": '{"short": true}'},
}
TOOLS = [{"type": "function", "function": {"name": "branch", "parameters": {}}}]


def _content(text: str) -> dict[str, Any]:
    return {"content": text}


def _chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "choices": [choice]}


@pytest.fixture(params=ANSWERS)
def provider(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Provider:
    """A provider that every client of the two libraries reaches."""
    provider = Provider(request.param)
    transport = httpx.MockTransport(provider)
    client = httpx.Client(transport=transport)
    monkeypatch.setattr(httpx, "stream", client.stream)
    make = partialmethod(httpx.AsyncClient.__init__, transport=transport)
    monkeypatch.setattr(httpx.AsyncClient, "__init__", make)
    other = httpx2.MockTransport(partial(provider.response, httpx2))
    monkeypatch.setattr(
        httpx2.HTTPTransport,
        "handle_request",
        lambda _, sent: other.handle_request(sent),
    )
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    return provider


@pytest.mark.parametrize("code", [*examples()])
def test_the_whole_answer_is_shown(
    code: str, provider: Provider, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[Any] = []
    question = {"model": "qwen3", "stream": True, "messages": [{"role": "user"}]}
    post = httpx.Request("POST", "https://api.example", json=question)
    names: dict[str, Any] = {
        "url": str(post.url),
        "request": question,
        "response": provider(post),
        "Stream": stream_sidecar.Stream,
        "model": "qwen3",
        "tools": TOOLS,
        "run": lambda name, value: ran.append((name, value)) or "main",
    }
    exec(code, names)
    if client := names.get("client"):
        exec(LOOP, {"chunks": client.chat.completions.create(**question)})
    shown, calls = capsys.readouterr().out, "print(stream.message.tool_calls)" in code
    assert shown == provider.answer + ("()\n" if calls else "")
    assert ran == ([("branch", {"short": True})] if "results=" in code else [])


def test_others_run_what_is_not_run_here() -> None:
    for page, test in ELSEWHERE.items():
        assert (ROOT / page).name in (ROOT / test).read_text(encoding="utf-8")
        assert "sidecar import" not in (ROOT / page).read_text(encoding="utf-8")
