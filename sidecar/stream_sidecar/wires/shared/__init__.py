"""What several wires have in common: fields, content blocks, usage, citations."""
