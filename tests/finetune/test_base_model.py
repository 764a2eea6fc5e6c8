"""Base models: a directory and a GGUF file are the same base, and anything else is a clear error."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM

from ape.engines.embedded import embedded_engine
from ape.errors import ApeError, InputError, ModelError
from ape.models import TUNED_MODEL
from finetune.base_model import find_base, load_base
from tests.finetune.export.toy_adapters import END, make_gguf, make_tiny

pytestmark = pytest.mark.torch

TEXTS = ("In 1812, 12 cats.", "It's  the\n\nth 12\tday.", "été, 罗德, १२", "\n\n###\n\n", "  12")


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny(tmp_path_factory.mktemp("tiny") / "tiny")


@pytest.fixture(scope="module")
def model(directory: Path) -> Path:
    return make_gguf(directory, directory.parent / "small.gguf")


def test_a_directory_is_loaded_with_its_tokenizer_and_told_apart_by_its_weights(directory: Path) -> None:
    base = load_base(str(directory))
    assert base.model.dtype == torch.float32
    assert base.tokenizer.eos_token_id == END
    assert (base.card.model, base.card.revision) == ("tiny", None)
    assert base.card.fingerprint
    assert load_base(str(directory), dtype="bfloat16").model.dtype == torch.bfloat16


def test_a_gguf_file_is_the_base_that_it_was_made_of(directory: Path, model: Path, tmp_path: Path) -> None:
    base = load_base(str(model), cache=tmp_path)
    assert base.card.model == "small"
    assert base.card.revision
    assert base.card.revision.startswith("sha256:")
    assert base.card.fingerprint == find_base(str(directory)).card.fingerprint
    plain = AutoModelForCausalLM.from_pretrained(directory)
    for name, weight in plain.state_dict().items():
        torch.testing.assert_close(base.model.state_dict()[name], weight, rtol=0, atol=0)


def test_a_gguf_file_is_unpacked_once(model: Path, tmp_path: Path) -> None:
    said: list[str] = []
    first = find_base(str(model), cache=tmp_path, progress=lambda step: said.append(step.what))
    before = (Path(first.location) / "model.safetensors").stat().st_mtime_ns
    assert find_base(str(model), cache=tmp_path, progress=lambda step: said.append(step.what)) == first
    assert (Path(first.location) / "model.safetensors").stat().st_mtime_ns == before
    assert said == ["Converting small.gguf (once)"]


async def test_an_unpacked_tokenizer_gives_the_tokens_that_llama_cpp_gives(model: Path, tmp_path: Path) -> None:
    tokenizer = load_base(str(model), cache=tmp_path).tokenizer
    async with embedded_engine(model, name="small", concurrency=1, window=512) as engine:
        for text in TEXTS:
            reply = await engine._client.post(
                f"{engine.address}/tokenize", body={"content": text}, cast_to=dict[str, list[int]]
            )
            assert tokenizer(text).input_ids == reply["tokens"], text


def without_end(folder: Path) -> None:
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "eos_token": None}))


def cut_short(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-50])


def without_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()


@pytest.mark.parametrize(
    ("spoil", "error", "sentence"),
    [
        (without_end, InputError, "has no end token"),
        (cut_short, ModelError, "is damaged"),
        (without_weights, ModelError, "can't be loaded"),
        (lambda folder: (folder / "config.json").unlink(), ModelError, "can't be read as a model"),
    ],
)
def test_what_is_no_base_is_one_sentence(
    spoil: Callable[[Path], None], error: type[ApeError], sentence: str, directory: Path, tmp_path: Path
) -> None:
    spoilt = tmp_path / "spoilt"
    shutil.copytree(directory, spoilt)
    spoil(spoilt)
    with pytest.raises(error, match=sentence):
        load_base(str(spoilt))


@pytest.mark.parametrize("name", ["nowhere", "./nowhere", "/no/where/at/all"])
def test_a_base_that_is_not_there_is_told_what_it_may_be(name: str) -> None:
    with pytest.raises(InputError, match=rf"no base model {name}\. Give a directory") as caught:
        load_base(name)
    assert TUNED_MODEL not in str(caught.value)


def test_an_adapter_is_no_base() -> None:
    with pytest.raises(InputError, match=r"smollm2-135m-ape is not a base model: .* Use smollm2-135m\."):
        find_base(TUNED_MODEL)


def test_a_damaged_gguf_file_leaves_nothing_unpacked(model: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(model.read_bytes()[:2000])
    with pytest.raises(ModelError, match=r"broken\.gguf can't be loaded"):
        load_base(str(broken), cache=tmp_path / "cache")
    assert not [path for path in (tmp_path / "cache" / "unpacked").iterdir() if path.suffix != ".lock"]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_four_bits_need_a_gpu(directory: Path) -> None:
    with pytest.raises(ModelError, match="needs a CUDA GPU"):
        load_base(str(directory), quantised=True)
