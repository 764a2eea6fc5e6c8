"""The alignment error rate, and the files of gold links."""

from __future__ import annotations

from pathlib import Path

import pytest

from ape.errors import InputError
from eval.linguistics.word_alignment.error_rate import GoldLinks, alignment_error_rate, read_bitext, read_links


def test_the_rate_counts_sure_and_possible_links() -> None:
    gold = [GoldLinks(sure=frozenset({(0, 0), (1, 1)}), possible=frozenset({(0, 0), (1, 1), (2, 1)}))]
    found = [frozenset({(0, 0), (2, 1), (3, 3)})]
    # By hand: |A∩S| = 1, |A∩P| = 2, |A| = 3, |S| = 2.
    assert alignment_error_rate(found, gold) == pytest.approx(1 - 3 / 5)


def test_the_gold_links_have_no_error() -> None:
    gold = [GoldLinks(frozenset({(0, 1)}), frozenset({(0, 1)})), GoldLinks(frozenset(), frozenset())]
    assert alignment_error_rate([one.sure for one in gold], gold) == 0


def test_awesome_aligns_own_output_scores_as_it_was_published(shared_data: Path) -> None:
    folder = shared_data / "word_alignment"
    gold = read_links(folder / "zhen.gold", first=1)
    found = [one.sure for one in read_links(folder / "zhen.awesome-align.out")]
    assert len(gold) == len(read_bitext(folder / "zhen.src-tgt")) == 450
    assert alignment_error_rate(found, gold) == pytest.approx(0.133, abs=5e-4)  # the data's README: 13.3


def test_an_invalid_link_is_refused_by_line(tmp_path: Path) -> None:
    path = tmp_path / "gold"
    path.write_text("1-1 2p2\n0-1\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"gold, line 2: '0-1' is not a link such as 1-2 or 1p2"):
        read_links(path, first=1)


def test_possible_links_are_distinguished_from_sure_ones(tmp_path: Path) -> None:
    path = tmp_path / "gold"
    path.write_text("1-1 2p2\n\n", encoding="utf-8")
    empty = GoldLinks(frozenset(), frozenset())
    assert read_links(path, first=1) == [GoldLinks(frozenset({(0, 0)}), frozenset({(0, 0), (1, 1)})), empty]


def test_sentences_without_two_sides_are_refused_by_line(tmp_path: Path) -> None:
    path = tmp_path / "bitext"
    path.write_text("猫 睡 ||| the cat sleeps\nno other side\n", encoding="utf-8")
    with pytest.raises(InputError, match="bitext, line 2"):
        read_bitext(path)


def test_unequal_numbers_of_sentences_are_refused() -> None:
    with pytest.raises(InputError, match="links for 1 sentences, and gold links for 0"):
        alignment_error_rate([frozenset()], [])
