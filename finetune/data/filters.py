"""PAR3's filters, each a small function: a paragraph in, the same out, or with fewer human versions, or None.

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
# "I" within a sentence is a person, and alone it is a number.
_NUMBERED = regex.compile(rf"\b(?=\w\w){_NUMERAL}\b|^\W*{_NUMERAL}\W*$")
# Languages that are written without spaces: their words can't be counted against those of another.
_UNSPACED = frozenset({"ja", "km", "lo", "my", "th", "zh"})

# A text that shares so many words with another is in its language; letter statistics take twenty times as long.
_SAME_LANGUAGE = 0.4


def _keep_humans(paragraph: TrainingParagraph, keep: Callable[[str], bool]) -> TrainingParagraph | None:
    """The paragraph with the human versions that pass."""
    humans = tuple(one for one in paragraph.humans if keep(one[1]))
    if not humans:
        return None
    return paragraph if len(humans) == len(paragraph.humans) else replace(paragraph, humans=humans)


def drop_empty(paragraph: TrainingParagraph, _recipe: DataRecipe) -> TrainingParagraph | None:
    """A side without a letter or a digit."""
    if not words(paragraph.source) or not words(paragraph.mt):
        return None
    return _keep_humans(paragraph, lambda human: bool(words(human)))


def drop_short_headings(paragraph: TrainingParagraph, recipe: DataRecipe) -> TrainingParagraph | None:
    """A heading: a translated side is short, and one has "chapter" or a Roman numeral in it."""
    sides = [paragraph.mt, *(text for _, text in paragraph.humans)]
    if not any(_is_short(side, recipe) for side in sides):
        return paragraph
    return None if any(_CHAPTER.search(side) or _NUMBERED.search(side) for side in sides) else paragraph


def _is_short(text: str, recipe: DataRecipe) -> bool:
    return len(text) < recipe.short_characters or len(text.split()) < recipe.short_tokens


def drop_wrong_language(paragraph: TrainingParagraph, _recipe: DataRecipe) -> TrainingParagraph | None:
    """An MT or a human version that is not in the target language, where the text is long enough to tell."""
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
    """One side with too many words for those of another: something is left out, or aligned wrongly."""
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
    """A human version that has next to nothing in common with the MT: most likely of another place."""
    return _keep_humans(paragraph, lambda human: paragraph_bleu(paragraph, human) >= recipe.bleu)


def put_best_reference_first(paragraph: TrainingParagraph) -> TrainingParagraph:
    """With the human version that is nearest to the MT first; of equals, the earlier."""
    if len(paragraph.humans) == 1:
        return paragraph
    ranked = sorted(paragraph.humans, key=lambda one: -paragraph_bleu(paragraph, one[1]))
    return replace(paragraph, humans=tuple(ranked))


def drop_by_edit_rate(paragraph: TrainingParagraph, recipe: DataRecipe) -> TrainingParagraph | None:
    """A rewrite rather than a repair: more edits than the cap, for each word of the MT."""
    if recipe.edit_rate is None or edit_rate(paragraph.mt, paragraph.human) <= recipe.edit_rate:
        return paragraph
    return None


# Those that look at one paragraph at a time and apply on every side of the split, in their order.
FILTERS: dict[FilterName, ParagraphFilter] = {
    "empty": drop_empty,
    "short": drop_short_headings,
    "language": drop_wrong_language,
    "ratio": drop_by_length_ratio,
    "bleu": drop_by_bleu,
}
