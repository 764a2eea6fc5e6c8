"""A tiny base, a small dataset, and trainings with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from finetune.training.config import TrainConfig
    from finetune.training.train import TrainingResult
    from finetune.training.trainer import TrainingEvent

Fit = Callable[..., "TrainingResult"]


@pytest.fixture(scope="session")
def one_thread() -> Iterator[None]:
    """Run torch on one thread, for reproducible sums, and without progress bars."""
    import torch
    from datasets.utils import logging as of_datasets
    from transformers.utils import logging as of_transformers

    bars: tuple[Any, ...] = (of_datasets, of_transformers)
    for bar in bars:
        bar.disable_progress_bar()
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def tokenizer() -> Any:
    from tests.finetune.toy_model import make_tokenizer

    return make_tokenizer()


@pytest.fixture(scope="session")
def base(one_thread: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.finetune.toy_model import write_base

    place = tmp_path_factory.mktemp("base")
    write_base(place)
    return place


@pytest.fixture(scope="session")
def data(one_thread: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.finetune.toy_model import write_data

    place = tmp_path_factory.mktemp("data") / "examples"
    write_data(place)
    return place


@pytest.fixture(scope="session")
def fit(base: Path, data: Path) -> Fit:
    """Train the tiny base on the small dataset."""
    from finetune.training.train import train_adapter
    from tests.finetune.toy_model import CONFIG

    def run(
        out: Path, config: TrainConfig = CONFIG, listen: Callable[[TrainingEvent], None] = lambda _: None
    ) -> TrainingResult:
        return train_adapter(str(base), data, out, config=config, listen=listen)

    return run


@pytest.fixture(scope="session")
def undisturbed(fit: Fit, tmp_path_factory: pytest.TempPathFactory) -> TrainingResult:
    """An uninterrupted training, for comparison."""
    return fit(tmp_path_factory.mktemp("undisturbed") / "adapter")
