"""Label Studio: tasks and interface out, exports in, and those of other projects refused."""

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


def done(task: dict[str, Any], choice: str, *, who: Any = 7, **more: list[str]) -> dict[str, Any]:
    """The task as Label Studio exports it once it was done."""
    chosen = {"choice": [choice], **more}
    result = [
        {"from_name": name, "to_name": "a", "type": "choices", "value": {"choices": values}}
        for name, values in chosen.items()
    ]
    annotation = {
        "completed_by": who,
        "was_cancelled": False,
        "created_at": "2030-01-01T10:00:00.5Z",
        "result": result,
    }
    return {"id": 1, "annotations": [annotation], **task}


def test_tasks_name_no_system_and_hold_both_texts_as_the_rater_is_to_see_them() -> None:
    made = build_tasks(TRIAL, "anna")
    assert [task["data"]["a"] for task in made] == [
        "\n\n".join(one.texts[0]) for one in rater_sheet(TRIAL, "anna")
    ]
    assert '"mt"' not in json.dumps(made)
    assert '"tuned"' not in json.dumps(made)


def test_the_interface_asks_all_our_questions_and_shows_what_the_tasks_hold() -> None:
    view = ElementTree.fromstring(build_interface(TRIAL))
    asked = {choices.get("name"): [one.get("alias") for one in choices] for choices in view.iter("Choices")}
    assert asked["choice"] == ["first", "second", "tie"]
    assert asked["confidence"] == ["sure", "unsure"]
    assert asked["believed_human"] == ["first", "second", "both", "neither"]
    assert asked["errors_first"] == asked["errors_second"] == list(ERROR_KINDS)
    shown = {text.get("value") for text in view.iter("Text")}
    assert shown == {"$source", "$a", "$b"}
    assert {name[1:] for name in shown if name} <= build_tasks(TRIAL, "anna")[0]["data"].keys()


def test_an_interface_without_source_and_ties_asks_for_neither() -> None:
    trial = make_trial(a_corpus(), design=TrialDesign(items=3, bilingual=False), ties=False)
    assert "$source" not in build_interface(trial)
    assert "tie" not in build_interface(trial).replace("Choice", "")


def test_an_export_gives_votes_with_the_systems_that_were_shown() -> None:
    task = build_tasks(TRIAL, "anna")[2]
    (vote,) = read_export([done(task, "second", errors_second=["precision"])], TRIAL, place="x.json")
    shown = rater_sheet(TRIAL, "anna")[2]
    assert (vote.item, vote.rater, vote.winner) == (shown.item.id, "anna", shown.second)
    assert vote.errors == {"second": ("precision",)}
    assert vote.at == "2030-01-01T10:00:00+00:00"


def test_a_choice_is_understood_by_its_words_too() -> None:
    task = build_tasks(TRIAL, "anna")[0]
    (vote,) = read_export(
        [done(task, "They are equally good or bad", confidence=["Not sure"])], TRIAL, place="x"
    )
    assert (vote.choice, vote.confidence) == ("tie", "unsure")


def test_skipped_tasks_have_no_vote() -> None:
    task = build_tasks(TRIAL, "anna")[0]
    skipped = done(task, "first")
    skipped["annotations"][0]["was_cancelled"] = True
    assert read_export([skipped, {"id": 2, **task, "annotations": []}], TRIAL, place="x.json") == []


def test_several_people_on_one_sheet_are_told_apart() -> None:
    task = build_tasks(TRIAL, "anna")[0]
    both = done(task, "first")
    both["annotations"] += done(task, "second", who={"id": 8, "email": "b@example.org"})["annotations"]
    votes = read_export([both], TRIAL, place="x.json")
    assert [vote.rater for vote in votes] == ["anna", "anna/b@example.org"]


def test_who_began_a_sheet_has_the_same_name_in_every_later_export() -> None:
    one, other = build_tasks(TRIAL, "anna")[:2]
    first = done(one, "first")
    (alone,) = read_export([first], TRIAL, place="x.json")
    late = done(other, "second", who=8)
    late["annotations"][0]["created_at"] = "2031-01-01T10:00:00Z"
    votes = read_export([late, first], TRIAL, place="x.json")
    assert [vote.rater for vote in votes] == ["anna/8", "anna"]
    assert votes[1] == alone


def test_votes_go_out_as_an_export_and_come_back(tmp_path: Path) -> None:
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


def test_an_export_of_another_trial_is_refused() -> None:
    task = build_tasks(a_trial(seed=9), "anna")[0]
    with pytest.raises(InputError, match=r"x.json, task 1 belongs to the trial '.*', not to"):
        read_export([done(task, "first")], TRIAL, place="x.json")


@pytest.mark.parametrize(
    ("export", "told"),
    [
        ([{"id": 5, "data": {"text": "a"}, "annotations": []}], "task 5 is from another project"),
        ([{"annotation_id": 3, "choice": "A"}], "exported as JSON-MIN. Export it as JSON"),
        ([{"text": "a"}], "not a Label Studio export"),
        ([7], "not a Label Studio export"),
        (
            [{**build_tasks(TRIAL, "anna")[0], "annotations": [{"result": []}]}],
            "without a choice between A and B",
        ),
        ([done(build_tasks(TRIAL, "anna")[0], "best")], "can't be read: choice"),
    ],
)
def test_what_is_no_export_of_ours_is_told(export: list[Any], told: str) -> None:
    with pytest.raises(InputError, match=told):
        read_export(export, TRIAL, place="x.json")


def test_the_export_of_a_published_study_gives_its_ten_votes(shared_data: Path) -> None:
    votes = read_votes(shared_data / "karpinska" / "fr_en_3.json")
    assert len(votes) == 10
    assert {vote.pair for vote in votes} == {("gtr", "para")}
    assert all(vote.comment and vote.language == "fr" for vote in votes)
    published = json.loads(
        (shared_data / "karpinska" / "all_annotations_v1.json").read_text(encoding="utf-8")
    )
    same = {row["comment"]: row["choice"] for row in published if row["eval"] == "fr_en_3"}
    assert {vote.comment.strip(): vote.choice for vote in votes} == {
        comment.strip(): {"text1": "first", "text2": "second"}[choice] for comment, choice in same.items()
    }


def test_the_export_of_a_published_study_is_none_of_our_trials(shared_data: Path) -> None:
    with pytest.raises(InputError, match=r"fr_en_3.json, task 2693 is from another project"):
        read_votes(shared_data / "karpinska" / "fr_en_3.json", TRIAL)


def test_a_project_that_compares_nothing_can_not_be_read_without_a_trial() -> None:
    task = {"id": 5, "data": {"text": "a"}}
    with pytest.raises(InputError, match="task 5 is from a project with an unknown layout"):
        read_export([done(task, "first")], None, place="x.json")
