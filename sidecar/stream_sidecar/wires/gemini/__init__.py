"""Gemini's generateContent and Interactions: ``reader`` has the row of the wire."""
