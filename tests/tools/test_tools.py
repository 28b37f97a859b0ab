"""Tool calls: assembly of fragments, argument text, classification, kinds, checks."""

from __future__ import annotations

import json
import sys
from types import ModuleType
from typing import Any

import pytest
from places import TESTS

from stream_sidecar.events import ToolCall
from stream_sidecar.options import Tool
from stream_sidecar.parts import CallEndPart, CallPart
from stream_sidecar.tools import checks
from stream_sidecar.tools.arguments import ArgumentText
from stream_sidecar.tools.assemble import CallAssembler, OpenCall
from stream_sidecar.tools.checks import check_call
from stream_sidecar.tools.classify import CallContext, classify, from_item, settle_call
from stream_sidecar.tools.judging import is_cut, judge
from stream_sidecar.tools.kinds import Kind, kind_of
from stream_sidecar.values.made_id import made_id

DATA = TESTS / "data"


def rows(name: str) -> list[Any]:
    """The rows of a table, each named by its ``name``."""
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    return [pytest.param(row, id=row["name"]) for row in found]


class Collector:
    """Drives an assembler as the stream does, and checks what holds for every call."""

    def __init__(self, limit: int) -> None:
        self.assembler = CallAssembler(0, limit, "call_{}".format)
        self.deltas: list[str] = []
        self.calls: list[OpenCall] = []
        self.sent: dict[int, str] = {}

    def push(self, step: Any) -> None:
        if step == "finish":
            self.end(self.assembler.finish())
        elif "end" in step:
            self.end(self.assembler.end(CallEndPart(**step["end"])))
        else:
            for call, delta in self.assembler.push(CallPart(**step)):
                assert call.id
                assert call.name
                self.deltas.append(f"{call.id}:{delta}")
                self.send(call, delta)
                if call.ended:
                    assert call.rest == ""
                    self.end([call])

    def end(self, calls: list[OpenCall]) -> None:
        for call in calls:
            assert call.ended
            self.send(call, call.rest)
        self.calls.extend(calls)

    def send(self, call: OpenCall, delta: str) -> None:
        self.sent[id(call)] = self.sent.get(id(call), "") + delta


@pytest.mark.parametrize("row", rows("tool_fragments.jsonl"))
def test_fragments_become_calls(row: dict[str, Any]) -> None:
    collector = Collector(row.get("limit", 1_000_000))
    for step in [*row["parts"], "finish"]:
        collector.push(step)
    calls = collector.calls
    assert [[call.id, call.name, call.arguments] for call in calls] == row["calls"]
    if "deltas" in row:
        assert collector.deltas == row["deltas"]
    if not row.get("differs"):
        assert [collector.sent[id(call)] for call in calls] == [
            call.arguments for call in calls
        ]
    reports = collector.assembler.take_reports()
    assert [[r.code, r.raw] for r in reports] == row.get("reports", [])
    assert [call.cut for call in calls] == [row.get("cut", False)] * len(calls)
    assert all(call.id_synthetic == call.id.startswith("call_c") for call in calls)
    assert collector.assembler.take_reports() == []
    assert collector.assembler.finish() == []


def test_calls_carry_what_their_fragments_say() -> None:
    assembler = CallAssembler(2, 1_000, "call_{}".format)
    opaque = {"a": 1}
    fragments = (
        CallPart(index=0, name="n", type="t", caller={"type": "direct"}, opaque=opaque),
        CallPart(index=0, executor="server", opaque={"b": 2}, raw={"x": 1}),
        CallPart(index=0, opaque={"c": 3}),
    )
    for fragment in fragments:
        assembler.push(fragment)
    (call,) = assembler.finish()
    assert call.id == "call_c1"
    assert (call.choice, call.type, call.caller) == (2, "t", {"type": "direct"})
    assert (call.executor, call.raw) == ("server", {"x": 1})
    assert call.opaque == {"a": 1, "b": 2, "c": 3}
    assert opaque == {"a": 1}
    assert call.bare
    assembler.push(CallPart(key=1, id="c", name="n", opaque="s"))
    assembler.push(CallPart(key=1, opaque=[1]))
    (call,) = assembler.end(CallEndPart(key=1))
    assert call.opaque == [1]
    assert call.bare
    assembler.push(CallPart(key=2, id="d", name="n", arguments="{}"))
    (call,) = assembler.end(CallEndPart(key=2))
    assert not call.bare


