"""`ape ab import`, `ape ab export` and `ape ab analyse`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval.human.trial_file import read_trial
from eval.human.vote_reader import VOTE_COLUMNS
from tests.ape.cli.ab.conftest import saved
from tests.ape.cli.conftest import Run

STORE = ("--store", "votes.db")
QUICK = ("--samples", "100")


def test_votes_are_imported_once_and_analysed(here: Run, trial: Path) -> None:
    saved(trial, "anna")
    saved(trial, "ben")
    done = here("ab", "import", "trial.json", "anna.json", "ben.json", *STORE)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "30 votes of 2 raters: 30 new, 0 changed, 0 unchanged.\n"
    again = here("ab", "import", "trial.json", "anna.json", *STORE)
    assert again.stdout == "15 votes of 1 rater: 0 new, 0 changed, 15 unchanged.\n"
    output = here("ab", "analyse", "trial.json", *STORE, *QUICK)
    assert output.returncode == 0, output.stderr
    assert "24 votes by 2 raters on 12 items" in output.stdout
    assert "tuned over mt" in output.stdout
    assert "100.0%" in output.stdout
    from_files = here("ab", "analyse", "trial.json", "--votes", "anna.json", "--votes", "ben.json", "--json", *QUICK)
    found = json.loads(from_files.stdout)
    assert (found["votes"], found["repeats"], found["spam"], found["flagged"]) == (24, 4, 2, [])


def test_a_different_vote_needs_replace(here: Run, trial: Path) -> None:
    saved(trial, "anna")
    here("ab", "import", "trial.json", "anna.json", *STORE)
    saved(trial, "anna", prefers="mt")
    refused = here("ab", "import", "trial.json", "anna.json", *STORE)
    assert refused.returncode == 2
    assert "anna.json, vote 1: anna has already voted differently on item" in refused.stderr
    assert "Replace the earlier vote explicitly to change it. See --overwrite." in refused.stderr
    taken = here("ab", "import", "trial.json", "anna.json", *STORE, "--overwrite", "--json")
    assert json.loads(taken.stdout) == {"trial": read_trial(trial).id, "new": 0, "same": 1, "replaced": 14}


def test_two_votes_that_differ_in_one_file_are_named_by_its_line(here: Run, trial: Path, tmp_path: Path) -> None:
    made = read_trial(trial)
    item = made.items[0]
    one = {"trial": made.id, "item": item.id, "rater": "anna", "first": item.systems[0]}
    one |= {"second": item.systems[1], "choice": "first"}
    lines = [json.dumps(one), json.dumps(one | {"choice": "second"})]
    (tmp_path / "votes.jsonl").write_text("\n".join(lines), encoding="utf-8")
    refused = here("ab", "import", "trial.json", "votes.jsonl", *STORE)
    assert refused.returncode == 2
    assert "Line 2 of votes.jsonl: anna has already voted differently on item" in refused.stderr
    assert here("ab", "export", "trial.json", *STORE).stdout == ""  # all or none


def test_an_unknown_human_system_is_refused(here: Run, trial: Path) -> None:
    saved(trial, "anna")
    done = here("ab", "analyse", "trial.json", "--votes", "anna.json", "--human", "reference", *QUICK)
    assert done.returncode == 2
    assert "--human 'reference' is not one of the systems: mt, tuned." in done.stderr
    known = here("ab", "analyse", "trial.json", "--votes", "anna.json", "--human", "tuned", *QUICK)
    assert known.returncode == 0


@pytest.mark.parametrize("format", ["jsonl", "csv", "label-studio"])
def test_exported_votes_can_be_imported_into_another_store(here: Run, trial: Path, tmp_path: Path, format: str) -> None:
    saved(trial, "anna")
    here("ab", "import", "trial.json", "anna.json", *STORE)
    name = f"votes.{'json' if format == 'label-studio' else format}"
    done = here("ab", "export", "trial.json", *STORE, "--to", format, "-o", name)
    assert done.returncode == 0, done.stderr
    assert "15 votes are in" in done.stderr
    taken = here("ab", "import", "trial.json", name, "--store", "other.db")
    assert taken.stdout.startswith("15 votes of 1 rater: 15 new")
    output = [here("ab", "export", "trial.json", "--store", store).stdout for store in ("votes.db", "other.db")]
    assert sorted(output[0].splitlines()) == sorted(output[1].splitlines())


def test_votes_of_another_trial_are_refused(here: Run, trial: Path, files: tuple[str, ...], tmp_path: Path) -> None:
    here("ab", "make", *files, "-o", "other.json", "--seed", "9")
    saved(tmp_path / "other.json", "anna")
    done = here("ab", "import", "trial.json", "anna.json", *STORE)
    assert done.returncode == 2
    assert "anna.json belongs to the trial" in done.stderr


def test_a_vote_for_an_item_that_does_not_exist_is_refused(here: Run, trial: Path) -> None:
    path = saved(trial, "anna")
    values = json.loads(path.read_text())
    values["votes"][3]["item"] = "nothing"
    path.write_text(json.dumps(values))
    done = here("ab", "import", "trial.json", "anna.json", *STORE)
    assert done.returncode == 2
    assert "anna.json, vote 4: There is no item 'nothing'" in done.stderr
    assert "The store has no votes" in here("ab", "analyse", "trial.json", *STORE, *QUICK).stderr


def test_an_export_of_another_project_is_refused(here: Run, trial: Path, tmp_path: Path) -> None:
    (tmp_path / "export.json").write_text('[{"id": 3, "data": {"image": "x.png"}, "annotations": []}]')
    done = here("ab", "import", "trial.json", "export.json", *STORE)
    assert done.returncode == 2
    assert "export.json, task 3 is from another project" in done.stderr


def test_zero_votes_are_reported(here: Run, trial: Path) -> None:
    path = saved(trial, "anna")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"votes": []}))
    taken = here("ab", "import", "trial.json", "anna.json", *STORE)
    assert taken.stdout.startswith("0 votes of 0 raters")
    done = here("ab", "analyse", "trial.json", *STORE, *QUICK)
    assert done.returncode == 0
    assert "There are no votes on a pair of systems." in done.stdout


def test_ties_of_a_single_rater_are_reported(here: Run, trial: Path) -> None:
    saved(trial, "anna", tie=True)
    done = here("ab", "analyse", "trial.json", "--votes", "anna.json", *QUICK)
    assert done.returncode == 0, done.stderr
    assert "tie" in done.stdout
    assert "only one rater (anna)" in done.stdout


def test_a_rater_who_prefers_shuffled_texts_is_flagged(here: Run, files: tuple[str, ...], tmp_path: Path) -> None:
    here("ab", "make", *files, "-o", "trial.json", "--spam", "0.5", "--repeats", "0")
    path = saved(tmp_path / "trial.json", "anna")
    values = json.loads(path.read_text())
    spam = {item.id for item in read_trial(tmp_path / "trial.json").items if item.kind == "spam"}
    for vote in values["votes"]:
        if vote["item"] in spam:
            vote["choice"] = {"first": "second", "second": "first"}[vote["choice"]]
    path.write_text(json.dumps(values))
    output = json.loads(here("ab", "analyse", "trial.json", "--votes", "anna.json", "--json", *QUICK).stdout)
    assert output["flagged"] == ["anna"]


def test_votes_that_name_their_systems_need_no_trial(here: Run, shared_data: Path) -> None:
    done = here("ab", "analyse", "--votes", shared_data / "karpinska" / "fr_en_3.json", "--json", *QUICK)
    found = json.loads(done.stdout)
    assert (found["votes"], found["systems"]) == (10, ["gtr", "para"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("analyse",), "Name the trial of the votes in the store, or give --votes FILE"),
        (("analyse", "nowhere.json"), "nowhere.json can't be read: No such file"),
        (("analyse", "trial.json", "--votes", "nowhere.json"), "nowhere.json can't be read"),
        (("analyse", "trial.json"), "The store has no votes on the trial"),
        (("import", "trial.json", "trial.json"), "trial.json is not a vote file"),
        (("export", "trial.json"), "There is no trial"),
        (("serve", "nowhere.json"), "can't be read"),
    ],
)
def test_bad_input_is_a_sentence(here: Run, trial: Path, words: tuple[str, ...], message: str) -> None:
    done = here("ab", *words, *(STORE if words[0] == "export" else ()))
    assert done.returncode == 2
    assert message in done.stderr


def test_a_report_is_written(here: Run, trial: Path, tmp_path: Path) -> None:
    saved(trial, "anna")
    done = here("ab", "analyse", "trial.json", "--votes", "anna.json", "--html", "page.html", *QUICK)
    assert "The page is in page.html." in done.stderr
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "tuned over mt" in page
    assert "12 won, 0 lost, 0 tied" in page


def test_contradicting_votes_of_two_files_are_refused(here: Run, trial: Path, tmp_path: Path) -> None:
    saved(trial, "anna").rename(tmp_path / "first.json")
    saved(trial, "anna", prefers="mt")
    done = here("ab", "analyse", "trial.json", "--votes", "first.json", "--votes", "anna.json", *QUICK)
    assert done.returncode == 2
    assert "anna has two votes on item" in done.stderr


def test_a_passage_in_several_pairs_has_a_vote_in_each(here: Run, tmp_path: Path) -> None:
    lines = [
        {"item": str(item), "rater": "anna", "first": "a", "second": other, "choice": choice}
        for item in (1, 2)
        for other, choice in (("b", "first"), ("c", "second"))
    ]
    (tmp_path / "v.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    output = here("ab", "analyse", "--votes", "v.jsonl", "--json", *QUICK)
    assert output.returncode == 0, output.stderr
    assert json.loads(output.stdout)["votes"] == 4


def test_the_help_names_every_column_of_a_vote_file(here: Run) -> None:
    text = " ".join(here("ab", "analyse", "--help").stdout.split())
    assert [name for name in ", ".join(VOTE_COLUMNS).split(", ") if name not in text] == []


def test_votes_of_unknown_order_are_analysed_without_position(here: Run, tmp_path: Path) -> None:
    rows = [f"i{at},anna,x,y,{'first' if at % 3 else 'second'},unknown" for at in range(12)]
    (tmp_path / "v.csv").write_text("\n".join(["item,rater,first,second,choice,order", *rows]), encoding="utf-8")
    done = here("ab", "analyse", "--votes", "v.csv", *QUICK)
    assert "Position bias: not measured: the order of display is unknown" in done.stdout
