"""Session files: the stored messages of agents, repaired where they lie.

``replacing`` writes a file so that it is old or new at any moment, with what it needs
in ``beside``, ``backups`` and ``writers``; ``documents`` knows JSON, JSONL and
Markdown, ``tables``, ``layouts`` and ``packing`` SQLite, ``roles`` what stands in other
files, ``files`` tells them apart,
``workers`` goes through many files on all cores, ``blocks`` through one, ``datasets``
through Ray Data, and ``agents`` knows where they are. Nothing here speaks to a person:
that is the business of ``stream_sidecar.cli``.
"""
