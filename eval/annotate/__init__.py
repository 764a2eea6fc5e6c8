"""Linguistic annotation: one protocol, several annotators, cached by content."""
