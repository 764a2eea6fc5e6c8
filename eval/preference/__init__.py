"""Preference: what votes between two texts say, each result with its interval."""

from __future__ import annotations

from eval.preference.analysis import Analysis, analyse, tell
from eval.preference.vote import Vote

__all__ = ["Analysis", "Vote", "analyse", "tell"]
