"""The audit before training: marks are those of the training, and every fault is found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from tokenizers.processors import TemplateProcessing

from ape.errors import InputError
from finetune.checks.audit import DataAudit, audit_examples
from finetune.checks.example_faults import FAULT_KINDS
from finetune.checks.token_marks import TokenMarkRun, group_marks
from finetune.data.example import Example
from finetune.training.encoding import IGNORED, BatchCollator, EncodedExample
from tests.finetune.toy_model import EXAMPLES, configured, make_tokenizer

pytestmark = pytest.mark.torch

ONE = EXAMPLES[0]
Spoil = Callable[[dict[str, Any], int, int], None]


def look(tokenizer: Any, examples: Sequence[Example] = EXAMPLES, **options: Any) -> DataAudit:
    config = configured(**options.pop("config", {}))
    return audit_examples(tokenizer, {"train": examples}, config=config, **options)


def kinds(found: DataAudit) -> set[str]:
    return {fault.kind for fault in found.faults}


def test_sound_examples_have_no_fault_and_are_counted(tokenizer: Any) -> None:
    found = look(tokenizer)
    found.require_sound()
    counts = found.counts["train"]
    assert counts.examples == len(EXAMPLES)
    # All tokens are learned except the first of each example.
    assert counts.learned == counts.tokens - counts.examples
    # By hand: a token of the answer weighs 1, of the prompt 0.1, the first nothing.
    prompts = counts.tokens - counts.answers - counts.examples
    assert counts.weight == pytest.approx(counts.answers + 0.1 * prompts)
    assert counts.padding > 0


def test_the_marks_of_a_known_example() -> None:
    """By hand: tokens are letters; the first is read only, and the answer ends with the end token."""
    letters = Letters()
    example = Example("1", "b", "Ça", "It", "I", "fr", "en")
    other = replace(example, id="2", human="It is")
    found = audit_examples(letters, {"train": [example, other]}, config=configured(batch=2, micro_batch=2))
    assert group_marks(letters, found.samples[0].row) == [
        TokenMarkRun("read", 0.0, ("Ç",)),
        TokenMarkRun("learned", pytest.approx(0.1), tuple("a⏎⏎###⏎⏎It⏎⏎###⏎⏎")),  # type: ignore[arg-type]
        TokenMarkRun("learned", 1.0, ("I", "<end>")),
        TokenMarkRun("padding", 0.0, ("<end>",) * 4),
    ]


def test_prompts_without_weight_are_read_only(tokenizer: Any) -> None:
    found = look(tokenizer, config={"prompt_weight": 0.0})
    found.require_sound()
    counts = found.counts["train"]
    assert counts.learned == counts.answers


@pytest.mark.parametrize("field", ["source", "mt", "human"])
def test_a_blank_text_is_refused(field: str, tokenizer: Any) -> None:
    changes: Any = {field: " \n"}
    assert "empty" in kinds(look(tokenizer, [replace(ONE, **changes)]))


def test_an_example_longer_than_the_training_takes_is_refused(tokenizer: Any) -> None:
    found = look(tokenizer, config={"max_tokens": 30})
    assert kinds(found) == {"too_long"}
    assert 0 < len(found.faults) < len(EXAMPLES)


def test_an_example_longer_than_the_base_reads_is_refused(tokenizer: Any) -> None:
    assert kinds(look(tokenizer, window=30)) == {"too_long"}


def test_a_tokenizer_without_an_end_token_is_refused() -> None:
    tokenizer = make_tokenizer()
    tokenizer.eos_token = None
    with pytest.raises(InputError, match="no end token"):
        look(tokenizer)


def test_an_end_token_inside_of_a_text_is_refused(tokenizer: Any) -> None:
    bare = deepcopy(tokenizer)
    bare.add_special_tokens({"eos_token": "[THE END]"})  # not neutralised
    tale = replace(ONE, human="The cat sleeps. [THE END] It wakes.")
    assert kinds(look(bare, [ONE, tale])) == {"end_inside"}


def test_a_tokenizer_that_begins_with_its_end_token_is_none_that_has_it_inside(tokenizer: Any) -> None:
    assert not look(with_template(tokenizer, "</s> $A"), [ONE]).faults


def test_a_tokenizer_that_ends_every_prompt_is_refused(tokenizer: Any) -> None:
    """A server would read the end token, and training does not."""
    assert kinds(look(with_template(tokenizer, "$A </s>"), [ONE])) == {"prompt"}


def test_a_fence_that_shares_a_token_with_text_is_refused(tokenizer: Any) -> None:
    greedy = deepcopy(tokenizer)
    greedy.add_tokens(["sleep.\n\n#"])
    found = look(greedy, [ONE])
    assert "separator" in kinds(found)
    assert "sleep." in found.by_kind()["separator"][0].detail


def test_a_line_break_may_share_a_token_with_the_text_before_it(tokenizer: Any) -> None:
    """Many tokenizers have a token for a full stop and its line breaks; servers read the same."""
    common = deepcopy(tokenizer)
    common.add_tokens([".\n\n"])
    assert not look(common, [ONE]).faults


def test_a_text_that_the_tokenizer_does_not_know_is_refused() -> None:
    found = audit_examples(Letters(), {"train": [replace(ONE, human="ж")]}, config=configured())
    assert kinds(found) == {"unknown"}


def unlearn_the_end(batch: dict[str, Any], row: int, length: int) -> None:
    batch["labels"][row, length - 1] = IGNORED


def give_the_end_no_weight(batch: dict[str, Any], row: int, length: int) -> None:
    batch["loss_weights"][row, length - 1] = 0.0


def learn_the_padding(batch: dict[str, Any], row: int, length: int) -> None:
    batch["labels"][row, length:] = batch["input_ids"][row, length:]
    batch["loss_weights"][row, length:] = 1.0


def attend_to_the_padding(batch: dict[str, Any], row: int, length: int) -> None:
    batch["attention_mask"][row] = 1


def hide_a_word(batch: dict[str, Any], row: int, length: int) -> None:
    batch["attention_mask"][row, 3] = 0


def skip_a_word_of_the_answer(batch: dict[str, Any], row: int, length: int) -> None:
    batch["labels"][row, length - 3] = IGNORED


def teach_another_word(batch: dict[str, Any], row: int, length: int) -> None:
    batch["labels"][row, length - 3] += 1


def cut_the_end_off(batch: dict[str, Any], row: int, length: int) -> None:
    for name in batch:
        batch[name] = batch[name][:, : length - 1]


@pytest.mark.parametrize(
    ("spoil", "kind"),
    [
        (unlearn_the_end, "end_not_learned"),
        (give_the_end_no_weight, "end_not_learned"),
        (learn_the_padding, "padding_learned"),
        (attend_to_the_padding, "padding_attended"),
        (hide_a_word, "unattended"),
        (skip_a_word_of_the_answer, "answer_not_learned"),
        (teach_another_word, "answer_not_learned"),
        (cut_the_end_off, "cut"),
    ],
)
def test_a_batch_that_teaches_something_else_is_refused(spoil: Spoil, kind: str, tokenizer: Any) -> None:
    whole = BatchCollator(tokenizer.eos_token_id, 0.1)

    def spoiling(batch: Sequence[EncodedExample]) -> dict[str, Any]:
        made = whole(batch)
        shortest = min(range(len(batch)), key=lambda row: len(batch[row]))
        spoil(made, shortest, len(batch[shortest]))
        return made

    two = [EXAMPLES[0], EXAMPLES[-1]]
    found = look(tokenizer, two, config={"batch": 2, "micro_batch": 2}, collate=spoiling)
    assert kind in kinds(found)
    with pytest.raises(InputError) as raised:
        found.require_sound()
    assert FAULT_KINDS[kind] in str(raised.value)
    assert ONE.id in str(raised.value)


def test_a_blank_that_teaches_is_refused(tokenizer: Any) -> None:
    whole = BatchCollator(tokenizer.eos_token_id, 0.1)

    def spoiling(batch: Sequence[EncodedExample]) -> dict[str, Any]:
        made = whole(batch)
        made["labels"][-1], made["loss_weights"][-1] = 0, 1.0
        return made

    found = look(tokenizer, [ONE], config={"batch": 2, "micro_batch": 2}, collate=spoiling)
    assert kinds(found) == {"padding_learned"}


def test_a_refusal_counts_the_examples_and_names_one(tokenizer: Any) -> None:
    found = look(tokenizer, [replace(one, human="") for one in EXAMPLES[:3]] + list(EXAMPLES[3:]))
    with pytest.raises(InputError, match=r"3 of 20 examples can't be trained on.\n- 'chat' and 2 more: source"):
        found.require_sound()


def with_template(tokenizer: Any, template: str) -> Any:
    changed = deepcopy(tokenizer)
    changed.backend_tokenizer.post_processor = TemplateProcessing(
        single=template, special_tokens=[("</s>", tokenizer.eos_token_id)]
    )
    return changed


class Letters:
    """A tokenizer of letters, those of Western Europe."""

    eos_token_id = 1
    unk_token_id = 0

    def __call__(self, text: str, **_: Any) -> Any:
        return SimpleNamespace(
            input_ids=[ord(letter) if ord(letter) < 256 else 0 for letter in text],
            offset_mapping=[(place, place + 1) for place in range(len(text))],
            special_tokens_mask=[0] * len(text),
        )

    def decode(self, tokens: Sequence[int], **_: Any) -> str:
        return "".join(self._letters(tokens))

    def _letters(self, tokens: Sequence[int]) -> Iterator[str]:
        return ("<end>" if token == 1 else chr(token) for token in tokens)
