"""Models: the catalogue, and how a model file gets onto this machine."""
