"""The rules of Chat Completions: what each provider requires in a request, and what it
refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stream_sidecar.wires.shared.request_rules import Rule

if TYPE_CHECKING:
    from stream_sidecar.wires.shared.request_rules import Refused

_CONTENT, _DETAILS = "reasoning_content", "reasoning_details"
_NO_NAMES = "[^a-z0-9_-]"
_THINK = ("<think>", "</think>")
_PAIRS: frozenset[Refused] = frozenset(("broken-pairs",))
_NULLS: frozenset[Refused] = frozenset(("nulls",))
_LOCAL = "llama|\\bjan\\b|lm.?studio|vllm|sglang|ollama"
_LOCAL_TURNS: frozenset[Refused] = frozenset(("empty-turns", "null-content"))
_DEEPSEEK: frozenset[Refused] = _PAIRS | {"lists", "missing-content"}
_KIMI: frozenset[Refused] = _PAIRS | {"empty-turns"}
_GLM: frozenset[Refused] = frozenset(("no-user-turn",))
_OPENAI: dict[str, Any] = {
    "reasoning": "never",
    "raw_arguments": True,
    "no_ids": "^.{41}",
    "no_names": _NO_NAMES,
    "longest_name": 64,
    "refuses": _PAIRS | {"empty-calls", "null-content", "nulls"},
}
_NOT_OTHERS = (
    "^(?!.*(deepseek|kimi|glm|grok|qwen|llama|[a-z]stral|minimax|command|\\bphi))"
)
"""Matches no models of other makers, which Azure serves, too."""

_QWEN = (
    "huggingface.co/Qwen/Qwen3-8B, Best Practices: no thinking in the history; its"
    " template keeps that of the tool loop (NousResearch/hermes-agent#56004 for"
    " later ones, which keep all)"
)

RULES: tuple[Rule, ...] = (
    # providers and gateways
    Rule(
        "openrouter.ai/docs/use-cases/reasoning-tokens, Preserving reasoning blocks",
        provider="openrouter",
        is_gateway=True,
        field=_DETAILS,
        came_in=_DETAILS,
    ),
    Rule(
        "no page was found; recordings of charmbracelet/fantasy send what came",
        provider="vercel",
        is_gateway=True,
    ),
    Rule(
        "as the row below; Missing corresponding tool call for tool response message"
        " (BerriAI/litellm, prompt_templates/factory.py)",
        provider="litellm",
        is_gateway=True,
        model="gemini",
        refuses=_PAIRS,
    ),
    Rule(
        "docs.litellm.ai/docs/reasoning_content: thinking_blocks go back with calls",
        provider="litellm",
        is_gateway=True,
    ),
    Rule(
        "'messages.1': property 'reasoning_content' is unsupported (janhq/jan#8136),"
        " property 'reasoning' is unsupported (karthink/gptel#774);"
        " 'messages.2.content' : value must be a string (tidyverse/ellmer#162)",
        provider="groq",
        has_refusals=False,
        reasoning="never",
        refuses=frozenset(("models-lists", "nulls")),
    ),
    Rule(
        "property 'messages.2.assistant.reasoning_content' is unsupported"
        " (Kilo-Org/kilocode#10375); reasoning is taken (vercel/ai#15049)",
        provider="cerebras",
        has_refusals=False,
        field="reasoning",
        is_only=True,
        refuses=_NULLS,
    ),
    Rule(
        "extra_forbidden: body.messages.assistant.reasoning_content"
        " (BerriAI/litellm#30835, charmbracelet/crush#1590); thinking chunks:"
        " docs.mistral.ai/capabilities/reasoning; Tool call id was call_... but must be"
        " a-z, A-Z, 0-9, with a length of 9 (anomalyco/opencode#1680); Function name"
        " was ... but must be a-z, A-Z, 0-9, or contain underscores and dashes, with a"
        " maximum length of 64 (mistralai/mistral-common, validator.py, which has the"
        " pairs, too); Unexpected role 'user' after role 'tool'"
        " (BerriAI/litellm#17761); Expected last role User or Tool"
        " (0xPlaygrounds/rig#1130)",
        provider="mistral",
        has_refusals=False,
        field="content.thinking",
        is_only=True,
        refuses=_PAIRS | _NULLS | {"repeated-ids", "user-after-results"},
        no_prefix="",
        no_ids="[^a-z0-9]|^(?!.{9}$)",
        no_names=_NO_NAMES,
        longest_name=64,
    ),
    Rule(
        "Extra inputs are not permitted, field: 'messages[2].reasoning'"
        " (can1357/oh-my-pi#1157)",
        provider="fireworks",
        has_refusals=False,
        field=_CONTENT,
        is_only=True,
        refuses=_NULLS,
    ),
    Rule(
        "Function call is missing a thought_signature (manthanabc/paws#103); the"
        " stand-in: ai.google.dev/gemini-api/docs/thought-signatures",
        provider="google|gemini|vertex",
        model="gemini-([3-9]|\\d\\d)",
        reasoning="calls",
        stand_in="skip_thought_signature_validator",
        issuers="google|gemini|vertex",
        one_model=True,
    ),
    Rule(
        "After the (optional) system message(s), user and assistant roles should be"
        " alternating (perplexityai/api-discussion#265)",
        provider="perplexity",
        reasoning="calls",
        refuses=frozenset(("neighbours",)),
    ),
    Rule(
        _QWEN + "; an assistant message with tool_calls must be followed by tool"
        " messages (QwenLM/qwen-code#606, langchain-ai/langgraph-supervisor-py#122)",
        provider="dashscope|alibaba|aliyun|bailian|^qwen",
        reasoning="calls",
        refuses=_PAIRS,
    ),
    Rule(
        _QWEN + "; No user query found in messages (vllm-project/vllm#36432); System"
        " message must be at the beginning (moltis-org/moltis#317)",
        provider=_LOCAL,
        has_refusals=False,
        model="qwen|qwq",
        reasoning="calls",
        refuses=_LOCAL_TURNS | {"no-user-turn", "later-system"},
        no_prefix="",
    ),
    Rule(
        "as the row below; mistral-common's validator, which has the words of Mistral's"
        " row, is vLLM's",
        provider="vllm",
        has_refusals=False,
        model="[a-z]stral|mixtral",
        reasoning="calls",
        no_ids="[^a-z0-9]|^(?!.{9}$)",
        no_names=_NO_NAMES,
        longest_name=64,
        refuses=_LOCAL_TURNS | _PAIRS | {"neighbours", "repeated-ids"},
        no_prefix="",
    ),
    Rule(
        "as the row of servers below; conversation roles must alternate"
        " user/assistant (vllm-project/vllm#6862)",
        provider=_LOCAL,
        has_refusals=False,
        model="gemma|[a-z]stral|mixtral",
        reasoning="calls",
        refuses=_LOCAL_TURNS | {"neighbours"},
        no_prefix="",
    ),
    # models, with any provider
    Rule(
        "api-docs.deepseek.com/guides/thinking_mode: back with calls; before tools it"
        " was refused in any turn (api-docs.deepseek.com/guides/reasoning_model);"
        " Missing `reasoning_content` field in the assistant message"
        " (OpenHands/benchmarks#353); the rest as in the next row",
        model="deepseek-(reasoner|r1)",
        refuses=_DEEPSEEK,
        reasoning="calls",
        field=_CONTENT,
        required="calls",
    ),
    Rule(
        "The `reasoning_content` in the thinking mode must be passed back to the API."
        " (anomalyco/opencode#24083), an empty one too"
        " (deepseek-ai/deepseek-harness/discussions/739); insufficient tool messages"
        " following tool_calls message (langgenius/dify#32222); missing field `content`"
        " (pig-mesh/deepseek4j#40); invalid type: sequence, expected a string"
        " (browser-use/web-ui#99)",
        refuses=_DEEPSEEK,
        model="deepseek-(v3\\.[2-9]|v[4-9]|flash|pro|chat(?!-v))",
        field=_CONTENT,
        required="turns",
    ),
    Rule(
        "thinking is enabled but reasoning_content is missing in assistant tool call"
        " message at index 2 (mastra-ai/mastra#12592), an empty one is taken"
        " (Lapis0x0/obsidian-yolo/pull/243); the message with role 'assistant' must"
        " not be empty (Kilo-Org/kilocode#10276);"
        " platform.moonshot.ai/docs/guide/use-kimi-k2-thinking-model",
        model="kimi-(k2-thinking|k2\\.[5-9]|k[3-9]|for-coding|latest)|\\bk2p[5-9]",
        field=_CONTENT,
        required="calls",
        has_refusals=False,
        refuses=_KIMI,
    ),
    Rule(
        "platform.minimax.io/docs/guides/text-m2-function-call: the whole message goes"
        " back, <think> in content or reasoning_details; tool call and result not match"
        " (Kilo-Org/kilocode#3967)",
        model="minimax-m",
        refuses=_PAIRS,
        tags=_THINK,
    ),
    Rule(
        "docs.z.ai/guides/capabilities/thinking-mode: reasoning_content goes back"
        " unmodified, with tools and for preserved thinking; no user's turn: The"
        " messages parameter is illegal (anomalyco/opencode#2557)",
        model="glm-(4\\.[5-9]|[5-9])",
        field=_CONTENT,
        refuses=_GLM,
    ),
    Rule(
        "no page of xAI's was found; recordings of charmbracelet/fantasy with"
        " grok-code-fast-1 send reasoning_content back with calls; Each message must"
        " have at least one content element (vercel/ai, xai-error.test.ts)",
        model="grok",
        reasoning="calls",
        refuses=frozenset(("empty-lists",)),
    ),
    Rule(_QWEN, model="qwen|qwq", reasoning="calls"),
    Rule(
        "platform.openai.com/docs/api-reference/chat: an assistant's message has no"
        " field for reasoning; messages[].tool_calls[].id: string too long"
        " (langmanus/langmanus#119), above 40 characters; function.name: string does"
        " not match pattern (mcp-use/mcp-use#90); tool_calls must be followed by tool"
        " messages (BerriAI/litellm#10083); empty array (openai/openai-python#2061);"
        " expected a string, got null (run-llama/llama_index#17555)",
        model="^(openai/)?(gpt-[345]|o[134]\\b)",
        **_OPENAI,
    ),
    # the other models of these providers
    Rule(
        "as the row of OpenAI's models, under the name of a deployment"
        " (langchain-ai/langchainjs#4153)",
        provider="azure",
        model=_NOT_OTHERS,
        **_OPENAI,
    ),
    Rule(
        "as the rows of DeepSeek's later models",
        provider="^deepseek",
        reasoning="calls",
        refuses=_DEEPSEEK,
    ),
    Rule(
        "as the row of Kimi's thinking models, but for the reasoning",
        provider="moonshot|kimi",
        reasoning="calls",
        has_refusals=False,
        refuses=_KIMI,
    ),
    Rule(
        "as the row of GLM (MetaGLM/zhipuai-sdk-python-v4#14)",
        provider="z\\.?ai\\b|zhipu|bigmodel",
        reasoning="calls",
        refuses=_GLM,
    ),
    Rule(
        "as the row of MiniMax's models",
        provider="minimax",
        reasoning="calls",
        refuses=_PAIRS,
    ),
    Rule(
        "as the last row; Assistant response prefill is incompatible with"
        " enable_thinking (ggml-org/llama.cpp#20861); Cannot have 2 or more assistant"
        " messages at the end of the list (NousResearch/hermes-agent#80265); an id of"
        " null in a call and its result (sigoden/aichat#1296)",
        provider=_LOCAL,
        has_refusals=False,
        reasoning="calls",
        refuses=_LOCAL_TURNS,
        no_prefix="",
    ),
    Rule(
        "Failed to parse tool call arguments as JSON (ggml-org/llama.cpp#25510); that"
        " reasoning is wanted in the tool loop is what the templates of open models do",
        reasoning="calls",
    ),
)
