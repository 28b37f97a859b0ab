"""Session files: the stored messages of agents, repaired in place.

``files`` finds out a file's format and repairs the file: with ``documents`` JSON, JSONL
and Markdown, with ``tables``, ``layouts`` and ``packing`` SQLite. ``roles`` and
``surrounding_files`` read the files around it. ``size_limits`` says how much is read at
once. ``replacing`` writes a file so that it is old or new at any moment, with
``new_file``, ``backups`` and ``writers``. ``workers`` repairs many files on all cores,
``blocks`` one large file, and ``datasets`` a dataset with Ray Data. ``agents`` knows
where sessions are, ``skipped_files`` and ``file_kinds`` what was not looked at. Nothing
here speaks to a person: that is the business of ``stream_sidecar.cli``.
"""
