"""Create jobs, paragraphs, results, stretches and workers."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "jobs",
        _text("id"),
        *map(_text, ("owner", "name", "source", "source_hash", "mt", "mt_hash", "output", "output_hash")),
        *map(_text, ("format", "recipe", "state", "note", "encoding", "outcome")),
        _real("created"),
        _real("updated"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("jobs_by_owner", "jobs", ["owner", "created"])
    op.create_table(
        "paragraphs",
        _of_job(),
        _text("id"),
        _number("position"),
        _number("chapter"),
        _text("title"),
        _number("stretch"),
        *map(_text, ("source", "mt", "how")),
        _real("confidence"),
        *map(_text, ("skip", "fingerprint")),
        _number("words"),
        *map(_text, ("state", "decision", "reason")),
        _number("failures"),
        sa.PrimaryKeyConstraint("job", "id"),
    )
    op.create_index("paragraphs_in_order", "paragraphs", ["job", "position"])
    op.create_index("paragraphs_by_stretch", "paragraphs", ["job", "stretch", "position"])
    op.create_table(
        "results",
        _of_job(),
        *map(_text, ("fingerprint", "paragraph")),
        _number("retired"),
        *map(_text, ("passage", "post_edit", "decision", "findings", "edits")),
        _real("edit_rate"),
        *map(_text, ("model", "prompt")),
        *map(_number, ("prompt_tokens", "completion_tokens", "attempt")),
        _real("seconds"),
        _real("created"),
        _text("worker"),
        sa.PrimaryKeyConstraint("fingerprint", "paragraph", "job", "retired"),
    )
    op.create_index("results_by_model", "results", ["model", "created"])
    op.create_table(
        "stretches",
        _of_job(),
        *map(_number, ("number", "chapter")),
        _text("title"),
        sa.Column("worker", sa.Text),
        *map(_number, ("turn", "waiting", "edited", "unchanged", "rejected", "quarantined", "skipped")),
        *map(_number, ("words", "words_done", "words_waiting")),
        sa.Column("prompt_tokens", sa.BigInteger, nullable=False),
        sa.Column("completion_tokens", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("job", "number"),
    )
    op.create_index("stretches_by_weight", "stretches", ["job", sa.text("words_waiting DESC"), "number"])
    op.create_table(
        "workers",
        *map(_text, ("id", "host")),
        _number("pid"),
        _text("started"),
        _real("expires"),
        sa.PrimaryKeyConstraint("id"),
    )


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False)


def _number(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer, nullable=False)


def _real(name: str) -> sa.Column[float]:
    return sa.Column(name, sa.Double, nullable=False)


def _of_job() -> sa.Column[str]:
    return sa.Column("job", sa.Text, sa.ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False)
