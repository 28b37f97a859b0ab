"""The text engine: who owns each character of a text channel.

Text goes into a `splitter`, pieces (answer, reasoning, calls, results, removed
delimiters) come out. It knows no provider and no dialect.
"""
