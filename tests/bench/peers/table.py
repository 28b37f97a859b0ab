"""The peers: other software that takes reasoning out of a model's text as it streams.

The one place that pins versions. A row says what is installed, which driver in
``drivers`` calls it, and what it leaves alone that the sidecar does. `LEFT_OUT` are
those that were looked at and have nothing that could be driven, with the reason.
"""

from __future__ import annotations

from typing import Literal

from attrs import frozen

Language = Literal["Python", "JavaScript", "Rust"]


@frozen
class Peer:
    """One implementation.

    ``installed``: what its package manager is given, exact versions first; ``alone``:
    that package without what it asks for, because that includes a GPU stack. ``calls``
    is the code that a delta goes through, ``leaves`` what it does not look for.
    ``reads_calls``: its driver can have it look for calls in Hermes' form, in place of
    reasoning. ``baseline``: does not split at all, and tells what the carrier costs.
    """

    name: str
    language: Language
    package: str
    version: str
    driver: str
    calls: str
    leaves: str
    installed: tuple[str, ...] = ()
    alone: bool = False
    reads_calls: bool = False
    baseline: bool = False

    @property
    def pinned(self) -> str:
        """Package and version as the language's package manager spells them."""
        sign = {"Python": "==", "JavaScript": "@", "Rust": "@="}[self.language]
        return f"{self.package}{sign}{self.version}"

    @property
    def home(self) -> str:
        """The folder of its environment; peers of one package share it."""
        return f"{self.package}-{self.version}"


ONE_PAIR = "one pair of tags, code is not kept out"

PEERS = (
    Peer(
        name="pydantic-ai",
        language="Python",
        package="pydantic-ai-slim",
        version="2.68.0",
        driver="drive_pydantic_ai.py",
        calls="`ModelResponsePartsManager.handle_text_delta`",
        leaves="one pair, and only where a delta is nothing but the tag; calls in text",
    ),
    Peer(
        name="transformers",
        language="Python",
        package="transformers",
        version="5.23.0",
        driver="drive_transformers.py",
        calls="`ResponseParser.feed` with a template of one pair",
        leaves=f"{ONE_PAIR}; trims what it gives at the end; one form of calls",
        reads_calls=True,
    ),
    Peer(
        name="SGLang",
        language="Python",
        package="sglang",
        version="0.5.23",
        driver="drive_sglang.py",
        calls=(
            "`ReasoningParser.parse_stream_chunk` for qwen3; for calls "
            "`Qwen25Detector.parse_streaming_increment`"
        ),
        leaves=f"{ONE_PAIR}, one block a stream; one form of calls",
        reads_calls=True,
        installed=(
            *("transformers==5.19.0", "openai", "msgspec", "pydantic", "pybase64"),
            *("requests", "ipython", "orjson", "partial-json-parser"),
        ),
        alone=True,
    ),
    Peer(
        name="vLLM",
        language="Python",
        package="vllm",
        version="0.33.0",
        driver="drive_vllm.py",
        calls="`StreamingParserEngine.feed` by text, one pair, no `DeltaMessage`",
        leaves=(
            f"{ONE_PAIR}; one form of calls, and of a call it gives the JSON unread; "
            "the layer above it does not load without torch"
        ),
        reads_calls=True,
        installed=("regex",),
        alone=True,
    ),
    Peer(
        name="LiteLLM",
        language="Python",
        package="litellm",
        version="1.106.2",
        driver="drive_litellm.py",
        calls="`OllamaChatCompletionResponseIterator.chunk_parser`",
        leaves=(
            "one pair, and only where a delta holds the whole tag; reasoning after "
            "the delta with the opener goes to the answer; calls in text"
        ),
    ),
    Peer(
        name="ai",
        language="JavaScript",
        package="ai",
        version="7.0.173",
        driver="drive_ai.mjs",
        calls="`extractReasoningMiddleware`, through its web streams",
        leaves=f"{ONE_PAIR}; a line break is put between blocks; calls in text",
    ),
    Peer(
        name="web streams alone",
        language="JavaScript",
        package="ai",
        version="7.0.173",
        driver="drive_ai.mjs --bare",
        calls="the same chunks through an empty `TransformStream`",
        leaves="everything: this is what carries `ai`",
        baseline=True,
    ),
    Peer(
        name="smg",
        language="Rust",
        package="reasoning-parser",
        version="1.10.0",
        driver="drive_smg.rs",
        calls="`Qwen3Parser::parse_reasoning_streaming_incremental`",
        leaves=f"{ONE_PAIR}, one block a stream; calls in text",
    ),
)

LEFT_OUT = (
    (
        "LangChain (langchain-core 1.7.2, -deepseek 1.1.1, -groq 1.1.3)",
        "reads fields for reasoning; tags in the text stay there",
    ),
    (
        "langchain-nvidia-ai-endpoints 1.5.0",
        "`parse_thinking_content` is given one delta at a time and remembers nothing",
    ),
    (
        "vLLM's `ReasoningParser` classes",
        "import torch through vllm.config.utils; the engine below them is measured",
    ),
)
"""What was looked at and is not measured, and why."""


def named(name: str) -> Peer:
    return next(peer for peer in PEERS if peer.name == name)
