"""The pronoun scorer: it learns from the other documents which pronoun fits."""

from __future__ import annotations

from pathlib import Path

import pytest

from ape.errors import InputError
from eval.corpus.corpus import Corpus, Document
from eval.linguistics.annotators import Annotator
from eval.metrics.dip import DipPronounScorer, load_coherence_scorer, load_pronoun_scorer, train_pronoun_scorer
from eval.statistics.counts import MetricCounts, Score, Unmeasured

TALES = {
    "one": ("the sailor saw him.", "he lit the lamp and he slept.", "he sang."),
    "two": ("he slept.", "he left the ship and he sang.", "he gave him the lantern."),
    "three": ("he sang.", "he saw the harbour and he left.", "he slept."),
}


def corpus() -> Corpus:
    """Tales of men; in "wrong", the second line has a woman."""
    return Corpus(
        tuple(
            Document(
                name,
                {"same": lines, "wrong": (lines[0], lines[1].replace(" he ", " she "), lines[2])},
                (lines,),
                tuple("源" for _ in lines),
            )
            for name, lines in TALES.items()
        ),
        "zh",
        "en",
    )


def scored(corpus: Corpus, system: str, annotator: Annotator, **settings: object) -> Score:
    found = DipPronounScorer(annotator=annotator, **settings).count(corpus, system)  # type: ignore[arg-type]
    assert isinstance(found, MetricCounts)
    score = found.score()
    assert isinstance(score, Score)
    return score


def test_equal_pronouns_have_no_difference(listed: Annotator) -> None:
    assert scored(corpus(), "same", listed).value == 0


def test_a_pronoun_that_fits_worse_raises_the_score(listed: Annotator) -> None:
    score = scored(corpus(), "wrong", listed)
    assert score.value > 0
    assert 0 < (score.parts["worse"] or 0) <= 1


def test_a_saved_scorer_scores_other_texts_and_is_named_in_the_signature(tmp_path: Path, listed: Annotator) -> None:
    scorer = train_pronoun_scorer(corpus(), annotator=listed)
    assert scorer.facts["documents"] == 3
    assert scorer.facts["held_out_accuracy"] == 1.0
    scorer.save(tmp_path / "scorer.json")
    again = load_pronoun_scorer(tmp_path / "scorer.json")
    counted = DipPronounScorer(again, listed).count(corpus(), "wrong")
    assert isinstance(counted, MetricCounts)
    assert f"scorer:{scorer.fingerprint}" in counted.signature
    with pytest.raises(InputError, match="Train it again"):
        load_coherence_scorer(tmp_path / "scorer.json")


def test_without_a_wrong_pronoun_elsewhere_nothing_can_be_learnt(listed: Annotator) -> None:
    one = corpus()
    alone = Corpus(one.documents[:1], "zh", "en")
    assert isinstance(DipPronounScorer(annotator=listed).count(alone, "wrong"), Unmeasured)
    same = Corpus(tuple(Document(d.id, {"same": d.outputs["same"]}, d.references) for d in one.documents), "zh", "en")
    with pytest.raises(InputError, match="pronouns unlike the reference's"):
        train_pronoun_scorer(same, annotator=listed)
