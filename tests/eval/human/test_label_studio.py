"""Label Studio: tasks, interface, and import of exports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from ape.errors import InputError
from eval.human.answer import RaterAnswer, VoteBuilder
from eval.human.design import TrialDesign, make_trial
from eval.human.label_studio import build_interface, build_tasks, export_votes, read_export
from eval.human.sheet import rater_sheet
from eval.human.vote import ERROR_KINDS
from eval.human.vote_reader import read_votes
from tests.eval.human.trial_factory import a_corpus, a_trial

TRIAL = a_trial(design=TrialDesign(items=6))


def annotated(task: dict[str, Any], choice: str, *, who: Any = 7, **more: list[str]) -> dict[str, Any]:
    """An annotated task as Label Studio exports it."""
    chosen = {"choice": [choice], **more}
    result = [
        {"from_name": name, "to_name": "a", "type": "choices", "value": {"choices": values}}
        for name, values in chosen.items()
    ]
    annotation = {"completed_by": who, "was_cancelled": False, "created_at": "2030-01-01T10:00:00.5Z", "result": result}
    return {"id": 1, "annotations": [annotation], **task}


def test_tasks_have_the_texts_of_the_sheet_and_no_system_names() -> None:
    made = build_tasks(TRIAL, "anna")
    assert [task["data"]["a"] for task in made] == ["\n\n".join(one.texts[0]) for one in rater_sheet(TRIAL, "anna")]
    assert '"mt"' not in json.dumps(made)
    assert '"tuned"' not in json.dumps(made)


def test_the_interface_has_all_questions_and_texts() -> None:
    view = ElementTree.fromstring(build_interface(TRIAL))
    questions = {choices.get("name"): [one.get("alias") for one in choices] for choices in view.iter("Choices")}
    assert questions["choice"] == ["first", "second", "tie"]
    assert questions["confidence"] == ["sure", "unsure"]
    assert questions["believed_human"] == ["first", "second", "both", "neither"]
    assert questions["errors_first"] == questions["errors_second"] == list(ERROR_KINDS)
    shown = {text.get("value") for text in view.iter("Text")}
    assert shown == {"$source", "$a", "$b"}
    assert {name[1:] for name in shown if name} <= build_tasks(TRIAL, "anna")[0]["data"].keys()


def test_source_and_ties_are_omitted_from_the_interface_where_absent() -> None:
    trial = make_trial(a_corpus(), design=TrialDesign(items=3, bilingual=False), ties=False)
    assert "$source" not in build_interface(trial)
    assert "tie" not in build_interface(trial).replace("Choice", "")


def test_an_export_gives_votes_with_systems() -> None:
    task = build_tasks(TRIAL, "anna")[2]
    (vote,) = read_export([annotated(task, "second", errors_second=["precision"])], TRIAL, place="x.json")
    shown = rater_sheet(TRIAL, "anna")[2]
    assert (vote.item, vote.rater, vote.winner) == (shown.item.id, "anna", shown.second)
    assert vote.errors == {"second": ("precision",)}
    assert vote.at == "2030-01-01T10:00:00+00:00"


def test_a_choice_may_be_given_by_its_label() -> None:
    task = build_tasks(TRIAL, "anna")[0]
    (vote,) = read_export([annotated(task, "They are equally good or bad", confidence=["Not sure"])], TRIAL, place="x")
    assert (vote.choice, vote.confidence) == ("tie", "unsure")


def test_skipped_tasks_have_no_votes() -> None:
    task = build_tasks(TRIAL, "anna")[0]
    skipped = annotated(task, "first")
    skipped["annotations"][0]["was_cancelled"] = True
    assert read_export([skipped, {"id": 2, **task, "annotations": []}], TRIAL, place="x.json") == []


def test_several_annotators_of_one_sheet_are_distinct_raters() -> None:
    task = build_tasks(TRIAL, "anna")[0]
    both = annotated(task, "first")
    both["annotations"] += annotated(task, "second", who={"id": 8, "email": "b@example.org"})["annotations"]
    votes = read_export([both], TRIAL, place="x.json")
    assert [vote.rater for vote in votes] == ["anna", "anna/b@example.org"]


def test_the_first_annotator_keeps_the_rater_name_in_later_exports() -> None:
    one, other = build_tasks(TRIAL, "anna")[:2]
    first = annotated(one, "first")
    (alone,) = read_export([first], TRIAL, place="x.json")
    late = annotated(other, "second", who=8)
    late["annotations"][0]["created_at"] = "2031-01-01T10:00:00Z"
    votes = read_export([late, first], TRIAL, place="x.json")
    assert [vote.rater for vote in votes] == ["anna/8", "anna"]
    assert votes[1] == alone


def test_exported_votes_round_trip(tmp_path: Path) -> None:
    votes = [
        VoteBuilder(TRIAL, rater).build_vote(
            RaterAnswer(item=item.id, choice="first", comment="<&> fine", errors={"first": ("discourse",)})
        )
        for rater in ("anna", "ben")
        for item in TRIAL.items
    ]
    path = tmp_path / "export.json"
    path.write_text(json.dumps(export_votes(TRIAL, votes)))
    assert read_votes(path, TRIAL) == votes


def test_an_export_of_another_trial_is_rejected() -> None:
    task = build_tasks(a_trial(seed=9), "anna")[0]
    with pytest.raises(InputError, match=r"x.json, task 1 belongs to the trial '.*', not to"):
        read_export([annotated(task, "first")], TRIAL, place="x.json")


@pytest.mark.parametrize(
    ("export", "message"),
    [
        ([{"id": 5, "data": {"text": "a"}, "annotations": []}], "task 5 is from another project"),
        ([{"annotation_id": 3, "choice": "A"}], "exported as JSON-MIN. Export it as JSON"),
        ([{"text": "a"}], "not a Label Studio export"),
        ([7], "not a Label Studio export"),
        ([{**build_tasks(TRIAL, "anna")[0], "annotations": [{"result": []}]}], "without a choice between A and B"),
        ([annotated(build_tasks(TRIAL, "anna")[0], "best")], "can't be read: choice"),
    ],
)
def test_an_invalid_export_is_rejected(export: list[Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_export(export, TRIAL, place="x.json")


def test_a_published_export_gives_its_ten_votes(shared_data: Path) -> None:
    votes = read_votes(shared_data / "karpinska" / "fr_en_3.json")
    assert len(votes) == 10
    assert {vote.pair for vote in votes} == {("gtr", "para")}
    assert all(vote.comment and vote.language == "fr" for vote in votes)
    published = json.loads((shared_data / "karpinska" / "all_annotations_v1.json").read_text(encoding="utf-8"))
    same = {row["comment"]: row["choice"] for row in published if row["eval"] == "fr_en_3"}
    assert {vote.comment.strip(): vote.choice for vote in votes} == {
        comment.strip(): {"text1": "first", "text2": "second"}[choice] for comment, choice in same.items()
    }


def test_a_published_export_does_not_match_a_trial(shared_data: Path) -> None:
    with pytest.raises(InputError, match=r"fr_en_3.json, task 2693 is from another project"):
        read_votes(shared_data / "karpinska" / "fr_en_3.json", TRIAL)


def test_an_unknown_layout_is_rejected_without_a_trial() -> None:
    task = {"id": 5, "data": {"text": "a"}}
    with pytest.raises(InputError, match="task 5 is from a project with an unknown layout"):
        read_export([annotated(task, "first")], None, place="x.json")
