"""Books as files have them: read in a stream, paired with their source, and written back in place."""
