from __future__ import annotations

from pathlib import Path

import pytest

from ape.errors import InputError, UnknownModel
from ape.models import CATALOGUE, CatalogueModel, HubSource, parse_model, resolve_model


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("Qwen/Qwen3-4B-GGUF", HubSource("Qwen/Qwen3-4B-GGUF", "")),
        ("Qwen/Qwen3-4B-GGUF:Q8_0", HubSource("Qwen/Qwen3-4B-GGUF", "Q8_0")),
        ("Qwen/Qwen3-4B-GGUF:a/b-q8.gguf", HubSource("Qwen/Qwen3-4B-GGUF", "a/b-q8.gguf")),
        ("Qwen/Qwen3-4B-GGUF@v1.0:b.gguf", HubSource("Qwen/Qwen3-4B-GGUF", "b.gguf", "v1.0")),
        ("hf:Qwen/Qwen3-4B-GGUF", HubSource("Qwen/Qwen3-4B-GGUF", "")),
        ("hf:someone/model.gguf", HubSource("someone/model.gguf", "")),
    ],
)
def test_an_owner_and_a_repository_mean_the_hub(text: str, source: HubSource) -> None:
    assert parse_model(text) == CatalogueModel(text, source)


@pytest.mark.parametrize(
    "text",
    ["model.gguf", "./model.gguf", "models/model.gguf", "../up/model", "/a/b/c", "a/b/c", "a/b:../c.gguf", "~x/y"],
)
def test_what_looks_like_a_path_is_one(text: str) -> None:
    assert parse_model(text) == Path(text)


def test_a_tilde_is_the_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert parse_model("~/model.gguf") == tmp_path / "model.gguf"


def test_a_name_of_the_catalogue_is_that_model() -> None:
    assert parse_model("qwen3-4b") is CATALOGUE["qwen3-4b"]


def test_what_exists_wins_over_the_hub_unless_the_hub_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "owner" / "name").mkdir(parents=True)
    assert parse_model("owner/name") == Path("owner/name")
    assert isinstance(parse_model("hf:owner/name"), CatalogueModel)


@pytest.mark.parametrize("text", ["no-such-model", "x" * 5000, "a\0b"])
def test_a_name_that_nobody_has_is_unknown(text: str, tmp_path: Path) -> None:
    with pytest.raises(UnknownModel, match="There is no model called"):
        resolve_model(text, cache=tmp_path)


def test_no_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="The name of the model is empty"):
        resolve_model(" ", cache=tmp_path)


@pytest.mark.parametrize("name", ["model.gguf", "blob-without-a-suffix"])
def test_a_gguf_file_is_taken_as_it_is(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"GGUF\x03\0\0\0")
    assert resolve_model(str(tmp_path / name), cache=tmp_path / "cache") == tmp_path / name
    assert not (tmp_path / "cache").exists()


def test_a_file_that_is_not_there_is_said_to_be_looked_for_where(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as caught:
        resolve_model("models/model.gguf", cache=tmp_path)
    assert str(caught.value) == (f"There is no file models/model.gguf (looked for at {tmp_path}/models/model.gguf).")
    assert caught.value.field == "model"


@pytest.mark.parametrize(
    ("inside", "advice"),
    [
        ([], "There is none in it."),
        (["b.gguf", "a.gguf"], "for example .*/a.gguf"),
        (["config.json", "model.safetensors"], "a model for transformers: .* set `url`"),
    ],
)
def test_a_folder_is_no_model(inside: list[str], advice: str, tmp_path: Path) -> None:
    for name in inside:
        (tmp_path / name).touch()
    with pytest.raises(InputError, match=f"is a folder, and a model is one GGUF file. .*{advice}"):
        resolve_model(str(tmp_path), cache=tmp_path)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"PK\x03\x04wheel", r"it begins with b'PK\\x03\\x04' instead of b'GGUF'"),
        (b"", r"it begins with b'' instead of b'GGUF'. Was its download incomplete"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Run `git lfs pull`"),
    ],
    ids=["a zip", "empty", "a pointer"],
)
def test_a_file_of_another_format_is_no_model(content: bytes, complaint: str, tmp_path: Path) -> None:
    (tmp_path / "model.gguf").write_bytes(content)
    with pytest.raises(InputError, match=f"model.gguf is not a GGUF model: .*{complaint}"):
        resolve_model(str(tmp_path / "model.gguf"), cache=tmp_path)


def test_a_path_through_a_file_can_not_be_read(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="can't be read: Not a directory"):
        resolve_model(str(tmp_path / "file" / "model.gguf"), cache=tmp_path)
