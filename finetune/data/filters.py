"""PAR3's filters. Each takes a paragraph and returns it, perhaps with fewer human versions, or None to drop it.

Where a paragraph has several human versions, one that fails is left out, and the paragraph is dropped when none is
left: a slip in aligning one translation says nothing about another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import regex

from ape.edits.diff import edit_rate
from ape.text.languages import detect_language
from ape.text.tokens import words
from finetune.data.paragraph import TrainingParagraph
from finetune.data.recipe import DataRecipe, FilterName
from finetune.data.sentence_bleu import paragraph_bleu

ParagraphFilter = Callable[[TrainingParagraph, DataRecipe], TrainingParagraph | None]

_CHAPTER = regex.compile(r"\bchapter\b", regex.IGNORECASE)
_NUMERAL = r"(?=[MDCLXVI])M{0,4}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})"
# "I" in a sentence is a pronoun; alone it is a numeral.
_NUMBERED = regex.compile(rf"\b(?=\w\w){_NUMERAL}\b|^\W*{_NUMERAL}\W*$")
# Languages without spaces, whose words can't be compared in number with those of others.
_UNSPACED = frozenset({"ja", "km", "lo", "my", "th", "zh"})

# A text that shares this many words with another is in its language; a language classifier takes twenty times as long.
_SAME_LANGUAGE = 0.4


def _keep_humans(paragraph: TrainingParagraph, keep: Callable[[str], bool]) -> TrainingParagraph | None:
    """Keep the human versions that pass."""
    humans = tuple(one for one in paragraph.humans if keep(one[1]))
    if not humans:
        return None
    return paragraph if len(humans) == len(paragraph.humans) else replace(paragraph, humans=humans)


def drop_empty(paragraph: TrainingParagraph, _recipe: DataRecipe) -> TrainingParagraph | None:
    """Drop a paragraph with a side that has no letter or digit."""
    if not words(paragraph.source) or not words(paragraph.mt):
        return None
    return _keep_humans(paragraph, lambda human: bool(words(human)))


def drop_short_headings(paragraph: TrainingParagraph, recipe: DataRecipe) -> TrainingParagraph | None:
    """Drop headings: short, with "chapter" or a Roman numeral."""
    sides = [paragraph.mt, *(text for _, text in paragraph.humans)]
    if not any(_is_short(side, recipe) for side in sides):
        return paragraph
    return None if any(_CHAPTER.search(side) or _NUMBERED.search(side) for side in sides) else paragraph


def _is_short(text: str, recipe: DataRecipe) -> bool:
    return len(text) < recipe.short_characters or len(text.split()) < recipe.short_tokens


def drop_wrong_language(paragraph: TrainingParagraph, _recipe: DataRecipe) -> TrainingParagraph | None:
    """Drop an MT or human version in another language, if the text is long enough to detect it."""
    target = paragraph.target_language
    if detect_language(paragraph.mt, default=target) != target:
        return None
    known = set(words(paragraph.mt))

    def fits(human: str) -> bool:
        own = words(human)
        shared = sum(map(known.__contains__, own))
        return shared >= _SAME_LANGUAGE * len(own) or detect_language(human, default=target) == target

    return _keep_humans(paragraph, fits)


def drop_by_length_ratio(paragraph: TrainingParagraph, recipe: DataRecipe) -> TrainingParagraph | None:
    """Drop texts whose lengths in words differ too much: an omission or a wrong alignment."""
    sides = [len(words(paragraph.mt))]
    if paragraph.source_language not in _UNSPACED:
        sides.append(len(words(paragraph.source)))
    if max(sides) > recipe.ratio * min(sides):
        return None

    def fits(human: str) -> bool:
        counts = [*sides, len(words(human))]
        return max(counts) <= recipe.ratio * min(counts)

    return _keep_humans(paragraph, fits)


def drop_by_bleu(paragraph: TrainingParagraph, recipe: DataRecipe) -> TrainingParagraph | None:
    """Drop a human version with almost nothing in common with the MT: probably a wrong alignment."""
    return _keep_humans(paragraph, lambda human: paragraph_bleu(paragraph, human) >= recipe.bleu)


def put_best_reference_first(paragraph: TrainingParagraph) -> TrainingParagraph:
    """Put the human version closest to the MT first."""
    if len(paragraph.humans) == 1:
        return paragraph
    ranked = sorted(paragraph.humans, key=lambda one: -paragraph_bleu(paragraph, one[1]))
    return replace(paragraph, humans=tuple(ranked))


def drop_by_edit_rate(paragraph: TrainingParagraph, recipe: DataRecipe) -> TrainingParagraph | None:
    """Drop rewrites: more edits per word of the MT than the cap."""
    if recipe.edit_rate is None or edit_rate(paragraph.mt, paragraph.human) <= recipe.edit_rate:
        return paragraph
    return None


# Filters of single paragraphs that apply to all splits, in order. To add one, write a function and add it here.
FILTERS: dict[FilterName, ParagraphFilter] = {
    "empty": drop_empty,
    "short": drop_short_headings,
    "language": drop_wrong_language,
    "ratio": drop_by_length_ratio,
    "bleu": drop_by_bleu,
}
