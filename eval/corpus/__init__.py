"""Evaluation corpora: documents of aligned segments, and readers for the files that hold them."""
