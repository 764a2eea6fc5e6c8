"""Tokens of training and of llama.cpp are compared, and the first difference is named."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.processors import TemplateProcessing

from finetune.base_model import find_base, load_tokenizer
from finetune.checks.engine_tokens import find_engine_faults, find_token_faults
from finetune.checks.example_faults import ExampleFault
from finetune.data.example import Example
from finetune.training.encoding import encode_example
from tests.finetune.export.toy_adapters import WORDS, make_gguf, make_tiny
from tests.finetune.toy_model import EXAMPLES

pytestmark = pytest.mark.torch

YEAR = Example("year", "b", "Né en 1812.", "Born in the 1812.", "Born in 1812.", "fr", "en")
# More than fit into one request.
MANY = (*EXAMPLES, YEAR) * 4


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("engine")
    return make_gguf(make_tiny(place / "tiny"), place / "tiny.gguf")


@pytest.fixture(scope="module")
def unpacked(model: Path) -> Any:
    return load_tokenizer(find_base(str(model), cache=model.parent), str(model))


async def test_an_unpacked_gguf_file_is_trained_on_the_tokens_that_are_served(model: Path, unpacked: Any) -> None:
    counted: list[int] = []
    assert await find_engine_faults(model, unpacked, MANY, progress=counted.append) == []
    assert sum(counted) == len(MANY)
    assert len(counted) > 1


async def test_a_tokenizer_that_lost_the_rule_of_digits_is_caught_at_the_first_of_them(
    model: Path, unpacked: Any
) -> None:
    lost = deepcopy(unpacked)
    lost.backend_tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    faults = await find_engine_faults(model, lost, [EXAMPLES[0], YEAR])
    # By hand: 1, 8, 12 for 1, 8, 1, 2; every letter before is a token, and é is two.
    place = len("Né en 18") + 1
    twelve, one = WORDS.index("12"), WORDS.index("1")
    detail = f"at token {place}, in its prompt: '12' ({twelve}) trained, '1' ({one}) served"
    assert faults == [ExampleFault("engine", "year", detail)]


async def test_an_answer_of_other_tokens_is_caught_too(model: Path, unpacked: Any) -> None:
    lost = deepcopy(unpacked)
    lost.backend_tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    (fault,) = await find_engine_faults(model, lost, [replace(YEAR, source="Né.", mt="Born.")])
    assert "in its answer: '12'" in fault.detail


async def test_a_first_token_that_only_one_of_them_adds_is_caught(model: Path, unpacked: Any) -> None:
    begun = deepcopy(unpacked)
    begun.backend_tokenizer.post_processor = TemplateProcessing(
        single="<|im_start|> $A", special_tokens=[("<|im_start|>", unpacked.bos_token_id)]
    )
    (fault,) = await find_engine_faults(model, begun, [YEAR])
    assert fault.detail.startswith("at token 0, in its prompt: '<|im_start|>' (1) trained, 'N'")


class Around:
    """An engine of letters that adds a token before and after each prompt."""

    async def tokens(self, *parts: str | int, as_prompt: bool = False) -> list[int]:
        read = [token for part in parts for token in ([part] if isinstance(part, int) else map(ord, part))]
        return [7, *read, 8] if as_prompt else read


async def test_what_an_engine_puts_around_a_prompt_is_compared_too() -> None:
    letters = Letters()
    (fault,) = await find_token_faults(Around(), letters, [YEAR])
    assert fault.detail.startswith("at token 0")
    letters.before = 7
    (fault,) = await find_token_faults(Around(), letters, [YEAR])
    prompt = encode_example(letters, YEAR).prompt_length
    assert fault.detail.startswith(f"at token {prompt}, in its answer: 'B'")


class Letters:
    """A tokenizer of letters that may add a token before a prompt."""

    eos_token_id = 1
    before: int | None = None

    def __call__(self, text: str, *, add_special_tokens: bool = True) -> Any:
        begun = [self.before] if add_special_tokens and self.before else []
        return type("Tokens", (), {"input_ids": [*begun, *map(ord, text)]})

    def decode(self, tokens: list[int]) -> str:
        return "".join(map(chr, tokens))
