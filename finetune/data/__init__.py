"""Build training sets: read, align, filter, split by book and write, with a manifest."""
