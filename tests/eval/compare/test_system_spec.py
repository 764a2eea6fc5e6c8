"""System arguments of a comparison."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ape.adapters import CARD_FILE
from ape.errors import InputError
from eval.compare.system_spec import (
    ModelSystemSpec,
    OutputFileSpec,
    SetSystemSpec,
    parse_system,
    parse_systems,
    read_texts_by_id,
)


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("APE_URL", "APE_ENGINE", "APE_MODEL", "APE_ADAPTERS"):
        monkeypatch.delenv(name, raising=False)


def test_ready_outputs_are_a_file_or_a_system_of_the_set() -> None:
    assert parse_system("mine=@out.txt") == OutputFileSpec("mine", Path("out.txt"))
    assert parse_system("mine=:p1") == SetSystemSpec("mine", "p1")


def test_a_url_names_a_server_and_its_model() -> None:
    spec = parse_system("big=http://127.0.0.1:9/v1#large")
    assert isinstance(spec, ModelSystemSpec)
    assert (spec.settings.engine, spec.settings.url, spec.settings.model) == ("url", "http://127.0.0.1:9/v1", "large")
    first = parse_system("big=http://127.0.0.1:9/v1")
    assert isinstance(first, ModelSystemSpec)
    assert first.settings.model is None


@pytest.mark.parametrize(("given", "model"), [("default", None), ("smollm2-135m", "smollm2-135m")])
def test_a_model_runs_on_the_embedded_engine_despite_the_settings(
    given: str, model: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("APE_URL", "http://127.0.0.1:9/v1")
    spec = parse_system(f"small={given}")
    assert isinstance(spec, ModelSystemSpec)
    assert (spec.settings.engine, spec.settings.model) == ("embedded", model)


def test_a_folder_with_a_card_is_an_adapter(tmp_path: Path) -> None:
    folder = tmp_path / "tuned"
    folder.mkdir()
    with pytest.raises(InputError, match=f"the folder has no {CARD_FILE}"):
        parse_system(f"mine={folder}")
    (folder / CARD_FILE).write_text("{}", encoding="utf-8")
    spec = parse_system(f"mine={folder}")
    assert isinstance(spec, ModelSystemSpec)
    assert (spec.settings.model, spec.settings.adapters) == ("tuned", {"tuned": folder})


@pytest.mark.parametrize("given", ["mine", "=x", "mine=", "do-nothing=default", "a\nb=default"])
def test_an_invalid_system_argument_is_rejected(given: str) -> None:
    with pytest.raises(InputError):
        parse_system(given)


def test_duplicate_system_names_are_rejected() -> None:
    with pytest.raises(InputError, match="Two systems are called 'a'"):
        parse_systems(["a=:p1", "a=:p2"])


def test_texts_by_id_may_be_in_any_order(tmp_path: Path) -> None:
    path = write_rows(tmp_path, {"id": "n:2", "text": "two"}, {"id": "n:1", "text": "one"})
    assert read_texts_by_id(path, ("n:1", "n:2"), name="mine") == ("one", "two")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"id": "n:1", "text": "one"}], "'mine' has no text for paragraph 'n:2'"),
        ([{"id": "n:1", "text": "one"}, {"id": "n:2", "text": " "}], "no text for paragraph 'n:2'"),
        ([{"id": n, "text": "x"} for n in ("n:1", "n:2", "n:3")], "'n:3', which is not in the set"),
        ([{"id": n, "text": n} for n in ("n:1", "n:2", "n:1")], "Line 3 of out.jsonl repeats paragraph 'n:1'"),
        ([{"id": "n:1"}], "Line 1 of out.jsonl"),
        ([{"id": "n:1", "text": 7}], "Line 1 of out.jsonl"),
        ([["n:1"]], "Line 1 of out.jsonl"),
    ],
)
def test_an_error_names_the_missing_or_duplicate_paragraph(tmp_path: Path, rows: list[object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_texts_by_id(write_rows(tmp_path, *rows), ("n:1", "n:2"), name="mine")


def write_rows(folder: Path, *rows: object) -> Path:
    path = folder / "out.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
