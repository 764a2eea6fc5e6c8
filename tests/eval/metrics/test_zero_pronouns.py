"""Dropped pronouns: marks and their issues, hand-computed recovery, and real chapters."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from eval.corpus.corpus import Corpus, Document
from eval.corpus.pronoun_marks import find_mark_issues, parse_dropped_pronouns, remove_pronoun_marks
from eval.metrics.metric import corpus_for_metric
from eval.metrics.scoring import measure_systems
from eval.metrics.zero_pronouns import ZeroPronouns
from eval.statistics.counts import MetricCounts, Score, Unmeasured

SOURCES = ("他回家，<他>_S很累，<他的>_Pa狗睡了。", "下雨了，<我们>_S走吧。")
REFERENCE = ("He went home, he was tired, and his dog slept.", "It is raining, let us go.")


def _corpus(output: Sequence[str], *, references: Sequence[Sequence[str]] = (REFERENCE,), copies: int = 1) -> Corpus:
    documents = (
        Document(f"d{copy}", {"s": tuple(output)}, tuple(map(tuple, references)), SOURCES) for copy in range(copies)
    )
    return Corpus(tuple(documents), "zh", "en")


def _score(corpus: Corpus, system: str = "s") -> Score:
    counted = ZeroPronouns().count(corpus, system)
    assert isinstance(counted, MetricCounts)
    score = counted.score()
    assert isinstance(score, Score)
    return score


def test_marks_are_parsed_and_removed() -> None:
    first, second = parse_dropped_pronouns(SOURCES[0])
    assert (first.pronoun, first.role, first.person) == ("他", "subject", "he")
    assert (second.pronoun, second.role, second.person) == ("他的", "possessive", "he")
    assert SOURCES[0][first.start : first.end] == "<他>_S"
    assert remove_pronoun_marks(SOURCES[0]) == "他回家，很累，狗睡了。"


def test_tags_without_a_pronoun_are_not_removed() -> None:
    assert remove_pronoun_marks("x <b>很</b>累 <1> 吃<饭>，<猫>_S睡，<他>走") == "x <b>很</b>累 <1> 吃<饭>，睡，走"


@dataclass(frozen=True, slots=True)
class RecordingMetric:
    """Records the sources it reads."""

    read: list[str]
    name: str = "recording"
    higher_is_better: bool = True

    def count(self, corpus: Corpus, system: str) -> Unmeasured:
        self.read.extend(source for document in corpus.documents for source in document.sources)
        return Unmeasured("it only reads")


def test_other_metrics_read_the_source_as_its_author_wrote_it() -> None:
    other = RecordingMetric([])
    results = measure_systems(_corpus(REFERENCE), [other, ZeroPronouns()])
    assert other.read == ["他回家，很累，狗睡了。", "下雨了，走吧。"]
    score = results.score("zero-pronouns", "s")
    assert isinstance(score, Score)
    assert score.value == 1


def test_a_source_without_marks_is_unchanged() -> None:
    corpus = _corpus(REFERENCE).without_pronoun_marks()
    assert corpus_for_metric(RecordingMetric([]), corpus) is corpus


@pytest.mark.parametrize(
    ("source", "column", "what"),
    [
        ("想起<他>今天", 3, "the role in the sentence is missing"),
        ("<它的_Pa耳朵", 1, "closing > is missing"),
        ("然后<他>_P下线", 3, "P is not a role; expected one of S, O, Pa, R, UN"),
        ("<猫>_S睡了", 1, "unknown pronoun"),
        ("三>二", 2, "outside any mark"),
    ],
)
def test_a_malformed_mark_is_reported(source: str, column: int, what: str) -> None:
    (issue,) = find_mark_issues(["好", source])
    assert (issue.line, issue.column) == (2, column)
    assert what in issue.message


def test_a_malformed_mark_is_parsed_nevertheless() -> None:
    assert [one.person for one in parse_dropped_pronouns("<他>今天<它的_Pa耳朵<她们自己>_R<您>_S< 这个 >_O")] == [
        "he", "it", "they", "you", "this",
    ]  # fmt: skip


def test_recovery_by_hand() -> None:
    # The source has 他 once, so two of he, he, his are recovered; "let us" is the reference's only we.
    assert _score(_corpus(REFERENCE)).value == 1
    score = _score(_corpus(["He went home tired, and his dog slept.", "Rain, let's go."]))
    assert score.value == pytest.approx(1 / 3)
    assert (score.parts["he"], score.parts["we"], score.parts["she"]) == (0.5, 0, None)


def test_another_case_is_a_recovery_and_another_person_is_not() -> None:
    assert _score(_corpus(["He went home, she was tired, her dog slept.", REFERENCE[1]])).value == pytest.approx(1 / 3)
    assert _score(_corpus(["He went home, which tired him, his dog slept.", REFERENCE[1]])).value == 1


def test_the_target_is_at_most_the_references_number() -> None:
    free = ("He went home tired, and his dog slept.", "It is raining, off to the US.")
    assert _score(_corpus(free, references=[free])).value == 1
    assert _score(_corpus(free, references=[])).value == pytest.approx(1 / 3)
    # Of several references, the one that has most.
    assert _score(_corpus(free, references=[free, REFERENCE])).value == pytest.approx(1 / 3)
    assert "against:marks" in _score(_corpus(free, references=[])).signature


def test_lost_pronouns_are_marked_in_the_source() -> None:
    corpus = _corpus([REFERENCE[0], "Rain, off we went not."])
    assert list(ZeroPronouns().marks(corpus, "s")) == []
    (mark,) = ZeroPronouns().marks(_corpus([REFERENCE[0], "Rain, go."]), "s")
    assert (mark.segment, mark.side, SOURCES[1][mark.start : mark.end]) == (1, "source", "<我们>_S")


def test_doubling_or_reversing_the_corpus_changes_nothing() -> None:
    output = ["He went home.", REFERENCE[1]]
    twice = _corpus(output, copies=2)
    assert _score(_corpus(output)).value == _score(twice).value
    assert _score(replace(twice, documents=twice.documents[::-1])) == _score(twice)


def test_without_marks_or_in_another_language_nothing_is_measured() -> None:
    corpus = _corpus(REFERENCE)
    assert isinstance(ZeroPronouns().count(replace(corpus, target_language="de"), "s"), Unmeasured)
    found = ZeroPronouns().count(corpus.without_pronoun_marks(), "s")
    assert isinstance(found, Unmeasured)
    assert "no dropped pronoun is marked" in found.why


# --- real chapters -----------------------------------------------------------------------------------------------


def _chapters(folder: Path, split: str) -> Corpus:
    """Chapters separated by lines `[doc]` on both sides, with the marks in the source."""
    source, reference = (
        (folder / "mzprt" / f"Web_Fiction_{split}.{language}").read_text(encoding="utf-8-sig")
        for language in ("zh", "en")
    )
    documents = (
        Document(
            f"{split}-{number}",
            {},
            (tuple(line.strip() or None for line in english.strip("\n").split("\n")),),
            tuple(chinese.strip("\n").split("\n")),
        )
        for number, (chinese, english) in enumerate(
            zip(source.split("[doc]\n")[1:], reference.split("[doc]\n")[1:], strict=True), 1
        )
    )
    return Corpus(tuple(documents), "zh", "en")


@pytest.mark.parametrize(("split", "documents", "marks", "issues"), [("test", 12, 493, 15), ("valid", 10, 446, 10)])
def test_the_chapters_have_the_known_marks_and_issues(
    shared_data: Path, split: str, documents: int, marks: int, issues: int
) -> None:
    corpus = _chapters(shared_data, split)
    sources = [source for document in corpus.documents for source in document.sources]
    assert len(corpus.documents) == documents
    # Every "<" begins a mark, counted with grep.
    assert sum(len(parse_dropped_pronouns(source)) for source in sources) == marks == "".join(sources).count("<")
    assert len(find_mark_issues(sources)) == issues


def test_translations_recover_fewer_dropped_pronouns_than_the_reference_has(shared_data: Path) -> None:
    chapters = _chapters(shared_data, "test").documents
    by_text = {
        "".join(remove_pronoun_marks(source) for source in one.sources[5:8]).replace(" ", ""): one for one in chapters
    }
    rows = [json.loads(row) for row in (shared_data / "fiction_zh_en.jsonl").read_text(encoding="utf-8").splitlines()]
    documents = []
    for row in rows:
        chapter = by_text["".join(row["source"][5:8]).replace(" ", "")]
        outputs = {name: tuple(texts) for name, texts in row["systems"].items()}
        itself = tuple(text or "" for text in chapter.references[0])
        documents.append(replace(chapter, outputs={**outputs, "reference": itself}))
    corpus = Corpus(tuple(documents), "zh", "en")
    assert len(corpus.documents) == 9
    values = {name: _score(corpus, name).value for name in corpus.systems}
    assert values.pop("reference") == 1
    assert all(0.5 < value < 0.7 for value in values.values())  # as measured: .55 to .63
