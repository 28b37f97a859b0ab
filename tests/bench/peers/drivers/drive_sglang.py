"""SGLang: the reasoning parser of its server, for a model that opens its own tag, and
its detector of such a model's calls.

Only the package's ``__init__`` needs torch, parser and detector do not.
"""

from __future__ import annotations

from collections.abc import Callable
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


def calls(tool: str) -> Callable[[], Splitter]:
    from sglang.srt.entrypoints.openai.protocol import Function, Tool
    from sglang.srt.function_call.qwen25_detector import Qwen25Detector

    tools = [Tool(type="function", function=Function(name=tool))]

    def read(given: list[Any]) -> tuple[str, str]:
        items = [item for result in given[:-1] for item in result.calls]
        names = "".join(item.name or "" for item in items)
        return names, "".join(item.parameters for item in items)

    def begin() -> Splitter:
        detector = Qwen25Detector()

        def push(delta: str) -> Any:
            return detector.parse_streaming_increment(delta, tools)

        return Splitter(push, lambda: None, read)

    return begin


drive(start, calls=calls)
