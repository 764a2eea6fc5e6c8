"""Linguistic annotation: annotators, word alignment, coreference and the BWB mark-up."""
