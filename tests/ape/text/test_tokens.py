"""Tokens and where they are."""

from __future__ import annotations

import pytest

from ape.text.tokens import split_tokens, token_spans


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\n She said:\u00a0“Don’t go,  <i>please</i>…”\t3,141.59 \n",
        "他们走了。 She left at 12:30.",
        "नहीं ⟦1⟧ça⟦/1⟧ e\u0301te\u0301",
    ],
)
def test_tokens_are_the_text_at_their_spans(text: str) -> None:
    words, starts, ends = split_tokens(text)
    assert list(zip(starts, ends, strict=True)) == token_spans(text)
    assert words == tuple(text[start:end] for start, end in zip(starts, ends, strict=True))
