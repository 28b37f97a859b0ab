"""Stored messages: what is malformed in them, and the messages without it.

``history`` is the entry. The texts of a message go through the same engine as a stream.
"""
