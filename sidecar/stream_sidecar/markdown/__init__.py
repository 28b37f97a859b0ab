"""Finds the code in a text in Markdown.

This room knows no delimiters; it only says whether a place in a text is code. Example:
in ``a `<b>` c`` the ``<b>`` is code.
"""
