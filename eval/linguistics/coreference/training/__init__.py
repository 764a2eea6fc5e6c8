"""Training of the coreference ranker with torch, from LitBank."""
