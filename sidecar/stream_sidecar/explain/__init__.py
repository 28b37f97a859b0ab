"""Which rule gave each character of a stream to whom, and a page that shows it.

``explanation`` is what is known in the end: lanes of pieces, each with its owners over
time and the reason of each. ``source`` turns a file into a stream's options and chunks,
``telling`` runs them through the one engine and listens, ``hearing`` and ``placing``
match what went in with what came out, ``reasons`` and ``rules`` say why. ``page`` makes
one HTML file of it.
"""
