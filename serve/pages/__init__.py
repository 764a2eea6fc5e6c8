"""Web pages: blind tests, comparisons and the HTTP API."""

from serve.pages.app import add_pages, create_pages_app

__all__ = ["add_pages", "create_pages_app"]
