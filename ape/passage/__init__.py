"""A passage and its post-edit: the values that every other part of the product shares."""
