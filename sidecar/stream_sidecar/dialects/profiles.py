"""Profiles: the dialects that a model writes, found by the model's or provider's name.

Hosts write names in many ways: ``Qwen/Qwen3-30B-A3B-Thinking-2507`` (Hugging Face),
``qwen/qwen3-30b-a3b-thinking-2507:free`` (OpenRouter), ``qwen3:30b-a3b-thinking``
(Ollama). The rows are tried in order, and the first match wins. An unknown name gets
the default, which is safe for any model.
"""

from __future__ import annotations

from functools import lru_cache

from stream_sidecar import patterns
from stream_sidecar.records import PublicRecord, frozen


@frozen
class Profile(PublicRecord):
    """How a family of models writes. ``dialects``: keys of ``DIALECTS``.
    ``starts_open``: the chat template writes the opener of reasoning, so the model may
    write only the closer (text rule 9.3)."""

    name: str
    dialects: tuple[str, ...] = ()
    starts_open: bool = False


DEFAULT = Profile("default")

# A pattern stands above more general ones, because the first match wins: gemma4 would
# be read as gemma.
_ROWS: dict[str, Profile] = {
    r"gpt-?oss": Profile("gpt-oss", ("harmony",)),
    r"muse.{0,99}glimmer": Profile("muse", ("harmony", "muse")),
    r"deepseek-?r1|r1-distill|r1-1776|deepseek-reasoner": Profile(
        "deepseek-r1", ("deepseek-v3",), starts_open=True
    ),
    r"qwen-?3(\.\d+)?-?coder": Profile("qwen3-coder", ("qwen3-xml",)),
    r"qwen-?3\.[5-9]": Profile("qwen3.5", ("qwen3-xml",), starts_open=True),
    r"qwen-?3.{0,99}thinking|qwq|qvq": Profile(
        "qwen3-thinking", ("hermes",), starts_open=True
    ),
    r"qwen-?4": Profile("qwen4", ("hermes", "qwen3-xml"), starts_open=True),
    r"qwen-?[23]|hermes": Profile("qwen3", ("hermes",)),
    r"smollm-?3": Profile("smollm3", ("hermes",)),
    r"deepseek.{0,99}v(3\.2|4)": Profile(
        "deepseek-v3.2", ("deepseek-dsml", "deepseek-v31"), starts_open=True
    ),
    r"deepseek.{0,99}v3\.1": Profile(
        "deepseek-v3.1", ("deepseek-v31",), starts_open=True
    ),
    r"deepseek|cogito": Profile("deepseek-v3", ("deepseek-v3",)),
    r"minimax-?m3": Profile("minimax-m3", ("minimax-m3",), starts_open=True),
    r"minimax-?m2": Profile("minimax-m2", ("minimax-m2",), starts_open=True),
    r"minimax-?m1": Profile("minimax-m1", ("minimax-m1",)),
    r"seed-?oss": Profile("seed-oss", ("seed-oss",), starts_open=True),
    r"magistral|mi(ni)?stral|mixtral|(devs|codes|maths|pix|vox)tral": Profile(
        "mistral", ("mistral",)
    ),
    r"kimi-?k3": Profile("kimi-k3", ("kimi-k3",), starts_open=True),
    r"kimi.{0,99}(thinking|k2\.[5-9])": Profile(
        "kimi-thinking", ("kimi-k2",), starts_open=True
    ),
    r"kimi": Profile("kimi", ("kimi-k2",)),
    r"glm-?(4\.[5-9]|[5-9]|z1)": Profile("glm", ("glm",), starts_open=True),
    r"glm-?4": Profile("glm-4", ("glm",)),
    r"command-?(a|r7b|4)|north-?mini-?code": Profile(
        "cohere", ("cohere",), starts_open=True
    ),
    r"command-?r|cohere": Profile("command-r", ("cohere",)),
    r"apertus": Profile("apertus", ("apertus",)),
    r"apriel": Profile("apriel", ("apriel",), starts_open=True),
    r"nemotron-?3": Profile("nemotron-3", ("qwen3-xml",), starts_open=True),
    r"nemotron": Profile("nemotron", ("nemotron-json",), starts_open=True),
    r"olmo-?3.{0,99}think": Profile("olmo3-think", ("olmo3",), starts_open=True),
    r"olmo-?3": Profile("olmo3", ("olmo3",)),
    r"step-?3\.5": Profile("step3.5", ("qwen3-xml",), starts_open=True),
    r"step-?3": Profile("step3", ("step3",), starts_open=True),
    r"ernie-?4\.5.{0,99}thinking": Profile(
        "ernie-thinking", ("ernie",), starts_open=True
    ),
    r"ernie": Profile("ernie", ("ernie",)),
    r"hy-?[34]": Profile("hy3", ("hy3", "hunyuan"), starts_open=True),
    r"hunyuan": Profile("hunyuan", ("hunyuan", "hy3")),
    r"minicpm-?v": Profile("minicpm-v", ("minicpm-v",)),
    r"minicpm-?5": Profile("minicpm5", ("minicpm",), starts_open=True),
    r"functiongemma": Profile("functiongemma", ("functiongemma",)),
    r"gemma-?4": Profile(
        "gemma4", ("gemma4", "tool-code", "gemini-call"), starts_open=True
    ),
    r"gemma": Profile("gemma", ("gemma4", "tool-code", "gemini-call")),
    r"gemini": Profile("gemini", ("gemini-call", "tool-code")),
    r"granite": Profile("granite", ("granite",)),
    r"phi-?4|firefunction": Profile("phi4", ("phi4-json",)),
    r"jamba": Profile("jamba", ("jamba",)),
    r"llama-?4": Profile("llama4", ("pythonic", "llama3-json")),
    r"functionary": Profile("functionary", ("functionary",)),
    r"xlam": Profile("xlam", ("llama3-json",)),
    r"llama": Profile("llama3", ("llama3-json", "pythonic")),
    r"lfm-?2": Profile("lfm2", ("lfm2",)),
    r"gigachat.{0,99}reasoning": Profile(
        "gigachat-reasoning", ("gigachat",), starts_open=True
    ),
    r"gigachat": Profile("gigachat", ("gigachat",)),
    r"intern-?lm-?2": Profile("internlm2", ("internlm2",)),
    r"longcat": Profile("longcat", ("longcat",)),
    r"laguna": Profile("laguna", ("glm", "qwen3-xml", "laguna"), starts_open=True),
    r"mimo.{0,99}2\.6": Profile("mimo-2.6", ("qwen3-xml",), starts_open=True),
    r"mimo": Profile("qwen3-xml", ("qwen3-xml",)),
    r"\b(ling|ring)-?3": Profile("ling3", ("ling", "hermes"), starts_open=True),
    r"berrylm": Profile("berrylm", starts_open=True),
    r"reka-?edge": Profile("reka-edge", ("hermes",), starts_open=True),
    r"bielik": Profile("bielik", ("hermes",), starts_open=True),
    r"intern-?s1|exaone": Profile("hermes", ("hermes",)),
    r"k2-?(horizon|v3)": Profile("k2-horizon", ("k2-horizon",)),
    r"solar": Profile("solar", ("solar",)),
    r"inkling": Profile("inkling", ("inkling",)),
    r"plamo-?3": Profile("plamo3", ("plamo",), starts_open=True),
    r"plamo": Profile("plamo", ("plamo",)),
    r"sarashina": Profile("sarashina", ("sarashina",)),
    r"pangu": Profile("pangu", ("pangu",)),
    r"step-audio": Profile("step-audio", ("step-audio",)),
    r"hyperclova.{0,99}seed": Profile(
        "hyperclova-seed", ("hyperclova",), starts_open=True
    ),
    r"hyperclova": Profile("hyperclova", ("hyperclova",)),
    r"rwkv": Profile("rwkv", ("rwkv",)),
    r"\bcwm\b": Profile("cwm", ("cwm",)),
    r"\bdots\b": Profile("dots", ("dots",)),
    r"xingchen-?4|telechat-?4": Profile("telechat4", ("telechat",), starts_open=True),
    r"telechat": Profile("telechat", ("telechat",)),
    r"iquest": Profile("iquest", ("iquest",)),
    r"\bgrok": Profile("grok", ("grok",)),
    r"claude": Profile("claude", ("anthropic-xml", "claude-citations")),
}

