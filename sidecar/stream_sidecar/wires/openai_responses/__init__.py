"""The Responses API: ``reader`` has the row of the wire."""
