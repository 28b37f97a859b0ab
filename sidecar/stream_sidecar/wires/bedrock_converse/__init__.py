"""Bedrock Converse: ``reader`` has the row of the wire, ``request`` what goes back."""
