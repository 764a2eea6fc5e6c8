from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ape.errors import InputError
from eval.board.conversion import read_folder, results_to_file, suite_to_file
from eval.board.groups import group_systems
from eval.board.published import published_files
from eval.board.result_file import BoardScore, BoardSystem, ResultFile, merge_result_files, parse_result_file
from eval.board.site import write_site
from eval.board.table_view import board_rows
from eval.metrics.registry import create_metrics
from eval.metrics.scoring import ResamplingOptions, measure_systems
from tests.eval.human.trial_factory import a_corpus


def a_file(**values: object) -> ResultFile:
    scores = (
        BoardScore(system="mt", metric="bleu", value=10.0, interval=(9.0, 11.0), signature="bleu|v:1", group=2),
        BoardScore(system="ours", metric="bleu", value=12.5, interval=(12.0, 13.0), signature="bleu|v:1", group=1),
        BoardScore(system="their <b>", metric="bleu", value=11.0, origin="published"),
    )
    systems = (BoardSystem(name="mt", role="do-nothing", description="as it was"),)
    given = {"suite": "tales", "title": "Tales", "source_language": "fr", "target_language": "en"}
    return ResultFile.model_validate({**given, "scores": scores, "systems": systems, **values})


def pages_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_second_build_gives_the_same_bytes_whatever_the_order_of_files(tmp_path: Path) -> None:
    more = a_file(scores=(BoardScore(system="new", metric="bleu", value=14.0),), systems=())
    files = [("b.json", a_file()), ("c.json", more)]
    write_site(files, tmp_path / "one")
    write_site(list(reversed(files)), tmp_path / "two")
    assert pages_of(tmp_path / "one") == pages_of(tmp_path / "two")
    write_site(files, tmp_path / "one")
    assert pages_of(tmp_path / "one") == pages_of(tmp_path / "two")


def test_a_page_has_intervals_groups_the_do_nothing_row_and_marks_what_was_published(tmp_path: Path) -> None:
    write_site([("tales.json", a_file())], tmp_path, published=False)
    page = (tmp_path / "tales-fr-en.html").read_text(encoding="utf-8")
    ours, mt, theirs = re.findall(r'<tr class="(?:measured|published).*?</tr>', page, re.DOTALL)
    assert "12.00 to 13.00" in ours
    assert "+2.50" in ours
    assert "significance group 1" in ours
    assert "<small>do nothing</small>" in mt
    assert "idle" in mt
    assert "<small>published</small>" in theirs
    assert "their &lt;b&gt;" in theirs
    assert "<code>bleu|v:1</code>" in page
    assert "<script" not in page
    assert "http" not in page.split("<main>")[1]


def test_a_system_is_added_by_adding_a_file(tmp_path: Path) -> None:
    added = a_file(scores=(BoardScore(system="new", metric="bleu", value=14.0),), systems=())
    write_site([("a.json", a_file()), ("b.json", added)], tmp_path, published=False)
    assert "new" in (tmp_path / "tales-fr-en.html").read_text(encoding="utf-8")
    assert sorted(path.name for path in (tmp_path / "results").iterdir()) == ["a.json", "b.json"]
    write_site([("a.json", a_file())], tmp_path, published=False)
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["a.json"]


def test_two_files_that_contradict_each_other_are_refused() -> None:
    other = a_file(scores=(BoardScore(system="mt", metric="bleu", value=99.0),), systems=())
    with pytest.raises(InputError, match=r"a\.json and b\.json score 'mt' by bleu differently"):
        merge_result_files([("a.json", a_file()), ("b.json", other)])


def test_a_folder_with_other_files_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work", encoding="utf-8")
    with pytest.raises(InputError, match="not an earlier leaderboard"):
        write_site([("a.json", a_file())], tmp_path)


def test_groups_are_cut_where_all_above_beat_all_below() -> None:
    clear = {("a", "b"): 0.5, ("a", "c"): 0.01, ("b", "c"): 0.01}
    assert group_systems(["a", "b", "c"], clear) == {"a": 1, "b": 1, "c": 2}
    assert group_systems(["a", "b", "c"], clear | {("b", "c"): 0.2}) == {"a": 1, "b": 1, "c": 1}


def test_measured_results_become_a_file_that_reads_back_the_same() -> None:
    how = ResamplingOptions("segment", "mt", samples=200)
    file = results_to_file(measure_systems(a_corpus(), create_metrics(["bleu", "ter"]), resampling=how), suite="x")
    assert file.systems == (BoardSystem(name="mt", role="do-nothing"),)
    assert {score.better for score in file.scores if score.metric == "ter"} == {"lower"}
    assert all(score.interval and score.signature and score.group for score in file.scores)
    assert "all pairs" in file.groups_by
    assert parse_result_file(json.loads(file.to_json()), place="x") == file


def test_the_json_of_score_and_suite_is_read_as_it_is(tmp_path: Path) -> None:
    results = measure_systems(a_corpus(), create_metrics(["bleu"]), resampling=ResamplingOptions("segment"))
    (tmp_path / "Tales of.json").write_text(json.dumps(results.to_dict()), encoding="utf-8")
    values = {
        "suite": "ltcr",
        "paper": "Lei et al. 2024, the set",
        "signatures": {"L-Anno, seed 1": "ltcr|seed:1"},
        "tables": [{"title": "L-Anno", "note": "", "columns": ["L-Anno"], "rows": [
            {"system": "mine", "published": False, "cells": {"L-Anno": 70.0}, "bounds": {"L-Anno": [69.0, 71.0]}},
            {"system": "theirs", "published": True, "cells": {"L-Anno": 68.0}, "bounds": {}},
        ]}],
    }  # fmt: skip
    (tmp_path / "suite.json").write_text(json.dumps(values), encoding="utf-8")
    (_, scored), (_, suite) = read_folder([tmp_path])
    assert scored.suite == "tales-of"
    assert scored.system_names == ("mt", "tuned")
    mine, theirs = suite.scores
    assert (suite.key, mine.signature, mine.bounds) == ("ltcr-zh-en", "ltcr|seed:1", (69.0, 71.0))
    assert (theirs.origin, theirs.signature) == ("published", "")
    assert suite_to_file(values, published=False).scores == (mine,)


def test_a_broken_result_file_is_named_with_its_fault(tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text('{"format": "ape-results/1", "suite": "Not A Slug"}', encoding="utf-8")
    with pytest.raises(InputError, match=r"bad\.json is not a result file: .*suite"):
        read_folder([path])


def test_published_rows_are_those_of_the_papers() -> None:
    files = {file.key: file for file in published_files()}
    assert all(score.origin == "published" and not score.signature for one in files.values() for score in one.scores)
    assert {one.partition("-")[0] for one in files} == {"bwb", "cai", "ltcr", "dip", "par3"}
    french = {(score.system, score.metric): score.value for score in files["par3-post-edit-fr-en"].scores}
    assert french["GPT-3 post-edit", "BLEU"] == 27.2  # PAR3, Table 9
    assert french["GPT-3 post-edit", "preferred over Google by translators, %"] == 66.0  # PAR3, Table 6
    bwb = board_rows(files["bwb-zh-en"])
    assert [row.system.role for row in bwb if row.system.name == "Bing"] == ["do-nothing"]
