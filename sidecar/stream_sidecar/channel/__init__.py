"""A choice's text and reasoning as numbered blocks of events.

``channel`` is the entry. ``answer`` and ``native_reasoning`` give text to the text
engine and turn the pieces into events. ``setup`` decides which delimiters and forms are
looked for in a stream.
"""
