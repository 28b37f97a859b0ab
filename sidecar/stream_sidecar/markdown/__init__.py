"""Where a text in Markdown has code.

The room knows nothing of delimiters: it says of a place in a text whether what stands
there is code. Example: in ``a `<b>` c`` the ``<b>`` is.
"""
