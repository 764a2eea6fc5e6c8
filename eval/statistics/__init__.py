"""Statistics: significance tests, intervals, agreement and power."""
