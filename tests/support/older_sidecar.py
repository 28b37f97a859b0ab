"""An older sidecar, for the tests of the clients: it gives the answers that one gave.

``data/older_sidecar.jsonl`` holds them, recorded from a sidecar that had ``emit`` but
neither ``request/prepare`` nor ``emit.reasoning``, and that announced no methods. Each
request of a method is given the recorded answer to it, under the request's own ids.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parent.parent / "data" / "older_sidecar.jsonl"


def main() -> None:
    """Answer until the input ends, or until ``exit``."""
    lines = RECORDED.read_text(encoding="utf-8").splitlines()
    answers = {answer.pop("method"): answer for answer in map(json.loads, lines)}
    while (request := _read()) and request["method"] != "exit":
        if "id" in request:
            _write(
                {**_renamed(answers[request["method"]], request), "id": request["id"]}
            )


def _renamed(answer: dict[str, Any], request: dict[str, Any]) -> dict[str, Any]:
    """Name the stream as the request does."""
    match answer, request:
        case {"result": {"streamId": _}}, {"params": {"streamId": name}}:
            return {"result": {**answer["result"], "streamId": name}}
    return answer


def _read() -> dict[str, Any] | None:
    length = 0
    while line := sys.stdin.buffer.readline().strip():
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    return json.loads(sys.stdin.buffer.read(length)) if length else None


def _write(answer: dict[str, Any]) -> None:
    body = json.dumps({"jsonrpc": "2.0", **answer}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
