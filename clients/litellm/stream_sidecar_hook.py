"""LiteLLM's proxy with clean answers, and requests that no provider refuses.

Beside the proxy's ``config.yaml``, which names it::

    litellm_settings:
      callbacks: stream_sidecar_hook.proxy

What the proxy sends to providers that speak OpenAI's API goes over a transport that
cleans both ways. ``on_lost`` tells what passed as it came.
"""

from __future__ import annotations

import logging

import httpx2
import litellm
from litellm.integrations.custom_logger import CustomLogger

from stream_sidecar.transports.httpx2 import AsyncCleaningTransport


def _tell(error: Exception) -> None:
    logging.getLogger("stream_sidecar").warning("not cleaned: %s", error)


litellm.aclient_session = httpx2.AsyncClient(
    transport=AsyncCleaningTransport(on_lost=_tell), timeout=None
)
proxy = CustomLogger()
"""What the configuration names; the transport does the work."""
