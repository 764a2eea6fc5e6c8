"""Statistics: counts and folds, significance tests, intervals, agreement and power."""
