"""Trials with error spans: their files, votes and exchange with other tools, and adaptive allocation."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from ape.errors import InputError
from eval.human.allocation import COLD_START, next_item
from eval.human.analysis.analysis import analyse_votes
from eval.human.answer import VoteBuilder, read_answer
from eval.human.design import make_trial
from eval.human.label_studio import build_interface, export_votes, read_export
from eval.human.pearmut import build_campaign, export_annotations, is_pearmut, read_annotations, read_ratings
from eval.human.report import write_analysis_page
from eval.human.sheet import rater_sheet
from eval.human.span import CATEGORIES, ErrorSpan, join_paragraphs
from eval.human.trial import Trial
from eval.human.trial_file import trial_from_json, trial_to_json
from eval.human.vote import Vote
from eval.human.vote_reader import read_votes
from eval.human.vote_writer import votes_to_csv, votes_to_jsonl
from tests.eval.human.trial_factory import a_corpus, a_trial


def a_span_trial(protocol: str = "mqm", **values: object) -> Trial:
    return make_trial(a_corpus(), raters=("anna", "ben"), spans=protocol, **values)  # type: ignore[arg-type]


def some_votes(trial: Trial) -> list[Vote]:
    """A vote of each rater on each item: a span somewhere in the first text, something missing in some second ones."""
    votes = []
    for rater in trial.raters:
        builder = VoteBuilder(trial, rater)
        for number, shown in enumerate(rater_sheet(trial, rater)):
            first, second = map(join_paragraphs, shown.texts)
            spans = {"first": [{"start": 2, "end": len(first) - number % 5, "severity": "major"}], "second": []}
            if trial.spans == "mqm":
                spans["first"][0]["category"] = CATEGORIES[number % len(CATEGORIES)]
            if number % 2:
                spans["second"] = [{"start": len(second), "end": len(second), "severity": "minor"}]
            answer = {
                "item": shown.item.id,
                "scores": {"first": 40 + number % 7, "second": 80},
                "spans": spans,
                "at": "2026-01-01T00:00:00+00:00",
            }
            votes.append(builder.build_vote(read_answer(answer)))
    return votes


def without_times(votes: list[Vote]) -> list[Vote]:
    return sorted((replace(vote, at="") for vote in votes), key=lambda vote: (vote.rater, vote.item))


def test_a_trial_without_spans_keeps_the_id_of_earlier_versions() -> None:
    trial = a_trial()
    assert "spans" not in json.loads(trial_to_json(trial))
    assert trial_from_json(trial_to_json(trial)) == trial
    marked = a_span_trial(per_rater=3)
    assert trial_from_json(trial_to_json(marked)) == marked
    assert (marked.spans, marked.per_rater, marked.ties) == ("mqm", 3, True)


def test_the_choice_follows_from_the_scores() -> None:
    given = {"item": "i", "choice": "first", "scores": {"first": 10, "second": 90}}
    assert read_answer(given).choice == "second"
    assert read_answer(given | {"scores": {"first": 90, "second": 90}}).choice == "tie"


@pytest.mark.parametrize(
    ("span", "why"),
    [
        ({"start": 5, "end": 10_000, "severity": "minor"}, "is not in its text"),
        ({"start": 3, "end": 3, "severity": "minor"}, "is not in its text"),
        ({"start": 0, "end": 3, "severity": "critical"}, "not a severity of ESA"),
        ({"start": 0, "end": 3, "severity": "minor", "category": "mood"}, "no category"),
    ],
)
def test_spans_that_fit_neither_text_nor_protocol_are_refused(span: dict[str, object], why: str) -> None:
    trial = a_span_trial("esa")
    item = rater_sheet(trial, "anna")[0].item.id
    answer = {"item": item, "scores": {"first": 1, "second": 2}, "spans": {"first": [span]}}
    with pytest.raises(InputError, match=why):
        VoteBuilder(trial, "anna").build_vote(read_answer(answer))


def test_scores_are_needed_where_the_trial_asks_for_them_and_only_there() -> None:
    trial = a_span_trial()
    item = rater_sheet(trial, "anna")[0].item.id
    with pytest.raises(InputError, match="Both texts need a score"):
        VoteBuilder(trial, "anna").build_vote(read_answer({"item": item, "choice": "first"}))
    plain = a_trial()
    item = rater_sheet(plain, "anna")[0].item.id
    with pytest.raises(InputError, match="asks for no scores"):
        VoteBuilder(plain, "anna").build_vote(read_answer({"item": item, "scores": {"first": 1, "second": 2}}))


@pytest.mark.parametrize("protocol", ["esa", "mqm"])
def test_votes_come_back_from_every_format_as_they_were(tmp_path: Path, protocol: str) -> None:
    trial = a_span_trial(protocol)
    votes = some_votes(trial)
    (tmp_path / "v.jsonl").write_text(votes_to_jsonl(votes, trial.id), encoding="utf-8")
    (tmp_path / "v.csv").write_text(votes_to_csv(votes, trial.id), encoding="utf-8")
    (tmp_path / "p.json").write_text(json.dumps(export_annotations(trial, votes)), encoding="utf-8")
    (tmp_path / "l.json").write_text(json.dumps(export_votes(trial, votes)), encoding="utf-8")
    for name in ("v.jsonl", "v.csv", "p.json", "l.json"):
        assert without_times(read_votes(tmp_path / name, trial)) == without_times(votes), name


def test_a_campaign_of_pearmut_has_a_task_for_each_rater_in_the_order_of_the_sheet() -> None:
    trial = a_span_trial()
    campaign = build_campaign(trial)
    assert campaign["info"]["protocol"] == "MQM"
    assert campaign["info"]["shuffle"] is False
    assert len(campaign["data"]) == 2
    shown = rater_sheet(trial, "ben")[0]
    ((item,),) = campaign["data"][1][:1]
    assert list(item["tgt"]) == [shown.first, shown.second]
    assert item["item_id"] == shown.item.id


def test_spans_of_pearmut_end_at_their_last_character() -> None:
    text = "abc def"
    spans = [
        {"start_i": 0, "end_i": 2, "severity": "minor", "category": None},
        {"start_i": 7, "end_i": 7, "severity": "major", "category": "Accuracy/Omission"},
    ]
    record = {
        "annotation": [{"one": {"score": 70, "error_spans": spans}, "two": {"score": None, "error_spans": []}}],
        "item": [{"item_id": "x", "src": "s", "tgt": {"one": text, "two": "y"}}],
        "user_id": "ann",
    }
    assert is_pearmut({"campaign": [record]})
    (rating,) = read_ratings([record], place="x.json")
    assert rating.spans == (ErrorSpan(0, 3, "minor"), ErrorSpan(7, 7, "major", "Accuracy/Omission"))
    with pytest.raises(InputError, match="is not of the trial"):
        read_annotations([record], a_span_trial(), place="x.json")


def test_offsets_of_label_studio_in_utf_16_are_converted() -> None:
    trial = a_span_trial("esa")
    assert '<Labels name="spans_a" toName="a">' in build_interface(trial)
    (task, *_) = export_votes(trial, some_votes(trial))
    task["data"]["a"] = "🙂 ab cd"
    region = next(one for one in task["annotations"][0]["result"] if one["from_name"] == "spans_a")
    region["value"] = {"start": 3, "end": 5, "text": "ab", "labels": ["minor"]}
    (vote,) = read_export([task], trial, place="x")
    assert vote.spans["first"][0] == ErrorSpan(2, 4, "minor")


def test_raters_get_their_number_of_items_with_checks_among_them() -> None:
    trial = a_span_trial(per_rater=12)
    votes: list[Vote] = []
    for _ in range(13):
        for rater in ("anna", "ben"):
            if item := next_item(trial, rater, votes):
                answer = {"item": item.id, "scores": {"first": 50, "second": 60}}
                votes.append(VoteBuilder(trial, rater).build_vote(read_answer(answer)))
    for rater in ("anna", "ben"):
        own = [vote for vote in votes if vote.rater == rater]
        assert len({vote.item for vote in own}) == len(own) == 12
        assert any(vote.kind != "pair" for vote in own)
    shared = {vote.item for vote in votes if vote.rater == "anna"} & {
        vote.item for vote in votes if vote.rater == "ben"
    }
    assert len(shared) < 6  # two raters cover more items than one


def test_an_undecided_pair_of_systems_gets_more_votes_than_a_decided_one() -> None:
    corpus = a_corpus(8, systems=("bad", "good", "same"))
    trial = make_trial(corpus, spans="esa", per_rater=40, raters=("anna",))
    rng = Random(1)
    worth = {"bad": 20, "good": 80, "same": 80, "(shuffled)": 0}
    votes: list[Vote] = []
    while item := next_item(trial, "anna", votes):
        shown = next(one for one in rater_sheet(trial, "anna") if one.item.id == item.id)
        scores = {side: worth[name] + rng.randint(-9, 9) for side, name in
                  (("first", shown.first), ("second", shown.second))}  # fmt: skip
        scores = {side: min(max(score, 0), 100) for side, score in scores.items()}
        votes.append(VoteBuilder(trial, "anna").build_vote(read_answer({"item": item.id, "scores": scores})))
    counts = {pair: sum(vote.pair == pair and vote.kind == "pair" for vote in votes)
              for pair in (("bad", "good"), ("bad", "same"), ("good", "same"))}  # fmt: skip
    assert min(counts.values()) >= COLD_START
    assert counts["good", "same"] > counts["bad", "good"] + 2
    assert counts["good", "same"] > counts["bad", "same"] + 2


def test_the_page_of_an_analysis_shows_scores_and_points(tmp_path: Path) -> None:
    trial = a_span_trial("esa")
    analysis = analyse_votes(some_votes(trial), samples=100, trial=trial)
    write_analysis_page(analysis, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Scores and error spans" in page
    assert "MQM points a text" in page
    assert "Krippendorff" in page
    write_analysis_page(analyse_votes([]), tmp_path / "empty.html")
    assert "Scores and error spans" not in (tmp_path / "empty.html").read_text(encoding="utf-8")
