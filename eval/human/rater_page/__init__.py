"""The rater page, served or as a single file."""

from eval.human.rater_page.page import offline_page, online_page, page_content

__all__ = ["offline_page", "online_page", "page_content"]
