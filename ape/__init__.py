"""The heart of the post-editor: segments, engines, guards, edits and the command line."""

from ape.passage.segment import Context, Segment

__all__ = ["Context", "Segment"]
