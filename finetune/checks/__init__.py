"""Checks of the data before training, and of the adapter after: stop rate and parity with the engines."""
