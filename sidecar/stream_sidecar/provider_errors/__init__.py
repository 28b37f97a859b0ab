"""Errors of providers in one shape: ``normalize`` is the entry.

``bodies`` finds the error in a body, ``kinds`` and ``codes`` find its kind, ``waits``
finds when to retry.
"""
