"""Run a batch on Ray Data: read the plan, edit in actors, and write and checkpoint the finished stretches."""

from __future__ import annotations

import logging
import math
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from ape.batch.actor import BatchWork, StretchActor
from ape.batch.folder import CHECKPOINT, QUARANTINE, RESULTS, BatchFolder
from ape.batch.planning import STRETCHES_PER_FILE, BatchPlan
from ape.batch.progress import ProgressCounter
from ape.batch.records import delete_committed
from ape.errors import ApeError

# CPUs that Ray reserves for the tasks that read and write. They are short, and the actors mostly wait.
TASK_CPUS = 0.5
# CPUs that Ray reserves besides the actors: one for the filter of finished stretches, one to list files, and one for
# tasks that read and write. With fewer a batch that is resumed would wait for ever.
_OTHER_CPUS = 3
ProgressListener = Callable[[int, int], None]


class BatchStopped(ApeError):
    """The run ended early. What was finished is kept."""

    title = "The batch stopped"


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where to run: on this machine without an address. CPUs and GPUs are those that each actor reserves."""

    address: str | None = None
    actors: int = 1
    cpus: float = 1.0
    gpus: float = 0.0


@contextmanager
def connected(cluster: Cluster) -> Iterator[None]:
    """Connect to the cluster, or start Ray on this machine within the block."""
    # Read when Ray is imported. Nothing is reported to its makers, and its own log stays in its folder.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    import ray

    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    try:
        if cluster.address:
            ray.init(address=cluster.address, **options)
            resources: Any = ray.cluster_resources  # untyped in Ray
            refuse_small(cluster, resources().get("CPU", 0.0))
        else:
            ray.init(include_dashboard=False, num_cpus=max(os.cpu_count() or 1, needed_cpus(cluster)), **options)
    except BatchStopped:
        ray.shutdown()
        raise
    except Exception as error:  # some of its errors have no class of their own
        place = cluster.address or "this machine"
        raise BatchStopped(f"Ray can't be used on {place}: {str(error).splitlines()[0]}") from error
    try:
        yield
    finally:
        ray.shutdown()


def needed_cpus(cluster: Cluster) -> int:
    """The CPUs that Ray reserves for a run. They are numbers to Ray; more than the machine has do no harm."""
    return math.ceil(cluster.actors * cluster.cpus) + _OTHER_CPUS


def refuse_small(cluster: Cluster, cpus: float) -> None:
    """Raise BatchStopped for a cluster with too few CPUs, on which a run would wait for ever."""
    if cpus < needed_cpus(cluster):
        raise BatchStopped(
            f"The cluster at {cluster.address} has {cpus:g} CPUs, and {cluster.actors} actors of {cluster.cpus:g} need "
            f"{needed_cpus(cluster)} with the tasks that read and write. Add nodes, start them with a larger "
            "--num-cpus (it only counts reservations), or pass smaller --actors or --cpus."
        )


def run_batch(
    folder: BatchFolder,
    plan: BatchPlan,
    work: BatchWork,
    cluster: Cluster,
    *,
    redo_quarantined: bool = False,
    listen: ProgressListener = lambda done, failed: None,
) -> None:
    """Edit every stretch of the plan that is not in the results; needs a connection to Ray.

    `listen` is told how many paragraphs were finished, and how many failed, since the start. Raises BatchStopped.
    """
    import ray

    if not plan.stretches:
        return
    delete_committed(folder, folder.committed_ids())
    known = frozenset() if redo_quarantined else frozenset(folder.ids(QUARANTINE))
    counter = ray.remote(num_cpus=0, max_restarts=-1)(ProgressCounter).remote()
    blocks = blocks_in_flight(work.concurrency)

    def execute() -> None:
        edited = read_rows(folder, plan).map_batches(
            StretchActor,
            fn_constructor_kwargs={"work": replace(work, quarantined=known), "on_progress": _Reporter(counter)},
            batch_size=None,
            batch_format="numpy",
            compute=ray.data.ActorPoolStrategy(
                size=cluster.actors,
                max_tasks_in_flight_per_actor=blocks,
                max_concurrent_calls_per_actor=blocks,
                enable_true_multi_threading=True,
            ),
            num_cpus=cluster.cpus,
            num_gpus=cluster.gpus,
        )
        write_rows(folder, edited)

    with _watch(counter, listen):
        run_dataset(folder, execute)


def run_dataset(folder: BatchFolder, execute: Callable[[], None]) -> None:
    """Run what reads, edits and writes, with the checkpoint of the batch; raises BatchStopped."""
    from ray.data import DataContext
    from ray.data.checkpoint import CheckpointConfig

    folder.create_folder(RESULTS)
    delete_committed(folder, folder.committed_ids())
    context = DataContext.get_current()
    context.enable_progress_bars = False
    context.execution_options.preserve_order = False
    context.checkpoint_config = CheckpointConfig(
        "id", folder.uri(CHECKPOINT), delete_checkpoint_on_success=False, override_filesystem=folder.files
    )
    # Its filter holds ids alone; by default it would reserve a gigabyte.
    context.checkpoint_config.checkpoint_actor_memory_bytes = 64 * 1024**2
    for name in ("ray", "ray.data"):  # the error is ours to explain; Ray has the whole story in its folder
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        execute()
    except ApeError:
        raise
    except Exception as error:
        raise BatchStopped(
            f"The run stopped: {_describe(error)} What was finished is kept: run the same command again to go on."
        ) from error
    delete_committed(folder, folder.committed_ids())


def read_rows(folder: BatchFolder, plan: BatchPlan) -> Any:
    """The stretches of the plan, as a dataset with a block for each file.

    Ray Data can checkpoint what reads, maps and writes. Its second reader packs small files into blocks of 128 MB,
    whatever number is asked for, so that one actor would edit all; for the ids of a checkpoint that is right.
    """
    import ray

    files = len(folder.names(plan.stretch_folder))
    context = ray.data.DataContext.get_current()
    packs, context.use_datasource_v2 = context.use_datasource_v2, False
    try:
        return ray.data.read_parquet(
            folder.path(plan.stretch_folder), filesystem=folder.files, num_cpus=TASK_CPUS, override_num_blocks=files
        )
    finally:
        context.use_datasource_v2 = packs


def write_rows(folder: BatchFolder, rows: Any) -> None:
    """Write the rows of a dataset into the results."""
    from ray.data import SaveMode

    options = {"num_cpus": TASK_CPUS}
    rows.write_parquet(folder.path(RESULTS), filesystem=folder.files, mode=SaveMode.APPEND, ray_remote_args=options)


def blocks_in_flight(concurrency: int) -> int:
    """Blocks of stretches under way in an actor: enough that the end of one is not awaited by the next."""
    return -(-concurrency // STRETCHES_PER_FILE) + 1


class _Reporter:
    """Tells the counter about progress, from an actor; the counter may be away."""

    def __init__(self, counter: Any) -> None:
        self._counter = counter

    def __call__(self, done: int, failed: int) -> None:
        with suppress(Exception):
            self._counter.add.remote(done, failed)


@contextmanager
def _watch(counter: Any, listen: ProgressListener) -> Iterator[None]:
    """Ask the counter every second, in a thread."""
    import ray

    stopped = threading.Event()

    def ask() -> None:
        # Counts are lost when the node of the counter dies; they go on from what was seen.
        lost, last = (0, 0), (0, 0)
        while not stopped.wait(1.0):
            with suppress(Exception):
                seen = ray.get(counter.counts.remote(), timeout=5)
                if seen < last:
                    lost = (lost[0] + last[0], lost[1] + last[1])
                last = seen
                listen(lost[0] + seen[0], lost[1] + seen[1])

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join(10)


def _describe(error: BaseException) -> str:
    """The innermost error of ours, or the last line of Ray's."""
    seen: BaseException | None = error
    while seen is not None:
        cause = getattr(seen, "cause", None)
        for one in (seen, cause):
            if isinstance(one, ApeError):
                return str(one)
        seen = cause if isinstance(cause, BaseException) else seen.__cause__
    lines = [line for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    return f"{lines[-1].strip().rstrip('.')}."
