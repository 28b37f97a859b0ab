"""Code that several wires share: fields, content blocks, usage, citations."""
