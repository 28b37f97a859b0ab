"""What a host's author would write without us: a stock pygls server with ``x/echo``.

Without arguments the method is untyped, as in pygls' own examples of custom requests;
``--typed`` gives pygls the message's class, which spares it the guessing and makes it
faster.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import Any

import attrs
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol

METHOD = "x/echo"


@attrs.define
class EchoParams:
    streamId: str  # noqa: N815 - its JSON name
    chunk: Any


@attrs.define
class EchoRequest:
    id: int | str
    params: EchoParams
    method: str = METHOD
    jsonrpc: str = "2.0"


class EchoProtocol(LanguageServerProtocol):
    """Knows the type of one custom request."""

    @lru_cache  # noqa: B019 - as pygls itself does
    def get_message_type(self, method: str) -> type[Any] | None:
        return EchoRequest if method == METHOD else super().get_message_type(method)


def main(arguments: list[str]) -> None:
    protocol = EchoProtocol if "--typed" in arguments else LanguageServerProtocol
    server = LanguageServer("echo", "1", protocol_cls=protocol)

    @server.feature(METHOD)
    def echo(params: Any) -> Any:
        return params

    server.start_io()


if __name__ == "__main__":
    main(sys.argv[1:])
