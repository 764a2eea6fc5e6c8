"""The rater's page: one template, served by us or a file that needs no server."""

from eval.human.rater_page.page import offline_page, online_page, page_content

__all__ = ["offline_page", "online_page", "page_content"]
