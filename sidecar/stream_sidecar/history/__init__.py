"""Stored messages: what of them is malformed, and how they are without it.

``history`` is the entry. The texts of a message go through the same engine as a stream.
"""
