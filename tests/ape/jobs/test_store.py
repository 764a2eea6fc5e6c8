"""The store returns what was saved; planning again keeps valid results and redoes the others."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ape.errors import Conflict, InputError, StoreError, UnknownJob
from ape.jobs.counts import JobCounts, PlanChanges
from ape.jobs.job import JobState
from ape.jobs.job_paragraph import ParagraphState, PlannedParagraph
from ape.jobs.plan_update import recount_stretches
from ape.jobs.store import JobStore, JobWorker
from ape.passage.edit import Edit, EditKind
from ape.passage.result import Decision, Finding, PostEdit, Severity, Usage
from tests.ape.jobs.job_factory import RECIPE, a_job, a_plan, a_result, begin, claimed, finish, planned
from tests.ape.jobs.postgres import Postgres

OTHER = replace(RECIPE, seed=2)


def states(store: JobStore) -> dict[str, ParagraphState]:
    return {row.planned.id: row.state for row in store.rows("j")}


# Jobs.


def test_a_job_comes_back_as_it_was_given(store: JobStore) -> None:
    moment = datetime(2026, 11, 16, 9, 31, 7, 123_457, tzinfo=UTC)
    job = replace(a_job(), created=moment, updated=moment, note="n\x00\ud800", encoding="cp1251", outcome='{"a":1}')
    store.add(job)
    assert store.job("j") == job


def test_a_second_job_of_the_same_id_is_refused(store: JobStore) -> None:
    store.add(a_job())
    with pytest.raises(Conflict, match="There is a job 'j' already"):
        store.add(a_job(owner="else"))
    assert store.job("j").owner == ""


def test_another_ones_job_is_as_unknown_as_none(store: JobStore) -> None:
    store.add(a_job(owner="anna"))
    assert store.job("j", owner="anna").owner == "anna"
    with pytest.raises(UnknownJob) as theirs:
        store.job("j", owner="boris")
    with pytest.raises(UnknownJob) as nobodys:
        store.job("k", owner="boris")
    assert str(theirs.value).replace("'j'", "'k'") == str(nobodys.value)


def test_jobs_are_listed_newest_first_by_owner_and_state(store: JobStore) -> None:
    for number, owner in enumerate(["anna", "boris", "anna"]):
        store.add(a_job(f"j{number}", owner=owner, created=1_800_000_000.0 + number))
    store.update("j0", state=JobState.DONE)
    assert [job.id for job in store.jobs()] == ["j2", "j1", "j0"]
    assert [job.id for job in store.jobs(owner="anna")] == ["j2", "j0"]
    assert [job.id for job in store.jobs(owner="anna", state=JobState.DONE)] == ["j0"]


def test_a_list_of_jobs_can_do_without_their_names(store: JobStore) -> None:
    for number, owner in enumerate(["anna", "boris"]):
        store.add(replace(a_job(f"j{number}", owner=owner), names="x" * 1_000))
    assert {job.names for job in store.jobs(with_names=False)} == {""}
    assert {len(job.names) for job in store.jobs()} == {1_000}
    assert (store.names_characters("anna"), store.names_characters("nobody")) == (1_000, 0)


def test_a_change_is_kept_and_dated(store: JobStore) -> None:
    store.add(a_job(created=1_000_000.0))
    changed = store.update("j", state=JobState.FAILED, recipe=OTHER, note="no room", output_hash="ff")
    assert changed == store.job("j")
    assert (changed.state, changed.recipe, changed.note, changed.output_hash) == (
        JobState.FAILED,
        OTHER,
        "no room",
        "ff",
    )
    assert changed.created == a_job(created=1_000_000.0).created
    assert abs((datetime.now(UTC) - changed.updated).total_seconds()) < 60


def test_an_unknown_job_can_not_be_changed_planned_claimed_or_removed(store: JobStore, worker: JobWorker) -> None:
    with pytest.raises(UnknownJob):
        store.update("j", note="x")
    with pytest.raises(UnknownJob):
        store.plan("j", a_plan())
    with pytest.raises(UnknownJob):
        store.claim("j", worker)
    with pytest.raises(UnknownJob):
        store.remove("j")


def test_a_removed_job_leaves_nothing_and_the_others_stay(store: JobStore, worker: JobWorker) -> None:
    begin(store, id="j")
    begin(store, id="k")
    finish(store, worker, id="j")
    finish(store, worker, id="k")
    store.remove("j")
    assert list(store.rows("j")) == []
    assert store.counts("j") == JobCounts()
    assert store.counts("k").done == 20
    begin(store, id="j")
    assert store.counts("j").waiting == 20  # no result of the old one came back


# Results.

TEXTS = st.text(st.characters(codec=None, categories=None), max_size=40)
SPANS = st.tuples(st.integers(0, 10_000), st.integers(0, 10_000))
RESULTS = st.builds(
    PostEdit,
    id=TEXTS,
    post_edit=TEXTS,
    decision=st.sampled_from(Decision),
    findings=st.lists(st.builds(Finding, TEXTS, st.sampled_from(Severity), TEXTS, st.integers(0, 9)), max_size=3).map(
        tuple
    ),
    edits=st.lists(st.builds(Edit, st.sampled_from(EditKind), TEXTS, TEXTS, SPANS, SPANS), max_size=3).map(tuple),
    edit_rate=st.floats(0, 10),
    model=TEXTS,
    prompt=TEXTS,
    usage=st.builds(Usage, st.integers(0, 2**31 - 1), st.integers(0, 2**31 - 1)),
    attempt=st.integers(0, 9),
)


@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(results=st.lists(RESULTS, min_size=5, max_size=5), texts=st.lists(TEXTS, min_size=5, max_size=5), data=st.data())
def test_every_result_comes_back_exactly(
    store: JobStore, results: list[PostEdit], texts: list[str], data: st.DataObject
) -> None:
    name, worker = f"job {os.urandom(8).hex()}", JobWorker.here()
    store.add(a_job(name))
    plan = [replace(planned(number), source=text, title=text, mt=text + "!") for number, text in enumerate(texts)]
    store.plan(name, plan)
    stretch = claimed(store, worker, id=name)
    seconds = data.draw(st.floats(0, 1e6))
    for row, result in zip(stretch.rows, results, strict=True):
        assert store.save(stretch, row.planned.id, result, seconds=seconds)
    rows = list(store.rows(name))
    assert [row.planned for row in rows] == plan
    assert [row.result for row in rows] == results
    assert {row.seconds for row in rows} == {seconds}


def test_a_result_is_stored_once(store: JobStore, worker: JobWorker) -> None:
    begin(store)
    stretch = claimed(store, worker)
    assert store.save(stretch, "p0", a_result("first"), seconds=1)
    assert not store.save(stretch, "p0", a_result("second"), seconds=1)
    assert next(store.rows("j")).text == "first"
    assert store.counts("j").edited == 1


def test_a_paragraph_of_another_stretch_is_a_mistake(store: JobStore, worker: JobWorker) -> None:
    begin(store)
    stretch = claimed(store, worker)
    with pytest.raises(ValueError, match="'p9' is not in stretch 0"):
        store.save(stretch, "p9", a_result(), seconds=1)


def test_failures_are_counted_up_to_quarantine(store: JobStore, worker: JobWorker) -> None:
    begin(store)
    stretch = claimed(store, worker)
    assert store.fail(stretch, "p1", "no answer", max_failures=2) is ParagraphState.WAITING
    assert store.fail(stretch, "p1", "no answer again", max_failures=2) is ParagraphState.QUARANTINED
    assert store.fail(stretch, "p1", "too late", max_failures=2) is ParagraphState.QUARANTINED
    assert not store.save(stretch, "p1", a_result(), seconds=1)
    row = next(store.rows("j", state=ParagraphState.QUARANTINED))
    assert (row.planned.id, row.reason, row.failures, row.text) == ("p1", "no answer again", 2, row.planned.mt)
    assert (store.counts("j").quarantined, store.counts("j").waiting) == (1, 19)


def test_a_paragraph_that_works_after_a_failure_has_no_reason(store: JobStore, worker: JobWorker) -> None:
    begin(store)
    stretch = claimed(store, worker)
    store.fail(stretch, "p0", "no answer", max_failures=3)
    assert next(store.rows("j")).reason == "no answer"
    assert store.save(stretch, "p0", a_result(), seconds=1)
    assert next(store.rows("j")).reason == ""


# Planning again.


def test_a_first_plan_is_new_and_the_same_again_is_kept(store: JobStore, worker: JobWorker) -> None:
    store.add(a_job())
    assert store.plan("j", a_plan()) == PlanChanges(new=20)
    finish(store, worker)
    before = list(store.rows("j"))
    assert store.plan("j", a_plan()) == PlanChanges(kept=20)
    assert list(store.rows("j")) == before
    assert store.counts("j").done == 20


def test_a_changed_paragraph_alone_waits_again(store: JobStore, worker: JobWorker) -> None:
    begin(store)
    finish(store, worker)
    plan = a_plan()
    plan[7] = planned(7, text="another")
    assert store.plan("j", plan) == PlanChanges(kept=19, changed=1)
    assert [row.planned.id for row in store.rows("j", state=ParagraphState.WAITING)] == ["p7"]
    stretch = claimed(store, worker)
    assert [row.state for row in stretch.rows] == [ParagraphState.DONE] * 2 + [ParagraphState.WAITING] + [
        ParagraphState.DONE
    ] * 2


def test_a_changed_paragraph_comes_out_of_quarantine(store: JobStore, worker: JobWorker) -> None:
    begin(store)
    stretch = claimed(store, worker)
    store.fail(stretch, "p0", "bad", max_failures=1)
    store.plan("j", a_plan())
    assert states(store)["p0"] is ParagraphState.QUARANTINED
    store.plan("j", [planned(0, text="mended"), *a_plan()[1:]])
    row = next(store.rows("j"))
    assert (row.state, row.failures, row.reason) == (ParagraphState.WAITING, 0, "")


def test_an_old_recipe_finds_its_results_again(store: JobStore, worker: JobWorker) -> None:
    begin(store)
    finish(store, worker)
    first = [row.result for row in store.rows("j")]
    assert store.plan("j", a_plan(recipe=OTHER)) == PlanChanges(changed=20)
    assert store.counts("j").waiting == 20
    finish(store, worker, decision=Decision.REJECTED)
    assert store.counts("j").rejected == 20
    assert store.plan("j", a_plan()) == PlanChanges(changed=20, reused=20)
    assert [row.result for row in store.rows("j")] == first
    assert store.counts("j").edited == 20


def test_moved_paragraphs_take_their_results_with_them(store: JobStore, worker: JobWorker) -> None:
    """A paragraph inserted before all others shifts their ids: only the new paragraph is done."""
    begin(store)
    finish(store, worker)
    moved = [planned(0, text="put before")] + [planned(number, text=str(number - 1)) for number in range(1, 21)]
    moved[1] = planned(1, text="0")
    assert store.plan("j", moved) == PlanChanges(new=1, changed=20, reused=20)
    assert [row.planned.id for row in store.rows("j", state=ParagraphState.WAITING)] == ["p0"]
    assert [row.text for row in store.rows("j")][1:] == [f"new p{number}" for number in range(20)]


def test_a_twin_that_waits_does_not_take_its_twins_result(store: JobStore, worker: JobWorker) -> None:
    """Their contexts differ. A resumed job must give the same book as an uninterrupted one."""
    store.add(a_job())
    plan = [planned(0, text="Yes"), planned(1), planned(2, text="Yes")]
    store.plan("j", plan)
    stretch = claimed(store, worker)
    store.save(stretch, "p0", a_result(), seconds=1)
    assert store.plan("j", plan) == PlanChanges(kept=3)
    assert states(store)["p2"] is ParagraphState.WAITING


def test_what_the_book_lost_goes_and_comes_back_with_its_result(store: JobStore, worker: JobWorker) -> None:
    begin(store)
    finish(store, worker)
    assert store.plan("j", a_plan(12)) == PlanChanges(kept=12, removed=8)
    assert (store.counts("j").total, len(store.chapters("j"))) == (12, 2)
    assert store.plan("j", a_plan(20)) == PlanChanges(kept=12, new=8, reused=8)
    assert store.counts("j").done == 20


def test_what_is_skipped_now_is_not_done_and_may_be_back(store: JobStore, worker: JobWorker) -> None:
    begin(store)
    finish(store, worker)
    plan = [replace(planned(0), skip="no source"), *a_plan()[1:]]
    assert store.plan("j", plan) == PlanChanges(kept=19, changed=1)
    row = next(store.rows("j"))
    assert (row.state, row.reason, row.text) == (ParagraphState.SKIPPED, "no source", row.planned.mt)
    assert store.plan("j", a_plan()) == PlanChanges(kept=19, changed=1, reused=1)
    assert states(store)["p0"] is ParagraphState.DONE


def test_a_plan_that_breaks_off_changes_nothing(store: JobStore, worker: JobWorker) -> None:
    begin(store)

    def broken() -> Iterator[PlannedParagraph]:
        yield from a_plan(recipe=OTHER)[:15]
        raise InputError("The book ends in the middle of a chapter.")

    before = list(store.rows("j"))
    for _ in range(2):
        with pytest.raises(InputError, match="ends in the middle"):
            store.plan("j", broken())
    assert list(store.rows("j")) == before
    assert store.plan("j", a_plan()) == PlanChanges(kept=20)


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ([planned(0), planned(2), planned(1)], "'p1' is out of order"),
        ([planned(0), replace(planned(1), id="p0")], "Two paragraphs of the book have the id 'p0'"),
        ([replace(planned(0), fingerprint="")], "'p0' has no fingerprint"),
    ],
)
def test_a_plan_that_could_mix_up_results_is_refused(store: JobStore, plan: list[PlannedParagraph], said: str) -> None:
    store.add(a_job())
    with pytest.raises(InputError, match=said):
        store.plan("j", plan)
    assert list(store.rows("j")) == []


def test_while_a_plan_is_read_others_go_on(store: JobStore, worker: JobWorker) -> None:
    begin(store)
    stretch = claimed(store, worker)

    def slow() -> Iterator[PlannedParagraph]:
        for row in a_plan():
            if row.position < 5:
                assert store.save(stretch, row.id, a_result(), seconds=1)
            yield row

    assert store.plan("j", slow()) == PlanChanges(kept=20)
    assert store.counts("j").edited == 5


def test_one_who_works_while_the_plan_changes_can_not_save_what_was_replaced(
    store: JobStore, worker: JobWorker
) -> None:
    begin(store)
    stretch = claimed(store, worker)
    store.plan("j", [planned(0, text="another"), *a_plan()[1:]])
    assert not store.save(stretch, "p0", a_result(), seconds=1)
    assert store.fail(stretch, "p0", "no answer", max_failures=1) is ParagraphState.WAITING
    assert store.save(stretch, "p1", a_result(), seconds=1)


# Doing again.


def test_redo_of_one_does_that_one_and_keeps_history(store: JobStore, worker: JobWorker) -> None:
    begin(store)
    finish(store, worker)
    assert store.redo("j", paragraphs=["p3"]) == 1
    assert store.redo("j", paragraphs=["p3"]) == 0
    assert [row.planned.id for row in store.rows("j", state=ParagraphState.WAITING)] == ["p3"]
    assert store.plan("j", a_plan()) == PlanChanges(kept=20)  # planning does not restore redone results
    assert finish(store, worker) == 1
    assert store.redo("j", paragraphs=["p3"]) == 1
    assert finish(store, worker) == 1
    assert store.counts("j").done == 20


def test_redo_of_all_rejected_and_quarantined(store: JobStore, worker: JobWorker) -> None:
    begin(store)
    stretch = claimed(store, worker)
    store.save(stretch, "p0", a_result(decision=Decision.REJECTED), seconds=1)
    store.save(stretch, "p1", a_result(), seconds=1)
    store.fail(stretch, "p2", "bad", max_failures=1)
    assert store.redo("j", rejected=True, quarantined=True) == 2
    found = states(store)
    assert [found[f"p{number}"] for number in range(3)] == [
        ParagraphState.WAITING,
        ParagraphState.DONE,
        ParagraphState.WAITING,
    ]
    assert {row.failures for row in store.rows("j")} == {0}
    assert store.redo("j") == 0


def test_redo_of_what_is_not_there_or_not_edited_says_so(store: JobStore) -> None:
    store.add(a_job())
    store.plan("j", [planned(0), planned(1, skip="an image")])
    with pytest.raises(InputError, match=r"The book has no paragraph 'p8', 'p9'\.$"):
        store.redo("j", paragraphs=["p0", "p8", "p9"])
    with pytest.raises(InputError, match="'p1' can't be redone, because it is not edited: an image"):
        store.redo("j", paragraphs=["p1"])
    many = [f"q{number}" for number in range(1200)]
    with pytest.raises(InputError, match=r"'q4' and 495 more\.$"):
        store.redo("j", paragraphs=many)


# Looking.


def test_counts_by_state_decision_and_chapter(store: JobStore, worker: JobWorker) -> None:
    store.add(a_job())
    store.plan("j", [*a_plan(19), planned(19, skip="an image")])
    stretch = claimed(store, worker)
    for number, decision in enumerate(Decision):
        store.save(stretch, f"p{number}", a_result(decision=decision), seconds=1)
    store.fail(stretch, "p4", "bad", max_failures=1)
    assert store.counts("j") == JobCounts(
        waiting=15,
        edited=1,
        unchanged=1,
        rejected=1,
        quarantined=1,
        skipped=1,
        words=19 * 3,
        words_done=9,
        words_waiting=45,
        prompt_tokens=90,
        completion_tokens=30,
    )
    first, second = store.chapters("j")
    assert (first.chapter, first.title, first.counts.done, first.counts.waiting) == (0, "Chapter 0", 3, 6)
    assert (second.chapter, second.title, second.counts.skipped, second.counts.waiting) == (1, "Chapter 1", 1, 9)


def test_rows_come_in_order_and_by_filter_also_when_there_are_many(store: JobStore, worker: JobWorker) -> None:
    begin(store, 450)
    assert [row.planned.position for row in store.rows("j")] == list(range(450))
    stretch = claimed(store, worker)
    first = stretch.rows[0].planned.id
    store.save(stretch, first, a_result(decision=Decision.REJECTED), seconds=1)
    assert [row.planned.id for row in store.rows("j", decision=Decision.REJECTED)] == [first]
    assert [row.planned.id for row in store.rows("j", state=ParagraphState.DONE)] == [first]
    assert len(list(store.rows("j", chapter=2))) == 10
    assert list(store.rows("nobody")) == []


def test_rows_hold_nothing_while_the_caller_thinks(store: JobStore, worker: JobWorker) -> None:
    begin(store, 450)
    rows = store.rows("j")
    next(rows)
    stretch = claimed(store, worker)
    assert store.save(stretch, stretch.rows[0].planned.id, a_result(), seconds=1)
    store.plan("j", a_plan(300))
    assert sum(1 for _ in rows) == 299


def test_new_texts_are_found_in_any_order(store: JobStore, worker: JobWorker) -> None:
    begin(store, 450)
    stretch = claimed(store, worker)
    decisions = [Decision.EDITED, Decision.UNCHANGED, Decision.REJECTED]
    ids = [row.planned.id for row in stretch.rows[:3]]
    for one, decision in zip(ids, decisions, strict=True):
        store.save(stretch, one, a_result(f"new {one}", decision), seconds=1)
    expected = {ids[0]: f"new {ids[0]}"}
    everything = [f"p{number}" for number in range(450)]
    for order in (everything, everything[::-31], [*everything[::97], "unknown"]):
        text_of = store.new_texts("j")
        assert {one: text for one in order if (text := text_of(one)) is not None} == {
            one: text for one, text in expected.items() if one in order
        }


def test_texts_of_a_stretch_that_was_redone_are_the_mt_again(store: JobStore, worker: JobWorker) -> None:
    begin(store)
    finish(store, worker)
    store.redo("j", paragraphs=["p0"])
    assert store.new_texts("j")("p0") is None
    assert store.new_texts("j")("p1") == "new p1"


def test_the_rate_of_a_model_is_of_its_latest_results(store: JobStore, worker: JobWorker) -> None:
    assert store.rate("model") is None
    begin(store)
    finish(store, worker)
    rate = store.rate("model")
    assert rate is not None
    assert (rate.passages, rate.seconds, rate.prompt_tokens) == (20, 2.0, 30.0)
    assert rate.tokens_per_second == 5.0  # 10 tokens written in 2 seconds
    assert store.rate("another") is None


OPERATIONS = st.lists(
    st.tuples(st.sampled_from(["save", "fail", "redo", "plan", "release"]), st.integers(0, 29)), max_size=25
)


@settings(
    max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(OPERATIONS)
def test_the_sums_are_always_what_the_paragraphs_say(store: JobStore, operations: list[tuple[str, int]]) -> None:
    name, worker = f"job {os.urandom(8).hex()}", JobWorker.here()
    begin(store, 30, id=name)
    held = {stretch.number: stretch for stretch in (store.claim(name, worker) for _ in range(6)) if stretch}
    for what, number in operations:
        stretch, paragraph = held.get(number // 5), f"p{number}"
        if what == "plan":
            store.plan(name, [planned(one, text="x" if one == number else None) for one in range(30)])
        elif what == "redo":
            store.redo(name, paragraphs=[paragraph])
        elif what == "release" and stretch:
            store.release(worker, stretch)
            held |= {again.number: again for again in [store.claim(name, worker)] if again}
        elif what == "save" and stretch:
            store.save(stretch, paragraph, a_result(decision=list(Decision)[number % 3]), seconds=1)
        elif stretch:
            store.fail(stretch, paragraph, "bad", max_failures=2)
    kept = store.counts(name), store.chapters(name)
    with store._database.write_transaction() as connection:
        recount_stretches(connection, name)
    assert (store.counts(name), store.chapters(name)) == kept
    assert kept[0].total == 30


def test_many_threads_share_a_store(store: JobStore) -> None:
    begin(store, 100)
    worker, done = JobWorker.here(), []

    def work() -> None:
        done.append(finish(store, worker))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(done) == 100
    assert store.counts("j").done == 100


def test_planning_redoing_and_working_at_once_get_along(store: JobStore) -> None:
    begin(store, 40)
    failed: list[BaseException] = []

    def repeatedly(call: Callable[[], object]) -> Callable[[], None]:
        def run() -> None:
            try:
                for _ in range(8):
                    call()
            except BaseException as error:
                failed.append(error)

        return run

    def work() -> None:
        worker = JobWorker.here()
        finish(store, worker)
        store.renew(worker)
        store.release(worker)

    calls: list[Callable[[], object]] = [
        work,
        work,
        work,
        lambda: store.plan("j", a_plan(40)),
        lambda: store.plan("j", a_plan(35, recipe=OTHER)),
        lambda: store.redo("j", rejected=True, paragraphs=["p1", "p33"]),
        lambda: store.update("j", note="x"),
    ]
    threads = [threading.Thread(target=repeatedly(call)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    counts = store.counts("j")
    with store._database.write_transaction() as connection:
        recount_stretches(connection, "j")
    assert store.counts("j") == counts


# What can go wrong with the place.


@pytest.mark.parametrize("form", ["{}", "sqlite:///{}"])
def test_a_store_is_made_where_it_is_wanted(form: str, tmp_path: Path) -> None:
    path = tmp_path / "a folder" / "50% & #1?.db"
    if "://" in form:
        path = path.with_name("jobs.db")
    with JobStore(form.format(path)) as store:
        store.add(a_job())
    assert path.exists()
    with JobStore(form.format(path)) as store:
        assert store.job("j") == a_job()


def test_nobody_else_can_read_a_store(tmp_path: Path) -> None:
    path = tmp_path / "data" / "jobs.sqlite"
    with JobStore(str(path)) as store:
        store.add(a_job())
        modes = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
    assert modes == dict.fromkeys(("jobs.sqlite", "jobs.sqlite-wal", "jobs.sqlite-shm"), 0o600)
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_store_that_all_could_read_is_closed_and_one_of_a_group_stays(tmp_path: Path) -> None:
    path = tmp_path / "jobs.sqlite"
    for before, after in ((0o644, 0o600), (0o660, 0o660)):
        JobStore(str(path)).close()
        path.chmod(before)
        JobStore(str(path)).close()
        assert path.stat().st_mode & 0o777 == after


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("mysql://host/name", "can't be kept in 'mysql'"),
        ("sqlite://", "name a file"),
        ("sqlite:///:memory:", "name a file"),
        ("post gres://x:y:z", "can't be read"),
    ],
)
def test_an_address_that_can_not_be_is_refused(url: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        JobStore(url)
    assert caught.value.field == "store"


def test_some_other_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("These are notes about a book, and no database at all. " * 20)
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"notes\.txt is not a job store"):
        JobStore(str(path))
    assert path.read_bytes() == before


def test_some_other_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE jobs (title)")
    with pytest.raises(InputError, match="has a table 'jobs' that is not ours"):
        JobStore(str(path))


def test_a_folder_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can't be opened as a job store"):
        JobStore(str(tmp_path))


def test_a_place_that_can_not_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match=r"The folder of .*jobs\.db can't be created: Not a directory"):
        JobStore(str(tmp_path / "file" / "below" / "jobs.db"))


def test_a_full_disk_loses_nothing_that_was_kept(tmp_path: Path) -> None:
    with JobStore(str(tmp_path / "jobs.db")) as store:
        begin(store)
        worker = JobWorker.here()
        stretch = claimed(store, worker)
        assert store.save(stretch, "p0", a_result(), seconds=1)
        _fill(store)
        with pytest.raises(StoreError, match=r"The disk of .*jobs\.db is full\. Make room"):
            store.save(stretch, "p1", a_result("long " * 100_000), seconds=1)
        assert store.counts("j").edited == 1
        assert store.save(stretch, "p2", a_result(), seconds=1)
    assert shutil.disk_usage(tmp_path).free > 0


def _fill(store: JobStore) -> None:
    """A page limit makes SQLite fail as on a full disk."""
    from sqlalchemy import event

    @event.listens_for(store._database._engine, "checkout")
    def limit(connection: sqlite3.Connection, *_: object) -> None:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 20}")


def test_a_locked_store_is_waited_for_and_then_named(tmp_path: Path) -> None:
    path = tmp_path / "jobs.db"
    with JobStore(str(path), timeout_seconds=0.05) as store, closing(sqlite3.connect(path)) as other:
        begin(store)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="is locked by another program"):
            store.update("j", note="x")
        assert store.counts("j").waiting == 20  # looking needs no lock
        other.execute("COMMIT")
        assert store.update("j", note="x").note == "x"


def test_a_read_only_store_is_named(tmp_path: Path) -> None:
    path = tmp_path / "jobs.db"
    with JobStore(str(path)) as store:
        begin(store)
    with JobStore(f"sqlite:///file:{path}?mode=ro&uri=true") as store:
        assert store.counts("j").waiting == 20
        with pytest.raises(StoreError, match="is read-only"):
            store.update("j", note="x")


def test_a_damaged_store_is_named(tmp_path: Path) -> None:
    path = tmp_path / "jobs.db"
    with JobStore(str(path)) as store:
        begin(store, 100)
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\x55" * (len(whole) - 4096))
    with pytest.raises(StoreError, match="is damaged"), JobStore(str(path)) as store:
        store.plan("j", a_plan())


def test_a_server_that_is_not_there_is_named_without_the_password() -> None:
    with pytest.raises(StoreError, match=r"database postgresql://ape:\*\*\*@127\.0\.0\.1:1/x can't be opened"):
        JobStore("postgresql://ape:secret@127.0.0.1:1/x")


def test_a_database_that_the_server_does_not_have_is_named(postgres: Postgres) -> None:
    with pytest.raises(StoreError, match=r'/nowhere can\'t be opened.*database "nowhere" does not exist'):
        JobStore(postgres.url_of("nowhere"))


def test_a_missing_driver_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(InputError, match=r"pip install \"psycopg\[binary\]\""):
        JobStore("postgresql://127.0.0.1/x")


def test_a_read_only_server_is_named(postgres: Postgres) -> None:
    url = postgres.fresh("frozen")
    with JobStore(url) as store:
        begin(store)
    with JobStore(f"{url}?options=-c%20default_transaction_read_only%3Don") as store:
        assert store.counts("j").waiting == 20
        with pytest.raises(StoreError, match="is read-only"):
            store.update("j", note="x")
