"""Add jobs.engine, the engine as configured, and jobs.unpaired, the source paragraphs without MT."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the columns, empty for existing jobs."""
    for name in ("engine", "unpaired"):
        op.add_column("jobs", sa.Column(name, sa.Text, nullable=False, server_default=""))
