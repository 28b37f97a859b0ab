"""The text engine: decides who owns each character of a text channel.

Text goes into a `splitter`. Pieces come out: answer, reasoning, calls, results and
removed delimiters. The engine knows no provider and no dialect.
"""
