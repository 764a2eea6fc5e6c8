"""Greedy post-edits of dev examples, and their gain in TER."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from finetune.data.example import Example
from finetune.training.dev_evaluation import GreedyAnswer, generate_greedy, max_answer_tokens, measure_ter_gain
from finetune.training.encoding import prompt_tokens
from prompts import SEP
from tests.finetune.toy_model import EXAMPLES, make_model

pytestmark = pytest.mark.torch


class Saying:
    """A model with a scripted answer for each prompt."""

    device = torch.device("cpu")
    training = True

    def __init__(self, tokenizer: Any, said: dict[tuple[int, ...], str], *, stops: bool = True) -> None:
        self._tokenizer, self._said, self._stops = tokenizer, said, stops

    def eval(self) -> None:
        self.training = False

    def train(self, mode: bool) -> None:
        self.training = mode

    def generate(self, input_ids: torch.Tensor, attention_mask: torch.Tensor, **options: Any) -> torch.Tensor:
        rows, end, cap = [], options["eos_token_id"], options["max_new_tokens"]
        for prompt, there in zip(input_ids, attention_mask, strict=True):
            text = self._said[tuple(prompt[there.bool()].tolist())]
            row = self._tokenizer(text, add_special_tokens=False).input_ids
            rows.append((row + [end if self._stops else row[-1]] * cap)[:cap])
        return torch.cat([input_ids, torch.tensor(rows)], dim=1)


def saying(tokenizer: Any, texts: dict[Example, str], **how: Any) -> Saying:
    return Saying(tokenizer, {tuple(prompt_tokens(tokenizer, one)): text for one, text in texts.items()}, **how)


def test_answers_come_in_the_order_of_the_examples(tokenizer: Any) -> None:
    texts = {one: SEP.completion(one.question, one.human) for one in reversed(EXAMPLES)}
    model = saying(tokenizer, texts)
    answers = generate_greedy(model, tokenizer, list(texts), batch=3)
    assert [one.text for one in answers] == [example.human for example in texts]
    assert all(one.stopped for one in answers)
    assert model.training


def test_one_that_never_ends_is_cut_and_told(tokenizer: Any) -> None:
    example = EXAMPLES[0]
    (one,) = generate_greedy(saying(tokenizer, {example: example.mt}, stops=False), tokenizer, [example])
    assert not one.stopped
    assert len(one.tokens) == max_answer_tokens(tokenizer, example)


def test_the_separator_ends_an_answer_as_it_does_on_a_server(tokenizer: Any) -> None:
    example = EXAMPLES[0]
    text = SEP.completion(example.question, example.human) + "\n\n###\n\nand more"
    (one,) = generate_greedy(saying(tokenizer, {example: text}, stops=False), tokenizer, [example])
    assert (one.text, one.stopped) == (example.human, True)


def test_an_answer_does_not_depend_on_who_is_asked_along_with_it(tokenizer: Any) -> None:
    """Neither padding nor the length of other answers matters."""
    model = make_model(tokenizer)
    examples = [EXAMPLES[0], EXAMPLES[-1]]
    alone = [generate_greedy(model, tokenizer, [one])[0] for one in examples]
    assert generate_greedy(model, tokenizer, examples) == alone


def test_what_is_won_is_the_difference_of_ter() -> None:
    """By hand: one word of four is wrong in each MT; one answer corrects it, one adds an error."""
    examples = [SimpleNamespace(mt="the cat sleep now", human="the cat sleeps now") for _ in range(2)]
    answers = [GreedyAnswer("the cat sleeps now", (), True), GreedyAnswer("a cat sleep now", (), False)]
    won = measure_ter_gain(examples, answers)  # type: ignore[arg-type]
    assert [won.ter_before, won.ter_after, won.stop_rate] == pytest.approx([25.0, 25.0, 0.5])
    assert won.ter == pytest.approx(0.0)