VALUES = (
    '{"a": [1, -2.5e+10, true, null, "x\\u12ab\\n\\"y", {"b": {}}], "c": "d"}',
    "[[], {}, [{}], 0, -0.5E-3, false]",
    '{ "é" : "😀" , "b":[ ] }',
    '"abc"',
)
NO_PREFIXES = (
    *("}", "]", ",", ":", "tru e", "nulll", "01", "1.e", "--1", "\\q", "x", "1 2"),
    *('{"a":1}}', "{a", '{"a" 1', "[1 2", '{"a":1,}', "[1,]", '{"a":01', '"a\nb'),
    *('{"a":}', "{,", "[,", '{"a":1}{"b"', "{]", '{"a":[1}', '{"a":1.e', "{1"),
    *('{"a"]', '{"x":Na', '{"a":1"b', '"a" "b', '{"a","b"', "[}", '"a":', "1,"),
)


@pytest.mark.parametrize("text", VALUES)
def test_every_cut_of_a_value_is_truncated(text: str) -> None:
    assert judge(text) == ("complete", json.loads(text))
    assert not is_cut(text)
    for end in range(1, len(text)):
        if not text[end:].strip():
            continue
        state, value = judge(text[:end])
        assert (state, value) == ("truncated", None), text[:end]


@pytest.mark.parametrize("text", NO_PREFIXES)
def test_what_cannot_become_a_value_is_invalid(text: str) -> None:
    assert judge(text) == ("invalid", None)


def test_argument_text_keeps_to_its_limit() -> None:
    text = ArgumentText(4)
    assert text.push('{"ab') == '{"ab'
    assert text.push("cd") == ""
    assert (text.cut, text.text, text.length) == ("cd", '{"ab', 4)
    assert text.close() == ""


@pytest.mark.parametrize("row", rows("tool_calls.jsonl"))
def test_calls_are_classified(row: dict[str, Any]) -> None:
    context = dict(row["context"])
    if "tools" in context:
        context["tools"] = {tool["name"]: Tool(**tool) for tool in context["tools"]}
    event = classify(OpenCall(**row["call"]), CallContext(**context), seq=5)
    got = {name: getattr(event, name) for name in row["expect"]}
    assert got == row["expect"]
    assert event.seq == 5


def test_a_late_result_settles_who_ran_a_call() -> None:
    call = OpenCall(id="c1", name="find", arguments="{}")
    event = classify(call, CallContext())
    assert (event.executor, event.executable) == ("client", True)
    final = settle_call(event, call, CallContext(results={"c1"}))
    assert (final.executor, final.awaits, final.executable) == ("server", "none", False)


ITEMS = (
    (
        {"id": "c1", "type": "function", "function": {"name": "a", "arguments": "{}"}},
        ("c1", False, "a", "{}", "json", None),
    ),
    (
        {"name": "a", "args": {"b": [1]}},
        (made_id("4"), True, "a", '{"b":[1]}', "json", None),
    ),
    (
        {"type": "web_search_call", "call_id": "", "id": "ws_1"},
        ("ws_1", False, "web_search", "{}", "json", None),
    ),
    (
        {"type": "local_shell_call", "call_id": "c", "action": {"command": ["ls"]}},
        ("c", False, "local_shell", '{"command":["ls"]}', "json", None),
    ),
    (
        {"type": "mcp_call", "id": "mcp_1", "arguments": "{}"},
        ("mcp_1", False, "", "{}", "json", None),
    ),
    (
        {"functionCall": {"name": "n", "args": {"a": 1}}, "thoughtSignature": "s"},
        (made_id("4"), True, "n", '{"a":1}', "json", None),
    ),
    (
        {"toolCall": {"toolType": "URL_CONTEXT", "id": "t", "args": {}}},
        ("t", False, "URL_CONTEXT", "{}", "json", None),
    ),
    (
        {"toolUse": {"toolUseId": "tooluse_1", "name": "n", "input": {"a": 1}}},
        ("tooluse_1", False, "n", '{"a":1}', "json", None),
    ),
    (
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "n"},
        ("call_1", False, "n", "{}", "json", None),
    ),
    (
        {"type": "custom", "id": "c", "custom": {"name": "n", "input": " x"}},
        ("c", False, "n", " x", "text", None),
    ),
    (
        {"id": "c", "name": "n", "input": " ", "execution": "server"},
        ("c", False, "n", "{}", "json", "server"),
    ),
    (
        {"id": 5, "name": None, "arguments": None, "function": "x", "executor": 1},
        (made_id("4"), True, "", "{}", "json", None),
    ),
)


