"""LiteLLM's proxy with the hook of ``clients/litellm``, in an environment of its own:
``python3 tests/litellm_proxy.py``.

Two turns with a tool, whole and streamed, against a server whose answers leak, and that
refuses what leaks and what its provider refuses. Nothing leaves the machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

from environment import ROOT, enter

FUNCTION = {"name": "look", "parameters": {"type": "object", "properties": {}}}
TOOLS = [{"type": "function", "function": FUNCTION}]
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
SHARED = {"id": "c", "created": 1, "model": "m"}
KEY = "sk-" + "1" * 32
LEAK = "<think>2 + 2</think>"
ASKED = {"role": "user", "content": "2 + 2?"}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "4"}


class Provider(BaseHTTPRequestHandler):
    """Calls the tool, and answers when it has a result."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        refused = _objections(body)
        if refused:
            self._send(
                400, "application/json", json.dumps({"error": {"message": refused}})
            )
            return
        is_second = body["messages"][-1]["role"] == "tool"
        text = f"{LEAK}Four." if is_second else f"{LEAK}I look."
        said = {"role": "assistant", "content": text}
        calls = {} if is_second else {"tool_calls": [CALL]}
        reason = "stop" if is_second else "tool_calls"
        if not body.get("stream"):
            choice = {"index": 0, "message": {**said, **calls}, "finish_reason": reason}
            whole = {**SHARED, "object": "chat.completion", "choices": [choice]}
            self._send(200, "application/json", json.dumps(whole))
            return
        pieces = [{"content": text[at : at + 5]} for at in range(0, len(text), 5)]
        if calls:
            pieces.append({"tool_calls": [{"index": 0, **CALL}]})
        lines = []
        for number, delta in enumerate([*pieces, {}]):
            ended = reason if number == len(pieces) else None
            choice = {"index": 0, "delta": delta, "finish_reason": ended}
            chunk = {**SHARED, "object": "chat.completion.chunk", "choices": [choice]}
            lines.append(f"data: {json.dumps(chunk)}\n\n")
        self._send(200, "text/event-stream", "".join(lines) + "data: [DONE]\n\n")

    def _send(self, status: int, kind: str, text: str) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


def _objections(body: Any) -> str:
    from refusing import objections

    leaks = ["it leaks"] if "think" in json.dumps(body["messages"]) else []
    return ", ".join([*leaks, *objections("openai", "openai-chat", body)])


def main() -> int:
    os.environ.setdefault("SIDECAR_VENV", str(ROOT / ".venv-litellm"))
    if (code := enter(__file__, "litellm-proxy")) is not None:
        return code
    sys.path.insert(0, str(ROOT / "tests" / "support"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "config.yaml"
        config.write_text(_config(server.server_port), encoding="utf-8")
        hook = ROOT / "clients" / "litellm" / "stream_sidecar_hook.py"
        (Path(folder) / hook.name).write_bytes(hook.read_bytes())
        port = _free_port()
        command = [Path(sys.executable).with_name("litellm"), "--config", config]
        environment = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
        environment["LITELLM_MASTER_KEY"] = KEY
        with subprocess.Popen(
            [*map(str, command), "--host", "127.0.0.1", "--port", str(port)],
            env=environment,
            stdout=subprocess.DEVNULL,
        ) as proxy:
            try:
                return _ask(f"http://127.0.0.1:{port}", proxy)
            finally:
                proxy.terminate()


def _config(port: int) -> str:
    where = {
        "model": "openai/m",
        "api_base": f"http://127.0.0.1:{port}",
        "api_key": "k",
    }
    settings = {"callbacks": "stream_sidecar_hook.proxy"}
    models = [{"model_name": "m", "litellm_params": where}]
    return json.dumps({"model_list": models, "litellm_settings": settings})


def _free_port() -> int:
    with ThreadingHTTPServer(("127.0.0.1", 0), Provider) as taken:
        return taken.server_port


def _ask(address: str, proxy: subprocess.Popen[bytes]) -> int:
    import openai

    _wait(address, proxy)
    client = openai.OpenAI(base_url=address, api_key=KEY, max_retries=0)
    failed = 0
    for name, ask in (("whole", _whole), ("streamed", _streamed)):
        first = ask(client, [ASKED])
        kept = {"role": "assistant", "content": f"{LEAK}I look.", "tool_calls": [CALL]}
        second = ask(client, [ASKED, kept, RESULT])  # as an older client kept it
        print(name, first, second, flush=True)
        failed += (first, second) != (("I look.", ["look"]), ("Four.", []))
    return bool(failed)


def _wait(address: str, proxy: subprocess.Popen[bytes]) -> None:
    while proxy.poll() is None:
        try:
            with urlopen(f"{address}/health/liveliness", timeout=5):
                return
        except (URLError, OSError):
            time.sleep(0.5)
    sys.exit(f"the proxy ended with {proxy.returncode}")


def _whole(client: Any, messages: list[Any]) -> tuple[str, list[str]]:
    made = client.chat.completions.create(model="m", messages=messages, tools=TOOLS)
    said = made.choices[0].message
    return said.content, [call.function.name for call in said.tool_calls or ()]


def _streamed(client: Any, messages: list[Any]) -> tuple[str, list[str]]:
    asked = {"model": "m", "messages": messages, "tools": TOOLS, "stream": True}
    deltas = [
        choice.delta
        for chunk in client.chat.completions.create(**asked)
        for choice in chunk.choices
    ]
    calls = [call for each in deltas for call in each.tool_calls or ()]
    names = [call.function.name for call in calls if call.function.name]
    return "".join(each.content or "" for each in deltas), names


if __name__ == "__main__":
    sys.exit(main())
