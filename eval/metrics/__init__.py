"""Metrics: statistics per segment first, scores folded from them after; one module or package each."""
