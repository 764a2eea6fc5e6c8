"""Add jobs.names: the ledger of a book, so that its repairs can be made again."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the column, empty for existing jobs: they have no ledger."""
    op.add_column("jobs", sa.Column("names", sa.Text, nullable=False, server_default=""))
