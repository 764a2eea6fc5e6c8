"""Rules for names of persons that the network finds: what can't be one, and where one begins and ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ape.text.common_words import is_common_word
from eval.linguistics.literary.litbank import Span
from eval.linguistics.literary.name_words import is_epithet, is_people, is_title

_BY_LAST_WORD = {
    **dict.fromkeys(
        """academy agency association bank bureau commission committee company co corp corporation council department
        foundation group holdings inc institute institution ltd ministry party securities society union
        university""".split(),
        "ORG",
    ),
    **dict.fromkeys(
        """abbey castle cathedral chapel church court hall hospital hotel house inn lane lodge manor palace park prison
        road school square street theatre tower""".split(),
        "FAC",
    ),
    **dict.fromkeys("bay forest hills island islands lake mountains ocean river sea valley woods".split(), "LOC"),
}
_BY_FIRST_WORD = {"fort": "FAC", "lake": "LOC", "mount": "LOC", "cape": "LOC", "port": "GPE"}
_SENTENCE_ENDS = frozenset(
    """
. ! ? : ; " “ ” ‘ ’ `` '' ` ' -- — ( [
""".split()
)
_SHORTEST_ACRONYM = 3


def correct_names(words: Sequence[str], tags: Sequence[str], names: Mapping[Span, str]) -> dict[Span, str]:
    """The names of a text after the rules; other types than persons stay as they are."""
    found = {span: label for span, label in names.items() if label != "PER"}
    taken = {place for start, end in names for place in range(start, end)}
    is_mixed = any(word.islower() and len(word) > 1 for word in words)
    for span, label in names.items():
        if label != "PER":
            continue
        start, end = _bounds(words, tags, span, taken)
        if end > start and not _is_no_person(words, start, end, is_mixed=is_mixed):
            found[start, end] = _type(words[start:end])
    return dict(sorted(found.items()))


def _bounds(words: Sequence[str], tags: Sequence[str], span: Span, taken: set[int]) -> Span:
    """The span without epithets and words in lower case, with its title and the proper nouns beside it."""
    start, end = span
    while end > start and not words[end - 1][:1].isupper():
        end -= 1
    while start < end and (not words[start][:1].isupper() or (start + 1 < end and is_epithet(words[start]))):
        start += 1
    while end > start and start and start - 1 not in taken and _begins_name(words, tags, start - 1):
        start -= 1
    while start < end < len(words) and end not in taken and words[end][:1].isupper() and tags[end] == "NNP":
        end += 1
    return start, end


def _begins_name(words: Sequence[str], tags: Sequence[str], place: int) -> bool:
    """A title, or a proper noun before no title that has its capital not from the beginning of a sentence."""
    word, after = words[place], words[place + 1]
    if not word[:1].isupper() or is_epithet(word) or is_people(word):
        return False
    if is_title([word]):
        return True
    return tags[place] == "NNP" and not is_title([after]) and not _begins_sentence(words, place)


def _begins_sentence(words: Sequence[str], place: int) -> bool:
    return place == 0 or words[place - 1] in _SENTENCE_ENDS


def _is_no_person(words: Sequence[str], start: int, end: int, *, is_mixed: bool) -> bool:
    """A title alone, a word with digits; of single words also a people, an acronym, a ship, and a common word."""
    inside = words[start:end]
    if is_title(inside) or any(character.isdigit() for word in inside for character in word):
        return True
    if end - start > 1:
        return False
    word = inside[0]
    if is_people(word) or (is_mixed and word.isupper() and len(word) >= _SHORTEST_ACRONYM):
        return True
    if start and words[start - 1].lower() == "the" and not word.endswith("s"):
        return True
    return _begins_sentence(words, start) and is_common_word(word.lower())


def _type(words: Sequence[str]) -> str:
    """PER, or the type that a word of the name says, unless a title says that it is a person's."""
    if len(words) == 1 or is_title(words[:1]):
        return "PER"
    last = words[-1].lower().rstrip(".")
    return _BY_LAST_WORD.get(last) or _BY_FIRST_WORD.get(words[0].lower()) or "PER"
