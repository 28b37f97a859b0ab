"""The methods of the protocol on decoded params: ``methods`` is the entry.

This room alone knows the JSON spelling of what the core speaks in Python.
"""
