"""LSP methods are pygls': over its own thread, with one answer for every request.

Each case is one that stock pygls 2.1.1 leaves unanswered, answers twice or answers with
a popup.
"""

from __future__ import annotations

import sys

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient
from rpc_client import COMMAND, PROMPTLY, RpcClient, RpcError, message

from stream_sidecar.editor.handlers import register
from stream_sidecar.editor.server import SidecarServer
from stream_sidecar.rpc.lsp_methods import LSP_METHODS

SERVER_WITH_FEATURES = '''
"""The sidecar with further LSP features."""
import asyncio, threading
from lsprotocol import types
from stream_sidecar.editor import server

class Server(server.SidecarServer):
    def __init__(self, *arguments):
        super().__init__(*arguments)

        @self.feature("test/echo")
        def echo(params):
            print("noise")
            return params

        @self.feature("test/forever")
        async def forever(ls: Server, params):
            ls.protocol.notify("test/begun", {"jsonrpc": "1.0"})
            await asyncio.Event().wait()

        @self.feature("test/thread")
        @self.thread()
        def thread(ls: Server, params):
            ls.protocol.notify("test/begun", None)
            threading.Event().wait()

        @self.feature("test/bug")
        def bug(params):
            raise FileNotFoundError("/home/somebody/secret")

        @self.feature("test/set")
        def set_result(params):
            return {1, 2}

        @self.feature("test/nan")
        def nan(params):
            return float("nan")

        @self.feature("test/ask")
        async def ask(ls: Server, params):
            result = await ls.protocol.send_request_async("client/ask", {"x": 1})
            return result.answer

        @self.feature("test/gate")
        def gate(params):
            while params["until"] not in self.cancelled:
                threading.Event().wait(0.001)

        @self.feature(types.TEXT_DOCUMENT_DEFINITION)
        def definition(params: types.DefinitionParams):
            document = self.workspace.get_text_document(params.text_document.uri)
            here = types.Range(params.position, params.position)
            return types.Location(document.lines[params.position.line], here)

server.SidecarServer = Server
from stream_sidecar.rpc import connection
own = ("echo", "forever", "thread", "bug", "set", "nan", "ask", "gate")
connection.LSP_METHODS |= {f"test/{name}" for name in own}
connection.LSP_METHODS |= {types.TEXT_DOCUMENT_DEFINITION}
from stream_sidecar.__main__ import main
main()
'''
FEATURES = (sys.executable, "-c", SERVER_WITH_FEATURES)


def started():
    with RpcClient(command=FEATURES) as client:
        client.initialize()
        yield client


lsp = pytest.fixture(scope="module")(started)
"""The sidecar with LSP features, which all share that leave it as it was."""

alone = pytest.fixture(started)
"""One for a test that ends it, or that leaves something in it."""


def refused(client, method, *params):
    """The code of the error that a request is refused with."""
    with pytest.raises(RpcError) as caught:
        client.request(method, *params)
    return caught.value.code


def test_unknown_methods(lsp):
    assert refused(lsp, "no/method") == -32601
    assert refused(lsp, "$/noMethod") == -32601
    assert refused(lsp, "textDocument/rename", {}) == -32601
    lsp.notify("no/method")
    lsp.notify("textDocument/didNothing", {"a": 1})
    lsp.assert_silent()


def test_the_table_of_names_is_what_the_server_has():
    server = SidecarServer(None, set())
    register(server, lambda: None)
    known = {*server.protocol.fm.builtin_features, *server.protocol.fm.features}
    lifecycle = {"initialize", "initialized", "shutdown", "exit", "$/setTrace"}

    assert known - lifecycle == LSP_METHODS


def test_params_of_custom_methods_stay_json(lsp):
    """No renamed keys, no nested messages, null without params, a guarded stdout."""
    odd = {"class": 1, "a-b": {"jsonrpc": "2.0", "id": 1}, "type_name": [None]}

    assert lsp.request("test/echo", odd) == odd
    assert lsp.request("test/echo") is None


