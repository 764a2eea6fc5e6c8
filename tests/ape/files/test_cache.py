"""The content-addressed cache: what is stored is found again, and failures are explained or ignored."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from ape.errors import InputError
from ape.files.cache import ContentCache, cache_key, open_cache


def explain(error: Exception) -> Exception:
    return InputError(f"No cache: {error}.", field="cache")


def test_values_are_found_in_the_next_run_however_many(tmp_path: Path) -> None:
    path = tmp_path / "new" / "values-1.sqlite"
    values = {cache_key(str(number)): str(number).encode() for number in range(1201)}
    with open_cache(path, bytes, table="packs", column="packed") as cache:
        cache.write(values)
    with open_cache(path, bytes, table="packs", column="packed") as cache:
        assert cache.read([*values, *values, cache_key("other")]) == values


def test_tables_and_columns_are_those_of_the_files_that_exist(tmp_path: Path) -> None:
    path = tmp_path / "answers-1.sqlite"
    with open_cache(path, str, table="answers", column="answer") as cache:
        cache.write({b"k" * 16: "[]"})
    with sqlite3.connect(path) as database:
        assert database.execute("SELECT sql FROM sqlite_master").fetchall() == [
            ("CREATE TABLE answers (key BLOB PRIMARY KEY, answer TEXT NOT NULL) WITHOUT ROWID",)
        ]
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    database.close()


def test_without_a_path_it_lasts_as_long_as_the_block() -> None:
    with open_cache(None, str, table="answers", column="answer", explain=explain) as cache:
        cache.write({b"k": "v"})
        cache.write({b"k": "w"})
        assert cache.read([b"k"]) == {b"k": "w"}


@pytest.mark.parametrize("spoil", ["folder", "content"])
def test_a_file_that_cannot_be_used_is_ignored_or_explained(tmp_path: Path, spoil: str) -> None:
    path = tmp_path / "cache.sqlite"
    if spoil == "folder":
        path.mkdir()
    else:
        path.write_bytes(b"no database " * 1000)
    with open_cache(path, bytes, table="packs", column="packed") as cache:
        cache.write({b"k": b"v"})
        assert cache.read([b"k"]) == {}
    with (
        pytest.raises(InputError, match="No cache: "),
        open_cache(path, bytes, table="packs", column="packed", explain=explain),
    ):
        pass


def test_an_error_of_the_caller_is_not_taken_for_one_of_the_cache(tmp_path: Path) -> None:
    def fail(_: ContentCache[str]) -> None:
        raise FileNotFoundError("mine")

    with (
        pytest.raises(FileNotFoundError, match="mine"),
        open_cache(tmp_path / "c", str, table="t", column="v", explain=explain) as cache,
    ):
        fail(cache)


def test_the_key_of_a_text_with_half_a_character_is_that_of_its_bytes() -> None:
    assert cache_key("a\ud83d") == cache_key(b"a\xed\xa0\xbd")
    assert cache_key("name\0text").hex() == "4fd3ec5ea3a279dc9be57c6b3767af42"
