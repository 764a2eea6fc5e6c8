"""Pair the paragraphs of an MT with those of the source, by structure or by alignment with a confidence."""
