"""Metrics, one module or package each: count first, fold the counts into scores after."""
