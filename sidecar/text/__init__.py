"""The text engine: who owns each character of a text channel.

``splitter`` is the entry: text goes in, pieces (answer, reasoning, calls, results,
removed delimiters) come out. It knows no provider and no dialect.
"""
