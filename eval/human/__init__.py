"""Blind A/B tests: make them, show them to raters, keep the votes."""
