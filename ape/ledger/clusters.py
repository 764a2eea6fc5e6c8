"""Which of the wordings of a form is canonical, which are short forms, and which are wrong for certain."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein

from ape.ledger.entity import Variant
from ape.ledger.renderings import HEARD, FormEvidence, RenderingCounts
from ape.ledger.target_names import ADDRESS, is_ordinary
from ape.text.exonyms import exonym_group
from ape.text.phonetics import phonetic_key
from ape.text.romanisation import letter_similarity, pinyin_wording, plain_letters, sound_similarity, syllables

MIN_COVERAGE = 0.5
MIN_VOTES = 2
# Less coverage will do for a wording seen this often with the form, and hardly without it.
_MIN_STEADY = 0.3
_STEADY_VOTES = 5
# A wording of the entity for certain: it sounds like the source or is spelt like the canonical wording.
FIRM = 0.75
_SPECIFIC = 0.9
_ALONE = 0.6
# The reading of a name that is mostly translated.
_READING = 0.9
# A wording that sounds little like the source is canonical only with this share of all mentions.
_MAJORITY = 0.5
# In shorter names one letter makes another name.
_SHORT = 4
# English endings that make another word of a name: Parisian, Tangs, Bulgarians.
_DERIVED = (
    "ian",
    "ians",
    "ean",
    "eans",
    "an",
    "ans",
    "ese",
    "ish",
    "ic",
    "ist",
    "ists",
    "ite",
    "ites",
    "ism",
    "er",
    "ers",
)


@dataclass(frozen=True, slots=True)
class WordingCluster:
    """The wordings of one form."""

    target: str
    short_forms: tuple[str, ...]
    variants: tuple[Variant, ...]
    rivals: tuple[str, ...] = ()
    """Wordings as frequent as the canonical one, for a person to choose from."""


def cluster_wordings(
    evidence: FormEvidence, counted: RenderingCounts, language: str, *, is_person: bool
) -> WordingCluster | None:
    """Cluster the wordings of a form; None if it is not rendered as a name.

    Of places and peoples in Latin letters, only slips of a letter are wrong for certain: Bulgarians, Bulgars and
    Bulgarian are all right.
    """
    votes = evidence.wordings
    if not votes or not (evidence.coverage >= MIN_COVERAGE or _is_steady(evidence, counted)):
        return None
    target = counted.by_translation.get(evidence.form) or _canonical(evidence.form, votes, language)
    if not target:
        return None
    letters = plain_letters(target)
    translated = sound_similarity(evidence.form, target, language) < HEARD
    if translated:
        votes = Counter({text: n for text, n in votes.items() if _is_alike(text, letters, evidence.form, language)})
    groups = _by_letters(votes)
    exact = language == "zh" and letters == "".join(syllables(evidence.form, language))
    if sum(groups[letters].values()) < (1 if exact else MIN_VOTES):
        return None
    short, variants = [], [Variant(target, votes[target])]
    for text, count in votes.most_common():
        if text == target or set(text.lower().split()) <= ADDRESS:
            continue
        if _is_part(text, target):
            if len(text) < len(target) and not is_ordinary(text):
                short.append(text)
                variants.append(Variant(text, count))
        else:
            if plain_letters(text) == letters:
                firm = _is_respelt(text, target, language)
            elif is_person or language == "zh":
                firm = _is_firm(text, target, evidence, counted, language, translated=translated)
            else:
                firm = _is_slip(text, target, language) and evidence.together[text] == counted.wordings[text]
            # A wording that always occurs together with a better one names somebody else.
            if firm or evidence.with_closer[text] < evidence.together[text]:
                variants.append(Variant(text, count, firm=firm))
    rivals = tuple(
        text
        for text, count in votes.items()
        if text != target and count >= votes[target] and plain_letters(text) != letters and text not in short
    )
    return WordingCluster(target, tuple(short), tuple(variants), rivals)


def _is_steady(evidence: FormEvidence, counted: RenderingCounts) -> bool:
    """Whether one wording stands for a form that the translation often replaces by a pronoun, and for nothing else."""
    wording, count = max(evidence.wordings.items(), key=lambda item: item[1])
    specific = evidence.together[wording] >= _SPECIFIC * counted.wordings[wording]
    return evidence.coverage >= _MIN_STEADY and count >= _STEADY_VOTES and specific and not is_ordinary(wording)


def _canonical(form: str, votes: Counter[str], language: str) -> str:
    """The most frequent wording, all spellings of its letters together; the reading decides between equals."""
    reading = "".join(syllables(form, language))
    bonus = 1.5 if language == "zh" else 1.0
    groups = _by_letters(votes)
    total = votes.total()
    groups = {
        letters: group
        for letters, group in groups.items()
        if letter_similarity(letters, reading) >= FIRM or group.total() > _MAJORITY * total
    }
    if not groups:
        return ""

    def weight(letters: str) -> tuple[float, float]:
        share = groups[letters].total()
        return (bonus * share if letters == reading else float(share)), letter_similarity(letters, reading)

    group = groups[max(groups, key=weight)]
    wording = max(group, key=lambda text: (group[text], text.isascii(), -text.count(" "), text))
    usual = pinyin_wording(form) if language == "zh" else form
    return usual if group[usual] and group[usual] >= 0.7 * group[wording] else wording


def _is_alike(text: str, target: str, form: str, language: str) -> bool:
    """Whether a wording is spelt like a translated name, or is its reading, as Heiying is of Black Hawk."""
    return letter_similarity(plain_letters(text), target) >= HEARD or _reads(text, form, language)


def _reads(text: str, form: str, language: str) -> bool:
    return sound_similarity(form, text, language) >= _READING


def _by_letters(votes: Counter[str]) -> dict[str, Counter[str]]:
    groups: dict[str, Counter[str]] = defaultdict(Counter)
    for text, count in votes.items():
        groups[plain_letters(text)][text] += count
    return groups


def _is_part(text: str, target: str) -> bool:
    """Whether one wording consists of words of the other: "Anya" of "Cheng Anya"."""
    words, whole = text.lower().split(), target.lower().split()
    one, other = (words, whole) if len(words) <= len(whole) else (whole, words)
    return any(other[start : start + len(one)] == one for start in range(len(other) - len(one) + 1))


def _is_firm(
    text: str, target: str, evidence: FormEvidence, counted: RenderingCounts, language: str, *, translated: bool
) -> bool:
    letters, right = plain_letters(text), plain_letters(target)
    if _is_another_word(text, target, language):
        return False
    seen = counted.wordings[text]
    if evidence.together[text] < _SPECIFIC * seen:
        return False
    if evidence.swollen[text] == seen and not translated:
        return True
    heard = sound_similarity(evidence.form, text, language)
    likeness = max(0.0 if translated and heard < _READING else heard, letter_similarity(letters, right))
    # A wording less alike is the entity's if it stands alone for it wherever it occurs.
    alone = not evidence.with_closer[text] and evidence.together[text] == seen
    same_start = letters[:1] == right[:1]
    # Kunigunde for Cunégonde; in short names a sound is too little: Mary is not Martin.
    if language != "zh" and min(len(letters), len(right)) > _SHORT + 2:
        likeness = max(likeness, letter_similarity(phonetic_key(text), phonetic_key(target)))
    return likeness >= FIRM or (alone and same_start and likeness >= _ALONE and not translated)


def _is_slip(text: str, target: str, language: str) -> bool:
    """Whether one letter of a wording is doubled, dropped or replaced: Venyce, but not German beside Germany."""
    letters, right = plain_letters(text), plain_letters(target)
    if len(right) <= _SHORT or letters[:1] != right[:1] or is_ordinary(text) or is_derived(letters, right):
        return False
    short, long = sorted((letters, right), key=len)
    return Levenshtein.distance(letters, right) == 1 and long not in (short + "s", short + "y")


def _is_respelt(text: str, target: str, language: str) -> bool:
    """Whether only spaces, accents and capitals differ; hyphens too, if the source has none."""
    if plain_letters(text) != plain_letters(target):
        return False
    return language in ("zh", "ja", "ru") or text.count("-") == target.count("-")


def _is_another_word(text: str, target: str, language: str) -> bool:
    """Whether a wording is an English word, or a word derived from the name."""
    if is_ordinary(text) and " " not in text:
        return True
    if {f"{word}s" for word in target.lower().split()} & set(text.lower().split()):
        return True
    if " " not in text and exonym_group(text.lower()) == exonym_group(target.lower()) >= 0:
        return True
    letters, right = plain_letters(text), plain_letters(target)
    endings = tuple(ending for ending in _DERIVED if language != "zh" or not ending.startswith("er"))
    return letters in (right + "ers", right + "s") or (" " not in target and is_derived(letters, right, endings))


def is_derived(letters: str, right: str, endings: tuple[str, ...] = _DERIVED) -> bool:
    """Whether one wording is the other with an ending of English: a people, a language, a follower."""
    short, long = sorted((letters, right), key=len)
    stem = short[:-1] if short[-1:] in "aey" else short
    return any(long in (short + ending, stem + ending) for ending in endings)
