"""Create the tables of blind tests: trials, raters with their tokens, and one vote for each item and rater."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Create the tables."""
    op.create_table("trials", *map(_text, ("id", "name", "content")), _created(), sa.PrimaryKeyConstraint("id"))
    op.create_table(
        "raters",
        sa.Column("trial", sa.Text, sa.ForeignKey("trials.id", ondelete="CASCADE"), nullable=False),
        _text("name"),
        sa.Column("token_hash", sa.Text),
        _created(),
        sa.PrimaryKeyConstraint("trial", "name"),
    )
    op.create_index("raters_by_token", "raters", ["token_hash"], unique=True)
    op.create_table(
        "votes",
        *map(_text, ("trial", "item", "rater", "first", "second", "choice", "confidence", "believed_human")),
        *map(_text, ("errors", "comment", "at")),
        _created(),
        sa.PrimaryKeyConstraint("trial", "item", "rater"),
        sa.ForeignKeyConstraint(["trial", "rater"], ["raters.trial", "raters.name"], ondelete="CASCADE"),
    )


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False)


def _created() -> sa.Column[float]:
    return sa.Column("created", sa.Double, nullable=False)
