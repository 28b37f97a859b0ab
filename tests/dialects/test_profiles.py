"""Names of models as OpenRouter, Hugging Face, Ollama and the providers write them."""

from __future__ import annotations

import pytest

from stream_sidecar.dialects import DIALECTS
from stream_sidecar.dialects.profiles import PROFILES, profile_of

NAMES = {
    "default": ["gpt-5.1", "openai/gpt-4o-mini", "some-new-model", ""],
    "gpt-oss": ["openai/gpt-oss-120b", "gpt-oss:20b", "openai/gpt-oss-20b:free"],
    "muse": ["muse-glimmer", "meta/Muse-Glimmer-1.0"],
    "qwen3": ["Qwen/Qwen3-30B-A3B", "qwen3:8b", "qwen/qwen3-32b", "qwen2.5:7b"],
    "qwen3-thinking": [
        *("Qwen/Qwen3-235B-A22B-Thinking-2507", "qwq:32b", "qwen3:30b-a3b-thinking"),
        *("qwen/qwen3-vl-8b-thinking", "qwen-3-235b-a22b-thinking-2507"),
    ],
    "qwen3-coder": ["qwen/qwen3-coder:free", "Qwen/Qwen3-Coder-480B-A35B-Instruct"],
    "qwen3.5": ["Qwen/Qwen3.5-397B-A17B", "qwen3.6:35b"],
    "deepseek-r1": [
        *("deepseek/deepseek-r1-0528:free", "deepseek-r1:14b", "deepseek-reasoner"),
        *("deepseek-ai/DeepSeek-R1-Distill-Qwen-32B", "deepseek-r1-0528-qwen3-8b"),
    ],
    "deepseek-v3": ["deepseek-ai/DeepSeek-V3-0324", "deepseek-chat"],
    "deepseek-v3.1": ["deepseek/deepseek-chat-v3.1", "deepseek-v3.1:671b"],
    "deepseek-v3.2": ["deepseek/deepseek-v3.2-exp", "deepseek-ai/DeepSeek-V4"],
    "minimax-m2": ["MiniMaxAI/MiniMax-M2", "minimax/minimax-m2.1:free"],
    "minimax-m3": ["minimax-m3", "MiniMaxAI/MiniMax-M3"],
    "minimax-m1": ["MiniMaxAI/MiniMax-M1-80k"],
    "seed-oss": ["ByteDance-Seed/Seed-OSS-36B-Instruct"],
    "mistral": [
        *("mistralai/Magistral-Small-2509", "devstral:24b", "mistral-large"),
        *("ministral-3:8b", "mistralai/Ministral-3-14B-Reasoning-2512", "pixtral-12b"),
    ],
    "kimi": ["moonshotai/Kimi-K2-Instruct-0905", "kimi-k2:1t-cloud"],
    "kimi-k3": ["moonshotai/Kimi-K3", "kimi-k3:cloud"],
    "kimi-thinking": ["moonshotai/Kimi-K2-Thinking", "kimi-k2.5"],
    "glm": ["zai-org/GLM-4.6", "z-ai/glm-4.5-air:free", "glm-5", "glm-4.7-flash"],
    "glm-4": ["THUDM/glm-4-9b-chat", "glm4:9b"],
    "laguna": ["poolside/Laguna-XS.2", "laguna-s"],
    "hy3": ["tencent/Hy3-preview", "hy4"],
    "hunyuan": ["tencent/Hunyuan-A13B-Instruct"],
    "minicpm5": ["openbmb/MiniCPM5-8B"],
    "reka-edge": ["RekaAI/reka-edge-2603"],
    "bielik": ["speakleash/Bielik-11B-v3.0-Instruct"],
    "cohere": ["CohereLabs/command-a-reasoning-08-2025", "command-r7b-12-2024"],
    "command-r": ["command-r-plus"],
    "apertus": ["swiss-ai/Apertus-70B-Instruct-2509"],
    "apriel": ["ServiceNow-AI/Apriel-1.5-15b-Thinker"],
    "nemotron": ["nvidia/nemotron-nano-9b-v2:free"],
    "nemotron-3": ["nvidia/Nemotron-3-Nano-30B-A3B"],
    "gemma4": ["google/gemma-4-31b-it", "gemma4:e4b"],
    "gemma": ["gemma3:12b", "google/gemma-3n-e4b-it"],
    "functiongemma": ["google/functiongemma-270m-it"],
    "gemini": ["google/gemini-2.5-pro", "gemini-3-flash-preview"],
    "granite": ["ibm-granite/granite-3.3-8b-instruct", "granite4:small-h"],
    "phi4": ["microsoft/Phi-4-mini-instruct", "phi4-mini"],
    "llama4": ["meta-llama/Llama-4-Maverick-17B-128E-Instruct"],
    "llama3": ["meta-llama/Llama-3.3-70B-Instruct", "llama3.1:8b"],
    "lfm2": ["LiquidAI/LFM2-8B-A1B", "lfm2.5-thinking:1.2b"],
    "ernie": ["baidu/ERNIE-4.5-21B-A3B-PT"],
    "ernie-thinking": ["baidu/ernie-4.5-21b-a3b-thinking"],
    "step3.5": ["stepfun-ai/Step-3.5-Flash", "stepfun/step-3.5-flash:free"],
    "olmo3-think": ["allenai/Olmo-3-32B-Think", "olmo-3.1:32b-think"],
    "hermes": ["internlm/Intern-S1", "LGAI-EXAONE/EXAONE-4.0-32B"],
    "k2-horizon": ["LLM360/K2-Horizon"],
    "solar": ["upstage/Solar-Open-100B", "upstage/solar-pro-3:free"],
    "inkling": ["thinkingmachines/Inkling"],
    "plamo3": ["pfnet/plamo-3-nict-31b-base", "plamo-3.0-prime-beta"],
    "plamo": ["pfnet/plamo-2.1-8b-cpt"],
    "sarashina": ["sbintuitions/sarashina2.2-3b-instruct-v0.1"],
    "pangu": ["openPangu-Embedded-7B"],
    "step-audio": ["stepfun-ai/Step-Audio-2-mini"],
    "hyperclova": ["HyperCLOVA X DASH-002"],
    "hyperclova-seed": ["naver-hyperclovax/HyperCLOVAX-SEED-Think-14B"],
    "rwkv": ["RWKV/RWKV7-Goose-World3-2.9B"],
    "cwm": ["facebook/cwm"],
    "dots": ["rednote-hilab/dots.llm1.inst"],
    "telechat4": ["Tele-AI/TeleChat4", "XingChen4-Pro"],
    "telechat": ["Tele-AI/TeleChat3-36B"],
    "gigachat-reasoning": ["ai-sage/GigaChat-3.5-Reasoning"],
    "qwen4": ["Qwen/Qwen4-32B"],
    "mimo-2.6": ["XiaomiMiMo/MiMo-V2.6"],
    "ling3": ["inclusionAI/Ling-3.0-flash", "inclusionAI/Ring-3-1T"],
    "berrylm": ["BerryLM-8B"],
    "grok": ["x-ai/grok-4", "cursor-grok-4.6-fast"],
    "iquest": ["IQuestLab/IQuest-Coder-V1-40B-Instruct"],
    "qwen3-xml": ["XiaomiMiMo/MiMo-V2-Flash", "xiaomi/mimo-v2-flash:free"],
    "claude": ["anthropic/claude-opus-4.5", "claude-sonnet-4-5-20250929"],
}


