"""The message of a stream: ``builder`` folds events into a ``message``."""
