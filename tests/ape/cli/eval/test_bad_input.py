"""`ape eval` with texts that do not match: a message with file and line, and exit code 2."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.ape.cli.conftest import Run
from tests.eval.suites.bwb.chapter import ERRORS, MT, NAMES, REFERENCE, write_chapter, write_output

HUMAN = "The fog lifted.\nHe counted the coins twice.\nThe bridge was finished in spring.\n"
GERMAN = "Der Nebel hob sich, und die Brücke über den Fluss wurde endlich sichtbar und schön.\n" * 3
FILES = ("--system", "mine=mine.txt", "--reference", "human.txt", "--metric", "chrf")


def write(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("mine", "human", "message"),
    [
        ("The fog lifted.\nHe counted.\n", HUMAN, "line 1 of human.txt and line 1 of mine.txt, there are 3 lines in"),
        (HUMAN, f"<doc>\n{HUMAN}<doc>\nThe end.\n", "a document mark is on one side only, after line 5 of human.txt"),
        ("", HUMAN, "mine.txt has no text."),
        ("The fog lifted.\n\nIn spring.\n", HUMAN, "Line 2 of mine.txt is blank, and line 2 of human.txt is not"),
        ("<doc id=a>\n<doc id=b>\nIn spring.\n", "<doc id=a>\n<doc id=b>\nIn May.\n", "document 'a' is empty"),
        ("<doc id=a>\nIn spring.\n", "<doc id=b>\nIn May.\n", "Line 1 of mine.txt begins document 'a', and line 1 of"),
        (GERMAN, "The fog lifted over the old bridge and the river was seen at last.\n" * 3, "Line 1 of mine.txt: "),
    ],
)  # fmt: skip
def test_texts_that_do_not_fit_are_refused_by_line(
    here: Run, tmp_path: Path, mine: str, human: str, message: str
) -> None:
    write(tmp_path, mine=mine, human=human)
    done = here("eval", "score", *FILES)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_system_in_another_language_is_noticed_also_where_documents_are_short(here: Run, tmp_path: Path) -> None:
    write(
        tmp_path,
        mine="\n\n".join(GERMAN.splitlines()),
        human="\n\n".join(["The fog lifted over the old bridge, and the river was seen at last."] * 3),
    )
    done = here("eval", "score", *FILES)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Line 1 of mine.txt: system 'mine' seems to be German from there on, not English" in done.stderr


def test_an_empty_output_needs_allow_empty(here: Run, tmp_path: Path) -> None:
    write(tmp_path, mine="The fog lifted.\n\nIn spring.\n", human=HUMAN)
    done = here("eval", "score", *FILES, "--documents", "none")
    assert done.returncode == 2
    assert "Line 2 of mine.txt: the output of system 'mine' is empty." in done.stderr
    assert done.stderr.endswith("See --allow-empty.\n")
    assert here("eval", "score", *FILES, "--documents", "none", "--allow-empty").returncode == 0


def test_an_empty_reference_needs_allow_empty(here: Run, tmp_path: Path) -> None:
    write(tmp_path, mine=HUMAN, human="The fog lifted.\n\nIn spring.\n")
    done = here("eval", "score", *FILES, "--documents", "none")
    assert (done.returncode, done.stdout) == (2, "")
    assert "the only reference is empty" in done.stderr
    assert done.stderr.endswith("See --allow-empty.\n")


def test_an_incomplete_reference_is_reported_and_the_other_counts(here: Run, tmp_path: Path) -> None:
    rows = [
        {"source": "雾散了。", "references": ["The fog lifted.", None], "systems": {"mine": "The fog lifted."}},
        {"source": "他走了。", "references": ["He left.", "He went."], "systems": {"mine": "He went."}},
    ]
    (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    done = here("eval", "score", "rows.jsonl", "--metric", "chrf", "--json")
    assert done.returncode == 0
    assert "Reference 2 lacks 1 of 2 segments; the first is line 1 of rows.jsonl" in done.stderr
    assert json.loads(done.stdout)["scores"][0]["score"] == 100


@pytest.mark.parametrize("metric", ["blonde", "dblonde", "dip-connectives", "dip-pronouns"])
def test_a_language_that_a_metric_is_not_defined_for_is_not_applicable(here: Run, tmp_path: Path, metric: str) -> None:
    write(tmp_path, mine=GERMAN, human=GERMAN)
    done = here("eval", "score", *FILES[:4], "--metric", metric, "--target-language", "de", "--json")
    assert done.returncode == 0
    (score,) = json.loads(done.stdout)["scores"]
    assert score["score"] is None
    assert score["not_applicable"]


def test_one_file_may_be_standard_input(here: Run, tmp_path: Path) -> None:
    write(tmp_path, human=HUMAN)
    words = ("eval", "score", "--system", "mine=-", "--reference", "human.txt", "--metric", "chrf", "--json")
    assert json.loads(here(*words, stdin=HUMAN).stdout)["scores"][0]["score"] == 100
    assert "and line 1 of stdin, there are 3 lines" in here(*words, stdin="The fog lifted.\n").stderr
    done = here(*words, "--source", "-")
    assert done.returncode == 2
    assert "Only one file can be -" in done.stderr


@pytest.mark.parametrize(
    "table",
    [
        "reference\tmine\nThe fog lifted.\tThe fog lifted.\n",
        '\ufeff{"reference": "The fog lifted.", "mt": "The fog lifted."}\n',
    ],
)
def test_either_kind_of_table_may_be_standard_input(here: Run, table: str) -> None:
    done = here("eval", "score", "-", "--metric", "chrf", "--json", stdin=table)
    assert json.loads(done.stdout)["scores"][0]["score"] == 100


@pytest.mark.parametrize(
    ("references", "message"),
    [
        ((["The fog lifted."], [None], [None]), "Metrics that need a reference leave these out."),
        ((["The fog lifted.", "Fog."], ["He left.", None], ["He went.", None]), "These are scored against the other"),
        ((["The fog lifted.", "Fog."], [None, "He left."], [None, None]), "leave out 1 of these and score the rest"),
    ],
)  # fmt: skip
def test_missing_reference_segments_are_reported(
    here: Run, tmp_path: Path, references: tuple[list[str | None], ...], message: str
) -> None:
    rows = [{"references": list(one), "mt": "The fog lifted."} for one in references]
    (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    done = here("eval", "score", "rows.jsonl", "--metric", "chrf")
    assert done.returncode == 0
    assert message in done.stderr


def test_an_undetected_language_must_be_given(here: Run, tmp_path: Path) -> None:
    write(tmp_path, mine="Anna met Boris in Paris.\n", human="Anna met Boris in Paris.\n")
    done = here("eval", "score", *FILES[:4], "--metric", "entities", "--metric", "blonde")
    assert done.returncode == 0
    assert "too short to detect the language of the translations: use --target-language, e.g. en." in done.stderr
    output = " ".join(done.stdout.split())
    assert "entities is not applicable: the target language could not be detected from so little text" in output
    assert ".." not in output


def test_documents_without_a_reference_are_reported(here: Run, tmp_path: Path) -> None:
    rows = [
        {"document": "a", "reference": "The fog lifted.", "mt": "The fog lifted."},
        {"document": "b", "mt": "Nobody spoke."},
    ]
    (tmp_path / "book.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    done = here("eval", "score", "book.jsonl", "--metric", "chrf")
    assert done.returncode == 0
    assert "1 of 2 documents have no reference 1; the first is 'b' (line 2 of book.jsonl)." in done.stderr


@pytest.mark.parametrize("whole", [["The fog lifted."], {"mine": ["The fog lifted."]}])
def test_whole_documents_that_are_no_texts_are_refused(here: Run, tmp_path: Path, whole: object) -> None:
    row = {"reference": ["The fog lifted."], "document_systems": whole}
    (tmp_path / "book.jsonl").write_text(json.dumps(row), encoding="utf-8")
    done = here("eval", "score", "book.jsonl", "--metric", "chrf")
    assert done.returncode == 2
    assert "Line 1 of book.jsonl: document_systems is not an object of whole texts" in done.stderr


# --- annotation ------------------------------------------------------------------------------------------------------


@pytest.fixture
def annotated(tmp_path: Path) -> tuple[str, ...]:
    """The arguments that score the MT of an annotated chapter."""
    write_chapter(tmp_path)
    write_output(tmp_path / "mine.txt")
    return ("eval", "score", "--system", "mine=mine.txt", "--reference", "ref.txt")


def test_blonde_plus_measures_what_is_annotated(here: Run, annotated: tuple[str, ...]) -> None:
    words = ("--metric", "blonde+", "--annotation", "an.txt", "--entities", "ner.txt", "--json")
    done = here(*annotated, *words)
    output = json.loads(done.stdout)
    parts = output["scores"][0]["parts"]
    # "logged" is missing; "her" is missing in the first line and "him" in the third.
    assert (parts["ambiguity"], parts["ellipsis"]) == (0, 0)
    assert "|names:annotated|" in output["signatures"]["blonde+"]
    assert "an.txt, line 3, column 64: 7 is not an error kind" in done.stderr


def test_blonde_plus_without_annotation_says_what_it_needs(here: Run, annotated: tuple[str, ...]) -> None:
    done = here(*annotated, "--metric", "blonde+")
    assert done.returncode == 0
    assert "give a file with the annotation" in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("lines", "words", "message"),
    [
        (ERRORS[:3], ("blonde+", "--annotation", "x.txt"), "x.txt has 3 lines, and there are 4 segments"),
        ([f"{text}\t0" for text in MT], ("blonde+", "--annotation", "x.txt"), "x.txt marks no ambiguity (1) and no"),
        (ERRORS, ("blonde", "--annotation", "x.txt"), "--annotation is for --metric blonde+"),
        (NAMES, ("chrf", "--entities", "x.txt"), "--entities is for --metric blonde, dblonde and blonde+"),
        (NAMES, ("blonde", "--entities", "y.txt"), "There is no file y.txt"),
    ],
)  # fmt: skip
def test_annotation_that_does_not_fit_is_refused(
    here: Run, annotated: tuple[str, ...], tmp_path: Path, lines: list[str], words: tuple[str, ...], message: str
) -> None:
    write(tmp_path, x="".join(f"{line}\n" for line in lines))
    done = here(*annotated, "--metric", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


# --- suites ----------------------------------------------------------------------------------------------------------


def test_a_chapter_of_bwb_is_a_table_with_published_rows_and_annotation_issues(here: Run, tmp_path: Path) -> None:
    write_chapter(tmp_path / "tale")
    write_output(tmp_path / "mine.txt")
    done = here("eval", "suite", "bwb", "--data", "tale", "--system", "mine=mine.txt")
    assert done.returncode == 0
    assert "Google *" in done.stdout
    assert "tale/an.txt, line 3, column 64: 7 is not an error kind (0 to 6)" in done.stdout


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (MT[:3], "mine.txt has 3 lines of text, and the suite has 4 segments"),
        (("<doc>", *MT[:3]), "mine.txt has 3 lines of text, and the suite has 4 segments"),
        ((), "mine.txt has 0 lines of text"),
        ((*MT[:2], "", MT[3]), "Line 3 of mine.txt is empty"),
        ([*GERMAN.splitlines(), REFERENCE[3]], "the output seems to be German from there on, and the suite is for"),
    ],
)  # fmt: skip
def test_outputs_that_do_not_fit_a_suite_are_refused(
    here: Run, tmp_path: Path, lines: tuple[str, ...], message: str
) -> None:
    write_chapter(tmp_path / "tale", reference_only=True)
    write_output(tmp_path / "mine.txt", tuple(lines))
    done = here("eval", "suite", "bwb", "--data", "tale", "--system", "mine=mine.txt")
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


@pytest.mark.parametrize("suite", ["bwb", "cai-xiong", "dip", "ltcr"])
@pytest.mark.parametrize("text", ["", "no JSON\n", '{"id": 3}\n'])
def test_data_of_another_kind_is_refused_by_every_suite(here: Run, tmp_path: Path, suite: str, text: str) -> None:
    (tmp_path / "data.jsonl").write_text(text, encoding="utf-8")
    done = here("eval", "suite", suite, "--data", "data.jsonl")
    assert (done.returncode, done.stdout) == (2, "")
    assert "data.jsonl" in done.stderr
    assert "Traceback" not in done.stderr
