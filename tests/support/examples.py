"""The examples of protocol.md: conversations on a page, played with the real process.

An example is a fence ``rpc`` of messages, ``->`` to the process and ``<-`` from it, on
one line or more; further lines are indented. The page explains its abbreviations. Each
example has its own process, after a handshake unless the example makes it.
"""

from __future__ import annotations

import json
import re
from typing import Any

from replay import renewed
from rpc_client import RpcClient

_EXAMPLE = re.compile(r"^```rpc\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_MESSAGE = re.compile(r"^(->|<-) (.*\n(?: .*\n)*)", re.MULTILINE)
_WIDTH = 150
_INDENT = len("-> ")


def examples_of(text: str) -> list[tuple[int, str]]:
    """Where each example starts, and its lines."""
    return [(match.start(1), match[1]) for match in _EXAMPLE.finditer(text)]


def messages_of(example: str) -> list[tuple[str, Any]]:
    """``->`` or ``<-`` and the message of each item of an example."""
    found = [(match[1], json.loads(match[2])) for match in _MESSAGE.finditer(example)]
    assert "".join(match[0] for match in _MESSAGE.finditer(example)) == example
    return found


def play(messages: list[tuple[str, Any]]) -> list[Any]:
    """The messages as they are this time."""
    played = []
    with RpcClient() as client:
        if messages[0][1].get("method") != "initialize":
            client.initialize()
        for way, message in messages:
            if way == "->":
                client.send({"jsonrpc": "2.0", **message})
                played.append(message)
            else:
                answer = client.read()
                assert answer.pop("jsonrpc") == "2.0"
                played.append(answer)
        client.end_input()
        assert client.read_all() == []
    return played


def written(message: dict[str, Any]) -> str:
    """``message`` as JSON that a person can read: on one line where it fits."""
    line = json.dumps(message, ensure_ascii=False)
    if len(line) + _INDENT <= _WIDTH:
        return line
    name, body = list(message.items())[-1]
    head = json.dumps({**message, name: 0}, ensure_ascii=False)[: -len("0}")]
    return f"{head}{_laid_out(body, _INDENT)}}}"


def _laid_out(value: Any, indent: int) -> str:
    """Over several lines where it is too long for one: what is short stays together."""
    line = json.dumps(value, ensure_ascii=False)
    if indent + len(line) <= _WIDTH or not isinstance(value, dict | list):
        return line
    inner = indent + 2
    if isinstance(value, list):
        lines = [_laid_out(item, inner) for item in value]
    else:
        lines = [""]
        for name, item in value.items():
            text = f"{json.dumps(name)}: {_laid_out(item, inner)}"
            together = f"{lines[-1]}, {text}".removeprefix(", ")
            if "\n" in together or inner + len(together) >= _WIDTH:
                lines += [text]
            else:
                lines[-1] = together
    body = f",\n{' ' * inner}".join(filter(None, lines))
    opener, closer = json.dumps(type(value)())
    return f"{opener}\n{' ' * inner}{body}\n{' ' * indent}{closer}"


def update(text: str) -> str:
    """The page with what the process says now."""
    for start, example in reversed(examples_of(text)):
        messages = messages_of(example)
        answers = iter(play(messages))
        lines = []
        for match in _MESSAGE.finditer(example):
            answer = next(answers)
            new = renewed(json.loads(match[2]), answer)
            lines.append(match[0] if match[1] == "->" else f"<- {written(new)}\n")
        text = text[:start] + "".join(lines) + text[start + len(example) :]
    return text
