"""The names of LSP that the language server knows, so that others need no import of it.

A request of any other name is refused at once, and a notification ignored. What these
names mean is the business of pygls and of ``editor``.
"""

from __future__ import annotations

LSP_METHODS = frozenset(
    (
        *("notebookDocument/didChange", "notebookDocument/didClose"),
        *("notebookDocument/didOpen", "textDocument/codeAction"),
        *("textDocument/codeLens", "textDocument/diagnostic", "textDocument/didChange"),
        *("textDocument/didClose", "textDocument/didOpen"),
        *("textDocument/documentSymbol", "textDocument/hover"),
        *("window/workDoneProgress/cancel", "workspace/didChangeConfiguration"),
        *("workspace/didChangeWorkspaceFolders", "workspace/executeCommand"),
    )
)
"""Beside those of the lifecycle, which the connection answers or passes on itself."""
