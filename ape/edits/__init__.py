"""The edits between an MT and its post-edit: alignment, kinds, and the filter of uncertain edits."""