@pytest.mark.parametrize(
    ("params", "path"),
    [
        ({}, "params.textDocument"),
        ({"textDocument": {"uri": "x"}, "position": {"line": 1}}, "params.position"),
        (None, "params"),
    ],
)
def test_bad_params_of_an_lsp_method(lsp, params, path):
    with pytest.raises(RpcError) as caught:
        lsp.request("textDocument/hover", params)

    assert caught.value.code == -32602
    assert caught.value.message.startswith(path)


def test_document_features(lsp):
    document = {"uri": "file:///a", "languageId": "x", "version": 1, "text": "one\ntwo"}
    lsp.notify("textDocument/didOpen", {"textDocument": document})

    where = {
        "textDocument": {"uri": "file:///a"},
        "position": {"line": 1, "character": 0},
    }
    assert lsp.request("textDocument/definition", where)["uri"] == "two"


@pytest.mark.parametrize("method", ["test/bug", "test/set"])
def test_bug_in_a_handler(lsp, method):
    """An answer without traceback and paths, and no popup."""
    with pytest.raises(RpcError) as caught:
        lsp.request(method)

    assert caught.value.code == -32603
    assert "somebody" not in caught.value.message
    assert caught.value.data == {"kind": "internal-error", "retryable": False}
    lsp.assert_silent()


def test_bug_in_a_handler_of_a_notification(alone):
    alone.notify("test/bug")
    assert alone.request("test/echo", 1) == 1
    alone.end_input()

    assert alone.wait(PROMPTLY) == 0
    assert "bug in test/bug" in alone.stderr()


def test_error_that_a_handler_raises_on_purpose(lsp):
    """pygls' own: a command that is not registered."""
    assert refused(lsp, "workspace/executeCommand", {"command": "x"}) == -32602


def test_result_that_is_no_json_number(lsp):
    """The client checks that no NaN is written."""
    lsp.request("test/nan")


def begin(lsp, method, *ids):
    """Sends requests that never end by themselves and waits until they have begun."""
    lsp.send(*(message(method, id=each) for each in ids))
    for _ in ids:
        assert lsp.read()["method"] == "test/begun"


def test_cancelled_request(lsp):
    begin(lsp, "test/forever", "c")
    lsp.notify("$/cancelRequest", {"id": "c"})

    answer = lsp.read()
    assert (answer["id"], answer["error"]["code"]) == ("c", -32800)
    lsp.assert_silent()


def test_cancelled_before_its_turn(lsp):
    """Cancels overtake what waits behind a slow handler (openlawlibrary/pygls#517)."""
    lsp.send(
        message("test/gate", {"until": "n4"}, id="g"),
        *(message("test/echo", id=f"n{number}") for number in range(1, 5)),
        *(message("$/cancelRequest", {"id": f"n{n}"}) for n in range(1, 5)),
    )

    assert lsp.read()["id"] == "g"
    answers = [lsp.read() for _ in range(4)]
    assert [each["id"] for each in answers] == ["n1", "n2", "n3", "n4"]
    assert {each["error"]["code"] for each in answers} == {-32800}
    lsp.send(message("test/echo", id="n1"))
    assert lsp.read()["result"] is None


@pytest.mark.parametrize(
    "params", [None, {}, {"id": None}, {"id": [1]}, {"id": "none"}]
)
def test_cancel_that_means_nothing(lsp, params):
    lsp.request("test/echo")
    lsp.notify("$/cancelRequest", params)
    lsp.assert_silent()


def test_id_in_flight(alone):
    begin(alone, "test/forever", 7)
    alone.send(message("stream/list", id=7))

    answer = alone.read()
    assert (answer["id"], answer["error"]["code"]) == (7, -32600)


