"""Session documents in any LSP editor: leaks are underlined and can be taken out.

`register` puts the features on the server. Documents are kept here and not in pygls'
workspace (2.1.1), because that workspace (1) ends lines at U+2028, which JSON may
contain, (2) counts long lines character by character, and (3) changes the params. Each
document is read by its own task, in steps; a large one reports progress. A change
starts a new reading, which inspects only what changed.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from lsprotocol import types
from pygls.uris import to_fs_path

from stream_sidecar.editor.features import (
    FIX_ALL,
    FIX_ALL_TITLE,
    FIX_MESSAGE,
    SOURCE,
    View,
)
from stream_sidecar.editor.progress import progress
from stream_sidecar.editor.session import CHAT_LOG, LINES, WHOLE, SessionDocument
from stream_sidecar.editor.settings import kinds_in
from stream_sidecar.editor.text import UNITS, DocumentText
from stream_sidecar.editor.wording import FIX_TITLE
from stream_sidecar.history.chat_logs import is_chat_log
from stream_sidecar.history.documents import BY_LINE
from stream_sidecar.history.documents import WHOLE as WHOLE_FILES
from stream_sidecar.records import define
from stream_sidecar.rpc.logs import log
from stream_sidecar.session_files.surrounding_files import SurroundingFiles, forget

if TYPE_CHECKING:
    from collections.abc import Callable

    from stream_sidecar.editor.server import SidecarServer
    from stream_sidecar.options import StreamOptions
    from stream_sidecar.values.units import Unit

_STEP_SECONDS = 0.01
"""The time after which a reading lets other tasks run."""


@define(eq=False)
class _Open:
    """An open document. ``way``: how it is read (`LINES`, `WHOLE`, `CHAT_LOG`).
    ``view``: the view after the last finished reading."""

    uri: str
    version: int
    text: DocumentText
    way: str
    session: SessionDocument
    view: View | None = None
    reading: asyncio.Task[None] | None = None


class Editor:
    """The open session documents of one client."""

    def __init__(
        self, server: SidecarServer, options: Callable[[], StreamOptions]
    ) -> None:
        self._server = server
        self._options = options
        self._kinds: frozenset[str] | None = None
        self._open: dict[str, _Open] = {}
        self._unopened: set[str] = set()  # documents that were asked about too early
        self._views = 0

    @property
    def _unit(self) -> Unit:
        """The unit in which the client counts columns."""
        encoding = self._server.server_capabilities.position_encoding
        return UNITS[str(getattr(encoding, "value", encoding) or "utf-16")]

    @property
    def _pushes(self) -> bool:
        """Whether diagnostics are sent without a request: not to a client that can
        request them (``textDocument/diagnostic``)."""
        document = self._server.client_capabilities.text_document
        return document is None or document.diagnostic is None

    # Documents

    def handle_notification(self, name: str, params: Any) -> bool:
        """Handles a notification about a session document or about settings. Returns
        False if pygls has to handle it."""
        handle = _NOTIFICATIONS.get(name)
        return handle is not None and bool(handle(self, params))

    def opened(self, params: types.DidOpenTextDocumentParams) -> bool:
        item = params.text_document
        way = _way_of(item.uri, item.language_id, item.text)
        if way is None:
            return False
        session = self._session(item.uri, way)
        text = DocumentText(item.text, self._unit)
        document = _Open(item.uri, item.version, text, way, session)
        self._open[item.uri] = document
        self._read(document)
        return True

    def _session(self, uri: str, way: str) -> SessionDocument:
        return SessionDocument(self._options(), way, _surroundings_of(uri), self._kinds)

    def configured(self, params: types.DidChangeConfigurationParams) -> bool:
        """Reads all documents again if the setting chooses other kinds of leaks."""
        kinds = kinds_in(params.settings)
        if kinds != self._kinds:
            self._kinds = kinds
            for document in self._open.values():
                document.session = self._session(document.uri, document.way)
                document.view = None
                self._read(document)
            self._refresh()
        return True

    def _refresh(self) -> None:
        """Asks the client to request diagnostics and lenses again."""
        workspace = self._server.client_capabilities.workspace
        if workspace is None:
            return
        if workspace.diagnostics and workspace.diagnostics.refresh_support:
            self._server.workspace_diagnostic_refresh(None)
        if workspace.code_lens and workspace.code_lens.refresh_support:
            self._server.workspace_code_lens_refresh(None)

    def changed(self, params: types.DidChangeTextDocumentParams) -> bool:
        uri = params.text_document.uri
        document = self._open.get(uri)
        if document is None:  # pygls fails over a document that was never opened
            return unquote(uri) not in self._server.workspace.text_documents
        for change in params.content_changes:
            document.text = self._applied(document.text, change)
        document.version = params.text_document.version
        self._read(document)
        return True

    def _applied(self, text: DocumentText, change: Any) -> DocumentText:
        change_range = getattr(change, "range", None)
        if change_range is None:
            return DocumentText(change.text, self._unit)
        start, end = change_range.start, change_range.end
        return text.replaced(
            (start.line, start.character), (end.line, end.character), change.text
        )

    def closed(self, params: types.DidCloseTextDocumentParams) -> bool:
        uri = params.text_document.uri
        document = self._open.pop(uri, None)
        if document is None:
            return False
        if document.reading is not None:
            document.reading.cancel()
        if self._pushes:
            self._publish(uri, None, [])
        return True

    # Reading

    def _read(self, document: _Open) -> None:
        """Starts a reading of the document as it is now."""
        if document.reading is not None:
            document.reading.cancel()
        document.reading = asyncio.get_running_loop().create_task(self._view(document))
        document.reading.add_done_callback(_log_failure)

    async def _view(self, document: _Open) -> None:
        text, version = document.text, document.version
        loop = asyncio.get_running_loop()
        async with progress(self._server, len(text.text), document.uri) as report:
            until = loop.time() + _STEP_SECONDS
            for position, _total in document.session.read(text):
                if loop.time() < until:
                    continue
                if not report(position):  # the client cancelled the reading
                    return
                await asyncio.sleep(0)
                until = loop.time() + _STEP_SECONDS
        self._views += 1
        units = document.session.units
        problems = document.session.problems
        view = View(document.uri, version, self._views, text, units, problems)
        document.view = view
        if self._pushes:
            self._publish(document.uri, version, view.diagnostics())
        if document.uri in self._unopened:  # the client got nothing, and would keep it
            self._unopened.discard(document.uri)
            self._refresh()

    def _publish(
        self, uri: str, version: int | None, diagnostics: list[types.Diagnostic]
    ) -> None:
        self._server.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri, diagnostics, version)
        )

    async def view(self, uri: str) -> View | None:
        """The view of the document as it is now, after its reading; None if the
        document is no session or the client stopped the reading."""
        while (document := self._open.get(uri)) is not None:
            view, reading = document.view, document.reading
            if view is not None and view.version == document.version:
                return view
            if reading is None or reading.done():
                return None
            await asyncio.wait([reading])
        self._unopened.add(uri)
        return None

    # Features

    async def diagnose(self, params: types.DocumentDiagnosticParams) -> Any:
        view = await self.view(params.text_document.uri)
        if view is None:
            return types.RelatedFullDocumentDiagnosticReport(items=[])
        result_id = str(view.number)
        if params.previous_result_id == result_id:
            return types.RelatedUnchangedDocumentDiagnosticReport(result_id)
        return types.RelatedFullDocumentDiagnosticReport(
            items=view.diagnostics(), result_id=result_id
        )

    async def actions(
        self, params: types.CodeActionParams
    ) -> list[types.CodeAction | types.Command]:
        view = await self.view(params.text_document.uri)
        if view is None:
            return []
        actions: list[types.CodeAction | types.Command] = []
        if _is_wanted(params.context, types.CodeActionKind.QuickFix):
            fixes = [*view.actions(params.range), *view.mends(params.range)]
            all_edits = view.edits([changes for _, changes in fixes])
            for (action, _), edits in zip(fixes, all_edits, strict=True):
                action.edit = self._edit(view, edits)
                actions.append(action)
        # An editor that asks for any kind would show "fix all" twice
        is_there = any(action.title == FIX_ALL_TITLE for action in actions)
        wants = _is_wanted(params.context, FIX_ALL) and not is_there
        if wants and (fix := view.all_changes()):
            edit = self._edit(view, *view.edits([fix]))
            actions.append(types.CodeAction(FIX_ALL_TITLE, FIX_ALL, edit=edit))
        return actions

    def _edit(self, view: View, edits: list[types.TextEdit]) -> types.WorkspaceEdit:
        workspace = self._server.client_capabilities.workspace
        ability = workspace.workspace_edit if workspace is not None else None
        if ability is None or not ability.document_changes:
            return types.WorkspaceEdit(changes={view.uri: edits})
        document = types.OptionalVersionedTextDocumentIdentifier(view.uri, view.version)
        change = types.TextDocumentEdit(document, [*edits])
        return types.WorkspaceEdit(document_changes=[change])

    async def fix_message(self, uri: str, version: int, number: int) -> None:
        """Runs the command of a lens: removes what leaked into the message with this
        ``number``. Does nothing if the document has another version now."""
        view = await self.view(uri)
        if view is None or view.version != version:
            return
        if fix := view.changes_of_message(number):
            edit = self._edit(view, *view.edits([fix]))
            params = types.ApplyWorkspaceEditParams(edit, FIX_TITLE)
            await self._server.workspace_apply_edit_async(params)


_NOTIFICATIONS: dict[str, Any] = {
    types.TEXT_DOCUMENT_DID_OPEN: Editor.opened,
    types.TEXT_DOCUMENT_DID_CHANGE: Editor.changed,
    types.TEXT_DOCUMENT_DID_CLOSE: Editor.closed,
    types.WORKSPACE_DID_CHANGE_CONFIGURATION: Editor.configured,
}


def register(server: SidecarServer, options: Callable[[], StreamOptions]) -> None:
    """Puts the features on ``server``; ``options`` returns the options of a stream."""
    editor = Editor(server, options)

    server.handle_notification = editor.handle_notification

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def configuration(params: types.DidChangeConfigurationParams) -> None:
        """Does nothing: ``handle_notification`` has handled it, but pygls refuses a
        notification that is no feature."""

    @server.feature(
        types.TEXT_DOCUMENT_DIAGNOSTIC,
        types.DiagnosticOptions(
            inter_file_dependencies=False,
            workspace_diagnostics=False,
            identifier=SOURCE,
        ),
    )
    async def diagnostic(params: types.DocumentDiagnosticParams) -> Any:
        return await editor.diagnose(params)

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions([types.CodeActionKind.QuickFix, FIX_ALL]),
    )
    async def code_action(params: types.CodeActionParams) -> Any:
        return await editor.actions(params)

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    async def code_lens(params: types.CodeLensParams) -> Any:
        view = await editor.view(params.text_document.uri)
        return [] if view is None else view.lenses()

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> Any:
        view = await editor.view(params.text_document.uri)
        return None if view is None else view.hover(params.position)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def document_symbol(params: types.DocumentSymbolParams) -> Any:
        view = await editor.view(params.text_document.uri)
        return [] if view is None else view.symbols()

    @server.command(FIX_MESSAGE)
    async def fix_message(uri: str, version: int, number: int) -> None:
        await editor.fix_message(uri, version, number)


def _way_of(uri: str, language: str, text: str) -> str | None:
    """How a document is read: `CHAT_LOG`, `LINES`, `WHOLE`; None: no session."""
    name = uri.rpartition("/")[2]
    if is_chat_log(name, text):
        return CHAT_LOG
    for kind in (name.rpartition(".")[2].lower(), language):
        if kind in BY_LINE:
            return LINES
        if kind in WHOLE_FILES:
            return WHOLE
    return None


def _surroundings_of(uri: str) -> SurroundingFiles | None:
    """The files around a document; None if it is no file of this machine. They are read
    again, since they may have changed after another document was opened."""
    forget()
    path = to_fs_path(uri) if uri.startswith("file:") else None
    return None if path is None else SurroundingFiles(Path(path))


def _is_wanted(context: types.CodeActionContext, kind: str) -> bool:
    """Whether the client asks for actions of this kind, or of any kind."""
    if context.only is None:
        return True
    names = (str(getattr(each, "value", each)) for each in context.only)
    return any(kind == name or kind.startswith(f"{name}.") for name in names)


def _log_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("bug in the reading of a document", exc_info=error)
