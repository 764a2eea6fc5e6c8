"""Pearmut (Zouhar and Kocmi 2026): campaigns, and import and export of annotations."""

from eval.human.pearmut.annotations import export_annotations, is_pearmut, read_annotations, read_ratings
from eval.human.pearmut.campaign import build_campaign

__all__ = ["build_campaign", "export_annotations", "is_pearmut", "read_annotations", "read_ratings"]
