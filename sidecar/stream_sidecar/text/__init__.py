"""The text engine: decides who owns each character of a text channel.

A `Splitter` gets the text and returns pieces: answer, reasoning, calls, results and
removed delimiters. The engine knows neither providers nor dialects.
"""
