"""Add jobs.told: the options with which the files of a job are read, so that they are always read in the same way."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the column, empty for existing jobs."""
    op.add_column("jobs", sa.Column("told", sa.Text, nullable=False, server_default=""))
