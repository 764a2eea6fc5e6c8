"""The loss plot of a training."""

from __future__ import annotations

from pathlib import Path

import pytest

from finetune.training.loss_plot import plot_losses

HISTORY = [{"step": step, "loss": 3 - step / 10} for step in range(1, 9)]
LOOKS = [{"step": 4, "eval_loss": 2.7, "eval_ter_gain": -1.0}, {"step": 8, "eval_loss": 2.2, "eval_ter_gain": 0.5}]


@pytest.mark.parametrize("history", [HISTORY, HISTORY + LOOKS, []])
def test_a_picture_is_drawn_of_whatever_was_logged(tmp_path: Path, history: list[dict[str, float]]) -> None:
    plot_losses(history, tmp_path / "loss.png")
    assert (tmp_path / "loss.png").read_bytes().startswith(b"\x89PNG")
