"""LiteLLM's proxy with clean answers and prepared requests.

Put this file beside the proxy's ``config.yaml``, and name it there::

    litellm_settings:
      callbacks: stream_sidecar_hook.proxy

Requests to providers with OpenAI's API go through a transport that cleans requests and
responses. ``on_lost`` reports everything that passed unchanged.
"""

from __future__ import annotations

import logging

import httpx2
import litellm
from litellm.integrations.custom_logger import CustomLogger

from stream_sidecar.transports.httpx2 import AsyncCleaningTransport


def _warn(error: Exception) -> None:
    logging.getLogger("stream_sidecar").warning("not cleaned: %s", error)


litellm.aclient_session = httpx2.AsyncClient(
    transport=AsyncCleaningTransport(on_lost=_warn), timeout=None
)
proxy = CustomLogger()
"""What the configuration names; the transport does the work."""
