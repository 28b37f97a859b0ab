"""Delimiters of reasoning, marks and wrappers of each family: literals without grammar.

`PAIRS`: openers and closers of reasoning beyond the default ``reasoning.tags``. An
opener with several closers is in several pairs. An empty opener means that only the
chat template writes it. `MARKS`: borders of sections of calls. `ENDS`: wrappers of the
answer, which are removed and end open reasoning. `HEADERS`: those of them that begin
the answer, right after a closer of the family (text rule 9.6).
"""

from __future__ import annotations

from stream_sidecar.dialects.invoke_tags import NAMESPACES
from stream_sidecar.dialects.tokens import DEEPSEEK_MARKS

_THINK = ("<think>", "</think>")

PAIRS: dict[str, tuple[tuple[str, str], ...]] = {
    "hermes": (_THINK,),
    "ernie": (_THINK,),
    "hunyuan": (_THINK,),
    "qwen3-xml": (_THINK,),
    "deepseek-v31": (_THINK,),
    "glm": (_THINK,),
    "kimi-k2": (("◁think▷", "◁/think▷"), _THINK),
    "kimi-k3": (("<|open|>think<|sep|>", "<|close|>think<|sep|>"),),
    "minimax-m2": (_THINK,),
    "minimax-m3": (("<mm:think>", "</mm:think>"),),
    "seed-oss": (("<seed:think>", "</seed:think>"),),
    "mistral": (("[THINK]", "[/THINK]"),),
    "cohere": (("<|START_THINKING|>", "<|END_THINKING|>"),),
    "apertus": (("<|inner_prefix|>", "<|inner_suffix|>"),),
    "olmo3": (_THINK,),
    "nemotron-json": (_THINK,),
    "gemma4": (
        *(
            (f"<|channel>{name}", f"<channel|>{header}")
            for name in ("thought", "")
            for header in ("thought\n", "")
        ),
        ("<|think|>", "</|/think|>"),
    ),
    "gemini-call": (("<unused94>thought", "<unused95>"),),
    "apriel": (("Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]"),),
    "inkling-messages": (
        ("<|message_model|><|content_thinking|>", "<|end_message|>"),
        ("<|content_thinking|>", "<|end_message|>"),
    ),
    "solar-open": (
        ("<|think|>", "<|end|><|begin|>assistant<|content|>"),
        ("<|think|>", "<|end|>"),
    ),
    "plamo": (("<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>"),),
    "pangu": (("[unused16]", "[unused17]"),),
    "hyperclova": (("", "<|im_end|>\n<|im_start|>assistant\n"),),
    "hy3": (_THINK, ("<think:opensource>", "</think:opensource>")),
    "k2-horizon": tuple(
        (f"<ifm|{name}>", f"</ifm|{name}>")
        for name in ("think", "think_fast", "think_faster")
    ),
    "solar": (("<|think:start|>", "<|think:end|>"),),
    "longcat": (("<longcat_think>", "</longcat_think>"),),
    "anthropic-xml": tuple(
        (f"<{namespace}thinking>", f"</{namespace}thinking>")
        for namespace in NAMESPACES
    ),
}

MARKS: dict[str, tuple[str, ...]] = {
    "cohere": ("<cofl:tool_calls>", "</cofl:tool_calls>"),
    "kimi-k3": ("<|open|>tools<|sep|>", "<|close|>tools<|sep|>"),
    "gemini-thoughts": ("``````thinking\n",),
    "glm": ("<|begin_of_box|>", "<|end_of_box|>"),
    "deepseek-v3": DEEPSEEK_MARKS,
    "deepseek-v31": DEEPSEEK_MARKS,
    "lfm2": ("<|tool_list_start|>", "<|tool_list_end|>"),
}

HEADERS: dict[str, tuple[str, ...]] = {
    "cohere": ("<|START_TEXT|>", "<|START_RESPONSE|>"),
    "kimi-k3": ("<|open|>response<|sep|>", "<|open|>message<|sep|>"),
}

ENDS: dict[str, tuple[str, ...]] = {
    "cohere": (*HEADERS["cohere"], "<|END_TEXT|>", "<|END_RESPONSE|>"),
    "kimi-k3": (
        *HEADERS["kimi-k3"],
        "<|close|>response<|sep|>",
        "<|close|>message<|sep|>",
    ),
    "inkling-messages": ("<|message_model|><|content_text|>", "<|content_text|>"),
    "solar": ("<|begin|>assistant<|content|>",),
    "apriel": ("[END FINAL RESPONSE]",),
    "gemini-thoughts": ("<final>", "</final>"),
    "answer-tags": ("<answer>", "</answer>"),
    "response-tags": ("<response>", "</response>"),
}

UNSAFE = frozenset(
    (
        "granite-phrases",
        "answer-tags",
        "response-tags",
        "harmony-eaten",
        "gemini-thoughts",
        "inkling-messages",
        "muse",
        "laguna",
        "ling",
        "kimi-eaten",
        "minicpm-v",
        "rwkv-fence",
        "solar-open",
        "pangu",
        "hyperclova",
        "functionary-begun",
        "claude-citations",
        "gemini-fences",
    )
)
"""Families that must be named: other models may write their literals as text."""

WITH: dict[str, tuple[str, ...]] = {
    "granite": ("granite-phrases",),
    "hunyuan": ("hy3", "answer-tags"),
    "ernie": ("response-tags",),
    "harmony": ("harmony-eaten",),
    "kimi-k2": ("kimi-eaten",),
    "gemini-call": ("gemini-thoughts", "gemini-fences"),
    "inkling": ("inkling-messages",),
    "solar": ("solar-open",),
    "pangu": ("lfm2",),
    "functionary": ("functionary-begun",),
    "rwkv": ("rwkv-fence",),
}
"""Family -> families that are named with it if the host or the profile names it."""

WITHOUT: dict[str, tuple[str, ...]] = {"muse": ("atem",)}
"""Family -> families that it switches off if it is named. In an answer of Muse, calls
in other forms than its own are examples for the user."""

SENTINELS = (
    "gemma4",
    "cohere",
    "apertus",
    "kimi-k3",
    "k2-horizon",
    "solar",
    "longcat",
    "plamo",
    "hy3",
    "anthropic-xml",
)
"""Families whose delimiters no person writes: they count for every model."""

ENDS_REASONING = frozenset(
    ("hermes", "qwen3-xml", "kimi-k2", "deepseek-dsml", "harmony", "muse", "hyperclova")
)
"""Families in whose chat templates a call ends open reasoning (text rule 11.11)."""
