"""Values as text: JSON, relaxed JSON and Python literals, and how text is measured.

``jsontext`` reads and writes JSON. ``relaxed`` and ``pythonic`` read objects and calls
as models write them, and never run them. ``json_places`` finds where a value stands in
a JSON text. ``surrogates`` keeps half characters out of the output.
"""
