"""The texts we send to models, and the loader that renders and fingerprints them."""
