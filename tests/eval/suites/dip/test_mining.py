"""Sets mined from failures of systems."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from ape.errors import InputError
from eval.corpus.corpus import Corpus, Document
from eval.linguistics.annotators import Annotator
from eval.statistics.counts import MetricCounts, Score, Unmeasured
from eval.suites.dip.mined_set import MinedSet, read_mined_set, write_mined_set
from eval.suites.dip.mined_set_scores import mined_set_outputs, score_mined_set
from eval.suites.dip.mining import mine_test_set

REFERENCE = ("Mira lit the lantern.", "She was tired, but she sang.", "The lantern was old.", "He left.")
# The first changes the word and the gender, the second loses the connective and the gender.
FIRST = ("Mira lit the lantern.", "He was tired, but she sang.", "The lamp was old.", "He left.")
SECOND = ("Mira lit the lantern.", "He was tired. She sang.", "The lantern was old.", "He left.")
SOURCES = ("甲", "乙", "丙", "丁")


@pytest.fixture
def corpus() -> Corpus:
    one = Document("tale", {"first": FIRST, "second": SECOND, "same": REFERENCE}, (REFERENCE,), SOURCES)
    return Corpus((one,), "zh", "en", "tales")


def found(mined: MinedSet) -> list[tuple[str, str, list[str]]]:
    return [(item.phenomenon, item.word, sorted(item.failed)) for item in mined.items]


def test_each_failure_is_found_once_with_the_failing_systems(corpus: Corpus, english: Annotator) -> None:
    assert found(mine_test_set(corpus, annotator=english)) == [
        ("consistency", "lantern", ["first"]),
        ("connectives", "but", ["second"]),
        ("pronouns", "She", ["first", "second"]),
    ]


def test_an_item_has_its_source_reference_and_context(corpus: Corpus, english: Annotator) -> None:
    (item,) = mine_test_set(corpus, phenomena=["connectives"], annotator=english).items
    assert (item.sources, item.references) == (("乙",), (REFERENCE[1],))
    assert (item.source_context, item.reference_context) == (("甲",), (REFERENCE[0],))
    assert REFERENCE[1][item.start :].startswith("but")


def test_marks_of_dropped_pronouns_are_left_out_of_the_sources(corpus: Corpus, english: Annotator) -> None:
    marked = [replace(one, sources=tuple(f"<他>_S{text}" for text in one.sources)) for one in corpus.documents]
    assert mine_test_set(replace(corpus, documents=tuple(marked)), annotator=english) == mine_test_set(
        corpus, annotator=english
    )


def test_a_minimum_number_of_systems_must_fail(corpus: Corpus, english: Annotator) -> None:
    mined = mine_test_set(corpus, systems=["first", "second"], at_least=2, annotator=english)
    assert found(mined) == [("pronouns", "She", ["first", "second"])]


def test_a_limited_sample_is_reproducible_by_seed(corpus: Corpus, english: Annotator) -> None:
    more = tuple(replace(corpus.documents[0], id=f"tale {number}") for number in range(12))
    many = replace(corpus, documents=more)
    taken = [mine_test_set(many, limit=3, seed=seed, annotator=english) for seed in (1, 1, 2)]
    assert taken[0].items == taken[1].items
    assert taken[0].items != taken[2].items
    assert [len(taken[0].items_of(name)) for name in ("consistency", "connectives", "pronouns")] == [3, 3, 3]
    assert taken[0].manifest["found"] == {"consistency": 12, "connectives": 12, "pronouns": 12}


def numbers(mined: MinedSet, corpus: Corpus, system: str, annotator: Annotator) -> dict[str, float]:
    values = {}
    for name, counted in score_mined_set(mined, mined_set_outputs(mined, corpus, system), annotator=annotator).items():
        assert isinstance(counted, MetricCounts)
        score = counted.score()
        assert isinstance(score, Score)
        values[str(name)] = score.value
    return values


def test_systems_fail_on_their_mined_set_and_the_reference_does_not(corpus: Corpus, english: Annotator) -> None:
    mined = mine_test_set(corpus, annotator=english)
    assert numbers(mined, corpus, "same", english) == dict.fromkeys(mined.manifest["found"], 100)
    assert numbers(mined, corpus, "first", english) == {"consistency": 0, "connectives": 100, "pronouns": 0}
    assert numbers(mined, corpus, "second", english) == {"consistency": 100, "connectives": 0, "pronouns": 0}


def test_a_phenomenon_that_is_not_in_the_set_is_not_measured(corpus: Corpus, english: Annotator) -> None:
    mined = mine_test_set(corpus, phenomena=["pronouns"], annotator=english)
    scored = score_mined_set(mined, mined_set_outputs(mined, corpus, "same"), annotator=english)
    assert isinstance(scored["connectives"], Unmeasured)


def test_a_set_is_read_as_written_and_writing_is_deterministic(
    corpus: Corpus, english: Annotator, tmp_path: Path
) -> None:
    mined = mine_test_set(corpus, annotator=english)
    for name in ("one.jsonl", "two.jsonl"):
        write_mined_set(tmp_path / name, mined)
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()
    again = read_mined_set(tmp_path / "one.jsonl")
    assert again.items == mined.items
    assert again.manifest["items_sha256"] == mined.fingerprint
    assert {**again.manifest, **mined.manifest} == dict(again.manifest)


def test_a_set_that_was_changed_is_refused(corpus: Corpus, english: Annotator, tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    write_mined_set(path, mine_test_set(corpus, annotator=english))
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("lantern", "lamp"), encoding="utf-8")
    with pytest.raises(InputError, match="was changed after it was written"):
        read_mined_set(path)
    manifest, first, *_ = text.splitlines()
    path.write_text(f"{first}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"Line 1 of .* not the manifest"):
        read_mined_set(path)
    broken = {**json.loads(first), "times": 0}
    path.write_text(f"{manifest}\n{json.dumps(broken)}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"Line 2 of .* times"):
        read_mined_set(path)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"phenomena": ["rhyme"]}, "'rhyme' can't be mined"),
        ({"systems": ["third"]}, "no system called 'third'"),
        ({"at_least": 4}, "from 1 to 3"),
        ({"limit": 0}, "give at least 1"),
    ],
)
def test_invalid_options_are_refused(corpus: Corpus, options: dict[str, Sequence[str]], words: str) -> None:
    with pytest.raises(InputError, match=words):
        mine_test_set(corpus, **options)  # type: ignore[arg-type]


def test_mining_needs_sources_and_a_supported_language(corpus: Corpus) -> None:
    with pytest.raises(InputError, match="'tale' has none"):
        mine_test_set(replace(corpus, documents=(replace(corpus.documents[0], sources=()),)))
    with pytest.raises(InputError, match="German"):
        mine_test_set(replace(corpus, target_language="de"))


def test_a_missing_output_is_refused_by_item(corpus: Corpus, english: Annotator) -> None:
    mined = mine_test_set(corpus, phenomena=["connectives"], annotator=english)
    with pytest.raises(InputError, match="no output for item 'connectives/tale"):
        score_mined_set(mined, {}, annotator=english)
    with pytest.raises(InputError, match="1 source segments, and its output has 2"):
        score_mined_set(mined, {mined.items[0].id: ["a", "b"]}, annotator=english)
