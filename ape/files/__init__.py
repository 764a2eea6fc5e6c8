"""Files: atomic writes, content-addressed caches, hashes and row readers."""
