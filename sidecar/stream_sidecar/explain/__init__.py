"""Finds which channel each character of a stream went to, and by which rule.

``explanation`` is the result: lanes of pieces, each piece with its owners over time and
their reasons. ``source`` turns a file into a stream's options and chunks.
``explaining`` runs them through the engine. ``received`` keeps the text that went in,
``placing`` finds the events made from it, ``reasons`` and ``rules`` say why. ``page``
writes the explanation as one HTML file.
"""
