"""Cohere: ``reader`` has the row of the wire, ``request`` writes what goes back."""
