"""Add reviews, review_log and review_links: what people decide about the edits of a book."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def _texts(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text, nullable=False) for name in names]


def _numbers(*names: str) -> list[sa.Column[float]]:
    return [sa.Column(name, sa.Double, nullable=False) for name in names]


def _job() -> sa.Column[str]:
    return sa.Column("job", sa.Text, sa.ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False)


def upgrade() -> None:
    """Create the tables, empty: no paragraph has been reviewed."""
    op.create_table(
        "reviews",
        _job(),
        *_texts("paragraph"),
        sa.Column("version", sa.Integer, nullable=False),
        *_texts("state", "author"),
        *_numbers("updated"),
        sa.PrimaryKeyConstraint("job", "paragraph"),
    )
    op.create_table(
        "review_log",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        _job(),
        *_texts("paragraph", "batch", "action", "author", "detail", "result", "before", "after"),
        sa.Column("undone", sa.Integer, nullable=False),
        *_numbers("at"),
        sqlite_autoincrement=True,
    )
    op.create_index("review_log_by_paragraph", "review_log", ["job", "paragraph", "id"])
    op.create_index("review_log_by_job", "review_log", ["job", "id"])
    op.create_index("review_log_by_author", "review_log", ["job", "author", "id"])
    op.create_table(
        "review_links",
        sa.Column("id", sa.Text, primary_key=True),
        _job(),
        *_texts("token_hash", "name"),
        *_numbers("created", "expires"),
        sa.Column("revoked", sa.Double),
    )
    op.create_index("review_links_by_token", "review_links", ["token_hash"], unique=True)
    op.create_index("review_links_by_job", "review_links", ["job", "created"])
