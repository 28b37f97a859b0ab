"""A choice's text and reasoning as numbered blocks of events.

``channel`` is the entry: it gives text to the text engine and turns the pieces into
events. ``setup`` decides which delimiters and forms are looked for in a stream.
"""
