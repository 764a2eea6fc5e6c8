"""Vote files: of the offline page, JSON lines and CSV; invalid files are rejected."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ape.errors import InputError
from eval.human.answer import RaterAnswer, VoteBuilder
from eval.human.design import TrialDesign
from eval.human.sheet import public_sheet, rater_sheet
from eval.human.trial import Trial
from eval.human.vote import ERROR_KINDS, Vote
from eval.human.vote_reader import read_votes
from eval.human.vote_writer import sheet_to_csv, sheet_to_jsonl, votes_to_csv, votes_to_jsonl
from tests.eval.human.trial_factory import a_trial

TRIAL = a_trial(design=TrialDesign(items=6, repeats=0.2, spam=0.2))
SAVED = {
    "item": TRIAL.items[0].id,
    "choice": "second",
    "confidence": "sure",
    "believed_human": "neither",
    "errors": {"first": ["word sense"], "second": []},
    "comment": "",
    "at": "2030-01-01T10:00:00.123Z",
}

answers = st.builds(
    RaterAnswer,
    item=st.sampled_from([item.id for item in TRIAL.items]),
    choice=st.sampled_from(["first", "second", "tie"]),
    confidence=st.sampled_from(["sure", "unsure", None]),
    believed_human=st.sampled_from(["first", "second", "both", "neither", None]),
    errors=st.dictionaries(
        st.sampled_from(["first", "second"]), st.lists(st.sampled_from(ERROR_KINDS)).map(tuple), max_size=2
    ),
    comment=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=30),
)


def a_file(path: Path, content: Any) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8", newline="")
    return path


def page(*votes: dict[str, Any], trial: Trial = TRIAL, rater: str = "anna") -> dict[str, Any]:
    """A file saved by the offline page."""
    return {"trial": trial.id, "rater": rater, "votes": list(votes)}


def test_votes_of_the_page_are_read_with_their_systems(tmp_path: Path) -> None:
    (vote,) = read_votes(a_file(tmp_path / "anna.json", page(SAVED)), TRIAL)
    sheet = next(one for one in rater_sheet(TRIAL, "anna") if one.item.id == vote.item)
    assert (vote.first, vote.second, vote.winner) == (sheet.first, sheet.second, sheet.second)
    assert vote.errors == {"first": ("word sense",)}
    assert vote.at == "2030-01-01T10:00:00+00:00"
    assert (vote.rater, vote.confidence, vote.believed_human) == ("anna", "sure", "neither")


def test_the_same_choice_on_mirrored_sides_prefers_different_systems(tmp_path: Path) -> None:
    votes = [
        vote
        for rater in ("anna", "ben")
        for vote in read_votes(a_file(tmp_path / f"{rater}.json", page(SAVED, rater=rater)), TRIAL)
    ]
    assert {vote.winner for vote in votes} == {"mt", "tuned"}


@settings(max_examples=30, deadline=None)
@given(st.lists(answers, unique_by=lambda answer: answer.item, max_size=4), st.sampled_from(["anna", "Zoë, the 2nd"]))
def test_votes_round_trip_in_both_formats(
    tmp_path_factory: pytest.TempPathFactory, given: list[RaterAnswer], rater: str
) -> None:
    builder = VoteBuilder(TRIAL, rater)
    votes = [builder.build_vote(answer) for answer in given]
    folder = tmp_path_factory.mktemp("votes")
    for name, text in (("v.jsonl", votes_to_jsonl(votes, TRIAL.id)), ("v.csv", votes_to_csv(votes, TRIAL.id))):
        path = a_file(folder / name, text)
        assert read_votes(path, TRIAL) == votes
        assert read_votes(path) == votes


def fill_in(text: str) -> str:
    """Fill in a sheet: A is preferred in all rows but the last, which stays empty."""
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    for row in rows[:-1]:
        row |= {"choice": "A", "errors_b": "discourse; word sense", "confidence": "sure"}
    made = io.StringIO()
    writer = csv.DictWriter(made, rows[0].keys())
    writer.writeheader()
    writer.writerows(rows)
    return made.getvalue()


@pytest.mark.parametrize("write", [votes_to_csv, votes_to_jsonl])
def test_a_vote_has_its_document_in_the_document_condition(
    tmp_path: Path, write: Callable[[list[Vote], str], str]
) -> None:
    design = TrialDesign(items=6, condition="document", paragraphs=2, repeats=0, spam=0)
    trial = a_trial(design=design)
    sheet = rater_sheet(trial, "anna")[0]
    vote = VoteBuilder(trial, "anna").build_vote(RaterAnswer(item=sheet.item.id, choice="first"))
    assert (vote.document, vote.unit) == (sheet.passage.document, sheet.passage.document)
    path = a_file(tmp_path / f"v.{'csv' if write is votes_to_csv else 'jsonl'}", write([vote], trial.id))
    assert read_votes(path) == [vote]  # the document is in the file: the trial is not needed
    alone = VoteBuilder(TRIAL, "anna").build_vote(RaterAnswer(item=TRIAL.items[0].id, choice="first"))
    assert (alone.document, alone.unit) == ("", TRIAL.items[0].passage)


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_rows_without_a_choice_are_skipped(tmp_path: Path, delimiter: str) -> None:
    text = fill_in(sheet_to_csv(TRIAL, "anna"))
    if delimiter == ";":
        rows = csv.reader(io.StringIO(text, newline=""))
        made = io.StringIO()
        csv.writer(made, delimiter=";").writerows(rows)
        text = made.getvalue()
    votes = read_votes(a_file(tmp_path / "anna.csv", "\ufeff" + text), TRIAL)
    assert [vote.first for vote in votes] == [one.first for one in rater_sheet(TRIAL, "anna")[:-1]]
    assert all(vote.winner == vote.first for vote in votes)
    assert votes[0].errors == {"second": ("discourse", "word sense")}


@pytest.mark.parametrize(
    ("written", "choice"), [("A", "first"), (" b ", "second"), ("Tie", "tie"), ("SAME", "tie"), ("Second", "second")]
)
def test_spellings_of_answers_are_normalised(tmp_path: Path, written: str, choice: str) -> None:
    item = TRIAL.items[0].id
    columns = "trial,item,rater,choice,confidence,believed_human,errors_a"
    cells = f"{TRIAL.id},{item},anna,{written},Sure , Both,Word Sense"
    (vote,) = read_votes(a_file(tmp_path / "anna.csv", f"{columns}\n{cells}\n"), TRIAL)
    assert (vote.choice, vote.confidence, vote.believed_human) == (choice, "sure", "both")
    assert vote.errors == {"first": ("word sense",)}


def test_a_blank_answer_is_missing(tmp_path: Path) -> None:
    first, second = (item.id for item in TRIAL.items[:2])
    rows = ("trial,item,rater,choice,confidence", f"{TRIAL.id},{first},anna, ,sure", f"{TRIAL.id},{second},anna,a, ")
    (vote,) = read_votes(a_file(tmp_path / "anna.csv", "\n".join(rows)), TRIAL)
    assert (vote.item, vote.confidence) == (second, None)


def test_believed_human_may_be_a_or_b(tmp_path: Path) -> None:
    rows = f"trial,item,rater,choice,believed_human\n{TRIAL.id},{TRIAL.items[0].id},anna,a,B\n"
    (vote,) = read_votes(a_file(tmp_path / "anna.csv", rows), TRIAL)
    assert vote.believed_human == "second"


def test_a_json_lines_sheet_is_blind_and_readable_when_filled_in(tmp_path: Path) -> None:
    text = sheet_to_jsonl(TRIAL, "anna")
    assert '"mt"' not in text
    rows = [json.loads(line) | {"choice": "B"} for line in text.splitlines()]
    votes = read_votes(a_file(tmp_path / "anna.jsonl", "\n".join(map(json.dumps, rows))), TRIAL)
    assert [vote.item for vote in votes] == [item["id"] for item in public_sheet(TRIAL, "anna")["items"]]


def test_formula_cells_are_escaped() -> None:
    vote = replace(
        VoteBuilder(TRIAL, "anna").build_vote(RaterAnswer.model_validate(SAVED)), comment='=HYPERLINK("http://x")'
    )
    cells = next(iter(csv.DictReader(io.StringIO(votes_to_csv([vote], TRIAL.id)))))
    assert cells["comment"].startswith("'=")


def without(key: str) -> dict[str, Any]:
    return {name: value for name, value in page(SAVED).items() if name != key}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("v.json", page(SAVED, trial=a_trial(seed=7)), "v.json belongs to the trial '.*', not to '.*'"),
        ("v.json", page(SAVED | {"item": "nothing"}), "v.json, vote 1: There is no item 'nothing'"),
        ("v.json", page(SAVED, SAVED | {"choice": "third"}), "v.json, vote 2 can't be read: choice"),
        ("v.json", page(SAVED | {"errors": {"first": ["typo"]}}), "'typo' is not an error kind; choose from: overly"),
        ("v.json", page(SAVED | {"at": "noon"}), "'noon' is not an ISO 8601 time"),
        ("v.json", page(SAVED | {"system": "mt"}), "vote 1 can't be read: system: there is no such field"),
        ("v.json", page(SAVED, rater=" "), "does not name the rater"),
        ("v.json", without("votes"), "is not a vote file"),
        ("v.json", "{", "is not JSON"),
        ("v.json", "7", "is not a vote file"),
        ("v.txt", "", "is not a vote file"),
        ("v.jsonl", "[]", "Line 1 of v.jsonl is not a JSON object"),
        (
            "v.jsonl",
            '{"id": 1, "source": "Oui.", "mt": "Yes."}\n',
            "Line 1 of v.jsonl is not a vote: it lacks 'trial', 'item', 'rater', 'choice'",
        ),
        ("v.jsonl", '{"item": "x", "choice": "first"}', "Line 1 of v.jsonl is not a vote: it lacks 'trial', 'rater'"),
        (
            "v.jsonl",
            '\n{"choice": "first", "item": "x", "rater": "a"}',
            "Line 2 of v.jsonl is not a vote: it lacks 'trial'",
        ),
        ("v.csv", "a,b\n1,2\n", "Line 2 of v.csv is not a vote: it lacks 'trial', 'item', 'rater', 'choice'"),
        ("v.csv", "item,choice,rater\nx,a,anna\n", "Line 2 of v.csv is not a vote: it lacks 'trial'"),
        ("v.csv", "item,choice,rater,trial\nx,a,anna,\n", "Line 2 of v.csv does not name its trial"),
        ("v.csv", "item,choice,rater,trial\n1,2\n", "Line 2 of v.csv has not as many cells as the first line"),
        ("v.csv", 'item,choice,rater,trial\n1,"2\n', "v.csv can't be read"),
    ],
)
def test_an_invalid_file_is_rejected_with_its_location(tmp_path: Path, name: str, content: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_votes(a_file(tmp_path / name, content), TRIAL)


def test_only_the_escaping_apostrophe_is_removed(tmp_path: Path) -> None:
    comments = ["'tis better", "=1+1", "'=1", "-", "plain"]
    items = [sheet.item.id for sheet in rater_sheet(TRIAL, "anna")][: len(comments)]
    answers = [
        RaterAnswer(item=item, choice="first", comment=comment) for item, comment in zip(items, comments, strict=True)
    ]
    votes = [VoteBuilder(TRIAL, "anna").build_vote(answer) for answer in answers]
    path = a_file(tmp_path / "v.csv", votes_to_csv(votes, TRIAL.id))
    assert [vote.comment for vote in read_votes(path, TRIAL)] == comments
    typed = f"trial,item,rater,choice,comment\n{TRIAL.id},{items[0]},anna,a,'tis better\n"
    assert read_votes(a_file(path, typed), TRIAL)[0].comment == "'tis better"


def test_a_vote_between_other_systems_is_rejected(tmp_path: Path) -> None:
    vote = VoteBuilder(TRIAL, "anna").build_vote(RaterAnswer.model_validate(SAVED))
    text = votes_to_jsonl([replace(vote, first="best")], TRIAL.id)
    with pytest.raises(InputError, match=r"Line 1 of v.jsonl: Item .* shows mt and tuned"):
        read_votes(a_file(tmp_path / "v.jsonl", text), TRIAL)


def test_votes_without_systems_need_their_trial(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not name the systems: give the trial"):
        read_votes(a_file(tmp_path / "v.json", page(SAVED)))


@pytest.mark.parametrize("write", [votes_to_csv, votes_to_jsonl])
def test_an_empty_list_of_votes_round_trips(tmp_path: Path, write: Callable[[list[Vote], str], str]) -> None:
    suffix = "csv" if write is votes_to_csv else "jsonl"
    assert read_votes(a_file(tmp_path / f"v.{suffix}", write([], TRIAL.id)), TRIAL) == []


def test_an_import_may_say_that_the_order_is_unknown(tmp_path: Path) -> None:
    columns, row = "item,rater,first,second,choice,order", "i1,anna,x,y,first"
    (vote,) = read_votes(a_file(tmp_path / "v.csv", f"{columns}\n{row},Unknown\n"))
    assert vote.order == "unknown"
    (vote,) = read_votes(a_file(tmp_path / "w.csv", f"{columns}\n{row},\n"))
    assert vote.order == "shown"
    with pytest.raises(InputError, match=r"Line 2 of u\.csv can't be read: order: one of shown, unknown"):
        read_votes(a_file(tmp_path / "u.csv", f"{columns}\n{row},maybe\n"))


def test_a_refused_file_names_all_that_it_lacks(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="it lacks 'rater', 'first', 'second', 'choice'"):
        read_votes(a_file(tmp_path / "v.csv", "item,vote\ni1,x\n"))
