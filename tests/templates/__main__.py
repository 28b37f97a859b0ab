"""What Hugging Face's own parser makes of response templates, beside what we make.

``python3 tests/templates`` writes ``data/response_templates.json``: what
``transformers.utils.chat_parsing`` reads in the texts of `template_texts`, by the
templates that ``stream-sidecar dialects --format response-template`` writes. The tests
compare with that.
``python3 tests/templates FILE`` reads the templates and the texts in transformers'
own test of that module (``test_chat_parsing``), whole and by character, prints what
differs, and exits with 1 where that is not `ARGUED`.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from environment import ROOT, enter

DATA = ROOT / "tests" / "data" / "response_templates.json"

ARGUED = {
    # `^` opens reasoning, so theirs keeps the opener that comes; ours takes it out
    # (text rule 9.1).
    "ernie",
    # `join` stands between blocks; ours adds nothing to a text.
    "test_join_concatenates_repeated_matches",
    # Theirs raises for a text that is not as it should be; ours never does.
    "test_join_requires_string_matches",
    "test_optional_false_raises_when_missing",
    # A field that is neither reasoning, answer nor calls: its text stays in the answer
    # (text rule 2.1).
    "test_int_content_parser",
    "test_kv_lines_parser",
    "test_non_tool_call_regions_are_untouched",
}
"""What differs by a rule of ours."""


def main(words: list[str]) -> int:
    sys.path.insert(0, str(ROOT / "tests" / "support"))
    if words:
        return _compare(Path(words[0]))
    from template_texts import FAMILIES, template, texts

    found = {
        family: {
            kind: theirs(text, template(family)) for kind, text in texts(family).items()
        }
        for family in FAMILIES
    }
    text = json.dumps(found, ensure_ascii=False, indent=1)
    DATA.write_text(f"{text}\n", encoding="utf-8", newline="\n")
    return 0


def theirs(text: str, template: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """What transformers reads."""
    from template_texts import plain
    from transformers.utils.chat_parsing import parse_response

    try:
        found = parse_response(text, template, prefix=prefix)
    except ValueError as reason:
        return {"error": str(reason).partition("\n")[0]}
    calls = found.get("tool_calls") or []
    named = [each["function"] for each in _flat(calls)]
    pairs = [[each["name"], each["arguments"]] for each in named]
    return plain(found.get("thinking"), found.get("content"), pairs)


def _flat(calls: list[Any]) -> list[Any]:
    """A list, or the lists that a field that repeats has."""
    return [
        one for each in calls for one in (each if isinstance(each, list) else [each])
    ]


def _ours(chunks: list[str], template: dict[str, Any]) -> dict[str, Any]:
    from template_texts import read_by

    from stream_sidecar.templates.anchors import TemplateError

    try:
        return read_by(chunks, template)
    except TemplateError as reason:
        return {"error": str(reason)}


def _are_refused(read: list[dict[str, Any]]) -> bool:
    """Whether nobody takes the template; each has words of its own for that."""
    return all("error" in each for each in read)


def _compare(file: Path) -> int:
    wrong: list[str] = []
    count = 0
    for name, template, text, prefix in _theirs_tests(file):
        count += 1
        known = theirs(text, template, prefix)
        ours = [_ours(way, template) for way in ([text], [*text])]
        if ours != [known, known] and not _are_refused([known, *ours]):
            wrong.append(name)
            print(f"{name}:\n  {known}\n  {ours[0]}")
    print(f"{count - len(wrong)} of {count}")
    return int(bool({*wrong} - ARGUED))


def _theirs_tests(file: Path) -> Iterator[tuple[str, dict[str, Any], str, str]]:
    """Name, template, text and prompt of the tests that read a text whole."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    named: dict[str, Any] = {}
    tables = [node for node in tree.body if isinstance(node, ast.Assign)]
    for node in tables:
        code = ast.Expression(node.value)
        (target,) = node.targets
        assert isinstance(target, ast.Name)
        try:
            named[target.id] = eval(compile(code, str(file), "eval"), {}, named)
        except NameError:
            continue  # made by a function of the file
    templates = {
        name: each for name, each in named.items() if name.endswith("_template")
    }
    for name, template, text in named.get("_STREAMING_FIXTURES", ()):
        yield name, template, text, ""
    for test in (each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)):
        own = _constants(test)
        for call in (each for each in ast.walk(test) if isinstance(each, ast.Call)):
            if getattr(call.func, "id", "") == "parse_response" and len(call.args) == 2:
                text = own.get(getattr(call.args[0], "id", ""), call.args[0])
                text = getattr(text, "value", text)
                name = getattr(call.args[1], "id", "")
                template = templates.get(name) or own.get(name)
                if isinstance(text, str) and isinstance(template, dict):
                    yield test.name, template, text, str(own.get("prefix", ""))


def _constants(test: ast.FunctionDef) -> dict[str, Any]:
    found = {}
    for node in test.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                found[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:
                continue
    return found


if __name__ == "__main__":
    code = enter(str(Path(__file__)), "templates")
    sys.exit(main(sys.argv[1:]) if code is None else code)
