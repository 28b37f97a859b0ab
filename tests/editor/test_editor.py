"""Session documents in an editor: the exact characters, and what can be done to them.

Once through a client of the field (pytest-lsp), and what its tolerance would hide
through one that believes nothing.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
import pytest_lsp
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient
from rpc_client import COMMAND, RpcClient, message
from strategies import TEXTS

from stream_sidecar.editor.session import LINES, WHOLE, SessionDocument
from stream_sidecar.editor.text import DocumentText
from stream_sidecar.history.cuts import spliced
from stream_sidecar.options import StreamOptions

URI = "file:///project/session.jsonl"
DOCUMENT = {"textDocument": {"uri": URI}}


def line(role: str, content: Any, **more: Any) -> str:
    return json.dumps({"role": role, "content": content, **more}) + "\n"


LEAKING = (
    '{"role": "user", "content": "\u2028<think>?"}\r\n'
    '{"role": "assistant", '
    '"content": "😀<th\\u0069nk>\\ud83d\\ude00\\n</think>4.</think>"}\r\n'
    '{"role": "assistant", "content": "<think>x</think>"}\n'
    "{broken\n" + line("assistant", "fine")
)
SECOND = LEAKING.split("\r\n")[1]

# --- Positions ------------------------------------------------------------------------

_LINES = st.text(st.sampled_from("a😀é\u2028\x0b\r\n"), max_size=12)


@given(_LINES, st.sampled_from(["byte", "utf16", "code-point"]))
def test_points_and_offsets(text: str, unit: Any) -> None:
    """Every offset but one within a line break is found again from its point."""
    document = DocumentText(text, unit)
    points = document.points(range(len(text) + 1))
    for offset, point in enumerate(points):
        within = text[offset - 1 : offset + 1] == "\r\n"
        assert document.offset(point) == offset - within
    assert points == sorted(points)


@given(_LINES, _LINES, st.data())
def test_changes(text: str, new: str, data: Any) -> None:
    document = DocumentText(text, "utf16")
    places = st.integers(0, len(text))
    start, end = sorted((data.draw(places), data.draw(places)))
    first, last = document.points([start, end])
    start, end = document.offset(first), document.offset(last)

    changed = document.replaced(first, last, new)

    assert changed.text == text[:start] + new + text[end:]
    fresh = DocumentText(changed.text, "utf16")
    assert changed.points(range(len(new))) == fresh.points(range(len(new)))


def test_places_beyond_the_text() -> None:
    document = DocumentText("ab\ncd", "utf16")
    assert document.offset((0, 99)) == 2
    assert document.offset((9, 0)) == 5


# --- What is read, and read again -----------------------------------------------------


def read(session: SessionDocument, text: str) -> list[str]:
    """The characters of every leak."""
    for _ in session.read(DocumentText(text, "utf16")):
        pass
    return [
        text[placed.start + leak.start : placed.start + leak.end]
        for placed in session.units
        for each in placed.unit.messages
        for leak in each.leaks
    ]


def test_only_what_changed_is_inspected_again() -> None:
    lines = [line("assistant", f"{number}</think>") for number in range(20)]
    session = SessionDocument(StreamOptions(), LINES)
    assert read(session, "".join(lines)) == ["</think>"] * 20
    assert session.inspected == 20

    lines[7] = line("assistant", "new")
    lines.insert(3, "\n")
    assert read(session, "".join(lines)) == ["</think>"] * 19
    assert session.inspected == 21

    whole = SessionDocument(StreamOptions(), WHOLE)
    messages = [{"role": "assistant", "content": f"{n}</think>"} for n in range(20)]
    read(whole, json.dumps(messages))
    messages[5]["content"] = "new"
    assert read(whole, json.dumps(messages, indent=1)) == ["</think>"] * 19
    assert whole.inspected == 21


def test_only_what_changed_is_decoded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in a log with a seal, whose lines are looked at for what they continue. The
    other tasks run in between."""
    thought = {"type": "thinking", "thinking": "", "signature": "c2ln"}
    sealed = {"role": "assistant", "model": "claude-opus-5-5", "content": [thought]}
    lines = [line("assistant", "x</think>") for _ in range(19)]
    text = "".join([*lines, json.dumps(sealed)])
    decoded: list[str] = []

    def counted(line: str) -> object:
        decoded.append(line)
        return json.loads(line)

    monkeypatch.setattr("stream_sidecar.editor.session.loads", counted)
    session = SessionDocument(StreamOptions(), LINES)
    assert len([*session.read(DocumentText(text, "utf16"))]) >= 40
    decoded.clear()
    read(session, text.replace("x<", "y<", 1))
    assert len(decoded) == 2


