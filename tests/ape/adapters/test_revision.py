"""The revision of an adapter changes exactly when its answers may change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ape.adapters import read_adapter, read_base
from ape.adapters.gguf import read_gguf_adapter
from ape.edits.filter import EditFilter
from tests.ape.adapters.making import make_adapter, make_base, make_gguf_adapter

GATE = EditFilter(features={"lead": (-1.0, 1.0, 2.0)}, bias=0.0, threshold=0.5)
Revision = Callable[..., str]


@pytest.fixture(params=["vllm", "embedded"])
def revision(request: pytest.FixtureRequest, tmp_path: Path) -> Revision:
    """The revision of an adapter made with these arguments, for either engine."""
    places = (tmp_path / str(number) for number in range(9))
    if request.param == "embedded":
        base = request.getfixturevalue("smollm2")

        def of_gguf(**fields: Any) -> str:
            place = make_gguf_adapter(next(places), base, **fields)
            return read_gguf_adapter("a", place, base=base).revision

        return of_gguf

    directory = make_base(tmp_path / "base")

    def of_peft(**fields: Any) -> str:
        place = make_adapter(next(places), directory, **fields)
        return read_adapter("a", place, base=read_base(str(directory))).revision

    return of_peft


@pytest.mark.parametrize(
    ("changed", "another"),
    [
        ({"seed": 2}, True),
        ({"gate": GATE}, True),
        ({"stop": ("###",)}, True),
        ({"parity": {"identical": 1}}, False),
        ({"languages": ("fr-en", "zh-en")}, False),
        ({"training": {"epochs": 3}, "data": "data@1"}, False),
    ],
    ids=lambda one: next(iter(one)) if isinstance(one, dict) else "",
)
def test_what_decides_an_answer_is_in_it(changed: dict[str, Any], *, another: bool, revision: Revision) -> None:
    assert (revision() != revision(**changed)) is another


def test_another_threshold_is_another_gate(revision: Revision) -> None:
    stricter = GATE.model_copy(update={"threshold": 0.6})
    assert revision(gate=GATE) == revision(gate=GATE) != revision(gate=stricter)
