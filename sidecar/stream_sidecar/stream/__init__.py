"""The pipeline of one stream: ``stream`` is the entry, and each ``choice`` is an
answer.

Chunks go in, events come out. ``close`` returns the events of what was held back, and
the last events.
"""