def test_a_result_of_a_tool_matters_to_what_is_behind_it() -> None:
    lines = [
        line("assistant", "a"),
        line("tool", '{"n": 1}'),
        line("assistant", "b"),
        line("assistant", "c"),
    ]
    session = SessionDocument(StreamOptions(), LINES)
    read(session, "".join(lines))
    before = session.inspected
    lines[1] = line("tool", '{"n": 2}')
    read(session, "".join(lines))
    assert session.inspected - before == 3


def test_a_reading_that_is_given_up_changes_nothing() -> None:
    session = SessionDocument(StreamOptions(), LINES)
    assert read(session, line("assistant", "</think>x")) == ["</think>"]
    before = session.units
    next(session.read(DocumentText(line("assistant", "y") * 3, "utf16")))
    assert session.units is before


@given(st.lists(TEXTS, max_size=3), st.booleans(), st.booleans())
def test_leaks_are_what_a_repair_cuts(
    texts: list[str], ascii_only: bool, by_line: bool
) -> None:
    """Cutting message by message, or leak by leak, leaves nothing to cut."""
    messages = [{"role": "assistant", "content": [text, "end", {}]} for text in texts]
    documents = messages if by_line else [messages]
    text = "\n".join(json.dumps(each, ensure_ascii=ascii_only) for each in documents)
    session = SessionDocument(StreamOptions(), LINES if by_line else WHOLE)
    read(session, text)
    for alone in (False, True):
        new = text
        for placed in reversed(session.units):
            for each in reversed(placed.unit.messages):
                leaks = reversed(each.leaks) if alone else [None]
                for leak in leaks if each.leaks else []:
                    inner, at = each.changes(placed.unit, leak), placed.start
                    moved = [(start + at, end + at, n) for start, end, n in inner]
                    new = spliced(new, moved)
        assert (
            read(SessionDocument(StreamOptions(), LINES if by_line else WHOLE), new)
            == []
        )


def test_a_leak_in_a_string_of_json() -> None:
    """Its range is within the escaped string, and a part that goes takes its comma."""

    leak = '<think>"Hm."\n</think>'

    def attribute(*texts: str) -> str:
        parts = [{"type": "text", "content": each} for each in texts]
        sent = {"role": "user", "parts": [{"type": "text", "content": leak}]}
        said = [*([sent] * 300), {"role": "assistant", "parts": parts}]
        return json.dumps({"gen_ai.input.messages": json.dumps(said)}, indent=1)

    text = attribute(leak, f"😀{leak}Four.")
    session = SessionDocument(StreamOptions(), WHOLE)
    escaped = json.dumps(json.dumps(leak)[1:-1])[1:-1]
    assert read(session, text) == [escaped, escaped]
    (placed,) = session.units
    (each,) = (each for each in placed.unit.messages if each.leaks)
    assert spliced(text, each.changes(placed.unit)) == attribute("😀Four.")
    for leak_alone, left in zip(
        each.leaks, ([f"😀{leak}Four."], [leak, "😀Four."]), strict=True
    ):
        assert spliced(text, each.changes(placed.unit, leak_alone)) == attribute(*left)


# --- Through a client of the field ----------------------------------------------------


@pytest_lsp.fixture(config=ClientServerConfig(server_command=list(COMMAND)))
async def editor(lsp_client: LanguageClient):
    await lsp_client.initialize_session(
        types.InitializeParams(capabilities=types.ClientCapabilities())
    )
    yield
    await lsp_client.shutdown_session()


def did_open(client: LanguageClient, text: str, uri: str = URI) -> None:
    item = types.TextDocumentItem(uri, "jsonl", 1, text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(item))


async def next_diagnostics(
    client: LanguageClient, uri: str = URI
) -> list[types.Diagnostic]:
    """The next diagnostics that are sent unasked."""
    await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    return list(client.diagnostics[uri])


@pytest.mark.asyncio
async def test_diagnostics_are_sent_unasked(editor: LanguageClient) -> None:
    did_open(editor, LEAKING)

    found = await next_diagnostics(editor)

    assert [(each.code, each.range.start.line) for each in found] == [
        ("reasoning", 1),
        ("delimiter", 1),
        ("reasoning", 2),
        ("broken", 3),
    ]
    units = SECOND.encode("utf-16-le")
    spans = [(each.range.start.character, each.range.end.character) for each in found]
    texts = [units[2 * start : 2 * end].decode("utf-16-le") for start, end in spans[:2]]
    assert texts == ["<th\\u0069nk>\\ud83d\\ude00\\n</think>", "</think>"]
    assert "nothing else would be left" in found[2].message


