"""LiteLLM's proxy with the hook of ``clients/litellm``: three turns with a tool through
openai's SDK, against the server that leaks and refuses."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest
from places import ROOT
from sdk_clients import check, connected, looped
from sdk_table import SDKS, Waiting
from strict import Strict

HOOK = ROOT / "clients" / "litellm" / "stream_sidecar_hook.py"
COMMAND = Path(sys.executable).with_name("litellm")

pytestmark = pytest.mark.skipif(
    not (COMMAND.exists() and find_spec("fastapi")),
    reason="there is no proxy of LiteLLM (python3 tests/run.py sdks)",
)


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "stream"])
def test_three_turns(streams: bool, strict: Strict, tmp_path: Path) -> None:
    sdk = SDKS["openai chat"]
    upstream = f"{strict.address}/openai/native/v1"
    with (
        _proxy(upstream, tmp_path) as address,
        Waiting() as wait,
        connected(sdk, address, wait, False, None) as client,
    ):
        turns = looped(sdk, client, streams, wait)
    check(turns)


@contextmanager
def _proxy(upstream: str, folder: Path) -> Iterator[str]:
    """The address of a proxy that answers."""
    shutil.copy(HOOK, folder)
    where = {"model": "openai/m", "api_base": upstream, "api_key": "k"}
    models = [{"model_name": "qwen3", "litellm_params": where}]
    settings = {"callbacks": f"{HOOK.stem}.proxy"}
    config = folder / "config.yaml"
    whole = {
        "model_list": models,
        "litellm_settings": settings,
        "general_settings": {"master_key": "k"},  # without one it does not start
    }
    config.write_text(json.dumps(whole), encoding="utf-8")
    port = str(_free_port())
    command = [str(COMMAND), "--config", str(config)]
    environment = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(
        [*command, "--host", "127.0.0.1", "--port", port], env=environment, **both
    ) as proxy:
        try:
            said = []
            while "Uvicorn running" not in (line := proxy.stdout.readline()):
                said.append(line)
                assert line, "".join(said)
            yield f"http://127.0.0.1:{port}"
        finally:
            proxy.terminate()
            proxy.stdout.read()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]
