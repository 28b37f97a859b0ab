"""Outputs that serving engines' own grammars allow: we read the calls in them.

``python3 tests/grammars.py [--count 80] [--seed 0]`` draws outputs from the structural
tags that xgrammar has built in, so many of each family: reasoning, prose, calls with
arguments of every type. What stands in a call is drawn first, so the expected calls
are exact. Each output is read whole and by character. It prints how many are right and
the first that is not of each family, and exits with 1 where more are wrong than
`ARGUED` says.

xgrammar is installed into a folder of its own, without what it asks for beside
pydantic: its tags are plain models, and torch is not needed to read them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

from environment import ROOT, enter

HOME = ROOT / ".venv-grammars"
PACKAGES = ("xgrammar==0.2.8", "pydantic>=2.9")

ARGUED = ("llama",)
"""Bare JSON behind prose on the same line is text (text rule 11.6)."""

MODELS = {
    "llama": "meta-llama/Llama-3.1-8B-Instruct",
    "kimi": "moonshotai/Kimi-K2-Thinking",
    "kimi_k3": "moonshotai/Kimi-K3",
    "deepseek_r1": "deepseek-ai/DeepSeek-R1",
    "deepseek_v3_1": "deepseek-ai/DeepSeek-V3.1",
    "deepseek_v3_2": "deepseek-ai/DeepSeek-V3.2",
    "deepseek_v4": "deepseek-ai/DeepSeek-V4",
    "deepseek_v4_1": "deepseek-ai/DeepSeek-V4.1",
    "qwen_3": "Qwen/Qwen3-32B",
    "qwen_3_5": "Qwen/Qwen3.5-27B",
    "qwen_3_coder": "Qwen/Qwen3-Coder-30B",
    "mimo": "XiaomiMiMo/MiMo-2.6",
    "harmony": "openai/gpt-oss-120b",
    "minimax": "MiniMaxAI/MiniMax-M2",
    "minimax_m3": "MiniMaxAI/MiniMax-M3",
    "glm_4_7": "zai-org/GLM-4.7",
    "cohere": "CohereLabs/command-a-reasoning-08-2025",
    "exaone": "LGAI-EXAONE/EXAONE-4.0-32B",
}
"""Family of xgrammar -> a model that writes so."""

_TEXTS = {"type": "array", "items": {"type": "string"}}
_DEEP = {"type": "object", "properties": {"deep": {"type": "boolean"}}}
SCHEMAS: dict[str, dict[str, Any]] = {
    "get_weather": {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer"},
            "tags": _TEXTS,
            "opt": _DEEP,
        },
        "required": ["city"],
    },
    "run-sql": {
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "limit": {"type": "number"},
            "dry": {"type": "boolean"},
        },
        "required": ["query"],
    },
    "now": {"type": "object", "properties": {}},
}
TEXTS = (
    *("Paris", 'a "quoted" word', "x < y && z > 1", "line\nbreak", "ümlaut 🌿", ""),
    *('{"a": 1}', "</b> tag", "it's", "SELECT * FROM t WHERE a=1", "C:\\path"),
    *("  blanks ", "[1, 2]", "true", "5"),
)
PROSE = ("", "I look.", "First:\n", "Use `x`.", "Sure:\n\n", "**Plan**: go.")
THOUGHTS = ("I think.", "It is rain.\nSo I call it.", "", 'Hm "maybe" (yes).')


def _drawn(schema: dict[str, Any], chance: Random) -> Any:
    """A value that fits the schema."""
    match schema["type"]:
        case "string":
            return chance.choice(TEXTS)
        case "integer":
            return chance.randint(-5, 500)
        case "number":
            return chance.choice([1, 2.5, -3, 1e3])
        case "boolean":
            return chance.random() < 0.5
        case "array":
            return [
                _drawn(schema["items"], chance) for _ in range(chance.randint(0, 3))
            ]
    required = schema.get("required", ())
    members = schema["properties"].items()
    return {
        key: _drawn(each, chance)
        for key, each in members
        if key in required or chance.random() < 0.6
    }


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _nested(key: str, value: Any) -> str:
    """A value of Cohere's."""
    name = f' name="{key}"' if key else ""
    members: list[tuple[str, Any]] = []
    if isinstance(value, dict | list):
        is_list = isinstance(value, list)
        kind = "list" if is_list else "dict"
        members = [("", each) for each in value] if is_list else [*value.items()]
    else:
        kind = "raw" if isinstance(value, str) else "json"
    inner = "".join(_nested(*each) for each in members)
    inner = _text(value) if kind in ("raw", "json") else inner
    return f'<cofl:value{name} type="{kind}">{inner}</cofl:value>'


def _tree(key: str, value: Any) -> str:
    """A parameter of MiniMax-M3's."""
    token, inner = "]<]minimax[>[", _text(value)
    if isinstance(value, dict):
        inner = "".join(_tree(*each) for each in value.items())
    elif isinstance(value, list):
        inner = "".join(_tree("item", each) for each in value)
    return f"{token}<{key}>{inner}{token}</{key}>"


def _dsml(tag: str, key: str, value: Any) -> str:
    kind = "true" if isinstance(value, str) else "false"
    return f'<{tag} name="{key}" string="{kind}">{_text(value)}</{tag}>\n'


def _argument(key: str, kind: str, text: str) -> str:
    """An argument of Kimi K3's."""
    opener = f'<|open|>argument key="{key}" type="{kind}"<|sep|>'
    return f"{opener}{text}<|close|>argument<|sep|>"


