"""Session files: the stored messages of agents, repaired where they lie.

``replacing`` writes a file so that it is old or new at any moment, ``lines``,
``documents`` and ``tables`` know JSONL, JSON and SQLite, ``files`` tells them apart,
``workers`` goes through many files on all cores, ``datasets`` through Ray Data. Nothing
here speaks to a person: that is the business of ``sidecar.cli``.
"""
