"""A passage and its post-edit: the values that the other packages share."""
