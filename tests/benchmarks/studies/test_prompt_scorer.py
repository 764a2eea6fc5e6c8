from __future__ import annotations

from pathlib import Path

import pytest

from ape.engines import Sampling
from ape.engines.embedded import embedded_engine
from ape.errors import ModelError
from ape.passage.events import ignore_event
from benchmarks.studies.prompt_scorer import PromptScorer
from prompts import CHAT, Question

PROMPT = CHAT.render(Question("Il pleut.", "It rain today.", "French", "English"))
SAMPLING = Sampling(temperature=0, top_p=0.2, seed=1, max_tokens=12, max_characters=200, alternatives=2)


async def test_a_draft_is_scored_as_the_server_scored_it(smollm2: Path) -> None:
    async with embedded_engine(smollm2, name="tiny", concurrency=1, window=1024, threads=1) as engine:
        model = (await engine.models())[0]
        draft = (await engine.ask(PROMPT, SAMPLING, model=model, listen=ignore_event)).draft
    scorer = PromptScorer(smollm2, window=1024, threads=1)
    scored = scorer.score(scorer.render(PROMPT), draft.text)
    assert [token.text for token in scored] == [token.text for token in draft.logprobs]
    # Batches of another size are rounded in another way (0.15 in the log-probability of a rare token).
    assert [token.logprob for token in scored] == pytest.approx([one.logprob for one in draft.logprobs], abs=0.4)
    assert all(token.alternatives[0][1] >= token.logprob for token in scored)
    scorer.close()


def test_a_text_is_scored_alike_after_another_one(smollm2: Path) -> None:
    """What two prompts share is not read again, and tokens of the earlier text leave no trace."""
    scorer = PromptScorer(smollm2, window=1024, threads=1)
    prompt = scorer.render(PROMPT)
    first = scorer.score(prompt, "It is raining.")
    other = scorer.score(prompt, "Rain, rain, rain: nothing but rain, my dear.")
    again = scorer.score(prompt, "It is raining.")
    assert [token.logprob for token in again] == pytest.approx([token.logprob for token in first], abs=0.4)
    assert sum(token.logprob for token in first) > sum(token.logprob for token in other)
    scorer.close()


def test_a_text_beyond_the_window_is_refused(smollm2: Path) -> None:
    scorer = PromptScorer(smollm2, window=64, threads=1)
    with pytest.raises(ModelError, match="more than 64 tokens"):
        scorer.score("It rains. " * 40, "It rains.")
    scorer.close()


def test_a_file_that_is_no_model_is_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "model.gguf").write_bytes(b"no model")
    with pytest.raises(ModelError, match="complete GGUF"):
        PromptScorer(tmp_path / "model.gguf", window=64, threads=1)
