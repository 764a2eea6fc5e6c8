"""The pages of blind tests and comparisons: for raters, and for whoever runs them."""

from serve.ab.app import add_pages, make_app

__all__ = ["add_pages", "make_app"]
