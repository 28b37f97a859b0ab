"""The LSP methods of the language server, listed so that others need not import it.

A request with any other name is refused immediately, and a notification is ignored.
Only pygls and ``editor`` know what these methods mean.
"""

from __future__ import annotations

LSP_METHODS = frozenset(
    (
        "notebookDocument/didChange",
        "notebookDocument/didClose",
        "notebookDocument/didOpen",
        "textDocument/codeAction",
        "textDocument/codeLens",
        "textDocument/diagnostic",
        "textDocument/didChange",
        "textDocument/didClose",
        "textDocument/didOpen",
        "textDocument/documentSymbol",
        "textDocument/hover",
        "window/workDoneProgress/cancel",
        "workspace/didChangeConfiguration",
        "workspace/didChangeWorkspaceFolders",
        "workspace/executeCommand",
    )
)
"""Without the lifecycle's methods, which the connection answers or passes on."""
