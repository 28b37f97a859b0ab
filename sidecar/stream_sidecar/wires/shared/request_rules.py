"""What each provider demands of an assistant's turn that comes back, and refuses.

Not a wire: a table for the writers of requests. The first row that fits the wire, the
name of the provider and that of the model counts; a provider's own rows therefore stand
above those for a model that many serve. ``source`` is where that is known from: a page
of the provider's documentation, the words of its refusal, or a public thread that has
them. A new provider is one row (wires/README.md, "Requests").
"""

from __future__ import annotations

import re
from typing import Literal

from stream_sidecar import records

_NEVER = "(?!)"


def _any_case(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.I | re.S)


@records.frozen
class Rule:
    """A row. ``provider`` and ``model`` are patterns; an empty one fits any name, and
    none at all.

    ``reasoning``: it goes back with every turn, with those that call tools, or never.
    ``field``: the only field of Chat Completions for it, where there is something for
    it; else it goes back in those in which it came. ``required``: a turn with calls has
    that field even where it is empty. ``unsigned``: thinking without a signature is
    taken. ``tags``: reasoning that stood in tags in the text goes back there.
    ``raw_arguments``: arguments that are no JSON object go as they are. ``stand_in``:
    what a call without a signature has for one. ``no_ids``: what is found in ids of
    calls that are refused, because another provider gave them; they are replaced.
    """

    wire: str
    source: str
    provider: re.Pattern[str] = records.field(default="", converter=_any_case)
    model: re.Pattern[str] = records.field(default="", converter=_any_case)
    reasoning: Literal["turns", "calls", "never"] = "turns"
    field: str | None = None
    required: bool = False
    unsigned: bool = False
    tags: tuple[str, str] | None = None
    raw_arguments: bool = False
    stand_in: str | None = None
    no_ids: re.Pattern[str] = records.field(default=_NEVER, converter=_any_case)

    def fits(self, wire: str, provider: str, model: str) -> bool:
        """Is this the wire, and are these names of the ones that are meant?"""
        fits_names = self.provider.search(provider) and self.model.search(model)
        return self.wire == wire and bool(fits_names)


_CHAT, _ANTHROPIC, _BEDROCK = "openai-chat", "anthropic", "bedrock-converse"
_CONTENT, _DETAILS = "reasoning_content", "reasoning_details"
_THINK = ("<think>", "</think>")

