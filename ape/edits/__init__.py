"""What changed between an MT and its post-edit: alignment, edits with their kinds, and the filter of uncertain edits."""
