"""Hosts that do not do what hosts should."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rpc_client import message

if TYPE_CHECKING:
    from rpc_client import RpcClient

LAUNCHER = "import subprocess, sys; subprocess.Popen(sys.argv[1:]).wait()"
"""A program between the host and the sidecar."""


def fill_pipes(client: RpcClient) -> None:
    """Makes the sidecar's writer wait: the answers are more than any pipe holds."""
    client.initialize()
    client.request("stream/open", {"streamId": "s", "wire": "text"})
    params = {"streamId": "s", "chunk": "x" * 1000}
    client.send(*(message("stream/push", params, id=n) for n in range(5000)))
