"""Renderings: what is linked, without the neighbours, and mended by what other occurrences say."""

from __future__ import annotations

from eval.annotate.protocol import Token
from eval.ltcr.chains import Chain
from eval.ltcr.renderings import Renderer, Rendering, Segment, associate, holds
from eval.ltcr.words import carries_meaning, located, words_of


def segment(source: str, target: str, *links: tuple[int, int]) -> Segment:
    tokens = tuple(Token(word, 0, "NN", word) for word in source.split())
    return Segment(tokens, words_of([target], "en")[0], frozenset(links))


def rendered(*segments: Segment, places: tuple[tuple[int, int], ...], word: str = "法官") -> list[Rendering]:
    return Renderer(segments, associate(segments)).renderings(Chain(word, places))


def test_function_words_are_no_renderings() -> None:
    (one,) = rendered(segment("法官", "of the Judges", (0, 1), (0, 2)), places=((0, 0),))
    assert one == Rendering((2,), frozenset({"judg"}))


def test_what_the_aligner_missed_is_found_by_the_other_occurrences() -> None:
    two = [segment("法官", "a judge", (0, 1))] * 2
    missed = rendered(*two, segment("法官 来", "the judge came", (1, 2)), places=((0, 0), (1, 0), (2, 0)))
    assert missed[2] == Rendering((1,), frozenset({"judg"}), linked=False)
    assert missed[2].same(missed[0])


def test_a_word_that_is_not_in_the_sentence_is_not_found() -> None:
    two = [segment("法官", "a judge", (0, 1))] * 2
    found = rendered(*two, segment("法官 来", "the justice came", (0, 1)), places=((0, 0), (1, 0), (2, 0)))
    assert found[2].stems == {"justic"}
    assert not found[2].same(found[0])


def test_a_word_that_is_anothers_better_partner_is_not_taken() -> None:
    court = [segment("法庭", "court", (0, 0))] * 5
    texts = (segment("法官", "court", (0, 0)), segment("法官 法庭", "court", (1, 0)), *court)
    assert rendered(*texts, places=((0, 0), (1, 0)))[1] == Rendering()


def test_a_neighbour_that_was_taken_along_is_left_out() -> None:
    clean = [segment("法官", "a judge", (0, 1))] * 4
    (one,) = rendered(*clean, segment("法官", "tired judge", (0, 0), (0, 1)), places=((4, 0),))
    assert one.stems == {"judg"}


def test_two_occurrences_in_a_sentence_need_two_renderings() -> None:
    first = segment("法官", "a judge", (0, 1))
    both = segment("法官 见 法官", "judge meets him", (0, 0), (1, 1))
    found = rendered(first, both, places=((0, 0), (1, 0), (1, 2)))
    assert [bool(one.stems) for one in found] == [True, True, False]


def test_renderings_are_the_same_if_they_share_half_of_all_stems() -> None:
    president, vice = Rendering(stems=frozenset({"presid"})), Rendering(stems=frozenset({"vice", "presid"}))
    assert president.same(vice)
    assert not vice.same(Rendering(stems=frozenset({"vice", "chair"})))
    assert not Rendering().same(Rendering())


def test_words_stand_where_they_stand() -> None:
    text = "Well-being rose 1,000.5 percent; it's  so."
    (tokens,) = words_of([text], "en")
    assert [text[token.start : token.end] for token in tokens] == [token.text for token in tokens]
    assert [token.text for token in tokens if carries_meaning(token)] == [
        "Well",
        "rose",
        "1,000.5",
        "percent",
    ]


def test_words_are_located_whatever_the_spaces_and_a_stray_one_is_nowhere() -> None:
    assert located(["NewYork", "S", "很", "大"], " New York很 大") == [(1, 9), (0, 0), (9, 10), (11, 12)]


def test_a_rendering_of_several_words_is_held_word_by_word() -> None:
    (tokens,) = words_of(["a flood-resistant house"], "en")
    (stems,) = words_of(["flood - resistant houses"], "en")
    assert holds(tokens, [token.lemma for token in stems]) == (1, 2, 3, 4)
    assert holds(tokens, ["resist", "flood"]) == ()
    assert holds(tokens, []) == ()
