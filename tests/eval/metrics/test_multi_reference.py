"""PAR3's leave-one-out scores: humans and machines against the same references."""

from __future__ import annotations

from pathlib import Path

import pytest

from ape.errors import InputError
from eval.corpus.corpus import Corpus, Document
from eval.corpus.reader import read_corpus
from eval.corpus.validation import CorpusRules
from eval.metrics.multi_reference import LeaveOneOutScores, leave_one_out
from eval.metrics.registry import create_metric
from eval.metrics.sacrebleu import Bleu, Ter
from eval.statistics.counts import Unmeasured

SENTENCE = Bleu(effective_order=True)


def aggregated(corpus: Corpus, metric: Bleu | Ter = SENTENCE) -> LeaveOneOutScores:
    found = leave_one_out(corpus, metric)
    assert isinstance(found, LeaveOneOutScores)
    return found


def test_humans_and_systems_are_scored_against_the_same_references() -> None:
    texts = ("The boat left at dawn.", "The ship sailed at dawn.")
    corpus = Corpus((Document("d", {"mt": (texts[0],)}, tuple((text,) for text in texts)),), "fr", "en")
    found = aggregated(corpus)
    one, other = (sentence_bleu(a, b) for a, b in (texts, texts[::-1]))
    assert found.human == pytest.approx((one + other) / 2)
    assert found.systems["mt"] == pytest.approx((100 + sentence_bleu(*texts)) / 2)
    assert found.wins["mt"].share == 1.0


def sentence_bleu(output: str, reference: str) -> float:
    from sacrebleu.metrics.bleu import BLEU

    return float(BLEU(effective_order=True).sentence_score(output, [reference]).score)


def test_par3s_candide_is_reproduced(shared_data: Path) -> None:
    path = shared_data / "par3" / "candide_fr.aligned.jsonl"
    corpus = read_corpus(path, rules=CorpusRules("fr", "en", allow_empty=True))
    metric = create_metric("sentence-bleu")
    found = leave_one_out(corpus, metric)
    assert isinstance(found, LeaveOneOutScores)
    # From the data's own description: sentence BLEU with effective order, 306 paragraphs.
    assert found.human == pytest.approx(22.62, abs=0.005)
    assert found.systems["gt"] == pytest.approx(27.67, abs=0.005)
    assert found.wins["gt"].share == pytest.approx(0.703, abs=0.0005)
    assert found.units == 306


def test_a_lower_error_rate_wins() -> None:
    references = (("A boat left.",), ("A ship sailed away.",))
    corpus = Corpus((Document("d", {"mt": ("A ship sailed away.",)}, references),), "fr", "en")
    assert aggregated(corpus, Ter()).wins["mt"].better == 1


def test_ties_count_for_neither() -> None:
    references = (("A boat left.",), ("A boat left.",))
    corpus = Corpus((Document("d", {"mt": ("A boat left.",)}, references),), "fr", "en")
    found = aggregated(corpus)
    assert (found.wins["mt"].ties, found.wins["mt"].share) == (1, None)


def test_a_segment_with_one_translation_is_left_out() -> None:
    references = (("A boat left.", "It rained all day."), ("The boat left.", None))
    corpus = Corpus((Document("d", {"mt": ("Boat left.", "It rains.")}, references),), "fr", "en")
    found = aggregated(corpus)
    assert (found.units, found.left_out) == (1, 1)


def test_one_reference_is_not_enough() -> None:
    corpus = Corpus((Document("d", {"mt": ("A boat.",)}, (("A boat.",),)),), "fr", "en")
    assert isinstance(leave_one_out(corpus, SENTENCE), Unmeasured)


def test_a_system_may_not_be_called_human() -> None:
    corpus = Corpus((Document("d", {"human": ("A boat.",)}, (("A boat.",), ("B",))),), "fr", "en")
    with pytest.raises(InputError, match="reserved for human"):
        leave_one_out(corpus, SENTENCE)
