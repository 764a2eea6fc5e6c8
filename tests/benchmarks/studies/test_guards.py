"""Measured rates of the guards: on a few invented rows, and on real data if it is available."""

from __future__ import annotations

import os
import random
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from ape.guards import GUARDS
from ape.passage.result import Severity
from ape.passage.segment import Draft, Segment
from benchmarks.studies.guards.__main__ import main
from benchmarks.studies.guards.faults import (
    FAULTS,
    FaultMaterial,
    NoFaultPossible,
    collect_fault_material,
    run_fault_trials,
)
from benchmarks.studies.guards.passages import (
    OTHER_PAIRS,
    PAIRS,
    HumanPostEdit,
    join_neighbours,
    read_candide,
    read_english_texts,
    read_mlqe,
)
from benchmarks.studies.guards.refusals import count_by_guard, find_refusals, find_rejections, refused_by_other_guards

DATA = Path(os.environ.get("APE_DATA", Path(__file__).parents[3] / "shared" / "data"))
needs_data = pytest.mark.skipif(
    not (DATA / "mlqe_pe").is_dir(), reason=f"MLQE-PE is not in {DATA.name}/ (set APE_DATA to the folder that has it)"
)

ROWS = (
    HumanPostEdit(
        "1",
        Segment(
            "Le vieux capitaine compta ses hommes deux fois. Personne ne vit Antoine derrière les tonneaux.",
            "The old captain counted his men two times. Nobody did see Antoine behind the barrels.",
            "fr",
            "en",
        ),
        "The old captain counted his men twice. Nobody saw Antoine behind the barrels.",
    ),
    HumanPostEdit(
        "2",
        Segment(
            "En 1848 la jeune Marguerite quitta Bordeaux pour toujours avec sa petite fille malade.",
            "In 1848 the young Marguerite left Bordeaux for always with her little sick daughter.",
            "fr",
            "en",
        ),
        "In 1848 the young Marguerite left Bordeaux for good with her sick little daughter.",
    ),
)
STOCK = FaultMaterial(names=("Archibald", "Wolfgang", "Ferdinand") * 20, small=frozenset())


def test_good_post_edits_and_their_mt_are_not_refused() -> None:
    assert find_refusals(ROWS) == []
    assert find_refusals(ROWS, mt=True) == []


@pytest.mark.parametrize("kind", FAULTS)
def test_every_kind_of_fault_is_caught(kind: str) -> None:
    tried = 0
    for row in ROWS:
        for seed in range(5):
            try:
                text = FAULTS[kind](row, STOCK, random.Random(seed))
            except NoFaultPossible:
                continue
            tried += 1
            assert find_rejections(row.segment, text), text
    assert tried


def test_neighbouring_rows_are_joined_into_paragraphs() -> None:
    (joined,) = join_neighbours(ROWS)
    assert joined.post_edit == f"{ROWS[0].post_edit} {ROWS[1].post_edit}"
    assert joined.segment.mt == f"{ROWS[0].segment.mt} {ROWS[1].segment.mt}"


def test_names_are_capitalised_words_that_never_occur_in_lower_case() -> None:
    found = collect_fault_material(ROWS, ["the old captain", "bordeaux"])
    assert found.names == ("Antoine", "Marguerite")


def test_refusals_are_counted_by_guard_and_the_rewriting_limit_separately() -> None:
    row = HumanPostEdit("3", Segment("Il avait 17 ans.", "He was 17 years old.", "fr", "en"), "He was 19 years old.")
    found = find_refusals([row])
    assert count_by_guard(found) == {"numbers": 1}
    assert refused_by_other_guards(found) == found


def test_a_few_names_are_enough_to_change_one() -> None:
    few = FaultMaterial(names=("Archibald", "Wolfgang"), small=frozenset())
    assert FAULTS["name changed"](ROWS[0], few, random.Random(1)) != ROWS[0].post_edit


def test_a_missing_data_folder_is_a_clear_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["--data", str(tmp_path / "elsewhere")])
    assert exit_.value.code == 2
    said = capsys.readouterr().err
    assert said.endswith("Give the folder that has mlqe_pe/ and par3/.\n")
    assert said.count("\n") == 1


# --- with the data -----------------------------------------------------------------------------------------------


@cache
def _rows(pair: str) -> list[HumanPostEdit]:
    return read_mlqe(DATA, pair)


@needs_data
def test_at_most_one_human_post_edit_in_a_hundred_is_refused() -> None:
    refused = sum(len(find_refusals(_rows(pair))) for pair in PAIRS)
    assert refused <= 30  # of 3,000


@needs_data
@pytest.mark.parametrize("pair", OTHER_PAIRS)
def test_few_human_post_edits_of_other_pairs_are_refused(pair: str) -> None:
    # Eight rows of Nepali and Sinhala contain zero-width spaces and are refused correctly.
    refused = [refusal for refusal in find_refusals(_rows(pair)) if count_by_guard([refusal]).keys() != {"garbled"}]
    assert len(refused) <= 30  # of 1,000


@needs_data
def test_no_mt_is_refused_as_its_own_draft_by_any_guard() -> None:
    for pair in (*PAIRS, *OTHER_PAIRS):
        assert find_refusals(_rows(pair), mt=True) == []
        for row in _rows(pair):
            for guard in GUARDS.values():
                findings = guard(row.segment, Draft(row.segment.mt))
                assert all(finding.severity is Severity.WARN for finding in findings), findings


@needs_data
@pytest.mark.parametrize("joined", [False, True], ids=["sentences", "paragraphs"])
def test_nineteen_faults_in_twenty_are_caught_of_every_kind(joined: bool) -> None:
    english = read_english_texts(DATA)
    caught: dict[str, list[bool]] = defaultdict(list)
    for pair in PAIRS:
        rows = _rows(pair)
        for trial in run_fault_trials(join_neighbours(rows) if joined else rows, collect_fault_material(rows, english)):
            caught[trial.kind].append(trial.caught)
    rates = {kind: sum(hits) / len(hits) for kind, hits in caught.items()}
    assert {kind: rate for kind, rate in rates.items() if rate < 0.95} == {}
    assert rates.keys() == FAULTS.keys()


@needs_data
def test_nine_in_ten_literary_translations_are_free_of_faults() -> None:
    rows = read_candide(DATA)
    assert len(refused_by_other_guards(find_refusals(rows))) <= 0.1 * len(rows)
