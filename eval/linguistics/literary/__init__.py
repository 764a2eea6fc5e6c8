"""A literary annotator for English, trained on LitBank: Penn tags, lemmas, names and mentions of six entity types."""
