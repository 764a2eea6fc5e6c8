"""Many books: stretches of a library, post-edited on Ray Data, and put together into books."""