@pytest.mark.parametrize(("item", "expected"), ITEMS)
def test_items_become_calls(item: dict[str, Any], expected: tuple[Any, ...]) -> None:
    call = from_item(item, 4)
    got = call.id, call.id_synthetic, call.name, call.arguments, call.format
    assert (*got, call.executor) == expected
    assert call.raw is item
    assert call.ended


def test_a_nested_call_stands_for_its_type() -> None:
    items: list[dict[str, Any]] = [
        {"functionCall": {"name": "n", "args": {}}},
        {"toolCall": {"toolType": "FILE_SEARCH"}},
        {"toolUse": {"toolUseId": "t", "name": "n", "type": "server_tool_use"}},
        {"toolUse": {"toolUseId": "t", "name": "n"}},
        {"type": "function", "function": {"name": "n"}},
        {"functionCall": None, "name": "n"},
    ]
    calls = [from_item(item, 1) for item in items]
    assert [call.type for call in calls] == [
        *("functionCall", "toolCall", "server_tool_use", "tool_use", "function", None)
    ]


READ_ONLY = {"readOnlyHint": True}
CLOSED = {"readOnlyHint": True, "openWorldHint": False}
KINDS = (
    # name, declared kind, annotations, type -> kind, source, mutating
    ("Bash", None, None, None, "execute", "table", True),
    ("read-file", None, None, None, "read", "table", False),
    ("functions.web_search", None, None, None, "search", "table", False),
    ("default_api:Read", None, None, None, "read", "table", False),
    ("mcp__files__delete_file", None, None, None, "delete", "table", True),
    ("think", None, None, None, "think", "table", False),
    ("task", None, None, None, "think", "table", None),
    ("exit_plan_mode", None, None, None, "switch-mode", "table", None),
    ("bash", "read", None, None, "read", "declared", True),
    ("frob", "edit", READ_ONLY, None, "edit", "declared", True),
    ("frob", "read", READ_ONLY, None, "read", "declared", False),
    ("frob", "read", None, None, "read", "declared", None),
    ("frob", "delete", None, None, "delete", "declared", True),
    ("frob", None, READ_ONLY, None, "fetch", "annotation", False),
    ("frob", None, CLOSED, None, "read", "annotation", False),
    ("delete_all", None, CLOSED, None, "read", "annotation", True),
    ("frob", None, {"readOnlyHint": False}, None, "other", "default", True),
    ("frob", None, {"destructiveHint": False}, None, "other", "default", True),
    ("frob", None, {"title": "Frob"}, None, "other", "default", None),
    ("frob", None, "odd", None, "other", "default", None),
    ("bash", None, READ_ONLY, None, "execute", "table", True),
    ("read_file", None, {"destructiveHint": True}, None, "read", "table", True),
    ("delete_search_index", None, None, None, "delete", "name", True),
    ("getIssue", None, None, None, "read", "name", None),
    ("HTTPPing", None, None, None, "fetch", "name", None),
    ("researcher", None, None, None, "other", "default", None),
    ("deploy_x", None, None, "function_call", "execute", "name", True),
    ("", None, None, "web_search_call", "search", "table", False),
    ("__", None, None, None, "other", "default", None),
    ("x" * 10_000 + "_delete", None, None, None, "other", "default", None),
)


