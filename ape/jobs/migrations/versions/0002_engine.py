"""Jobs remember which engine they were begun with, as the user named it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """One more column, empty for jobs that were begun before."""
    op.add_column("jobs", sa.Column("engine", sa.Text, nullable=False, server_default=""))
