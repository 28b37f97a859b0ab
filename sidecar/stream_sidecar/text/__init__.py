"""The text engine: decides for each character of a text channel what it is.

A `Splitter` gets the text and returns pieces: answer, reasoning, calls, results and
removed delimiters. The engine knows neither providers nor dialects.
"""
