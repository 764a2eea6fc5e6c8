"""Renderings: linked content words without weakly associated neighbours, and their equality."""

from __future__ import annotations

from eval.linguistics.annotators.protocol import Token
from eval.metrics.ltcr.chains import LexicalChain
from eval.metrics.ltcr.renderings import LinkedSegment, WordRendering, chain_renderings, count_associations, find_stems
from eval.metrics.ltcr.words import is_content_word, locate_words, tokenize_words


def segment(source: str, target: str, *links: tuple[int, int]) -> LinkedSegment:
    tokens = tuple(Token(word, 0, "NN", word) for word in source.split())
    return LinkedSegment(tokens, tokenize_words([target], "en")[0], frozenset(links))


def rendered(*segments: LinkedSegment, places: tuple[tuple[int, int], ...], word: str = "法官") -> list[WordRendering]:
    return chain_renderings(LexicalChain(word, places), segments, count_associations(segments))


def test_function_words_are_not_renderings() -> None:
    (one,) = rendered(segment("法官", "of the Judges", (0, 1), (0, 2)), places=((0, 0),))
    assert one == WordRendering((2,), ("judg",))


def test_a_missing_link_is_not_filled_from_other_occurrences() -> None:
    two = [segment("法官", "a judge", (0, 1))] * 2
    missed = rendered(*two, segment("法官 来", "the judge came", (1, 2)), places=((0, 0), (1, 0), (2, 0)))
    assert missed[2] == WordRendering()
    assert missed[1].equals(missed[0])
    assert not missed[2].equals(missed[0])


def test_another_word_is_another_rendering() -> None:
    two = [segment("法官", "a judge", (0, 1))] * 2
    found = rendered(*two, segment("法官 来", "the justice came", (0, 1)), places=((0, 0), (1, 0), (2, 0)))
    assert found[2].stems == ("justic",)
    assert not found[2].equals(found[0])


def test_a_weakly_associated_neighbour_is_left_out() -> None:
    clean = [segment("法官", "a judge", (0, 1))] * 4
    (one,) = rendered(*clean, segment("法官", "tired judge", (0, 0), (0, 1)), places=((4, 0),))
    assert one.stems == ("judg",)


def test_the_words_of_a_rendering_are_in_reading_order() -> None:
    (one,) = rendered(segment("法官", "Judges Supreme", (0, 1), (0, 0)), places=((0, 0),))
    assert one == WordRendering((0, 1), ("judg", "suprem"))


def test_renderings_are_the_same_if_all_their_stems_are() -> None:
    first, last, whole = (WordRendering(stems=stems) for stems in (("qiao",), ("lian",), ("qiao", "lian")))
    assert whole.equals(WordRendering((3, 4), ("qiao", "lian")))
    # With half of the stems, each part of a name would equal the whole but not the other part.
    assert not first.equals(whole)
    assert not whole.equals(last)
    assert not whole.equals(WordRendering(stems=("lian", "qiao")))
    assert not WordRendering().equals(WordRendering())


def test_words_have_offsets_and_stems() -> None:
    text = "Well-being rose 1,000.5 percent; it's  so."
    (tokens,) = tokenize_words([text], "en")
    assert [text[token.start : token.end] for token in tokens] == [token.text for token in tokens]
    assert [token.text for token in tokens if is_content_word(token)] == ["Well", "rose", "1,000.5", "percent"]


def test_words_are_located_ignoring_spaces_and_unknown_ones_are_empty() -> None:
    assert locate_words(["NewYork", "S", "很", "大"], " New York很 大") == [(1, 9), (0, 0), (9, 10), (11, 12)]


def test_a_rendering_of_several_words_is_found_by_its_stem_sequence() -> None:
    (tokens,) = tokenize_words(["a flood-resistant house"], "en")
    (stems,) = tokenize_words(["flood - resistant houses"], "en")
    assert find_stems(tokens, [token.lemma for token in stems]) == (1, 2, 3, 4)
    assert find_stems(tokens, ["resist", "flood"]) == ()
    assert find_stems(tokens, []) == ()
