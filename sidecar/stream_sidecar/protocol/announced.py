"""The names that ``initialize`` announces: wires, methods, options of streams ...

The names are defined in tables, and importing a table imports everything that reads a
stream. The sidecar imports the tables after its answer, while the host continues; so
the names are repeated here, in the order of the tables. ``python3 tests/run.py update``
writes them, and ``tests/protocol/test_announced.py`` compares them. The names of the
wires alone cost nothing: a wire's module is imported when it is used.
"""

from __future__ import annotations

from stream_sidecar import wires

WIRE_NAMES = ("auto", *wires.NAMES)

FRAMING_NAMES = (
    "auto",
    "json",
    "sse",
    "ndjson",
    "json-array",
    "aws-eventstream",
    "text",
)

DIALECT_NAMES = (
    "hermes",
    "llama3-json",
    "granite",
    "nemotron-json",
    "phi4-json",
    "jamba",
    "hunyuan",
    "apriel",
    "minimax-m1",
    "minimax-m2",
    "internlm2",
    "gigachat",
    "cohere",
    "apertus",
    "longcat",
    "dots",
    "qwen3-xml",
    "seed-oss",
    "functionary",
    "kimi-k2",
    "kimi-eaten",
    "kimi-k3",
    "deepseek-v3",
    "deepseek-v31",
    "mistral",
    "glm",
    "telechat",
    "hy3",
    "iquest",
    "hyperclova",
    "k2-horizon",
    "solar",
    "plamo",
    "inkling",
    "sarashina",
    "lfm2",
    "pangu",
    "grok",
    "cwm",
    "step-audio",
    "rwkv",
    "rwkv-fence",
    "laguna",
    "ling",
    "minicpm-v",
    "claude-citations",
    "granite-phrases",
    "functionary-begun",
    "anthropic-xml",
    "atem",
    "deepseek-dsml",
    "step3",
    "minicpm",
    "call-record",
    "pythonic",
    "olmo3",
    "tool-code",
    "gemini-fences",
    "gemma4",
    "functiongemma",
    "gemini-call",
    "gemini-thoughts",
    "harmony",
    "harmony-eaten",
    "muse",
    "minimax-m3",
    "named-tags",
    "transcript",
    "ernie",
    "inkling-messages",
    "solar-open",
    "answer-tags",
    "response-tags",
)

METHOD_NAMES = (
    "stream/open",
    "stream/push",
    "stream/close",
    "stream/snapshot",
    "stream/list",
    "message/normalize",
    "message/render",
    "request/prepare",
    "message/inspect",
    "message/repair",
    "tool/classify",
    "error/normalize",
    "sidecar/stats",
)

OPTION_NAMES = (
    "streamId",
    "wire",
    "framing",
    "encoding",
    "provider",
    "model",
    "tools",
    "policy",
    "responseTemplate",
    "emit",
    "metadata",
    "emit.wire",
    "emit.claims",
    "emit.reasoning",
    "emit.rewrite",
)

HEADER_NAMES = ("anthropic-beta",)
