"""Create the tables of batches: uploaded request files, batches, and one answer for each line."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "batch_files",
        *map(_text, ("id", "owner", "name", "purpose")),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("created", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("batch_files_by_owner", "batch_files", ["owner", "created"])
    op.create_table(
        "batches",
        *map(_text, ("id", "owner", "input_file", "endpoint", "window", "notes", "state", "errors", "times")),
        *map(_number, ("total", "completed", "failed")),
        *map(_text, ("output_file", "error_file")),
        sa.Column("worker", sa.Text),
        sa.Column("created", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("batches_by_owner", "batches", ["owner", "created"])
    op.create_table(
        "batch_answers",
        sa.Column("batch", sa.Text, sa.ForeignKey("batches.id", ondelete="CASCADE"), nullable=False),
        _number("line"),
        _text("custom_id"),
        _number("status"),
        _text("body"),
        sa.PrimaryKeyConstraint("batch", "line"),
    )


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False)


def _number(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer, nullable=False)
