"""README, tutorial and guides do what they say: their code blocks are run, their links and class names exist."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.scripted import ScriptedServer

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def blocks(page: str, language: str) -> list[str]:
    """The code blocks of a page in one language."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [code for found, code in _BLOCK.findall(text) if found == language]


def run_shell(code: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a block as a user would who has `ape` on the path and an empty home."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("APE_", "OPENAI_"))}
    home = {"HOME": str(folder), "XDG_DATA_HOME": str(folder / "data"), "XDG_CONFIG_HOME": str(folder / "config")}
    path = {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", code],
        cwd=folder,
        env=kept | home | path | environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.subprocess
def test_the_blocks_of_the_tutorial_run_one_after_the_other(scripted: ScriptedServer, tmp_path: Path) -> None:
    for code in blocks("docs/tutorial.md", "bash"):
        done = run_shell(code, tmp_path, APE_URL=scripted.url)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "book.txt").read_text(encoding="utf-8").startswith("Chapter 1\n")
    assert (tmp_path / "book.html").is_file()


@pytest.mark.subprocess
@pytest.mark.parametrize("page", ["README.md", "docs/tutorial.md", "docs/guides/researcher.md"])
def test_the_python_of_a_page_runs(page: str, scripted: ScriptedServer, tmp_path: Path) -> None:
    for code in blocks(page, "python"):
        script = tmp_path / "block.py"
        script.write_text(code, encoding="utf-8")
        done = run_shell(f"{sys.executable} block.py", tmp_path, APE_URL=scripted.url)
        assert done.returncode == 0, done.stderr
        assert done.stdout


@pytest.mark.subprocess
def test_the_first_example_of_the_readme_prints_what_it_says(smollm2: Path, tmp_path: Path) -> None:
    transcript = next(code for code in blocks("README.md", "") if code.startswith("$ cat"))
    part = transcript.split("\n\n")[0]
    commands = "\n".join(line[2:] for line in part.splitlines() if line.startswith("$ "))
    expected = [line for line in part.splitlines() if not line.startswith("$ ")]
    commands = commands.replace("--model smollm2-135m", f"--model {smollm2}")
    done = run_shell(commands, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == expected[:1]
    assert expected[1].rpartition(" · ")[0] in done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    generated = {
        f"docs/reference/{name}.md" for name in ("commands", "settings", "http", "guards", "formats", "metrics")
    }
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[\w-]*)?\)", page.read_text(encoding="utf-8")):
        if not target.startswith(("http://", "https://")):
            found = (page.parent / target).resolve()
            assert found.exists() or str(found.relative_to(ROOT)) in generated, f"{page.name}: {target}"


def test_every_class_of_the_glossary_exists() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    for name in re.findall(r"\| `([a-z]+(?:\.\w+)+)` \|", text):
        module, _, attribute = name.rpartition(".")
        try:
            importlib.import_module(name)
        except ModuleNotFoundError:
            assert hasattr(importlib.import_module(module), attribute), name


def test_the_readme_is_short() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 120
    assert max(map(len, lines)) <= 140
