"""From raw chunks to documents: SSE, NDJSON, JSON arrays, event streams, base64.

``framer`` is the entry: it takes any slice of a body and gives the documents that are
complete. It does not know what a document means.
"""
