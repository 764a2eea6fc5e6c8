"""Commands without the extras that they need, as after `pip install ape-books` alone."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from ape.cli.extras import EXTRAS, missing_module_message, require_modules
from tests.scripted import Say, ScriptedServer

ROOT = Path(__file__).parents[3]
BLOCK = """
import sys
from importlib.abc import MetaPathFinder

class Blocked(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

BLOCKED = set(sys.argv.pop(1).split(","))
sys.meta_path.insert(0, Blocked())
sys.argv[0] = "ape"
from ape.cli.main import main
main()
"""


def run_without(modules: set[str], *words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command with modules that can't be imported."""
    command = [sys.executable, "-c", BLOCK, ",".join(sorted(modules)), *words]
    environment = {"HOME": str(folder), "PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env=environment, timeout=300, check=False
    )


@pytest.mark.subprocess
@pytest.mark.parametrize(
    "words", [("--help",), ("book", "--help"), ("eval", "score", "--help"), ("settings",), ("models", "list")]
)
def test_help_and_settings_need_no_extra(words: tuple[str, ...], tmp_path: Path) -> None:
    done = run_without(set(EXTRAS), *words, folder=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.subprocess
def test_a_passage_is_edited_by_a_server_without_an_extra(tmp_path: Path, scripted: ScriptedServer) -> None:
    (tmp_path / "src.txt").write_text("Claire posa son sac et s’assit.\n", encoding="utf-8")
    (tmp_path / "mt.txt").write_text("Claire posed his bag and sat down.\n", encoding="utf-8")
    scripted.play(Say("Claire put down her bag and sat down."))
    words = ("edit", "--source", "src.txt", "--mt", "mt.txt", "--url", scripted.url)
    done = run_without(set(EXTRAS), *words, folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, "Claire put down her bag and sat down.\n"), done.stderr


@pytest.mark.subprocess
def test_scores_by_sacrebleu_need_no_extra(tmp_path: Path) -> None:
    for name, text in (("source", "Il pleut.\n"), ("reference", "It rains.\n"), ("output", "It is raining.\n")):
        (tmp_path / name).write_text(text * 3, encoding="utf-8")
    words = ("--source", "source", "--reference", "reference", "--system", "mt=output", "--metric", "chrf")
    languages = ("--source-language", "fr", "--target-language", "en", "--documents", "none")
    done = run_without(set(EXTRAS), "eval", "score", *words, *languages, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "chrf" in done.stdout.lower()


@pytest.mark.subprocess
@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ("books", ("book", "status")),
        ("serve", ("serve",)),
        ("eval", ("eval", "coreference", "key.conll", "response.conll")),
        ("eval", ("compare", "--data", "x.jsonl", "--system", "a=smollm2-135m", "--output", "o")),  # before the model
        ("train", ("finetune", "train", "--base", "x", "--data", "d", "--output", "o")),
    ],
)
def test_a_missing_extra_is_named_with_the_command_that_installs_it(
    extra: str, words: tuple[str, ...], tmp_path: Path
) -> None:
    blocked = {module for module, name in EXTRAS.items() if name == extra}
    done = run_without(blocked, *words, folder=tmp_path)
    assert done.returncode == 2, done.stderr
    assert f"pip install 'ape-books[{extra}]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_module_of_no_extra_has_no_sentence() -> None:
    assert missing_module_message(ModuleNotFoundError(name="nowhere")) is None


def test_required_modules_are_looked_for_and_not_imported() -> None:
    with pytest.raises(ModuleNotFoundError) as caught:
        require_modules("json", "there_is_no_such_module")
    assert caught.value.name == "there_is_no_such_module"


def test_every_extra_of_the_table_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(EXTRAS.values()) <= set(project["optional-dependencies"])


@pytest.mark.subprocess
def test_a_package_that_hides_ours_is_reported_at_start(tmp_path: Path) -> None:
    (tmp_path / "eval").mkdir()
    (tmp_path / "eval" / "__init__.py").write_text("", encoding="utf-8")
    environment = {"HOME": str(tmp_path), "PYTHONPATH": f"{tmp_path}:{ROOT}"}
    done = subprocess.run(
        [sys.executable, "-m", "ape.cli.main", "--version"],
        capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "`eval`" in done.stderr
    assert "a separate environment" in done.stderr
