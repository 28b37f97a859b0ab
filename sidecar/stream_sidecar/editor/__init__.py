"""The language server: session documents in any LSP editor.

This file stays empty of imports: pygls and lsprotocol are loaded by ``handlers`` and
``server``, when the first method of LSP arrives or an editor has said ``initialized``.
"""
