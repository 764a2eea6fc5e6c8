"""Bilingual books are detected by clear evidence only, and only the translation is edited."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from ape.books.book import Book
from ape.books.formats import open_book
from ape.books.pairing.book_pairing import pair_books
from ape.errors import InputError
from tests.ape.books.book_factory import make_epub

FRENCH = [
    "Le vieux pêcheur descendit vers le port avant que le soleil ne se lève sur la baie.",
    "Personne ne l'attendait.",
    "Sa barque était attachée au dernier anneau du quai, comme chaque matin depuis trente ans.",
    "Il posa son panier, regarda le ciel un long moment, puis il secoua la tête.",
    "Le vent avait tourné pendant la nuit et l'eau était devenue grise et lourde.",
    "« Pas aujourd'hui », dit-il au chien qui le suivait partout.",
    "Ils remontèrent ensemble la rue étroite, sans se presser, en passant devant l'église fermée.",
    "Oui.",
    "La boulangère leur fit un signe de la main derrière sa vitre couverte de buée.",
    "Alors il comprit qu'il ne prendrait plus jamais la mer, et cela ne lui fit aucune peine.",
]
ENGLISH = [
    "The old fisherman went down to the harbour before the sun came up over the bay.",
    "Nobody was waiting for him.",
    "His boat was tied to the last ring of the quay, as on every morning for thirty years.",
    "He put down his basket, looked at the sky for a long moment, and then shook his head.",
    "The wind had turned in the night and the water had become grey and heavy.",
    "“Not today,” he said to the dog that followed him everywhere.",
    "They walked back up the narrow street together, in no hurry, past the closed church.",
    "Yes.",
    "The baker's wife waved at them from behind her misted window.",
    "Then he understood that he would never go to sea again, and it did not grieve him at all.",
]
CHINESE = [
    "太阳还没有从海湾升起，老渔夫就走到了港口。",
    "没有人在等他。",
    "他的船系在码头的最后一个铁环上，三十年来每天早晨都是如此。",
    "他放下篮子，久久地望着天空，然后摇了摇头。",
    "夜里风向变了，海水变得灰暗而沉重。",
    "“今天不去，”他对那条到处跟着他的狗说。",
    "他们一起慢慢地走回那条窄街，经过关着门的教堂。",
    "是的。",
    "面包师的妻子在蒙着雾气的窗后向他们挥手。",
    "于是他明白自己再也不会出海了，而这一点也不让他难过。",
]

Maker = Callable[[str, str], list[str]]


def by_language(source: str, target: str) -> list[str]:
    return [f'<p xml:lang="fr">{source}</p>', f'<p xml:lang="en">{target}</p>']


def by_own_language(source: str, target: str) -> list[str]:
    return [f"<p>{source}</p>", f'<p xml:lang="en">{target}</p>']


def by_class(source: str, target: str) -> list[str]:
    return [f'<p class="one">{source}</p>', f'<p class="two">{target}</p>']


def by_text(source: str, target: str) -> list[str]:
    return [f"<p>{source}</p>", f"<p>{target}</p>"]


def by_cells(source: str, target: str) -> list[str]:
    return [f"<table><tr><td>{source}</td><td>{target}</td></tr></table>"]


def pages(
    tmp_path: Path, make: Maker, *, source: list[str] = FRENCH, swapped: bool = False, language: str = "fr"
) -> Path:
    blocks = []
    for one, other in zip(source, ENGLISH, strict=True):
        pair = make(one, other)
        blocks += pair[::-1] if swapped else pair
    return make_epub(tmp_path / "both.epub", paragraphs=[blocks], language=language)


def pairs(book: Book) -> list[tuple[str | None, str]]:
    return [(paragraph.source, paragraph.text) for paragraph in book.paragraphs()]


def written(book: Book, text_of: Callable[[str], str | None]) -> bytes:
    out = io.BytesIO()
    book.write(out, text_of)
    return out.getvalue()


@pytest.mark.parametrize("make", [by_language, by_own_language, by_class, by_text, by_cells])
@pytest.mark.parametrize("source", [FRENCH, CHINESE], ids=["fr", "zh"])
def test_a_translation_has_its_source_beside_it(tmp_path: Path, make: Maker, source: list[str]) -> None:
    book = open_book(pages(tmp_path, make, source=source))
    assert (book.bilingual, book.format) == (True, "bilingual-epub")
    assert pairs(book) == list(zip(source, ENGLISH, strict=True))
    assert not any(paragraph.skip for paragraph in book.paragraphs())
    assert book.language == "en"


@pytest.mark.parametrize("make", [by_language, by_class, by_text])
@pytest.mark.parametrize("languages", [{"source_language": "fr"}, {"target_language": "en"}])
def test_the_translation_may_come_first_where_languages_are_given(
    tmp_path: Path, make: Maker, languages: dict[str, str]
) -> None:
    book = open_book(pages(tmp_path, make, swapped=True), **languages)
    assert pairs(book) == list(zip(FRENCH, ENGLISH, strict=True))
    assert (book.source_language, book.language) == ("fr", "en")


def test_the_text_without_a_language_of_its_own_is_the_source(tmp_path: Path) -> None:
    path = tmp_path / "both.html"
    path.write_text("\n".join(f"<p lang=en>{b}<p>{a}" for a, b in zip(FRENCH, ENGLISH, strict=True)))
    book = open_book(path)
    assert pairs(book) == list(zip(FRENCH, ENGLISH, strict=True))
    assert (book.source_language, book.language) == ("fr", "en")


@pytest.mark.parametrize("swapped", [False, True])
def test_a_class_that_says_what_it_is_is_believed(tmp_path: Path, swapped: bool) -> None:
    def make(source: str, target: str) -> list[str]:
        return [f'<p class="original">{source}</p>', f'<p class="translation">{target}</p>']

    assert pairs(open_book(pages(tmp_path, make, swapped=swapped))) == list(zip(FRENCH, ENGLISH, strict=True))


def in_a_french_file(tmp_path: Path, make: Maker) -> Path:
    path = tmp_path / "both.html"
    blocks = [block for pair in zip(FRENCH, ENGLISH, strict=True) for block in make(*pair)]
    path.write_text(f'<html lang="fr"><body class="book">{"".join(blocks)}</body></html>', encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "said",
    ['lang="en"', 'lang="en" class="tr"', 'class="tl"', 'class="book mt"', 'class="text_translated"', 'class="en"'],
)
def test_a_translation_before_its_source_is_known_by_what_was_added_to_the_file(tmp_path: Path, said: str) -> None:
    book = open_book(in_a_french_file(tmp_path, lambda a, b: [f"<p {said}>{b}</p>", f"<p>{a}</p>"]))
    assert (book.source_language, book.language) == ("fr", "en")
    assert pairs(book) == list(zip(FRENCH, ENGLISH, strict=True))


def test_a_language_stated_around_a_paragraph_is_its_own(tmp_path: Path) -> None:
    book = open_book(in_a_french_file(tmp_path, lambda a, b: [f'<div lang="en"><p>{b}</p></div>', f"<p>{a}</p>"]))
    assert (book.source_language, book.language) == ("fr", "en")


def test_a_class_that_both_have_says_nothing(tmp_path: Path) -> None:
    def make(source: str, target: str) -> list[str]:
        return [f'<p class="translation src">{source}</p>', f'<p class="translation">{target}</p>']

    assert open_book(in_a_french_file(tmp_path, make)).source_language == "fr"


LISTS = ([0], [2], [3, 6], [9])


@pytest.mark.parametrize(
    ("make", "missing"),
    [
        *((make, missing) for make in (by_language, by_class) for missing in LISTS),
        # "Oui." is too short for detection, and next to a gap alternation does not decide either.
        *((by_text, missing) for missing in ([3], [4, 9])),
    ],
)
@pytest.mark.parametrize("swapped", [False, True])
def test_a_source_without_a_translation_is_listed_and_goes_to_no_other(
    tmp_path: Path, make: Maker, swapped: bool, missing: list[int]
) -> None:
    blocks = []
    for place, pair in enumerate(zip(FRENCH * 3, ENGLISH * 3, strict=True)):
        both = make(*pair)
        kept = both[:1] if place in missing else both[::-1] if swapped else both
        blocks += kept
    path = make_epub(tmp_path / "both.epub", paragraphs=[blocks], language="fr")
    pairing = pair_books(None, open_book(path, source_language="fr", target_language="en"))
    found = [(pair.source, pair.mt) for pair in pairing.pairs()]
    whole = list(zip(FRENCH * 3, ENGLISH * 3, strict=True))
    assert found == [pair for place, pair in enumerate(whole) if place not in missing]
    assert [text for _, text in pairing.unpaired_source.first] == [FRENCH[place][:80] for place in missing]
    assert pairing.unpaired_source.count == len(missing)


@pytest.mark.parametrize("swapped", [False, True])
def test_a_long_stretch_without_a_translation_is_listed_as_a_whole(tmp_path: Path, swapped: bool) -> None:
    blocks = []
    for number, pair in enumerate(zip(FRENCH * 8, ENGLISH * 8, strict=True)):
        both = by_language(*pair)
        blocks += both[:1] if 20 <= number < 40 else both[::-1] if swapped else both
    path = make_epub(tmp_path / "both.epub", paragraphs=[blocks], language="fr")
    # A quarter without a turn is too much to guess from.
    book = open_book(path, format="bilingual-epub", source_language="fr", target_language="en")
    pairing = pair_books(None, book)
    assert [(pair.source, pair.mt) for pair in pairing.pairs()] == list(zip(FRENCH * 6, ENGLISH * 6, strict=True))
    assert pairing.unpaired_source.count == 20
    assert len({name for name, _ in pairing.unpaired_source.first}) == 20


def test_texts_in_no_known_language_next_to_a_gap_are_left_alone(tmp_path: Path) -> None:
    blocks = [block for pair in zip(FRENCH, ENGLISH, strict=True) for block in by_text(*pair)]
    del blocks[2 * 6 + 1]
    book = open_book(make_epub(tmp_path / "both.epub", paragraphs=[blocks], language="fr"))
    assert [(p.text, p.skip) for p in book.paragraphs() if p.skip] == [
        ("Oui.", "neither source nor translation"),
        ("Yes.", "neither source nor translation"),
    ]


def test_a_title_above_does_not_turn_the_pairs_round(tmp_path: Path) -> None:
    blocks = [block for pair in zip(FRENCH, ENGLISH, strict=True) for block in by_text(*pair)]
    heading = "<h1>The fisherman who did not go to sea today</h1>"
    book = open_book(make_epub(tmp_path / "a.epub", paragraphs=[[heading, *blocks]], language="en"))
    first, *others = book.paragraphs()
    assert (first.source, first.skip) == ("", "no source next to it")
    assert [(p.source, p.text) for p in others] == list(zip(FRENCH, ENGLISH, strict=True))


@pytest.mark.parametrize("make", [by_language, by_class, by_text])
@pytest.mark.parametrize("swapped", [False, True])
def test_only_the_translation_is_written(tmp_path: Path, make: Maker, swapped: bool) -> None:
    path = pages(tmp_path, make, swapped=swapped)
    book = open_book(path, source_language="fr", target_language="en")
    assert written(book, lambda _: None) == path.read_bytes()
    (tmp_path / "new.epub").write_bytes(written(book, lambda _: "The new text of this paragraph is here now."))
    new = open_book(tmp_path / "new.epub", source_language="fr", target_language="en")
    assert [paragraph.id for paragraph in new.paragraphs()] == [paragraph.id for paragraph in book.paragraphs()]
    assert pairs(new) == [(source, "The new text of this paragraph is here now.") for source in FRENCH]


def test_what_was_written_counts_the_translation(tmp_path: Path) -> None:
    book = open_book(pages(tmp_path, by_language))
    result = book.write(io.BytesIO(), {"OEBPS/ch01.xhtml#2": "New."}.get)
    assert (result.paragraphs, result.replaced) == (10, 1)


def test_a_source_in_two_paragraphs_is_joined_and_a_lone_text_skipped(tmp_path: Path) -> None:
    blocks = [block for pair in zip(FRENCH, ENGLISH, strict=True) for block in by_language(*pair)]
    blocks[0:1] = ['<p xml:lang="fr">Le vieux pêcheur</p>', '<p xml:lang="fr">descendit.</p>']
    blocks += ['<p xml:lang="en">One more.</p>', '<p xml:lang="de">Und das?</p>']
    book = open_book(make_epub(tmp_path / "a.epub", paragraphs=[blocks], language="fr"))
    found = list(book.paragraphs())
    assert found[0].source == "Le vieux pêcheur descendit."
    assert [(p.text, p.source, p.skip) for p in found[-2:]] == [
        ("One more.", "", "no source next to it"),
        ("Und das?", "", "neither source nor translation"),
    ]


def test_a_novel_in_one_language_is_not_bilingual(tmp_path: Path) -> None:
    dialogue = [f'<p class="{"said" if n % 2 else "done"}">{text}</p>' for n, text in enumerate(ENGLISH)]
    book = open_book(make_epub(tmp_path / "a.epub", paragraphs=[dialogue], language="en"))
    assert (book.bilingual, book.format) == (False, "epub")


def test_a_few_foreign_paragraphs_do_not_make_it_bilingual(tmp_path: Path) -> None:
    blocks = [f"<p>{text}</p>" for text in ENGLISH]
    for place in (8, 5, 3):
        blocks.insert(place, f'<p xml:lang="fr">{FRENCH[place]}</p>')
    assert not open_book(make_epub(tmp_path / "a.epub", paragraphs=[blocks], language="en")).bilingual


def test_one_that_is_said_to_be_bilingual_needs_less_evidence(tmp_path: Path) -> None:
    blocks = [*by_text(FRENCH[0], ENGLISH[0]), *by_text(FRENCH[2], ENGLISH[2])]
    path = make_epub(tmp_path / "a.epub", paragraphs=[blocks], language="fr")
    assert not open_book(path).bilingual
    assert pairs(open_book(path, format="bilingual-epub")) == [(FRENCH[0], ENGLISH[0]), (FRENCH[2], ENGLISH[2])]
    with pytest.raises(InputError, match="is not bilingual"):
        open_book(make_epub(path, paragraphs=[ENGLISH], language="en"), format="bilingual-epub")


def test_an_html_file_can_be_bilingual_too(tmp_path: Path) -> None:
    path = tmp_path / "both.html"
    path.write_text("\n".join(f"<p lang=fr>{a}<p lang=en>{b}" for a, b in zip(FRENCH, ENGLISH, strict=True)))
    book = open_book(path)
    assert (book.format, book.source_language, book.language) == ("bilingual-html", "fr", "en")
    assert pairs(book) == list(zip(FRENCH, ENGLISH, strict=True))
    assert written(book, {"#2": "New & old."}.get).decode() == path.read_text().replace(ENGLISH[0], "New &amp; old.")
    assert open_book(path, format="bilingual-html").bilingual
