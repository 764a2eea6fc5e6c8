"""The text of a draft: whole characters, stop strings, limits, and which tokens belong to it."""

from __future__ import annotations

import pytest

from ape.engines.draft_text import DraftText


def written(
    pieces: list[bytes], *, stop: tuple[str, ...] = (), tokens: int = 100, characters: int = 1000
) -> tuple[DraftText, list[str]]:
    sent: list[str] = []
    text = DraftText(stop=stop, max_tokens=tokens, max_characters=characters, send=sent.append)
    for piece in pieces:
        text.add(piece, is_end=not piece)
        if text.finish_reason:
            break
    return text, sent


def test_the_pieces_are_sent_at_once_and_the_end_token_is_none_of_them() -> None:
    text, sent = written([b"It", b" rains", b".", b""])
    assert sent == ["It", " rains", "."]
    assert (text.text, text.finish_reason, text.tokens, text.tokens_of_text) == ("It rains.", "stop", 4, 3)


def test_a_character_in_several_tokens_is_sent_whole() -> None:
    first, second, third = (bytes([byte]) for byte in "走".encode())
    text, sent = written([b"a", first, second, third, b"b", b""])
    assert sent == ["a", "走", "b"]
    assert (text.text, text.tokens_of_text) == ("a走b", 5)


@pytest.mark.parametrize(
    ("pieces", "expected", "of_text"),
    [
        ([b"good", b"\n", b"</", b"trans", b"lation", b">"], "good\n", 2),
        ([b"good.</", b"translation>"], "good.", 1),
        ([b"a < b", b"</translation>", b"more"], "a < b", 1),
        ([b"</translation>"], "", 0),
    ],
)
def test_the_stop_string_and_its_tokens_are_not_part_of_the_text(
    pieces: list[bytes], expected: str, of_text: int
) -> None:
    text, sent = written(pieces, stop=("</translation>",))
    assert (text.text, text.finish_reason, text.tokens_of_text) == (expected, "stop", of_text)
    assert "".join(sent) == expected


def test_what_only_begins_like_a_stop_string_is_sent_later() -> None:
    text, sent = written([b"</", b"trans", b"it", b""], stop=("</translation>",))
    assert sent == ["</transit"]
    assert (text.text, text.tokens_of_text) == ("</transit", 3)


def test_the_first_of_two_stop_strings_counts() -> None:
    assert written([b"one two three"], stop=("three", "two"))[0].text == "one "


def test_too_many_tokens_or_characters_end_it_with_length() -> None:
    text, _ = written([b"a", b"b", b"c"], tokens=2)
    assert (text.text, text.finish_reason) == ("ab", "length")
    text, _ = written([b"abc", b"def", b"ghi"], characters=4)
    assert (text.text, text.finish_reason) == ("abcdef", "length")


def test_a_held_beginning_of_a_stop_string_is_text_when_the_tokens_end() -> None:
    text, sent = written([b"a", b"</"], stop=("</translation>",), tokens=2)
    assert (text.text, "".join(sent), text.finish_reason) == ("a</", "a</", "length")


def test_a_stop_string_in_the_last_token_that_is_allowed_is_a_stop() -> None:
    assert written([b"a", b"END"], stop=("END",), tokens=2)[0].finish_reason == "stop"
