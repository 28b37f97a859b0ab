"""Stored sessions as the requests that their agents would send: what is refused."""
