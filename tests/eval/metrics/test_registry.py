"""The registry: names and groups of metrics."""

from __future__ import annotations

import pytest

from ape.errors import InputError
from eval.metrics.registry import DISCOURSE_METRICS, METRICS, create_metric, create_metrics


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_has_its_name_in_the_registry(name: str) -> None:
    assert create_metric(name).name == name


def test_discourse_selects_all_discourse_metrics() -> None:
    assert [metric.name for metric in create_metrics(["ter", "discourse", "blonde"])] == ["ter", *DISCOURSE_METRICS]


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"no metric called 'blue'. There are: bleu, "):
        create_metrics(["blue"])
