"""Which paragraphs of an MT come from which of the source: by structure, or by an alignment with a confidence."""
