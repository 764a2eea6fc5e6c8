"""A batch without Ray: blocks of the plan go through an actor in this process, and its rows into the results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ape.batch.actor import BatchWork, StretchActor
from ape.batch.folder import CHECKPOINT, RESULTS, BatchFolder
from ape.batch.manifest import read_manifest
from ape.batch.models import open_models
from ape.batch.planning import BatchPlan, plan_batch
from ape.jobs.job import JobRecipe
from ape.settings import Settings


async def plan(folder: Path, manifest: Path, settings: Settings, *, skip: bool = False, context: int = 2) -> BatchPlan:
    """Plan the manifest."""
    urls = [settings.url] if settings.url else []
    async with open_models(settings, urls) as models:
        recipe = JobRecipe(context=context)
        return await plan_batch(BatchFolder(str(folder)), read_manifest(manifest), recipe, settings, models, skip=skip)


def run_blocks(work: BatchWork, plan: BatchPlan, *, blocks: Sequence[int] | None = None) -> list[int]:
    """Edit blocks of the plan, all by default, and commit each as Ray Data does; returns the rows of each."""
    folder = BatchFolder(work.folder)
    for name in (RESULTS, CHECKPOINT):
        folder.create_folder(name)
    actor, counts = StretchActor(work), []
    try:
        for number, name in enumerate(folder.names(plan.stretch_folder)):
            if blocks is None or number in blocks:
                table = pq.read_table(folder.path(f"{plan.stretch_folder}/{name}"))
                rows = pa.table(actor({column: table[column].to_pylist() for column in table.column_names}))
                counts.append(rows.num_rows)
                _commit(folder, number, rows)
    finally:
        actor.close()
    return counts


def _commit(folder: BatchFolder, number: int, rows: pa.Table) -> None:
    if rows.num_rows:
        pq.write_table(rows, folder.path(f"{RESULTS}/write_{number}-0.parquet"))
        pq.write_table(rows.select(["id"]), folder.path(f"{CHECKPOINT}/write_{number}.parquet"))