@pytest.mark.parametrize(("name", "declared", "annotations", "type", *"ksm"), KINDS)
def test_kinds(
    name: str, declared: Any, annotations: Any, type: Any, k: str, s: str, m: Any
) -> None:
    tool = Tool(name, kind=declared, annotations=annotations)
    assert kind_of(name, tool, type) == Kind(k, s, m)  # type: ignore[arg-type]
    if declared is None and annotations is None:
        assert kind_of(name, None, type) == Kind(k, s, m)  # type: ignore[arg-type]


def test_the_table_of_kinds_holds_facts_once() -> None:
    text = (DATA.parent.parent / "sidecar/stream_sidecar/tools/kinds.csv").read_text(
        encoding="utf-8"
    )
    head, *lines = text.splitlines()
    names = [line.split(",")[0] for line in lines]
    known = {"read", "edit", "delete", "move", "search", "execute", "think", "fetch"}
    assert head == "tool,kind,mutating"
    assert names == sorted(set(names))
    assert all(name == name.lower() and "-" not in name for name in names)
    assert {line.split(",")[1] for line in lines} == known | {"switch-mode", "other"}


SCHEMA = {
    "type": "object",
    "required": ["path", 5],
    "properties": {
        "path": {"type": "string"},
        "lines": {"type": ["integer", "null"]},
        "ratio": {"type": "number"},
        "odd": {"type": "date"},
        "flag": {"type": "boolean"},
        "list": {"type": "array"},
        "any": True,
    },
}
CHECKS = (
    # arguments, schema -> messages
    ('{"path":"a","lines":1,"any":1,"odd":1}', SCHEMA, []),
    ('{"path":"a","lines":2.0,"ratio":1,"flag":true,"list":[]}', SCHEMA, []),
    (f'{{"path":"a","lines":{"9" * 30},"ratio":{"9" * 30}}}', SCHEMA, []),
    ('{"path":"a","lines":null}', SCHEMA, []),
    ("{}", SCHEMA, ["argument path is required"]),
    (
        '{"path":1,"lines":true,"flag":0,"list":{}}',
        SCHEMA,
        [
            "argument path is not of type string",
            "argument lines is not of type ['integer', 'null']",
            "argument flag is not of type boolean",
            "argument list is not of type array",
        ],
    ),
    (
        f'{{"path":"a","lines":1.5,"ratio":"{"9" * 30}"}}',
        SCHEMA,
        [
            "argument lines is not of type ['integer', 'null']",
            "argument ratio is not of type number",
        ],
    ),
    (f'{{"path":{"9" * 30}}}', SCHEMA, ["argument path is not of type string"]),
    ("[1]", SCHEMA, []),
    ("{}", {"type": "array"}, ["arguments: not of type array"]),
    ("[1]", {"required": "x", "properties": []}, []),
    ("{}", {"required": "x", "properties": []}, []),
    ("{}", None, []),
    ("{}", {"type": 5, "required": [f"{n}" for n in range(20)]}, 8),
    ('{"a":"x</content>\\n<parameter name=\\"b\\">"}', None, ["ENVELOPE a"]),
    ('{"a":[{"b":"</invoke>"},1],"c":"<b>"}', None, ["ENVELOPE a"]),
    ('{"a":"\\u003C/invoke>"}', None, ["ENVELOPE a"]),
    ('"</tool_call>"', None, []),
    ('{"a":"parameter name= and <invoke name=x>"}', None, []),
    ('{"a":"cut off', None, "truncated-tool-call"),
    ("{a}", SCHEMA, []),
)


def finished(arguments: str, **more: Any) -> ToolCall:
    call = OpenCall(id="c", name="tool", arguments=arguments, choice=1, **more)
    return classify(call, CallContext())


@pytest.mark.parametrize(("arguments", "schema", "expected"), CHECKS)
def test_checks(
    arguments: str, schema: Any, expected: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "_library", lambda: None)
    found = check_call(finished(arguments), Tool("tool", input_schema=schema))
    assert all(part.choice == 1 for part in found)
    if isinstance(expected, int):
        assert len(found) == expected
    elif isinstance(expected, str):
        assert [part.code for part in found] == [expected]
    else:
        end = "argument {} holds the end of a tool call's envelope".format
        texts = [end(e[9:]) if e.startswith("ENVELOPE ") else e for e in expected]
        assert [part.message for part in found] == [f"tool: {text}" for text in texts]
        assert {part.code for part in found} <= {"suspicious-arguments"}


