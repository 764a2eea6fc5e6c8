"""Alembic migrations of the job store, one revision a file. Released revisions are never changed."""
