"""Chat Completions of OpenAI and its kin: ``reader`` has the row of the wire."""
