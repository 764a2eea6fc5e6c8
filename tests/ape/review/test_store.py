"""Decisions on edits: every one is kept, none overwrites another, each step can be undone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ape.errors import Conflict, InputError
from ape.jobs.job import Job
from ape.passage.edit import EditKind
from ape.passage.result import Decision, Finding, PostEdit, Severity
from ape.review.decisions import ReviewAction, ReviewDecision, next_state
from ape.review.edits import EditOrigin, EditState, edits_of_own_text
from ape.review.filters import ReviewFilter, ReviewStage
from ape.review.paragraph import ReviewConflict, ReviewParagraph
from ape.review.state import ReviewState
from ape.review.store import ReviewStore
from ape.review.summary import summarize, work_seconds
from tests.ape.review.conftest import TEXTS, a_post_edit
from tests.linear import assert_linear


def decide(
    reviews: ReviewStore, job: Job, id: str, action: str, *edits: int, author: str = "Anna", **more: object
) -> ReviewParagraph:
    version = str(more.pop("version", "") or reviews.paragraph(job.id, id).version)
    decision = ReviewDecision(id, version, ReviewAction(action), edits, **more)  # type: ignore[arg-type]
    return reviews.decide(job, [decision], author=author)[0]


def states(one: ReviewParagraph) -> list[EditState]:
    return [edit.state for edit in one.edits]


def test_small_edits_start_accepted_and_large_ones_open(reviews: ReviewStore, job: Job) -> None:
    first, last = reviews.paragraph(job.id, "p0"), reviews.paragraph(job.id, "p4")
    assert (states(first), first.text) == ([EditState.ACCEPTED], TEXTS[0][2])
    assert set(states(last)) == {EditState.OPEN}
    assert last.text == TEXTS[4][1]
    assert all(edit.doubt for edit in last.edits)


def test_the_text_is_the_mt_with_the_accepted_edits(reviews: ReviewStore, job: Job) -> None:
    assert decide(reviews, job, "p0", "reject", 0).text == TEXTS[0][1]
    assert decide(reviews, job, "p0", "accept", 0).text == TEXTS[0][2]
    assert decide(reviews, job, "p4", "accept").text == TEXTS[4][2]


def test_a_stale_decision_is_refused_with_the_present_state(reviews: ReviewStore, job: Job) -> None:
    seen = reviews.paragraph(job.id, "p0").version
    decide(reviews, job, "p0", "reject", 0, version=seen)
    with pytest.raises(ReviewConflict, match="changed by Anna") as caught:
        decide(reviews, job, "p0", "accept", 0, author="Ben", version=seen)
    assert states(caught.value.paragraphs[0]) == [EditState.REJECTED]
    assert [one.author for one in reviews.history(job.id, "p0")] == ["Anna"]


def test_of_several_decisions_all_are_stored_or_none(reviews: ReviewStore, job: Job) -> None:
    fresh = reviews.paragraph(job.id, "p1").version
    pair = [ReviewDecision("p1", fresh, ReviewAction.REJECT), ReviewDecision("p0", "9-x", ReviewAction.REJECT)]
    with pytest.raises(ReviewConflict):
        reviews.decide(job, pair, author="Anna")
    assert reviews.last_change(job.id) == 0


def test_undo_takes_back_step_by_step_only_ones_own(reviews: ReviewStore, job: Job) -> None:
    decide(reviews, job, "p0", "reject", 0)
    decide(reviews, job, "p0", "change", text="Anne set her lamp down on the kitchen table.")
    decide(reviews, job, "p1", "reject", author="Ben")
    assert reviews.undo(job, author="Anna")[0].text == TEXTS[0][1]
    assert reviews.undo(job, author="Anna")[0].text == TEXTS[0][2]
    with pytest.raises(Conflict, match="nothing of yours"):
        reviews.undo(job, author="Anna")
    assert reviews.paragraph(job.id, "p1").text == TEXTS[1][1]


def test_what_another_changed_since_is_not_undone(reviews: ReviewStore, job: Job) -> None:
    decide(reviews, job, "p0", "reject", 0)
    decide(reviews, job, "p0", "accept", 0, author="Ben")
    with pytest.raises(ReviewConflict, match="Ben"):
        reviews.undo(job, author="Anna")
    assert reviews.paragraph(job.id, "p0").text == TEXTS[0][2]


def test_many_decisions_are_one_undo(reviews: ReviewStore, job: Job) -> None:
    found = list(reviews.paragraphs(job.id, ReviewFilter(stage=ReviewStage.ACCEPTED)))
    assert [one.id for one in found] == ["p0", "p1", "p2"]
    reviews.decide(job, [ReviewDecision(one.id, one.version, ReviewAction.REJECT) for one in found], author="Anna")
    assert [reviews.paragraph(job.id, one.id).text for one in found] == [text[1] for text in TEXTS[:3]]
    reviews.undo(job, author="Anna")
    assert [reviews.paragraph(job.id, one.id).text for one in found] == [text[2] for text in TEXTS[:3]]


def test_a_text_of_a_person_keeps_the_proposals_that_it_does_not_touch(reviews: ReviewStore, job: Job) -> None:
    one = decide(reviews, job, "p2", "reject")
    one = decide(reviews, job, "p2", "change", text="The old dog was sleeping on the rug.")
    assert one.text == "The old dog was sleeping on the rug."
    assert {(edit.origin, edit.state) for edit in one.edits} == {
        (EditOrigin.PERSON, EditState.ACCEPTED),
        (EditOrigin.MODEL, EditState.REJECTED),
    }
    proposal = next(number for number, edit in enumerate(one.edits) if edit.origin is EditOrigin.MODEL)
    assert decide(reviews, job, "p2", "accept", proposal).text == "The old dog slept on the rug."


def test_one_edit_can_get_another_wording(reviews: ReviewStore, job: Job) -> None:
    assert decide(reviews, job, "p0", "change", 0, text="the").text == "Anne put the lamp down on the kitchen table."


def test_a_text_that_a_guard_refuses_is_stored_with_the_warning(reviews: ReviewStore, job: Job) -> None:
    one = decide(reviews, job, "p4", "change", text="Le vieux gardien ferma la porte du phare sans un mot.")
    assert one.text.startswith("Le vieux gardien")
    assert any(finding.severity is Severity.REJECT for finding in one.findings)


@pytest.mark.parametrize(("text", "message"), [("", "empty"), ("a\x00b", "U\\+0000"), ("x ⟦1/⟧", "⟦1/⟧ occurs")])
def test_a_text_that_no_book_can_hold_is_refused(reviews: ReviewStore, job: Job, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        decide(reviews, job, "p0", "change", text=text)


def test_comments_need_no_version_and_conflict_with_nothing(reviews: ReviewStore, job: Job) -> None:
    seen = reviews.paragraph(job.id, "p0").version
    decide(reviews, job, "p0", "comment", text="Which lamp?", version="0-old")
    one = decide(reviews, job, "p0", "reject", 0, author="Ben", version=seen)
    assert [(comment.author, comment.text) for comment in one.comments] == [("Anna", "Which lamp?")]
    reviews.undo(job, author="Anna")
    assert reviews.paragraph(job.id, "p0").comments == ()


def test_a_skipped_paragraph_and_an_unknown_edit_are_refused(reviews: ReviewStore, job: Job) -> None:
    with pytest.raises(InputError, match="no words"):
        decide(reviews, job, "p5", "change", text="x")
    with pytest.raises(InputError, match="no edit 7"):
        decide(reviews, job, "p0", "accept", 7)
    with pytest.raises(InputError, match="no paragraph"):
        decide(reviews, job, "p99", "accept", version="0-")


def test_a_new_result_makes_decisions_on_the_old_one_stale(reviews: ReviewStore, job: Job) -> None:
    seen = decide(reviews, job, "p0", "reject", 0).version
    result = a_post_edit(TEXTS[0][1], "Anne laid her lamp down on the kitchen table.")
    redone = reviews.redo(job, "p0", seen, result, author="Anna", instruction="Say laid.", seconds=2.0)
    assert redone.text == "Anne laid her lamp down on the kitchen table."
    with pytest.raises(ReviewConflict, match="edited again"):
        decide(reviews, job, "p0", "accept", 0, version=seen)
    assert reviews.jobs.counts(job.id).edited == 4
    newest = reviews.history(job.id, "p0")[0]
    assert (newest.action, newest.detail["instruction"], newest.detail["text"]) == (
        ReviewAction.REDO, "Say laid.", TEXTS[0][1],
    )  # fmt: skip


def test_a_redone_paragraph_gets_its_old_version_back_by_undo(reviews: ReviewStore, job: Job) -> None:
    seen = decide(reviews, job, "p0", "reject", 0).version
    result = a_post_edit(TEXTS[0][1], "Anne laid her lamp down on the kitchen table.")
    reviews.redo(job, "p0", seen, result, author="Anna", instruction="", seconds=2.0)
    undone = reviews.undo(job, author="Anna")[0]
    assert (undone.text, states(undone)) == (TEXTS[0][1], [EditState.REJECTED])


def test_findings_can_be_dismissed_and_are_counted(reviews: ReviewStore, job: Job) -> None:
    mt, finding = TEXTS[0][1], Finding("names", Severity.WARN, "A name is missing.", 1)
    version = reviews.paragraph(job.id, "p0").version
    result = a_post_edit(mt, "Anne put her lamp down on the kitchen table.", finding)
    one = reviews.redo(job, "p0", version, result, author="Anna", instruction="", seconds=1.0)
    assert one.edits[0].doubt == "The guard “names” warned."
    decide(reviews, job, "p0", "dismiss", finding=("names", "A name is missing."))
    summary = summarize(reviews.paragraphs(job.id))
    assert (summary.dismissed, summary.findings["names"]) == (1, 0)
    assert not list(reviews.paragraphs(job.id, ReviewFilter(guard="names")))


def test_the_summary_counts_edits_by_state_kind_and_chapter(reviews: ReviewStore, job: Job) -> None:
    decide(reviews, job, "p0", "reject", 0)
    decide(reviews, job, "p1", "accept", 0)
    summary = summarize(reviews.paragraphs(job.id))
    pronouns = summary.by_kind[EditKind.PRONOUN.value]
    assert (pronouns.rejected, pronouns.acceptance) == (1, 0.0)
    assert summary.edits.acceptance == 0.5
    assert summary.by_chapter[0].open == 0
    assert summary.by_chapter[1].open == summary.edits.open > 0
    assert set(work_seconds(reviews.changes(job.id, after=0))) == {"Anna"}


def test_findings_about_a_refused_draft_are_apart_from_those_about_the_text(reviews: ReviewStore, job: Job) -> None:
    mt = TEXTS[0][1]
    warning = Finding("names", Severity.WARN, "“his” may refer to Anne.", 0)
    refusals = [Finding("loop", Severity.REJECT, "It repeats.", 1), Finding("length", Severity.WARN, "It is long.", 2)]
    result = replace(a_post_edit(mt, mt, *refusals), decision=Decision.REJECTED, attempt=0)

    def redo(given: PostEdit) -> ReviewParagraph:
        version = reviews.paragraph(job.id, "p0").version
        return reviews.redo(job, "p0", version, given, author="Anna", instruction="", seconds=1.0)

    def ids(stage: ReviewStage) -> list[str]:
        return [one.id for one in reviews.paragraphs(job.id, ReviewFilter(stage=stage))]

    assert [one.is_about_text(f) for one in [redo(result)] for f in one.findings] == [False, False]
    assert (ids(ReviewStage.FINDINGS), ids(ReviewStage.REFUSED)) == ([], ["p0"])
    one = redo(replace(result, findings=(*refusals, warning)))
    assert [one.is_about_text(f) for f in one.findings] == [False, False, True]
    assert ids(ReviewStage.FINDINGS) == ["p0"]
    kept = redo(replace(a_post_edit(mt, TEXTS[0][2], *refusals), attempt=2))
    assert [kept.is_about_text(f) for f in kept.findings] == [False, True]
    assert ids(ReviewStage.REFUSED) == []
    decide(reviews, job, "p0", "change", text=mt + " Yes.")
    assert all(map((own := reviews.paragraph(job.id, "p0")).is_about_text, own.findings))


def test_filters_find_paragraphs_by_text_kind_and_stage(reviews: ReviewStore, job: Job) -> None:
    def ids(**wanted: object) -> list[str]:
        return [one.id for one in reviews.paragraphs(job.id, ReviewFilter(**wanted))]  # type: ignore[arg-type]

    assert ids(text="LAMPE") == ["p0"]
    assert ids(kind=EditKind.PRONOUN) == ["p0"]
    assert ids(stage=ReviewStage.OPEN) == ["p4"]
    assert ids(chapter=1) == ["p3", "p4", "p5"]
    decide(reviews, job, "p3", "comment", text="Tense?")
    assert ids(stage=ReviewStage.COMMENTED) == ["p3"]


def test_a_removed_job_takes_its_reviews_along(reviews: ReviewStore, job: Job) -> None:
    decide(reviews, job, "p0", "reject", 0)
    reviews.jobs.remove(job.id)
    assert reviews.last_change(job.id) == 0


def test_short_decisions_do_not_fill_the_history_with_copies_of_a_long_text(reviews: ReviewStore, job: Job) -> None:
    """The history has the states before and after each decision: 2 MB of decisions would take some 6 GB of disk."""
    long = decide(reviews, job, "p0", "change", text="Anne put her lamp down. " * 2_000)
    many = [ReviewDecision("p0", long.version, ReviewAction(action)) for action in ("accept", "reject") * 500]
    with pytest.raises(InputError, match="can't be stored as one step"):
        reviews.decide(job, many, author="Anna")
    assert reviews.paragraph(job.id, "p0").version == long.version
    assert len(reviews.decide(job, many[:10], author="Anna")) == 1


def test_deciding_about_all_edits_takes_time_in_proportion_to_their_number(reviews: ReviewStore, job: Job) -> None:
    def decide_all(size: int) -> None:
        mt, text = ("a b c d " * (size // 8), "a X c Y " * (size // 8))
        edits = edits_of_own_text(mt, text, (), language="en")
        known = replace(reviews.paragraph(job.id, "p0"), state=ReviewState(own_edits=edits))
        numbers = tuple(range(len(edits)))
        assert next_state(known, ReviewDecision("p0", "", ReviewAction.REJECT, numbers), job).choices

    assert_linear(decide_all, 1_250)


def test_other_writers_do_not_wait_while_long_texts_are_compared(
    reviews: ReviewStore, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On SQLite the transaction would hold up the results of all books; 2 MB of long texts took it 30 seconds."""

    def compare(*given: Any) -> ReviewState:
        reviews.jobs.update(job.id, note="written meanwhile")
        return next_state(*given)

    monkeypatch.setattr("ape.review.store.next_state", compare)
    decide(reviews, job, "p0", "reject")
    assert reviews.jobs.job(job.id).note == "written meanwhile"


@pytest.mark.parametrize(("action", "is_stored"), [("reject", False), ("comment", True)])
def test_who_was_quicker_wins_also_while_texts_are_compared(
    reviews: ReviewStore, job: Job, monkeypatch: pytest.MonkeyPatch, action: str, is_stored: bool
) -> None:
    def compare(known: ReviewParagraph, decision: ReviewDecision, job: Job) -> ReviewState:
        if decision.text != "quicker":
            with monkeypatch.context() as patch:
                patch.setattr("ape.review.store.next_state", next_state)
                if not reviews.paragraph(job.id, "p0").author:
                    decide(reviews, job, "p0", "change", author="Ben", text="quicker")
        return next_state(known, decision, job)

    monkeypatch.setattr("ape.review.store.next_state", compare)
    if is_stored:
        assert decide(reviews, job, "p0", action, text="mine").comments[0].text == "mine"
    else:
        with pytest.raises(ReviewConflict, match="Ben"):
            decide(reviews, job, "p0", action)
    assert reviews.paragraph(job.id, "p0").text == "quicker"
