"""Whole recipes: from a public corpus to an adapter that is shipped, each in one script."""
