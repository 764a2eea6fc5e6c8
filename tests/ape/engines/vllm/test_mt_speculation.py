"""The proposer that runs inside vLLM: where it finds the MT, what it follows, and rows that change their places."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ape.engines.vllm.launch import MT_SPECULATION, SPECULATION_PLUGIN
from prompts import FORMATS, Question

ROOM = 4_000
CONFIG = SimpleNamespace(
    speculative_config=SimpleNamespace(num_speculative_tokens=16), model_config=SimpleNamespace(max_model_len=ROOM)
)
QUESTION = Question("Elle prit sa lampe.", "She takes his lamp and left.", "French", "English")


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(SPECULATION_PLUGIN))
    import ape_mt_speculation  # type: ignore[import-not-found]

    yield ape_mt_speculation
    for name in ("ape_mt_speculation", "ape_mt_follower"):
        sys.modules.pop(name, None)


class Batch:
    """A batch as vLLM keeps it: one row of tokens a request. A character is a token."""

    def __init__(self, module: Any, *prompts: str) -> None:
        self.proposer = module.MtSpeculation(CONFIG, chr)
        self.texts = list(prompts)

    def propose(self, *written: str) -> list[str]:
        """The proposals after these continuations."""
        self.texts = [text + new for text, new in zip(self.texts, written, strict=True)]
        tokens = np.zeros((len(self.texts), ROOM), dtype=np.int32)
        for row, text in enumerate(self.texts):
            tokens[row, : len(text)] = list(map(ord, text))
        counts = np.array(list(map(len, self.texts)), dtype=np.int32)
        found = self.proposer.propose([list(map(ord, new)) for new in written], counts, tokens, slot_mappings=None)
        return ["".join(map(chr, proposal)) for proposal in found]


def prompt_of(name: str) -> tuple[str, str]:
    """The text of a prompt in that format, and the reply that leaves the MT as it is."""
    prompt = FORMATS[name].render(QUESTION)
    return prompt.text + ("\n" if FORMATS[name].is_chat else ""), prompt.unedited_reply


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_the_reply_is_proposed_from_its_first_token_on(module: Any, name: str) -> None:
    prompt, reply = prompt_of(name)
    batch = Batch(module, prompt)
    proposed = batch.propose(reply[0])[0]
    assert proposed == reply[1:17]
    assert batch.propose(proposed) == [reply[17:33]]


def test_after_an_edit_the_draft_is_found_again(module: Any) -> None:
    batch = Batch(module, "Elle prit sa lampe.\n\n###\n\nShe takes his lamp and left.\n\n###\n\n")
    assert batch.propose("S")[0].startswith("he takes ")
    assert batch.propose("he to") == [""]
    assert batch.propose("ok his") == [" lamp and left."]


def test_a_prompt_without_an_mt_has_no_proposals(module: Any) -> None:
    assert Batch(module, "Tell me a story about a lamp.").propose("O") == [""]


def test_rows_that_change_their_places_keep_their_drafts(module: Any) -> None:
    prompts = [f"a\n\n###\n\n{text}\n\n###\n\n" for text in ("first words", "second words")]
    batch = Batch(module, *prompts)
    assert batch.propose("f", "s") == ["irst words", "econd words"]
    batch.texts = batch.texts[1:]
    assert batch.propose("econd") == [" words"]


def test_a_request_that_still_reads_its_prompt_gets_none(module: Any) -> None:
    prompt = "a\n\n###\n\nfirst words\n\n###\n\n"
    batch = Batch(module, prompt, prompt[:12])
    assert batch.propose("f", "") == ["irst words", ""]


def test_the_more_requests_the_shorter_are_the_proposals(module: Any) -> None:
    lengths = [module.MtSpeculation.length_of_proposals(count) for count in range(1, 65)]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[-1] == 0


def test_the_class_and_the_longest_proposal_are_those_of_the_flag(module: Any) -> None:
    assert MT_SPECULATION["model"] == f"{module.__name__}.{module.MtSpeculation.__name__}"
    assert MT_SPECULATION["num_speculative_tokens"] == module.MtSpeculation.length_of_proposals(1)


def test_nothing_is_proposed_beyond_the_window(module: Any) -> None:
    prompt = f"a\n\n###\n\n{'x' * 100}\n\n###\n\n"
    batch = Batch(module, prompt.rjust(ROOM - 4, "a"))
    assert batch.propose("x") == ["xx"]