def test_request_to_the_client(lsp):
    lsp.send(message("test/ask", id="q"))
    asked = lsp.read()
    assert (asked["method"], asked["params"]) == ("client/ask", {"x": 1})
    lsp.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"answer": 42}})

    assert lsp.read()["result"] == 42


def test_responses_to_nothing(alone):
    """An error answer to a response would be answered, and so on."""
    for loaded in (False, True):
        alone.send({"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "x"}})
        alone.send({"jsonrpc": "2.0", "id": 99, "result": None})
        alone.assert_silent()
        assert loaded or alone.request("test/echo", 1) == 1


def test_shutdown_cancels_what_is_in_flight(alone):
    begin(alone, "test/forever", "f")
    alone.send(message("shutdown", id="s"))

    answers = {each["id"]: each for each in (alone.read(), alone.read())}
    assert answers["f"]["error"]["code"] == -32800
    assert answers["s"]["result"] is None
    alone.notify("exit")
    assert alone.wait(PROMPTLY) == 0


@pytest.mark.thorough
@pytest.mark.parametrize("method", ["test/forever", "test/thread"])
def test_exit_while_handlers_run(alone, method):
    begin(alone, method, 1, 2)
    alone.notify("exit")

    assert [each["error"]["code"] for each in alone.read_all()] == [-32800] * 2
    assert alone.wait(PROMPTLY) == 1


@pytest.mark.thorough
@pytest.mark.parametrize("method", ["test/forever", "test/thread"])
def test_end_of_input_while_handlers_run(alone, method):
    begin(alone, method, 1, 2)
    alone.end_input()

    assert [each["error"]["code"] for each in alone.read_all()] == [-32800] * 2
    assert alone.wait(PROMPTLY) == 0


def test_stream_methods_do_not_wait_for_lsp(alone):
    begin(alone, "test/thread", 1)

    alone.assert_silent()


WITHOUT_PYGLS = """
import sys
sys.modules.update(dict.fromkeys(["pygls", "lsprotocol", "asyncio"]))
from stream_sidecar.__main__ import main
main()
"""


def test_streams_need_no_pygls():
    """Three quarters of a stock server's start go into its import.

    microsoft/lsprotocol#441.
    """
    with RpcClient(command=(sys.executable, "-c", WITHOUT_PYGLS)) as client:
        client.initialize()

        assert client.request("message/normalize", {"body": "x"})["message"]


WITH_BROKEN_PYGLS = WITHOUT_PYGLS.replace(', "asyncio"', "")


def test_pygls_that_cannot_be_imported():
    with RpcClient(command=(sys.executable, "-c", WITH_BROKEN_PYGLS)) as client:
        client.initialize()
        client.notify("textDocument/didOpen", {})

        assert refused(client, "textDocument/hover") == -32603
        client.assert_silent()


def test_initialize_params_that_are_not_lsp():
    """The client has its answer; a document must still find a server."""
    with RpcClient(command=FEATURES) as client:
        client.initialize({"workspaceFolders": 5, "capabilities": {"general": 5}})

        assert client.request("test/echo", 1) == 1


# A client of the field


@pytest_lsp.fixture(config=ClientServerConfig(server_command=list(COMMAND)))
async def editor(lsp_client: LanguageClient):
    await lsp_client.initialize_session(
        types.InitializeParams(capabilities=types.ClientCapabilities())
    )
    yield
    await lsp_client.shutdown_session()


@pytest.mark.asyncio
async def test_pytest_lsp(editor: LanguageClient):
    opened = await editor.protocol.send_request_async(
        "stream/open", {"streamId": "s", "wire": "text"}
    )
    assert opened.streamId == "s"
    editor.text_document_did_open(
        types.DidOpenTextDocumentParams(
            types.TextDocumentItem("file:///a", "x", 1, "y")
        )
    )
    closed = await editor.protocol.send_request_async("stream/close", {"streamId": "s"})
    assert closed.message.text == ""
