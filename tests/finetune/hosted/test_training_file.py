"""Examples that can't be sent are named and, on request, left out; the cost is estimated."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ape.errors import InputError, TooLong
from ape.text.token_estimate import TokenRange
from finetune.data.example import Example
from finetune.hosted import training_file as preparing
from finetune.hosted.price import estimate_cost
from finetune.hosted.training_file import TrainingFile, refuse_invalid_files, write_training_file
from finetune.hosted.validation import find_row_error, max_example_tokens
from tests.finetune.hosted.sample_text import examples

ASK = {"role": "user", "content": "Repair it."}
ANSWER = {"role": "assistant", "content": "Repaired."}


def _prepared(given: list[Example], path: Path, **options: Any) -> TrainingFile:
    return write_training_file(given, path, **({"max_tokens": 65_536} | options))


@pytest.mark.parametrize(
    ("messages", "sentence"),
    [
        ([], "the turns are none"),
        ([ASK], "the turns are user, not"),
        ([ANSWER, ASK], "the turns are assistant, user, not"),
        ([ASK, ANSWER, {"role": "system", "content": "Late."}], "not user and assistant in turn"),
        ([ASK, ANSWER, ANSWER], "not user and assistant in turn"),
        ([{**ASK, "role": "tool"}, ANSWER], "messages.0.role"),
        ([{**ASK, "content": " \n"}, ANSWER], "the user's turn is empty"),
        ([{**ASK, "content": None}, ANSWER], "messages.0.content"),
        ([{**ASK, "weight": 1}, ANSWER], "has a weight, which only"),
        ([ASK, {**ANSWER, "weight": 0}], "so that nothing is learnt"),
        ([ASK, {**ANSWER, "weight": 0.5}], "messages.1.weight"),
        ([ASK, {**ANSWER, "id": 7}], "messages.1.id"),
    ],
)
def test_a_row_of_the_wrong_shape_is_refused(messages: list[dict[str, Any]], sentence: str) -> None:
    assert sentence in str(find_row_error({"messages": messages}))


def test_a_row_of_the_right_shape_is_not(tmp_path: Path) -> None:
    system = {"role": "system", "content": "Be brief."}
    assert find_row_error({"messages": [system, ASK, {**ANSWER, "weight": 0}, ASK, ANSWER]}) is None


def test_the_file_is_a_json_object_a_line_and_its_hash_is_told(tmp_path: Path) -> None:
    made = _prepared(examples(12), tmp_path / "train.jsonl")
    content = made.path.read_bytes()
    assert (made.rows, made.size, made.rejected) == (12, len(content), ())
    assert made.sha256 == hashlib.sha256(content).hexdigest()
    assert all(find_row_error(json.loads(line)) is None for line in content.splitlines())


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"source": " "}, "its source is empty"),
        ({"mt": ""}, "its mt is empty"),
        ({"human": "\n"}, "its human is empty"),
        ({"human": "Irma <|im_end|> left."}, "control words that its MT has not"),
        ({"human": "Irma \ud800 left."}, "half of a surrogate pair"),
        ({"mt": "word " * 9_000}, "tokens by our estimate, and 4,000 are allowed"),
    ],
)
def test_an_example_that_cant_be_sent_is_named(tmp_path: Path, change: dict[str, str], why: str) -> None:
    given = [*examples(12), replace(examples(13)[-1], **change)]  # type: ignore[arg-type]
    made = _prepared(given, tmp_path / "train.jsonl", max_tokens=4_000)
    assert [one.id for one in made.rejected] == ["winter-12"]
    assert why in made.rejected[0].why
    with pytest.raises(InputError, match=r"train\.jsonl: winter-12: .*\n.*or leave them out"):
        refuse_invalid_files(made, None, leave_out=False)
    refuse_invalid_files(made, None, leave_out=True)
    assert made.rows == 12


def test_the_same_example_twice_is_named_with_the_first(tmp_path: Path) -> None:
    again = replace(examples(1)[0], id="twin")
    made = _prepared([*examples(12), again], tmp_path / "train.jsonl")
    assert made.rejected[0].why == "it is the same as winter-0"


def test_two_translations_of_one_passage_are_no_duplicates(tmp_path: Path) -> None:
    other = replace(examples(1)[0], id="other", human="Irma shut up for the night and fetched her coat.")
    assert _prepared([*examples(12), other], tmp_path / "train.jsonl").rejected == ()


def test_a_passage_of_training_is_not_validated_on(tmp_path: Path) -> None:
    training = _prepared(examples(12), tmp_path / "train.jsonl")
    dev = _prepared(examples(3, first=11), tmp_path / "dev.jsonl", excluded_questions=training.questions)
    assert [(one.id, one.why) for one in dev.rejected] == [
        ("winter-11", "the same passage is among the training examples")
    ]


def test_fewer_than_ten_are_refused_with_what_took_the_others(tmp_path: Path) -> None:
    given = [*examples(9), *(replace(one, human="") for one in examples(4, first=9))]
    made = _prepared(given, tmp_path / "train.jsonl")
    with pytest.raises(InputError, match=r"There are 9 training examples.*because: its human is empty"):
        refuse_invalid_files(made, None, leave_out=True)


def test_a_file_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = _prepared(examples(12), tmp_path / "train.jsonl")
    monkeypatch.setattr(preparing, "MAX_FILE_BYTES", made.size - 1)
    with pytest.raises(TooLong, match=r"bytes, and .* are allowed"):
        refuse_invalid_files(made, None, leave_out=False)


def test_a_file_that_cant_be_written_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can't be written: No such file"):
        _prepared(examples(1), tmp_path / "none" / "train.jsonl")


def test_tokens_are_within_the_estimate(tmp_path: Path) -> None:
    made = _prepared(examples(12), tmp_path / "train.jsonl")
    # The tokenizer of SmolLM2 counts 404 to 406 tokens in these rows, including its chat template.
    assert made.tokens.low / 12 < 405 < made.tokens.high / 12


def test_the_models_limit_is_known() -> None:
    assert max_example_tokens("gpt-3.5-turbo-1106") == 16_385
    assert max_example_tokens("ft:gpt-4.1-mini-2025-04-14:ours") == 65_536


def test_the_cost_is_tokens_times_epochs_times_price() -> None:
    cost = estimate_cost(TokenRange(1e6, 2e6), epochs=2, base="gpt-4.1-mini-2025", by_openai=True, price=None)
    assert cost.dollars == TokenRange(10.0, 20.0)  # by hand: 1 or 2 million, twice, at 5 dollars
    assert "$10.00 to $20.00 at $5.00 a million" in cost.sentence


def test_a_price_that_is_told_beats_the_list_and_an_unknown_one_is_said() -> None:
    given = estimate_cost(TokenRange(1e6, 1e6), epochs=1, base="gpt-4o", by_openai=True, price=1.0)
    assert given.dollars == TokenRange(1.0, 1.0)
    for base, by_openai in (("gpt-4o", False), ("llama", True)):
        unknown = estimate_cost(TokenRange(1e6, 1e6), epochs=1, base=base, by_openai=by_openai, price=None)
        assert unknown.dollars is None
        assert "The price of a million tokens is not known" in unknown.sentence
