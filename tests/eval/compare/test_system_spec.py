"""What may stand after --system."""

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


def test_a_server_is_named_with_its_model() -> None:
    asked = parse_system("big=http://127.0.0.1:9/v1#large")
    assert isinstance(asked, ModelSystemSpec)
    assert (asked.settings.engine, asked.settings.url, asked.settings.model) == (
        "url",
        "http://127.0.0.1:9/v1",
        "large",
    )
    first = parse_system("big=http://127.0.0.1:9/v1")
    assert isinstance(first, ModelSystemSpec)
    assert first.settings.model is None


@pytest.mark.parametrize(("given", "model"), [("default", None), ("smollm2-135m", "smollm2-135m")])
def test_a_model_is_asked_on_the_embedded_engine_whatever_the_settings_say(
    given: str, model: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("APE_URL", "http://127.0.0.1:9/v1")
    asked = parse_system(f"small={given}")
    assert isinstance(asked, ModelSystemSpec)
    assert (asked.settings.engine, asked.settings.model) == ("embedded", model)


def test_a_folder_is_an_adapter_if_it_has_a_card(tmp_path: Path) -> None:
    folder = tmp_path / "tuned"
    folder.mkdir()
    with pytest.raises(InputError, match=f"without {CARD_FILE}"):
        parse_system(f"mine={folder}")
    (folder / CARD_FILE).write_text("{}", encoding="utf-8")
    asked = parse_system(f"mine={folder}")
    assert isinstance(asked, ModelSystemSpec)
    assert (asked.settings.model, asked.settings.adapters) == ("tuned", {"tuned": folder})


@pytest.mark.parametrize("given", ["mine", "=x", "mine=", "do-nothing=default", "a\nb=default"])
def test_what_is_no_system_is_refused(given: str) -> None:
    with pytest.raises(InputError):
        parse_system(given)


def test_two_systems_of_one_name_are_refused() -> None:
    with pytest.raises(InputError, match="Two systems are called 'a'"):
        parse_systems(["a=:p1", "a=:p2"])


def test_texts_are_found_by_their_paragraphs_in_any_order(tmp_path: Path) -> None:
    path = written(tmp_path, {"id": "n:2", "text": "two"}, {"id": "n:1", "text": "one"})
    assert read_texts_by_id(path, ("n:1", "n:2"), name="mine") == ("one", "two")


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([{"id": "n:1", "text": "one"}], "'mine' has no text for paragraph 'n:2'"),
        ([{"id": "n:1", "text": "one"}, {"id": "n:2", "text": " "}], "no text for paragraph 'n:2'"),
        ([{"id": n, "text": "x"} for n in ("n:1", "n:2", "n:3")], "'n:3', which is not in the set"),
        (
            [{"id": n, "text": n} for n in ("n:1", "n:2", "n:1")],
            "Line 3 of out.jsonl has paragraph 'n:1' a second",
        ),
        ([{"id": "n:1"}], "Line 1 of out.jsonl"),
        ([{"id": "n:1", "text": 7}], "Line 1 of out.jsonl"),
        ([["n:1"]], "Line 1 of out.jsonl"),
    ],
)
def test_the_paragraph_that_is_missing_or_twice_is_named(
    tmp_path: Path, rows: list[object], told: str
) -> None:
    with pytest.raises(InputError, match=told):
        read_texts_by_id(written(tmp_path, *rows), ("n:1", "n:2"), name="mine")


def written(folder: Path, *rows: object) -> Path:
    path = folder / "out.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
