"""Exit codes of the commands, apart from those of errors (see `ape.errors`)."""

from __future__ import annotations

EXIT_NEEDS_ATTENTION = 3
"""The command finished, but paragraphs were quarantined or the book is not complete."""
EXIT_UNFIT = 3
"""A check finished and failed: the training set, adapter or parity is not fit for use."""
EXIT_INTERRUPTED = 130
"""Stopped by Ctrl-C, as shells report it."""
EXIT_BROKEN_PIPE = 141
"""The reader of standard output has gone, as in `ape … | head`."""
