"""Book formats: streaming readers, pairing with the source, and writers that edit in place."""