@pytest.mark.asyncio
async def test_a_change_and_the_end(editor: LanguageClient) -> None:
    """A change of some characters behind U+2028, which ends no line."""
    did_open(editor, LEAKING)
    await next_diagnostics(editor)
    start = SECOND.encode("utf-16-le").index("<th".encode("utf-16-le")) // 2
    where = types.Range(types.Position(1, start), types.Position(1, start + 1))
    editor.text_document_did_change(
        types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(uri=URI, version=2),
            [types.TextDocumentContentChangePartial(where, "x")],
        )
    )
    found = await next_diagnostics(editor)
    assert [each.code for each in found if each.range.start.line == 1] == [
        "delimiter",
        "delimiter",
    ]

    editor.text_document_did_close(
        types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(URI))
    )
    assert await next_diagnostics(editor) == []


@pytest.mark.asyncio
async def test_the_fix_of_a_message_by_its_lens(editor: LanguageClient) -> None:
    applied: list[types.ApplyWorkspaceEditParams] = []

    @editor.feature(types.WORKSPACE_APPLY_EDIT)
    def apply(params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        applied.append(params)
        return types.ApplyWorkspaceEditResult(applied=True)

    did_open(editor, LEAKING)
    await next_diagnostics(editor)
    lenses = await editor.text_document_code_lens_async(
        types.CodeLensParams(types.TextDocumentIdentifier(URI))
    )
    summary, first, second = [lens.command for lens in lenses or []]
    assert summary is not None
    assert first is not None
    assert second is not None
    assert summary.title == "2 leaks: 1 delimiter, 1 reasoning"
    assert summary.command == second.command == ""
    assert first.title == "Take them out"
    assert second.title.startswith("1 leak: reasoning; it stays: ")

    await editor.workspace_execute_command_async(
        types.ExecuteCommandParams(command=first.command, arguments=first.arguments)
    )

    (params,) = applied
    assert params.edit.changes is not None
    assert fixed(LEAKING, params.edit.changes[URI]) == LEAKING.replace(
        SECOND, '{"role": "assistant", "content": "😀4."}'
    )


def fixed(text: str, edits: Any) -> str:
    """``text`` with edits applied as an editor does it."""
    document = DocumentText(text, "utf16")
    for edit in reversed(edits):
        each = edit if isinstance(edit, dict) else None
        start, end = (
            (each["range"]["start"], each["range"]["end"])
            if each
            else (vars_of(edit.range.start), vars_of(edit.range.end))
        )
        new = each["newText"] if each else edit.new_text
        document = document.replaced(
            (start["line"], start["character"]), (end["line"], end["character"]), new
        )
    return document.text


def vars_of(position: types.Position) -> dict[str, int]:
    return {"line": position.line, "character": position.character}


# --- Byte by byte ---------------------------------------------------------------------


def client_of(encoding: str = "utf-16", **window: Any) -> RpcClient:
    client = RpcClient()
    capabilities = {
        "general": {"positionEncodings": [encoding]},
        "textDocument": {"diagnostic": {}},
        "workspace": {"workspaceEdit": {"documentChanges": True}},
        "window": window,
    }
    client.initialize({"capabilities": capabilities})
    return client


def open_document(client: RpcClient, text: str, uri: str = URI) -> None:
    item = {"uri": uri, "languageId": "", "version": 1, "text": text}
    client.notify("textDocument/didOpen", {"textDocument": item})


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_diagnostics_on_request(encoding: str) -> None:
    """In the units that were agreed on; the same again is not sent again."""
    codec = {"utf-32": "utf-32-le", "utf-16": "utf-16-le"}.get(encoding, encoding)
    size = {"utf-32": 4, "utf-16": 2}.get(encoding, 1)
    with client_of(encoding) as client:
        open_document(client, LEAKING)
        report = client.request("textDocument/diagnostic", DOCUMENT)
        where = report["items"][0]["range"]
        units = SECOND.encode(codec)
        start, end = (size * where[name]["character"] for name in ("start", "end"))
        assert units[start:end].decode(codec).startswith("<th\\u0069nk>")
        assert units[start:end].decode(codec).endswith("</think>")
        again = {**DOCUMENT, "previousResultId": report["resultId"]}
        assert client.request("textDocument/diagnostic", again) == {
            "kind": "unchanged",
            "resultId": report["resultId"],
        }


def titles_of_two_leaking_messages(client: Any) -> list[str]:
    """What an editor that asks for any kind offers on the first of them."""
    line = json.dumps({"role": "assistant", "content": "Hi</think>"})
    open_document(client, f"{line}\n{line}\n", "file:///two.jsonl")
    document = {"textDocument": {"uri": "file:///two.jsonl"}}
    items = client.request("textDocument/diagnostic", document)["items"]
    params = {**document, "range": items[0]["range"], "context": {"diagnostics": []}}
    return [each["title"] for each in client.request("textDocument/codeAction", params)]


def test_actions() -> None:
    with client_of() as client:
        open_document(client, LEAKING)
        items = client.request("textDocument/diagnostic", DOCUMENT)["items"]

        def actions(where: Any, *only: str) -> list[Any]:
            context = {"diagnostics": [], **({"only": only} if only else {})}
            params = {**DOCUMENT, "range": where, "context": context}
            return client.request("textDocument/codeAction", params)

        titles = [each["title"] for each in actions(items[0]["range"])]
        assert titles == [
            "Take it out: reasoning",
            "Take out all leaks of this message",
            "Take out all leaks of this session",
        ]
        assert titles_of_two_leaking_messages(client) == [
            "Take it out: delimiter",
            "Take out all leaks of this session",
        ]
        (one, whole) = actions(items[1]["range"], "quickfix")
        assert one["title"] == "Take it out: delimiter"
        assert one["diagnostics"] == [items[1]]
        (change,) = one["edit"]["documentChanges"]
        assert change["textDocument"] == {"uri": URI, "version": 1}
        assert fixed(LEAKING, change["edits"]) == LEAKING.replace("4.</think>", "4.")
        new = LEAKING.replace(SECOND, '{"role": "assistant", "content": "😀4."}')
        for action in (whole, *actions(items[0]["range"], "source.fixAll")):
            (change,) = action["edit"]["documentChanges"]
            assert fixed(LEAKING, change["edits"]) == new
        assert actions(items[2]["range"], "quickfix") == []
        assert actions(items[0]["range"], "refactor") == []


def test_a_text_that_is_read_later_and_stands_first() -> None:
    """`content` is read before `parts`, in whatever order they are written."""
    first, second = "<think>é</think>", "<think>a</think>"
    text = json.dumps(
        {
            "role": "assistant",
            "parts": [{"type": "text", "text": f"{first}z"}],
            "content": f"{second}b",
        },
        ensure_ascii=False,
    )
    with client_of() as client:
        open_document(client, text)
        items = client.request("textDocument/diagnostic", DOCUMENT)["items"]
        shown = []
        for each in items:
            where = each["range"]
            start, end = (where[name]["character"] for name in ("start", "end"))
            shown.append(text[start:end])
        assert shown == [second, first]
        everything = {"start": {"line": 0, "character": 0}, "end": {"line": 1}}
        everything["end"]["character"] = 0
        params = {**DOCUMENT, "range": everything, "context": {"diagnostics": []}}
        actions = client.request("textDocument/codeAction", params)
        assert [each["diagnostics"] for each in actions[:2]] == [
            [each] for each in items
        ]


def test_lenses_that_were_asked_for_too_early_are_asked_for_again() -> None:
    with RpcClient() as client:
        workspace = {"codeLens": {"refreshSupport": True}}
        client.initialize({"capabilities": {"workspace": workspace}})
        assert client.request("textDocument/codeLens", DOCUMENT) == []
        open_document(client, LEAKING)
        asked = client.read()
        while asked["method"] == "textDocument/publishDiagnostics":
            asked = client.read()
        assert asked["method"] == "workspace/codeLens/refresh"
        client.send({"jsonrpc": "2.0", "id": asked["id"], "result": None})
        assert len(client.request("textDocument/codeLens", DOCUMENT)) == 3


def test_hover_and_symbols() -> None:
    with client_of() as client:
        open_document(client, LEAKING)

        def hover(number: int, column: int) -> Any:
            where = {"line": number, "character": column}
            return client.request("textDocument/hover", {**DOCUMENT, "position": where})

        shown = hover(1, SECOND.index("u0069"))
        assert shown["contents"]["kind"] == "markdown"
        assert "😀" in shown["contents"]["value"]
        assert "<think>" not in shown["contents"]["value"]
        assert hover(0, 30) is None
        symbols = client.request("textDocument/documentSymbol", DOCUMENT)
        assert [each["name"] for each in symbols] == [
            *("user", "assistant", "assistant", "assistant")
        ]
        assert symbols[3]["range"]["start"] == {"line": 4, "character": 0}
        assert symbols[1]["detail"].startswith("2 leaks")


def hovers_of(text: str) -> list[tuple[str, str]]:
    """The diagnostics of a document, each with the hover at its place."""
    with client_of() as client:
        open_document(client, text)
        items = client.request("textDocument/diagnostic", DOCUMENT)["items"]
        places = ({**DOCUMENT, "position": each["range"]["start"]} for each in items)
        shown = [client.request("textDocument/hover", place) for place in places]
        return [
            (item["message"], hover["contents"]["value"])
            for item, hover in zip(items, shown, strict=True)
        ]


def test_a_hover_adds_to_the_diagnostic() -> None:
    """Why it is bad and what the fix does; the text only if it is written otherwise."""
    plain, escaped, long, blocked, stray = hovers_of(
        line("assistant", "<think>Hm, well.</think>4.")
        + line("assistant", "<think>One.\nTwo.</think>4.")
        + line("assistant", f"<think>{'x' * 1000}</think>\n\n4.")
        + line("assistant", "<think>Nothing else.</think>")
        + line("assistant", "4.</think>")
    )
    assert plain[0] == "Leaked reasoning: <think>Hm, well.</think>"
    for diagnostic, hover in (plain, escaped, long, blocked, stray):
        assert diagnostic.partition(":")[0] not in hover
        assert "imitates" in hover
        assert "**" not in hover
    assert "The fix “Take it out” deletes the leaked characters." in plain[1]
    assert "Hm, well" not in plain[1]
    assert escaped[0] == (
        "Leaked reasoning: 24 characters (9 of reasoning, 15 of tags)"
    )
    assert escaped[1].endswith("```\nOne.\nTwo.\n```")
    assert long[0] == (
        "Leaked reasoning: 1,017 characters "
        "(1,000 of reasoning, 17 of tags and white space)"
    )
    assert "There is no fix: nothing else would be left of the message." in blocked[1]
    assert stray[0] == "Leaked delimiter: </think>"


CALL = '<tool_call>{"name": "look", "arguments": {"at": 1}}</tool_call>'


def test_results_and_calls() -> None:
    """Each with the name of its own fix, and what it was as a hover."""
    text = line("tool", '{"n": 1}') + line("assistant", f'{{"n": 1}} I look.\n{CALL}')
    with client_of() as client:
        open_document(client, text)
        items = client.request("textDocument/diagnostic", DOCUMENT)["items"]
        assert [each["code"] for each in items] == ["tool-result", "tool-call"]
        titles, hovers = [], []
        for each in items:
            params = {
                **DOCUMENT,
                "range": each["range"],
                "context": {"diagnostics": []},
            }
            first, *_ = client.request("textDocument/codeAction", params)
            titles.append(first["title"])
            where = {**DOCUMENT, "position": each["range"]["start"]}
            hovers.append(client.request("textDocument/hover", where)["contents"])
        assert titles == [
            "Take it out: tool result",
            "Take it out: tool call",
        ]
        assert '{"n": 1}' in hovers[0]["value"]
        assert "`look`" in hovers[1]["value"]
        assert "```json" in hovers[1]["value"]


def test_whole_documents_and_others() -> None:
    text = json.dumps(
        {"messages": [{"role": "assistant", "content": "</think>x"}]}, indent=2
    )
    with client_of() as client:
        for uri, count in (("file:///a.json", 1), ("file:///a.txt", 0)):
            open_document(client, text, uri)
            params = {"textDocument": {"uri": uri}}
            items = client.request("textDocument/diagnostic", params)["items"]
            assert len(items) == count
            assert len(client.request("textDocument/codeLens", params)) == 2 * count
        params = {"textDocument": {"uri": "file:///never"}}
        assert client.request("textDocument/diagnostic", params)["items"] == []


def test_the_policy_of_the_connection() -> None:
    with RpcClient() as client:
        capabilities = {"textDocument": {"diagnostic": {}}}
        policy = {"reasoning": {"tags": ["plan"]}}
        client.initialize({"capabilities": capabilities}, policy=policy)
        open_document(client, line("assistant", "<plan>a</plan><think>b"))
        (item,) = client.request("textDocument/diagnostic", DOCUMENT)["items"]
        assert "<plan>" in item["message"]


KINDS: list[tuple[Any, list[str]]] = [
    ({"only": ["delimiter"]}, ["delimiter"]),
    ({"except": ["delimiter"]}, ["reasoning"]),
    ({"only": ["reasoning"], "except": ["reasoning"]}, []),
    ({"only": []}, ["delimiter", "reasoning"]),
    ({"only": ["telepathy"], "except": "delimiter"}, ["reasoning"]),
    ("all", ["delimiter", "reasoning"]),
    (None, ["delimiter", "reasoning"]),
]
"""Settings, one after the other, and what is shown then."""


def test_kinds_are_a_setting() -> None:
    """What is not wanted is not shown, and no fix takes it out."""
    text = line("assistant", "<think>a</think>Four.</s>")
    capabilities = {
        "textDocument": {"diagnostic": {}},
        "workspace": {"diagnostics": {"refreshSupport": True}},
    }
    with RpcClient() as client:
        client.initialize({"capabilities": capabilities})
        open_document(client, text)
        shown = _shown(client)
        assert shown == ["delimiter", "reasoning"]
        for settings, kinds in KINDS:
            changed = {"settings": {"streamSidecar": settings, "other": 1}}
            client.notify("workspace/didChangeConfiguration", changed)
            if kinds != shown:
                asked = client.read()
                assert asked["method"] == "workspace/diagnostic/refresh"
                client.send({"jsonrpc": "2.0", "id": asked["id"], "result": None})
            shown = _shown(client)
            assert shown == kinds
            context = {"diagnostics": [], "only": ["source.fixAll"]}
            params = {**DOCUMENT, "range": WHOLE_RANGE, "context": context}
            actions = client.request("textDocument/codeAction", params)
            assert len(actions) == bool(kinds)
            for action in actions:
                left = fixed(text, action["edit"]["changes"][URI])
                assert ("<think>" in left) == ("reasoning" not in kinds)
                assert ("</s>" in left) == ("delimiter" not in kinds)


def _shown(client: RpcClient) -> list[str]:
    """Kinds of the findings that the editor gets."""
    diagnostics = client.request("textDocument/diagnostic", DOCUMENT)["items"]
    return sorted({each["code"] for each in diagnostics})


WHOLE_RANGE = {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}}

