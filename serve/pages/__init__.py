"""The pages of blind tests and comparisons: for raters, and for whoever runs them."""

from serve.pages.app import add_pages, create_pages_app

__all__ = ["add_pages", "create_pages_app"]