_CUMULATIVE = {
    name: frozenset(("reasoning_content", "reasoning_details"))
    for name in ("minimax-m2", "minimax-m3")
}
"""Profile -> fields of reasoning in which a delta may repeat everything so far.

MiniMax's own example for streams cuts off the known part (platform.minimax.io, "OpenAI
API Compatible"); recorded in can1357/oh-my-pi#2434. Some of its servers send fragments
instead (MiniMax-AI/MiniMax-M2#95), which do not begin with everything so far.
"""

_PATTERNS = tuple(
    (patterns.compile(pattern), profile) for pattern, profile in _ROWS.items()
)
PROFILES: tuple[Profile, ...] = (DEFAULT, *_ROWS.values())


@lru_cache(maxsize=256)
def profile_of(model: str | None, provider: str | None) -> Profile:
    """The profile for the name of the ``model``, else of the ``provider``."""
    for name in filter(None, (model, provider)):
        text = name.lower().replace("_", "-").replace(" ", "-")[:200]
        for pattern, profile in _PATTERNS:
            if pattern.search(text):
                return profile
    return DEFAULT


def cumulative_fields(profile: Profile) -> frozenset[str]:
    """The fields in which ``profile``'s models repeat all reasoning so far."""
    return _CUMULATIVE.get(profile.name, frozenset())
