"""Search and replace over a book: previewed, guarded, one undo, and never endless."""

from __future__ import annotations

import pytest

from ape.errors import InputError
from ape.jobs.job import Job
from ape.passage.result import Finding
from ape.review import replace as search
from ape.review.decisions import ReviewAction, ReviewDecision
from ape.review.paragraph import ReviewConflict
from ape.review.replace import TextSearch, preview, replace_all
from ape.review.store import ReviewStore


def chosen(reviews: ReviewStore, job: Job, wanted: TextSearch) -> list[tuple[str, str]]:
    return [(one.paragraph.id, one.paragraph.version) for one in preview(reviews, job, wanted)]


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        (TextSearch("rug", "mat"), ["p2"]),
        (TextSearch("the", "a"), ["p0", "p1", "p2", "p4"]),
        (TextSearch("the", "a", match_case=False, chapter=0), ["p0", "p1", "p2"]),
        (TextSearch("own", "x", whole_word=True), []),
        (TextSearch("put (her|his)", r"set \1", is_regex=True), ["p0"]),
        (TextSearch("l.mp", "lantern"), []),
        (TextSearch("rug", "rug"), []),
    ],
)
def test_the_preview_lists_the_paragraphs_that_change(
    reviews: ReviewStore, job: Job, wanted: TextSearch, ids: list[str]
) -> None:
    assert [one.paragraph.id for one in preview(reviews, job, wanted)] == ids


def test_a_replacement_is_one_undo(reviews: ReviewStore, job: Job) -> None:
    wanted = TextSearch("the", "that", whole_word=True)
    replace_all(reviews, job, preview(reviews, job, wanted), chosen(reviews, job, wanted), author="Anna")
    assert reviews.paragraph(job.id, "p1").text == "It was raining on that town all night long."
    reviews.undo(job, author="Anna")
    assert reviews.paragraph(job.id, "p1").text == "It was raining on the town all night long."


def test_only_the_chosen_paragraphs_change(reviews: ReviewStore, job: Job) -> None:
    wanted = TextSearch("the", "that", whole_word=True)
    replace_all(reviews, job, preview(reviews, job, wanted), chosen(reviews, job, wanted)[:1], author="Anna")
    assert reviews.paragraph(job.id, "p2").text == "The dog slept on the rug."


def test_guards_run_on_the_preview(reviews: ReviewStore, job: Job) -> None:
    (one,) = preview(reviews, job, TextSearch("Anne", "Brigitte 77"))
    assert {finding.guard for finding in one.findings} >= {"numbers"}


def test_a_paragraph_that_changed_after_the_preview_is_a_conflict(reviews: ReviewStore, job: Job) -> None:
    wanted = TextSearch("lamp", "lantern")
    seen = chosen(reviews, job, wanted)
    reviews.decide(job, [ReviewDecision("p0", seen[0][1], ReviewAction.REJECT)], author="Ben")
    with pytest.raises(ReviewConflict, match="Nothing was replaced"):
        replace_all(reviews, job, preview(reviews, job, wanted), seen, author="Anna")
    assert reviews.paragraph(job.id, "p0").text == "Anne put his lamp down on the kitchen table."


def test_an_endless_expression_is_stopped(reviews: ReviewStore, job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "SEARCH_SECONDS", 0.0)
    with pytest.raises(InputError, match="simpler expression"):
        preview(reviews, job, TextSearch("(a|a?)+$", is_regex=True))


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (TextSearch(""), "what to find"),
        (TextSearch("(", is_regex=True), "not a regular expression"),
        (TextSearch("lamp", r"\3", is_regex=True), "can't be used"),
    ],
)
def test_a_bad_search_is_refused_in_words(reviews: ReviewStore, job: Job, wanted: TextSearch, message: str) -> None:
    with pytest.raises(InputError, match=message):
        preview(reviews, job, wanted)


def test_only_matching_is_timed(reviews: ReviewStore, job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow_guards(*_: object) -> tuple[Finding, ...]:
        clock.append(1_000.0)
        return ()

    clock: list[float] = []
    monkeypatch.setattr(search, "check_own_text", slow_guards)
    monkeypatch.setattr("ape.review.replace.time.thread_time", lambda: sum(clock))
    assert len(preview(reviews, job, TextSearch("the", "that"))) > 1
