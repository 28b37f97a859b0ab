"""The methods of the protocol, on decoded JSON: ``methods`` is the entry.

Only this room knows how the core's Python classes are spelled in JSON.
"""
