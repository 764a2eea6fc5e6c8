"""The registry: every name is a metric of that name."""

from __future__ import annotations

import pytest

from ape.errors import InputError
from eval.metrics.registry import DISCOURSE_METRICS, METRICS, create_metric, create_metrics


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_is_called_as_it_is_typed(name: str) -> None:
    assert create_metric(name).name == name


def test_discourse_stands_for_all_about_it() -> None:
    assert [metric.name for metric in create_metrics(["ter", "discourse", "blonde"])] == [
        "ter",
        *DISCOURSE_METRICS,
    ]


def test_an_unknown_name_is_refused_with_those_there_are() -> None:
    with pytest.raises(InputError, match=r"no metric called 'blue'. There are: bleu, "):
        create_metrics(["blue"])
