"""Digests are stored in jobs, manifests and cards, so each has to stay as it is."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from ape.files.hashing import hash_bytes, hash_file, hash_json, hash_text

ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # FIPS 180-2, appendix B.1


@pytest.mark.parametrize("length", [8, 10, 12, 16, 20, 32, 64])
def test_a_length_cuts_the_digest_of_the_standard(tmp_path: Path, length: int) -> None:
    (tmp_path / "abc").write_bytes(b"abc")
    expected = ABC[:length]
    assert hash_text("abc", length=length) == expected
    assert hash_bytes(b"abc", length=length) == expected
    assert hash_file(tmp_path / "abc", length=length) == expected


@pytest.mark.parametrize(
    ("errors", "encoded"), [("replace", b"a?"), ("surrogatepass", b"a\xed\xb3\xbf"), ("surrogateescape", b"a\xff")]
)
def test_half_a_character_is_encoded_as_the_caller_says(errors: str, encoded: bytes) -> None:
    assert hash_text("a\udcff", errors=errors) == hashlib.sha256(encoded).hexdigest()


def test_half_a_character_is_refused_by_default() -> None:
    with pytest.raises(UnicodeEncodeError):
        hash_text("a\udcff")


@pytest.mark.parametrize(
    ("ascii", "text"), [(False, '{"a": "é", "b": [1, null]}'), (True, '{"a": "\\u00e9", "b": [1, null]}')]
)
def test_json_has_sorted_keys(ascii: bool, text: str) -> None:
    assert hash_json({"b": [1, None], "a": "é"}, ascii=ascii) == hash_text(text)
