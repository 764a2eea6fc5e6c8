"""Jobs remember the engine they were begun with, as the user named it, and what of the source has no MT."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Two more columns, empty for jobs that were begun before."""
    for name in ("engine", "unpaired"):
        op.add_column("jobs", sa.Column(name, sa.Text, nullable=False, server_default=""))
