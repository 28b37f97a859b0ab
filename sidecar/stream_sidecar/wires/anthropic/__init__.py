"""Anthropic's Messages: the row of the wire."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stream_sidecar.wires.anthropic.blocks import SHAPE, THINKING
from stream_sidecar.wires.anthropic.reader import AnthropicWire, fits
from stream_sidecar.wires.anthropic.refusals import AnthropicCleaner
from stream_sidecar.wires.anthropic.request import write
from stream_sidecar.wires.anthropic.sdk_rules import MessagesSdkRules
from stream_sidecar.wires.anthropic.settings import HOST_MENDS, mended_settings
from stream_sidecar.wires.anthropic.usage import with_compaction
from stream_sidecar.wires.anthropic.writer import WRITTEN, AnthropicWriter
from stream_sidecar.wires.shared.request_rules import Rule
from stream_sidecar.wires.shared.row import SealDropper, WireRow
from stream_sidecar.wires.shared.usage import UsageShape

if TYPE_CHECKING:
    from stream_sidecar.wires.shared.request_rules import Refused

_NOT_OTHERS = "^(?!.*(deepseek|minimax|moonshot|kimi|zhipu|z\\.?ai|qwen|dashscope))"
"""Matches all providers but these, which have models of their own. Any other provider
may serve Claude, and then accepts Claude's signatures."""

_CLAUDE: dict[str, Any] = {
    "no_ids": "[^a-z0-9_-]",
    "no_names": "[^a-z0-9_-]",
    "is_closed": True,
    "no_end": True,
    "no_prefix": "claude-[a-z]+-(4[-.][6-9]|[5-9])",
    "issuers": _NOT_OTHERS,
    "one_model": True,
}
_REFUSED: frozenset[Refused] = frozenset(
    ("broken-pairs", "repeated-ids", "empty-turns", "first-system", "unsigned-loops")
)

ROW = WireRow(
    name="anthropic",
    title="Messages",
    reader=AnthropicWire,
    fits=fits,
    usage=UsageShape(
        input=("input_tokens",),
        more_input=(("cache_creation_input_tokens",), ("cache_read_input_tokens",)),
        output=("output_tokens",),
        cache_read=("cache_read_input_tokens",),
        cache_write=("cache_creation_input_tokens",),
        reasoning=("output_tokens_details.thinking_tokens",),
        complete=with_compaction,
    ),
    writer=AnthropicWriter,
    sdk_rules=MessagesSdkRules,
    writer_members=frozenset(("content", "stop_reason", "error")),
    is_extra=lambda value: value.get("type", "error") not in WRITTEN,
    request=write,
    unsigned_field=THINKING,
    shape=SHAPE,
    cleaner=AnthropicCleaner,
    mended_settings=mended_settings,
    host_mends=HOST_MENDS,
    drops_seals=(
        SealDropper(provider="bedrock|aws|amazon", beta="body"),
        SealDropper(provider="anthropic|google|vertex|azure|foundry", beta="header"),
    ),
    is_of_many=True,
    rules=(
        Rule(
            "The `content[].thinking` in the thinking mode must be passed back to the"
            " API. (esengine/DeepSeek-Reasonix#8902); no signature is issued"
            " (CoreInfraAI/opencode-plugin/pull/6)",
            model="deepseek",
            required="calls",
            unsigned=True,
        ),
        Rule(
            "platform.minimax.io/docs/guides/text-m2-function-call and"
            " docs.z.ai/guides/capabilities/thinking-mode: all blocks go back;"
            " reasoning_content is missing in assistant tool call message of Kimi's own"
            " Messages (VicBilibily/GCMP#162)",
            model="kimi|minimax|glm|qwen",
            unsigned=True,
        ),
        Rule(
            "as the row below; roles must alternate"
            " (modelcontextprotocol/quickstart-resources#20)",
            provider="bedrock|aws|amazon",
            model="claude|anthropic|^$",
            **_CLAUDE,
            refuses=_REFUSED | {"neighbours"},
        ),
        Rule(
            "messages.1.content.0: Invalid `signature` in `thinking` block"
            " (anthropics/claude-code#10627); unchanged, in their order"
            " (anthropics/anthropic-sdk-python#1598); tool_use.id: String should match"
            " pattern '^[a-zA-Z0-9_-]+$' (maximhq/bifrost#5097), and names alike; no"
            " signature of another model (vybestack/llxprt-code#2335); tool_use.text:"
            " Extra inputs are not permitted (anthropics/claude-code#4378); final"
            " assistant content cannot end with trailing whitespace"
            " (anomalyco/opencode#1295); calls and results: `tool_use` ids were found"
            " without `tool_result` blocks immediately after"
            " (anthropics/claude-code#5989), must be unique"
            " (anthropics/claude-code#21317); all messages must have non-empty content"
            " (anthropics/claude-code#3196); use the top-level 'system' parameter for"
            " the initial system prompt (anthropics/claude-code#64147); Expected"
            " `thinking` or `redacted_thinking` (anomalyco/opencode#3077); does not"
            " support assistant message prefill"
            " (smallmain/vscode-unify-chat-provider#249)",
            model="claude|^$",
            **_CLAUDE,
            refuses=_REFUSED,
        ),
        Rule(
            "as the row above for other models behind a proxy, which makes ids of its"
            " own (LiteLLM's for Gemini end in a signature:"
            " mpfaffenberger/code_puppy#356)"
        ),
    ),
)
