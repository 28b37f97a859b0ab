"""The language server: session documents in any LSP editor.

This file imports nothing: ``handlers`` and ``server`` load pygls and lsprotocol when an
editor sends ``initialized`` or the first method of LSP arrives.
"""
