"""Errors of providers in one shape: ``normalize`` is the entry.

``bodies`` finds the error in a body, ``kinds`` says what sort of error it is and
``waits`` when a retry makes sense.
"""
