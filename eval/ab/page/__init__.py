"""The rater's page: one template, served by us or a file that needs no server."""

from eval.ab.page.page import content, offline, served

__all__ = ["content", "offline", "served"]
