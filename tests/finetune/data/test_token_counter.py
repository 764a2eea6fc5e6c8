"""Counting tokens."""

from __future__ import annotations

from pathlib import Path

import pytest

from ape.errors import InputError
from finetune.data.token_counter import EstimatedTokenCounter, TokenizerTokenCounter, prompt_and_completion
from finetune.training.encoding import encode_example
from tests.finetune.data.sample_text import paragraph

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def letters(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tokenizer with a token for each character."""
    from tokenizers import Regex
    from tokenizers import Tokenizer as Inner
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Split
    from transformers import PreTrainedTokenizerFast

    inner = Inner(WordLevel({"[unk]": 0, "a": 1}, unk_token="[unk]"))
    inner.pre_tokenizer = Split(Regex(r"(?m)."), "isolated")
    path = tmp_path_factory.mktemp("letters")
    fast = PreTrainedTokenizerFast(tokenizer_object=inner, unk_token="[unk]", eos_token="a")  # type: ignore[no-untyped-call]
    fast.save_pretrained(str(path))
    return path


def test_the_whole_sequence_is_counted_as_it_is_trained_on(letters: Path) -> None:
    from transformers import AutoTokenizer

    found = [paragraph(number) for number in range(3)]
    counter = TokenizerTokenCounter(str(letters))
    assert counter(found) == [sum(map(len, prompt_and_completion(one))) + 1 for one in found]
    trained = AutoTokenizer.from_pretrained(str(letters))
    assert counter(found) == [len(encode_example(trained, one.to_example())) for one in found]
    assert counter.describe()["tokenizer"] == letters.name


def test_an_estimate_says_that_it_is_one() -> None:
    assert "estimated" in EstimatedTokenCounter().describe()["tokenizer"]
    (count,) = EstimatedTokenCounter()([paragraph(1)])
    assert count == pytest.approx(sum(map(len, prompt_and_completion(paragraph(1)))) / 4, rel=0.2)


def test_what_has_no_tokenizer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No tokenizer can be loaded"):
        TokenizerTokenCounter(str(tmp_path))


def test_a_name_that_can_be_no_hub_id_is_not_asked_for_there() -> None:
    with pytest.raises(InputError, match=r"No tokenizer can be loaded from nowhere: .*nothing of that name"):
        TokenizerTokenCounter("nowhere")
