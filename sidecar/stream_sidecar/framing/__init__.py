"""From raw chunks to documents: SSE, NDJSON, JSON arrays, event streams, base64.

``framer`` is the entry: it accepts any slice of a body and returns the documents that
are complete. It does not know what a document means.
"""
