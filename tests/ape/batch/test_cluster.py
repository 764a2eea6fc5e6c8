"""How many CPUs a run reserves on its cluster."""

from __future__ import annotations

import pytest

from ape.batch.run import BatchStopped, Cluster, needed_cpus, refuse_small


@pytest.mark.parametrize(
    ("actors", "cpus", "needed"), [(1, 1.0, 4), (1, 0.5, 4), (2, 1.0, 5), (3, 0.5, 5), (1, 0.0, 3)]
)
def test_a_run_reserves_cpus_for_its_actors_and_three_more(actors: int, cpus: float, needed: int) -> None:
    assert needed_cpus(Cluster(actors=actors, cpus=cpus)) == needed


def test_a_cluster_on_which_a_resumed_batch_would_wait_for_ever_is_refused() -> None:
    refuse_small(Cluster("ray:6379", actors=2), 5.0)
    with pytest.raises(BatchStopped, match="The cluster at ray:6379 has 4 CPUs, and 2 actors of 1 need 5"):
        refuse_small(Cluster("ray:6379", actors=2), 4.0)
