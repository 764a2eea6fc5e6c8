"""A merged model gives the logits of base and adapter, and loads as an ordinary model."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer

from ape.adapters import read_card
from ape.engines import Sampling
from ape.engines.embedded import embedded_engine
from ape.engines.model_selection import ModelSelection
from ape.errors import AdapterRefused, InputError
from ape.files.atomic import new_output
from ape.passage.events import ignore_event
from finetune.export.merged_model import write_merged
from prompts import SEP
from tests.finetune.export.toy_adapters import make_adapter, make_gguf, make_tiny
from tests.finetune.toy_model import EXAMPLES

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny(tmp_path_factory.mktemp("tiny") / "base")


@pytest.mark.parametrize("options", [{}, {"use_dora": True}], ids=["plain", "dora"])
def test_its_logits_are_those_of_base_and_adapter(options: dict[str, Any], base: Path, tmp_path: Path) -> None:
    adapter = make_adapter(tmp_path / "adapter", base, **options)
    merged = write_merged(adapter, str(base), tmp_path / "out" / "merged")
    model: Any = AutoModelForCausalLM.from_pretrained(merged, dtype=torch.float32)
    tuned: Any = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(base), str(adapter))
    tokens = torch.arange(3, 40)[None]
    with torch.inference_mode():
        torch.testing.assert_close(model(tokens).logits, tuned(tokens).logits, atol=2e-3, rtol=1e-4)
    assert AutoTokenizer.from_pretrained(merged)("th").input_ids
    assert read_card(merged) == read_card(adapter)
    assert "It has to be queried in the format sep, as text and never as a chat" in (merged / "README.md").read_text()
    assert [path.name for path in merged.parent.iterdir()] == ["merged"]


async def test_the_embedded_engine_uses_the_format_it_was_trained_on(base: Path, tmp_path: Path) -> None:
    """The GGUF file is in the directory of the card."""
    merged = write_merged(make_adapter(tmp_path / "adapter", base), str(base), tmp_path / "merged")
    model = make_gguf(merged, merged / "merged.gguf")
    async with (
        embedded_engine(model, name="merged", concurrency=1, window=512, threads=1) as engine,
        engine.using("merged") as tuned,
    ):
        assert (tuned.format, tuned.languages) == ("sep", ("fr-en",))
        greedy = Sampling(temperature=0.0, top_p=1.0, seed=1, max_tokens=2, max_characters=200)
        reply = await engine.ask(SEP.render(EXAMPLES[0].question), greedy, model=tuned, listen=ignore_event)
        assert reply.usage.completion_tokens > 0
    assert ModelSelection(str(model), {}).name_and_format(str(model)) == (str(model), "sep")


def spoil_weights(adapter: Path) -> None:
    (adapter / "adapter_model.safetensors").write_bytes(b"junk")


def tie(adapter: Path) -> None:
    path = adapter / "adapter_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "target_modules": ["lm_head"]}))


@pytest.mark.parametrize(
    ("spoil", "sentence"), [(spoil_weights, "can't be merged into its base"), (tie, "share one matrix in this model")]
)
def test_an_adapter_that_can_not_be_merged_is_a_clear_error(
    spoil: Callable[[Path], None], sentence: str, base: Path, tmp_path: Path
) -> None:
    adapter = make_adapter(tmp_path / "adapter", base)
    spoil(adapter)
    with pytest.raises(AdapterRefused, match=sentence):
        write_merged(adapter, str(base), tmp_path / "merged")
    assert not (tmp_path / "merged").exists()


def test_another_base_is_refused_by_its_weights(base: Path, tmp_path: Path) -> None:
    other = make_tiny(tmp_path / "other", seed=9)
    with pytest.raises(AdapterRefused, match=r"trained on tiny \(base@.*other .* is another model"):
        write_merged(make_adapter(tmp_path / "adapter", base), str(other), tmp_path / "merged")


def test_an_existing_directory_is_not_overwritten(base: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is there already"):
        write_merged(make_adapter(tmp_path / "adapter", base), str(base), tmp_path / "adapter")


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path) -> None:
    def fill() -> None:
        with new_output(tmp_path / "merged") as draft:
            draft.mkdir()
            (draft / "half").write_bytes(b"half")
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(InputError, match=r"merged can't be written: No space left.*Make room"):
        fill()
    assert not list(tmp_path.iterdir())
