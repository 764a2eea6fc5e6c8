from __future__ import annotations

import csv
import io
import tomllib
from pathlib import Path

import pytest

from ape.errors import InputError
from eval.metrics.registry import create_metrics
from eval.metrics.scoring import ResamplingOptions, measure_systems
from eval.paper.figure import draw_figure
from eval.paper.methods import methods_paragraph
from eval.paper.tables import format_table
from tests.eval.board.test_board import a_file
from tests.eval.human.trial_factory import a_corpus

ROOT = Path(__file__).parents[3]


def test_latex_escapes_names_and_sets_the_best_measured_score_in_bold() -> None:
    text = format_table(a_file(title="Tales & 100%"), "latex")
    assert r"Tales \& 100\%" in text
    assert r"ours & \textbf{12.50 [12.00, 13.00]} \\" in text
    assert r"mt (do-nothing) & 10.00 [9.00, 11.00] \\" in text
    assert r"(published) & 11.00 \\" in text
    assert text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}")
    assert "% bleu: bleu|v:1" in text


def test_csv_has_a_row_for_each_score_with_its_signature() -> None:
    rows = list(csv.DictReader(io.StringIO(format_table(a_file(), "csv"))))
    ours = next(row for row in rows if row["system"] == "ours")
    assert (ours["value"], ours["low"], ours["high"], ours["group"]) == ("12.5", "12.0", "13.0", "1")
    assert (ours["signature"], ours["origin"], len(rows)) == ("bleu|v:1", "measured", 3)


def test_markdown_has_a_line_for_each_system() -> None:
    lines = format_table(a_file(), "markdown").splitlines()
    assert lines[:3] == ["| system | bleu ↑ |", "| --- | ---: |", "| ours | 12.50 [12.00, 13.00] |"]
    assert "- bleu: `bleu|v:1`" in lines


@pytest.mark.parametrize("suffix", [".svg", ".pdf"])
def test_a_figure_has_the_same_bytes_each_time(tmp_path: Path, suffix: str) -> None:
    for name in ("one", "two"):
        draw_figure(a_file(), tmp_path / f"{name}{suffix}")
    one = (tmp_path / f"one{suffix}").read_bytes()
    assert one == (tmp_path / f"two{suffix}").read_bytes()
    assert one.startswith(b"%PDF" if suffix == ".pdf" else b"<?xml")
    if suffix == ".svg":
        assert b">ours<" in one


def test_a_figure_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"\.svg or \.pdf"):
        draw_figure(a_file(), tmp_path / "figure.png")


def test_methods_say_what_the_signatures_say_and_no_more() -> None:
    how = ResamplingOptions("segment", "mt", samples=200, seed=7, test="randomisation")
    text = methods_paragraph(measure_systems(a_corpus(), create_metrics(["bleu", "chrf"]), resampling=how))
    assert "2 systems (mt and tuned) on 48 segments in 4 documents of an invented set, French to English" in text
    assert "approximate randomisation (Riezler and Maxwell, 2005) with 200 samples over segments" in text
    assert "seed 7" in text
    assert "Holm" in text
    assert "bleu|nrefs:1|" in text
    assert "chrf|nrefs:1|" in text
    alone = methods_paragraph(measure_systems(a_corpus(), create_metrics(["bleu"])))
    assert "Holm" not in alone
    assert "chrF" not in alone


def test_the_citation_file_agrees_with_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    (author,) = project["authors"]
    wanted = (
        f"version: {project['version']}",
        f"license: {project['license']}",
        f'title: "{project["name"]}"',
        f'name: "{author["name"]}"',
        f"email: {author['email']}",
        project["description"],
        project["urls"]["Homepage"],
    )
    for line in wanted:
        assert line in citation
