"""Training of the literary annotator with torch, from LitBank and tags by spaCy."""
