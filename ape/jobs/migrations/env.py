"""The Alembic environment: run the revisions on the connection and in the transaction of the caller."""

from __future__ import annotations

from alembic import context

from ape.jobs.schema import VERSION_TABLE
from ape.jobs.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    render_as_batch=True,  # SQLite alters a table by copying it
)
with context.begin_transaction():
    context.run_migrations()