@pytest.mark.parametrize("profile", NAMES)
def test_names(profile: str) -> None:
    wrong = {n: profile_of(n, None).name for n in NAMES[profile]}
    assert {name: got for name, got in wrong.items() if got != profile} == {}


OPENED = [
    *("zai-org/GLM-4.5", "glm-5.3", "z-ai/glm-4.7-flash", "poolside/laguna-s"),
    *("tencent/Hy3-preview", "MiniMax-M2.7", "minimax-m3", "MiniCPM5-1B"),
    *("deepseek-v3.1:671b", "deepseek/deepseek-v3.2-exp", "DeepSeek-V4.1"),
    *("kimi-k2-thinking", "google/gemma-4-26b-a4b-it", "qwen3.5:9b"),
    *("Qwen/Qwen3-Next-80B-A3B-Thinking", "reka-edge", "Bielik-11B-v3.0"),
    *("nvidia/Nemotron-3-Nano-30B-A3B", "stepfun-ai/Step-3.5-Flash", "deepseek-r1:14b"),
    *("DeepSeek-R1-Distill-Llama-8B", "Seed-OSS-36B", "command-a-reasoning-08-2025"),
]
"""Models whose chat template opens the reasoning, always or where a setting says so."""

NOT_OPENED = [
    *("", "gpt-oss:20b", "qwen3:8b", "qwen3-coder", "deepseek-chat", "magistral-small"),
    *("kimi-k2", "glm-4-9b-chat", "gemma3:12b", "gemini-2.5-pro", "claude-opus-4.5"),
    *("granite4", "hunyuan-a13b", "mimo-v2.5", "llama3.1:8b"),
]


def test_which_templates_open_reasoning() -> None:
    assert [name for name in OPENED if not profile_of(name, None).starts_open] == []
    assert [name for name in NOT_OPENED if profile_of(name, None).starts_open] == []


def test_the_provider_is_asked_second() -> None:
    assert profile_of("granite4", "Qwen3").name == "granite"
    assert profile_of("my-model", "Moonshot Kimi").name == "kimi"


def test_every_profile_names_known_dialects() -> None:
    assert {name for each in PROFILES for name in each.dialects} <= set(DIALECTS)
