"""SGLang: the reasoning parser of its server, for a model that opens its own tag.

Only the package's ``__init__`` needs torch, the parser does not.
"""

from __future__ import annotations

from typing import Any

from bare_package import without_init
from harness import Splitter, drive

without_init("sglang")

from sglang.srt.parser.reasoning_parser import ReasoningParser  # noqa: E402


def start() -> Splitter:
    parser = ReasoningParser("qwen3")

    def read(given: list[Any]) -> tuple[str, str]:
        answer = "".join(normal or "" for _, normal in given)
        return answer, "".join(reasoning or "" for reasoning, _ in given)

    return Splitter(parser.parse_stream_chunk, parser.parse_stream_end, read)


drive(start)
