"""Examples to learn from: read, aligned, filtered, split by book, and written down with how they came about."""