def _kind(value: Any) -> str:
    kinds = {str: "string", bool: "boolean", list: "array", dict: "object"}
    return kinds.get(type(value), "number")


STYLES: dict[str, Any] = {
    "qwen_xml": lambda key, value: f"\n<parameter={key}>\n{_text(value)}\n</parameter>",
    "glm_xml": lambda key, value: (
        f"<arg_key>{key}</arg_key><arg_value>{_text(value)}</arg_value>"
    ),
    "minimax_xml": lambda key, value: (
        f'<parameter name="{key}">{_text(value)}</parameter>\n'
    ),
    "kimi_k3_xml": lambda key, value: _argument(key, _kind(value), _text(value)),
    "deepseek_xml": lambda key, value: _dsml("｜DSML｜parameter", key, value),
    "deepseek_v4_1_xml": lambda key, value: _dsml("｜DSML｜ parameter", key, value),
    "cohere_xml": _nested,
    "minimax_m3_xml": _tree,
}
"""Style of a schema -> how it writes an argument."""


class Drawing:
    """One output of a family's tag, and the ``calls`` in it."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.calls: list[tuple[str, Any]] = []

    def draw(self, tag: dict[str, Any], *, thinks: bool = False) -> str:
        """The text of a tag; the kinds are those of xgrammar's ``structural_tag``."""
        some = self.chance.choice
        match tag["type"]:
            case "const_string":
                return str(tag["value"])
            case "regex":
                return "0"  # a number, as all of them are
            case "any_text":
                return some(THOUGHTS if thinks else PROSE)
            case "optional":
                return self.draw(tag["content"]) if some([True, False]) else ""
            case "or":
                return self.draw(some(tag["elements"]))
            case "json_schema":
                return self._arguments(tag)
            case "tag":
                edges = f"{tag['begin']}{tag['end']}".lower()
                thinks = thinks or "think" in edges or "analysis" in edges
                return (
                    tag["begin"]
                    + self.draw(tag["content"], thinks=thinks)
                    + (tag["end"] if isinstance(tag["end"], str) else some(tag["end"]))
                )
            case "sequence":
                return "".join(
                    self.draw(each, thinks=thinks) for each in tag["elements"]
                )
        least = tag["type"] == "tags_with_separator"
        count = self.chance.randint(least, 3)
        drawn = [self.draw(some(tag["tags"])) for _ in range(count)]
        return ("" if least else some(PROSE)) + tag.get("separator", "").join(drawn)

    def _arguments(self, tag: dict[str, Any]) -> str:
        schema, style = tag["json_schema"], tag["style"]
        name = next(name for name, each in SCHEMAS.items() if each == schema)
        drawn = _drawn(schema, self.chance)
        self.calls.append((name, drawn))
        if style == "json":
            indent = self.chance.choice([None, None, 1])
            is_plain = self.chance.random() < 0.7
            return json.dumps(drawn, ensure_ascii=is_plain, indent=indent)
        return "".join(STYLES[style](*each) for each in drawn.items())


def outputs(count: int, seed: int) -> Iterator[tuple[str, str, list[tuple[str, Any]]]]:
    """Family, text and calls."""
    tag_of = _tags().get_model_structural_tag
    tools = [
        {"type": "function", "function": {"name": name, "parameters": schema}}
        for name, schema in SCHEMAS.items()
    ]
    for family in MODELS:
        for number in range(count):
            chance = Random(f"{seed} {family} {number}")
            asked = {
                "tool_choice": chance.choice(["auto", "auto", "required"]),
                "reasoning": chance.choice(["enabled", "disabled"]),
            }
            tag = tag_of(family, tools=tools, **asked).model_dump()
            drawing = Drawing(chance)
            yield family, drawing.draw(tag["format"]), drawing.calls


def _tags() -> Any:
    """xgrammar's module of tags, without its native part."""
    if not HOME.exists():
        pip = [sys.executable, "-m", "pip", "install", "-q", "--target", str(HOME)]
        first, *others = PACKAGES
        subprocess.run([*pip, "--no-deps", first], check=True)
        subprocess.run([*pip, *others], check=True)
    sys.path.append(str(HOME))
    package = ModuleType("xgrammar")
    package.__path__ = [str(HOME / "xgrammar")]
    sys.modules["xgrammar"] = package
    from importlib import import_module

    return import_module("xgrammar.builtin_structural_tag")


def _read(model: str, chunks: list[str]) -> list[tuple[str, Any]]:
    """The whole calls that come of the chunks."""
    from stream_sidecar import Stream

    tools = [{"name": name, "inputSchema": each} for name, each in SCHEMAS.items()]
    stream = Stream(wire="text", model=model, tools=tools)
    for chunk in chunks:
        stream.push(chunk)
    calls = stream.close().message.tool_calls or ()
    return [(each.name, each.input) for each in calls if each.state == "complete"]


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--count", type=int, default=80)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    all_, wrong = Counter[str](), Counter[str]()
    for family, text, calls in outputs(given.count, given.seed):
        all_[family] += 1
        read = [_read(MODELS[family], way) for way in ([text], [*text])]
        if read != [calls, calls]:
            wrong[family] += 1
            if wrong[family] == 1:
                print(f"{family}: {text!r}\n  {calls}\n  {read[0]}")
    for family, count in all_.items():
        print(f"{family}: {count - wrong[family]} of {count}")
    print(f"{all_.total() - wrong.total()} of {all_.total()}")
    return int(bool({*wrong} - {*ARGUED}))


if __name__ == "__main__":
    code = enter(str(Path(__file__)), "test")
    sys.exit(main() if code is None else code)
