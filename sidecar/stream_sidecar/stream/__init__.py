"""The pipeline of one stream: ``stream`` is the entry, one ``choice`` an answer.

Chunks go in, events come out; ``close`` gives what was held back and the end.
"""
