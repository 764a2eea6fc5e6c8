"""Scores and error spans of votes."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, Text

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Add the columns; votes without spans have empty objects."""
    for name in ("scores", "spans"):
        op.add_column("votes", Column(name, Text(), nullable=False, server_default="{}"))
