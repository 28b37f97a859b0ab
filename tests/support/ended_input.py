"""Requests of every kind in one pipe, followed by the end of standard input."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rpc_client import RpcClient, message

if TYPE_CHECKING:
    from collections.abc import Iterator

BUSY = """
import sys, threading
threading.Thread(target=sys.stdin.read, daemon=True).start()
while threading.active_count() > 1:
    sum(range(100_000))
"""
"""Computes until its standard input ends."""

_TEXT = '{"role":"assistant","content":"<think>a</think>b"}\n' * 50
_DOCUMENT = {"uri": "file:///s.jsonl", "languageId": "jsonl", "version": 1}
_OPENED = {"textDocument": {**_DOCUMENT, "text": _TEXT}}
_OF_IT = {"textDocument": {"uri": "file:///s.jsonl"}}
_STORED = {"role": "assistant", "content": "<think>a</think>b"}

REQUESTS = {
    "textDocument/codeLens": _OF_IT,
    "textDocument/diagnostic": _OF_IT,
    "textDocument/documentSymbol": _OF_IT,
    "message/inspect": {"messages": [_STORED]},
    "stream/list": {},
    "no/such": {},
}
"""Of the language server, of its document; of a batch; of this and of no side."""

_UNKNOWN = -32601


@contextmanager
def all_cores_busy(each: int = 2) -> Iterator[None]:
    """``each`` processes a core compute meanwhile, and end with this one."""
    pipe = {"stdin": subprocess.PIPE}
    command = [sys.executable, "-S", "-c", BUSY]
    count = each * (os.cpu_count() or 1)
    processes = [subprocess.Popen(command, **pipe) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def not_answered(editor: bool) -> list[Any]:
    """The requests that were refused or not answered, with the answer they got.

    ``editor``: the client announces documents in its first message.
    """
    capabilities = {"capabilities": {"textDocument": {}} if editor else {}}
    asked = [message(name, each, id=name) for name, each in REQUESTS.items()]
    with RpcClient() as client:
        client.send(
            message("initialize", {"processId": None, **capabilities}, id=0),
            message("initialized", {}),
            message("textDocument/didOpen", _OPENED),
            *asked,
        )
        client.end_input()
        answers = {each["id"]: each for each in client.read_all() if "id" in each}
        assert client.wait() == 0
    answered = {name for name, each in answers.items() if "result" in each}
    if answers["no/such"]["error"]["code"] == _UNKNOWN:
        answered.add("no/such")
    return [(name, answers.get(name)) for name in REQUESTS.keys() - answered]
