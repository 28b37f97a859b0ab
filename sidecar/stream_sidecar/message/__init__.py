"""What a stream adds up to: ``builder`` folds events into a ``message``."""