LARGE = line("assistant", "x</think>" + "y" * 2000) * 700


def progress(client: RpcClient) -> str:
    """Reads until a progress has begun; its token."""
    create = client.read()
    assert create["method"] == "window/workDoneProgress/create"
    client.send({"jsonrpc": "2.0", "id": create["id"], "result": None})
    begin = client.read()
    assert begin["params"]["value"]["kind"] == "begin"
    return begin["params"]["token"]


def test_progress_of_a_large_document() -> None:
    with client_of(workDoneProgress=True) as client:
        open_document(client, LARGE)
        client.send(message("textDocument/diagnostic", DOCUMENT, id="d"))
        token = progress(client)
        percents = []
        while "id" not in (answer := client.read()):
            assert answer["params"]["token"] == token
            percents.append(answer["params"]["value"].get("percentage", 100))
        assert len(answer["result"]["items"]) == 700
        assert percents == sorted(set(percents))
        assert percents[-1] == 100


def test_a_reading_that_the_client_stops() -> None:
    with client_of(workDoneProgress=True) as client:
        open_document(client, LARGE * 10)
        client.send(message("textDocument/diagnostic", DOCUMENT, id="d"))
        token = progress(client)
        client.notify("window/workDoneProgress/cancel", {"token": token})
        while "id" not in (answer := client.read()):
            pass
        assert answer["result"]["items"] == []
        assert client.request("textDocument/codeLens", DOCUMENT) == []


def test_a_request_that_is_cancelled_leaves_the_reading() -> None:
    with client_of(workDoneProgress=True) as client:
        open_document(client, LARGE)
        client.send(message("textDocument/diagnostic", DOCUMENT, id="d"))
        progress(client)
        client.notify("$/cancelRequest", {"id": "d"})
        while "id" not in (answer := client.read()):
            pass
        assert answer["error"]["code"] == -32800
        client.send(message("textDocument/codeLens", DOCUMENT, id="l"))
        while "id" not in (answer := client.read()):
            pass
        assert len(answer["result"]) == 2 * 700
