"""A GGUF LoRA gives the same answers as its PEFT adapter; what GGUF can't express is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ape.adapters import AdapterCard, write_card
from ape.adapters.gguf import GGUF_FILE, read_gguf_adapter
from ape.engines.embedded import embedded_engine
from ape.errors import AdapterRefused, InputError
from ape.models.gguf_header import read_gguf_header
from finetune.base_model import find_base
from finetune.export import gguf_lora
from finetune.export.gguf_lora import GgufFamily, LoraPrecision, write_gguf_lora
from prompts import SEP
from tests.finetune.export.engine_requests import NEAR, PROMPTS, by_llama, regrets
from tests.finetune.export.toy_adapters import make_adapter, make_gguf, make_tiny, make_tokenizer

Tiny = tuple[Path, Path]


@pytest.fixture(scope="module")
def tiny(one_thread: None, tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    """A random Llama as a directory, and as a GGUF file in float32."""
    folder = tmp_path_factory.mktemp("tiny")
    return make_tiny(folder / "llama"), make_gguf(folder / "llama", folder / "llama.gguf")


@pytest.fixture(scope="module")
def prompts(one_thread: None) -> list[list[int]]:
    tokenizer = make_tokenizer()
    return [tokenizer(prompt.text).input_ids for prompt in PROMPTS]


async def served_regrets(
    base: Path, model: Path, adapter: Path, prompts: list[list[int]], *, precision: LoraPrecision = "float32"
) -> list[float]:
    """Regrets of the answers of llama.cpp under peft, by prompt.

    The engine has one thread: more of them wait for each other on so small a model, for seconds on a busy machine.
    """
    write_gguf_lora(adapter, find_base(str(base)), adapter / GGUF_FILE, precision=precision)
    tuned = read_gguf_adapter("tuned", adapter, base=model)
    async with embedded_engine(model, name="base", concurrency=1, window=512, threads=1, adapters=[tuned]) as engine:
        served = await by_llama(engine, "tuned", prompts)
        untuned = await by_llama(engine, "base", prompts)
    assert max(regrets(base, None, prompts, untuned)) < NEAR  # both have the same base
    assert min(regrets(base, None, prompts, served)) > NEAR  # the adapter has an effect
    return regrets(base, adapter, prompts, served)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"use_rslora": True},
        {"rank_pattern": {"q_proj": 2}, "alpha_pattern": {"v_proj": 3, "layers.1.mlp.up_proj": 5}},
        {"layers_to_transform": [1]},
    ],
    ids=["plain", "rslora", "patterns", "one layer"],
)
async def test_greedy_tokens_are_those_of_peft(
    options: dict[str, Any], tiny: Tiny, prompts: list[list[int]], tmp_path: Path
) -> None:
    adapter = make_adapter(tmp_path / "adapter", tiny[0], **options)
    assert max(await served_regrets(*tiny, adapter, prompts)) < NEAR


async def test_half_precision_is_enough(tiny: Tiny, prompts: list[list[int]], tmp_path: Path) -> None:
    adapter = make_adapter(tmp_path / "adapter", tiny[0])
    assert max(await served_regrets(*tiny, adapter, prompts, precision="float16")) < NEAR


@pytest.mark.parametrize("kind", ["mistral", "qwen2", "qwen3"])
async def test_each_family_has_its_own_row_order(kind: str, prompts: list[list[int]], tmp_path: Path) -> None:
    base = make_tiny(tmp_path / kind, kind=kind)
    model = make_gguf(base, tmp_path / f"{kind}.gguf")
    assert max(await served_regrets(base, model, make_adapter(tmp_path / "adapter", base), prompts)) < NEAR


async def test_without_permuted_rows_a_llama_gives_other_answers(
    tiny: Tiny, prompts: list[list[int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gguf_lora, "FAMILIES", {"llama": GgufFamily("llama", permuted_modules=())})
    adapter = make_adapter(tmp_path / "adapter", tiny[0], target_modules=["q_proj", "k_proj"])
    assert min(await served_regrets(*tiny, adapter, prompts)) > 10 * NEAR


def test_the_file_names_its_kind_and_its_base(tiny: Tiny, tmp_path: Path) -> None:
    base, model = tiny
    adapter = make_adapter(tmp_path / "adapter", base)
    header = read_gguf_header(write_gguf_lora(adapter, find_base(str(base)), adapter / GGUF_FILE))
    assert header.metadata["general.type"] == "adapter"
    assert header.metadata["adapter.lora.alpha"] == 8
    assert header.tensors["blk.1.ffn_down.weight.lora_b"].shape == (64, 4)
    another = make_gguf(make_tiny(tmp_path / "other", seed=4), tmp_path / "other.gguf")
    assert read_gguf_adapter("tuned", adapter, base=model).format == "sep"
    with pytest.raises(AdapterRefused, match=r"trained on tiny, and other\.gguf is served here: another"):
        read_gguf_adapter("tuned", adapter, base=another)


@pytest.mark.filterwarnings("ignore:Model has .tie_word_embeddings=True:UserWarning")
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"use_dora": True}, r"uses DoRA \(use_dora\), which can't be served"),
        ({"modules_to_save": ["input_layernorm"]}, "whole modules in addition"),
        ({"target_modules": ["lm_head"]}, "changes lm_head, which .* does not have"),
    ],
)
def test_an_adapter_that_gguf_can_not_express_is_refused(
    options: dict[str, Any], sentence: str, tiny: Tiny, tmp_path: Path
) -> None:
    adapter = make_adapter(tmp_path / "adapter", tiny[0], **options)
    with pytest.raises(AdapterRefused, match=sentence):
        write_gguf_lora(adapter, find_base(str(tiny[0])), adapter / GGUF_FILE)
    assert not (adapter / GGUF_FILE).exists()


def test_an_unknown_architecture_is_refused_with_an_alternative(tiny: Tiny, tmp_path: Path) -> None:
    base, adapter = tiny[0], make_adapter(tmp_path / "adapter", tiny[0])
    strange = tmp_path / "strange"
    strange.mkdir()
    for path in base.iterdir():
        (strange / path.name).write_bytes(path.read_bytes())
    config = (base / "config.json").read_text()
    (strange / "config.json").write_text(config.replace('"llama"', '"granite"'))
    found = find_base(str(strange))
    write_card(adapter, AdapterCard(base=found.card, prompt=SEP.fingerprint))
    with pytest.raises(AdapterRefused, match=r"type 'granite' .* Export a merged model"):
        write_gguf_lora(adapter, found, adapter / GGUF_FILE)


def test_an_existing_file_is_not_overwritten(tiny: Tiny, tmp_path: Path) -> None:
    adapter = make_adapter(tmp_path / "adapter", tiny[0])
    (adapter / GGUF_FILE).write_bytes(b"mine")
    with pytest.raises(InputError, match="is there already"):
        write_gguf_lora(adapter, find_base(str(tiny[0])), adapter / GGUF_FILE)
    assert (adapter / GGUF_FILE).read_bytes() == b"mine"


def test_a_broken_adapter_is_a_clear_error(tiny: Tiny, tmp_path: Path) -> None:
    base, model = tiny
    adapter = make_adapter(tmp_path / "adapter", base)
    with pytest.raises(AdapterRefused, match=r"has no adapter\.gguf.*Export the adapter"):
        read_gguf_adapter("tuned", adapter, base=model)
    whole = write_gguf_lora(adapter, find_base(str(base)), adapter / GGUF_FILE).read_bytes()
    for damaged in (whole[:-100], whole[:50], b"GGUF", b"", b"junk" * 20):
        (adapter / GGUF_FILE).write_bytes(damaged)
        with pytest.raises(AdapterRefused, match=r"adapter\.gguf is damaged"):
            read_gguf_adapter("tuned", adapter, base=model)
    (adapter / GGUF_FILE).write_bytes(model.read_bytes())
    with pytest.raises(AdapterRefused, match="is not a LoRA adapter"):
        read_gguf_adapter("tuned", adapter, base=model)