RULES: tuple[Rule, ...] = (
    # Chat Completions: providers and gateways
    Rule(
        _CHAT,
        "openrouter.ai/docs/use-cases/reasoning-tokens, Preserving reasoning blocks",
        provider="openrouter",
        field=_DETAILS,
    ),
    Rule(
        _CHAT,
        "no page was found; recordings of charmbracelet/fantasy send what came",
        provider="vercel",
    ),
    Rule(
        _CHAT,
        "docs.litellm.ai/docs/reasoning_content: thinking_blocks go back with calls",
        provider="litellm",
    ),
    Rule(
        _CHAT,
        "'messages.1': property 'reasoning_content' is unsupported (janhq/jan#8136),"
        " property 'reasoning' is unsupported (karthink/gptel#774)",
        provider="groq",
        reasoning="never",
    ),
    Rule(
        _CHAT,
        "property 'messages.2.assistant.reasoning_content' is unsupported"
        " (Kilo-Org/kilocode#10375); reasoning is taken (vercel/ai#15049)",
        provider="cerebras",
        field="reasoning",
    ),
    Rule(
        _CHAT,
        "extra_forbidden: body.messages.assistant.reasoning_content"
        " (BerriAI/litellm#30835, charmbracelet/crush#1590); thinking chunks:"
        " docs.mistral.ai/capabilities/reasoning; Tool call id was call_... but must be"
        " a-z, A-Z, 0-9, with a length of 9 (anomalyco/opencode#1680)",
        provider="mistral",
        field="content.thinking",
        no_ids="[^a-z0-9]|^(?!.{9}$)",
    ),
    # Chat Completions: models, whoever serves them
    Rule(
        _CHAT,
        "api-docs.deepseek.com/guides/thinking_mode: back with calls; before tools it"
        " was refused in any turn (api-docs.deepseek.com/guides/reasoning_model);"
        " Missing `reasoning_content` field in the assistant message"
        " (OpenHands/benchmarks#353)",
        model="deepseek-(reasoner|r1)",
        reasoning="calls",
        field=_CONTENT,
        required=True,
    ),
    Rule(
        _CHAT,
        "The `reasoning_content` in the thinking mode must be passed back to the API."
        " (anomalyco/opencode#24083), an empty one too"
        " (deepseek-ai/deepseek-harness/discussions/739)",
        model="deepseek-(v3\\.[2-9]|v[4-9]|flash|pro|chat)",
        field=_CONTENT,
        required=True,
    ),
    Rule(
        _CHAT,
        "thinking is enabled but reasoning_content is missing in assistant tool call"
        " message at index 2 (mastra-ai/mastra#12592), an empty one is taken"
        " (Lapis0x0/obsidian-yolo/pull/243);"
        " platform.moonshot.ai/docs/guide/use-kimi-k2-thinking-model",
        model="kimi-(k2-thinking|k2\\.[5-9]|k[3-9]|for-coding|latest)|\\bk2p[5-9]",
        field=_CONTENT,
        required=True,
    ),
    Rule(
        _CHAT,
        "platform.minimax.io/docs/guides/text-m2-function-call: the whole message goes"
        " back, <think> in content or reasoning_details",
        model="minimax-m",
        tags=_THINK,
    ),
    Rule(
        _CHAT,
        "docs.z.ai/guides/capabilities/thinking-mode: reasoning_content goes back"
        " unmodified, with tools and for preserved thinking",
        model="glm-(4\\.[5-9]|[5-9])",
        field=_CONTENT,
    ),
    Rule(
        _CHAT,
        "no page of xAI's was found; recordings of charmbracelet/fantasy with"
        " grok-code-fast-1 send reasoning_content back with calls",
        model="grok",
        reasoning="calls",
    ),
    Rule(
        _CHAT,
        "huggingface.co/Qwen/Qwen3-8B, Best Practices: no thinking in the history; its"
        " template keeps that of the tool loop (NousResearch/hermes-agent#56004 for"
        " later ones, which keep all)",
        model="qwen|qwq",
        reasoning="calls",
    ),
    Rule(
        _CHAT,
        "platform.openai.com/docs/api-reference/chat: an assistant's message has no"
        " field for reasoning; messages[].tool_calls[].id: string too long"
        " (langmanus/langmanus#119), above 40 characters",
        model="^(openai/)?(gpt-[345]|o[134]\\b)",
        reasoning="never",
        raw_arguments=True,
        no_ids="^.{41}",
    ),
    Rule(
        _CHAT,
        "Failed to parse tool call arguments as JSON (ggml-org/llama.cpp#25510); that"
        " reasoning is wanted in the tool loop is what the templates of open models do",
        reasoning="calls",
    ),
    # Responses
    Rule(
        "openai-responses",
        "as the next row; Invalid 'input[95].call_id': string too long. Expected a"
        " string with maximum length 64 (AnswerDotAI/fastllm#45)",
        provider="openai|azure|chatgpt|codex",
        raw_arguments=True,
        no_ids="^.{65}",
    ),
    Rule(
        "openai-responses",
        "Item 'fc_...' of type 'function_call' was provided without its required"
        " 'reasoning' item (VRSEN/agency-swarm#367); Item with id 'rs_...' not found."
        " Items are not persisted when `store` is set to false (vercel/ai#7543)",
        raw_arguments=True,
    ),
    # Messages
    Rule(
        _ANTHROPIC,
        "The `content[].thinking` in the thinking mode must be passed back to the API."
        " (esengine/DeepSeek-Reasonix#8902); no signature is issued"
        " (CoreInfraAI/opencode-plugin/pull/6)",
        model="deepseek",
        unsigned=True,
    ),
    Rule(
        _ANTHROPIC,
        "platform.minimax.io/docs/guides/text-m2-function-call and"
        " docs.z.ai/guides/capabilities/thinking-mode: all blocks go back;"
        " reasoning_content is missing in assistant tool call message of Kimi's own"
        " Messages (VicBilibily/GCMP#162)",
        model="kimi|minimax|glm|qwen",
        unsigned=True,
    ),
    Rule(
        _ANTHROPIC,
        "messages.1.content.0: Invalid `signature` in `thinking` block"
        " (anthropics/claude-code#10627); unchanged, in their order"
        " (anthropics/anthropic-sdk-python#1598); tool_use.id: String should match"
        " pattern '^[a-zA-Z0-9_-]+$' (maximhq/bifrost#5097)",
        model="claude|^$",
        no_ids="[^a-z0-9_-]|^$",
    ),
    Rule(
        _ANTHROPIC,
        "as the row above for other models behind a proxy, which makes ids of its own"
        " (LiteLLM's for Gemini end in a signature: mpfaffenberger/code_puppy#356)",
    ),
    # Gemini
    Rule(
        "gemini",
        "Function call is missing a thought_signature in functionCall parts"
        " (thClaws/thClaws#65); the stand-in for calls of another model:"
        " ai.google.dev/gemini-api/docs/thought-signatures",
        model="gemini-([3-9]|\\d\\d)",
        stand_in="skip_thought_signature_validator",
    ),
    Rule(
        "gemini",
        "ai.google.dev/gemini-api/docs/thought-signatures: back on the part on which it"
        " came",
    ),
    # Bedrock
    Rule(
        _BEDROCK,
        "User messages cannot contain reasoning content"
        " (aws-samples/bedrock-chat/pull/851)",
        model="deepseek",
        reasoning="never",
    ),
    Rule(
        _BEDROCK,
        "thinking.signature: Field required without one; Nova and MiniMax refuse an"
        " empty one and take none (maximhq/bifrost/pull/6942)",
        model="nova|minimax",
        unsigned=True,
    ),
    Rule(
        _BEDROCK,
        "messages.1.content.0.thinking.signature: Field required"
        " (run-llama/llama_index#20851)",
    ),
    # Ollama
    Rule(
        "ollama",
        "docs.ollama.com/capabilities/thinking and tool-calling: the message is"
        " appended with its thinking; it is read by the model's template",
    ),
    # Cohere
    Rule(
        "cohere",
        "docs.cohere.com/docs/tool-use-overview: tool_plan and tool_calls are appended",
    ),
)


def rule_for(wire: str, provider: str | None, model: str | None) -> Rule:
    """The rule for a wire; each has a last row that fits anybody."""
    names = provider or "", model or ""
    return next(rule for rule in RULES if rule.fits(wire, *names))