AMBIGUOUS = (
    # arguments -> whether two readers may differ
    ('{"path":"a","path":"b"}', True),
    ('{"path":"a","p\\u0061th":"b"}', True),
    ('{"a":{"b":1,"b":1}}', True),
    ('{"a":[[{"b":":"}],{"b":1,"c":{},"b":2}]}', True),
    ('{"a":{"b":1},"a":2}', True),
    ('{"\\ud800":1,"\\ud801":2}', True),
    ('{"a":{"x\\ud800":1,"x\\ufffd":2}}', True),
    ('{"\ud800":1,"\udc00":2}', True),
    ('{"a":' * 500 + '{"b":1,"b":2}' + "}" * 500, True),
    ('{"\\ud83d\\ude00":1,"\\ud83d\\ude01":2}', False),
    ('{"\\ud800":1,"b":2}', False),
    ('{"a":"\\"b\\":1","b":{"a":[{"a":1},{"a":":::"}]}}', False),
    ('{"a:b":1,"a":2,"A":3,":":4}', False),
    ("{}", False),
    ('{"a":' * 500 + "{}" + "}" * 500, False),
)


@pytest.mark.parametrize(("arguments", "expected"), AMBIGUOUS)
def test_what_a_member_named_twice_means_is_open(
    arguments: str, expected: bool
) -> None:
    call = finished(arguments)
    assert (call.state, call.executable) == ("complete", not expected)
    doubts = [part.message for part in check_call(call)]
    doubt = "tool: an object names a member twice, and readers may use either"
    assert doubts == [doubt] * expected


def test_an_ambiguous_call_stays_one_when_it_is_settled() -> None:
    call = OpenCall(id="c1", name="find", arguments='{"a":1,"a":2}')
    event = classify(call, CallContext())
    assert not settle_call(event, call, CallContext(finish="length")).executable


def test_free_text_is_checked_for_envelopes_alone() -> None:
    call = finished("*** x\n</parameter>", format="text")
    (part,) = check_call(call, Tool("tool", input_schema=SCHEMA))
    assert "argument arguments holds" in part.message
    assert check_call(finished('{"a":1,"a":1}', format="text")) == []


def test_long_names_are_cut_in_messages() -> None:
    name = "n" * 1000
    (part,) = check_call(finished(f'{{"{name}":"</invoke>"}}'))
    assert name[:80] + "..." in part.message
    assert name not in part.message


class Library:
    """Stands in for jsonschema_rs, which need not be installed."""

    class Error:
        def __init__(self, path: list[Any], message: str) -> None:
            self.instance_path = path
            self.message = message

    def validator_for(self, schema: Any, retriever: Any) -> Library:
        with pytest.raises(ValueError, match="not fetched"):
            retriever("https://example.com/schema.json")
        if "broken" in schema:
            raise ValueError("broken")
        return self

    def iter_errors(self, value: Any) -> Any:
        yield self.Error([], "1 is not of type object")
        yield self.Error(["path", 0], '1 is not of type "string"')


def test_the_library_checks_where_it_is_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(checks, "_library", Library)
    found = check_call(finished("{}"), Tool("tool", input_schema=SCHEMA))
    assert [part.message for part in found] == [
        "tool: arguments: 1 is not of type object",
        'tool: argument path: 1 is not of type "string"',
    ]
    schema = {"broken": True, "required": ["path"]}
    found = check_call(finished("{}"), Tool("tool", input_schema=schema))
    assert [part.message for part in found] == ["tool: argument path is required"]


@pytest.mark.parametrize("installed", [True, False])
def test_the_library_is_found_once(
    installed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType("jsonschema_rs") if installed else None
    monkeypatch.setitem(sys.modules, "jsonschema_rs", module)
    checks._library.cache_clear()
    try:
        assert checks._library() is module
    finally:
        checks._library.cache_clear()
