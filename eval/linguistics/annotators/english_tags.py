"""Penn tags from TextBlob's lexicon, corrected by context.

The lexicon gives each word its most frequent tag and unknown words one by their ending, without context: "she logged"
is a participle, "to look" a noun. TextBlob's own context rules, tried on a chapter of fiction, introduced as many
errors as they fixed ("him/PRP in/VB") and were fifteen times slower; the rules here concern verbs, which metrics count.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from ape.text.english_verbs import are_forms_of_one_verb

PUNCTUATION_TAGS: Mapping[str, str] = (
    dict.fromkeys(".!?", ".")
    | {",": ",", "(": "(", "[": "(", "{": "(", ")": ")", "]": ")", "}": ")", "$": "$", "#": "#"}
    | dict.fromkeys((":", ";", "-", "–", "—", "--", "…", "...", "......"), ":")
    | dict.fromkeys("“‘«", "``")
    | dict.fromkeys("”»\"'’", "''")
)
_CLITICS = {"n't": "RB", "'ll": "MD", "'d": "MD", "'re": "VBP", "'ve": "VBP", "'m": "VBP"}
_CUT_MODALS = frozenset(("ca", "wo", "sha"))
_HAVE = frozenset("have has had having 've".split())
_BE = frozenset("be am is are was were been being 's 're 'm got".split())
_DO = frozenset("do does did".split())
_SUBJECTS = frozenset("i you he she it we they who".split())
_SINGULAR = frozenset(("he", "she", "it", "who", "that", "this", "there", "what", "here", "where", "how", "let"))
_NOUN_BEFORE = frozenset(("DT", "PRP$", "POS", "JJ"))
_ADVERB = frozenset(("RB", "RBR"))
_BASE_AFTER = frozenset(("VBP", "VBD", "VBN", "NN", "VB"))
_NOMINAL = frozenset(("NN", "NNS", "NNP", "NNPS", "JJ", "JJR", "JJS", "CD", "VBN", "VBG", "DT", "RB", "PRP$"))


def tag_words(words: Sequence[str]) -> list[str]:
    """The tags of one sentence."""
    plain = [word.replace("’", "'") for word in words]
    found = _lexicon_tags(plain)
    small = [word.lower() for word in plain]
    for place in range(len(found)):
        found[place] = _context_tag(small, found, place)
    return found


def tag_lexicon() -> Mapping[str, str]:
    """Words with their most frequent tags."""
    known: Mapping[str, str] = _parser().lexicon
    return known


def is_known(word: str) -> bool:
    """Whether the word, as written, is an English word."""
    return word in tag_lexicon()


@lru_cache(maxsize=1)
def _parser() -> Any:
    # It leaves open files to the garbage collector, which warns.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from textblob.en import parser

        len(parser.lexicon)
    return parser


def _lexicon_tags(words: Sequence[str]) -> list[str]:
    find: Callable[[list[str]], list[list[str]]] = _parser().find_tags
    found = [tag for _, tag in find(list(words))]
    for place, word in enumerate(words):
        if not any(map(str.isalnum, word)):
            found[place] = PUNCTUATION_TAGS.get(word, PUNCTUATION_TAGS.get(word[:1], "SYM"))
        elif word[0].isdigit():
            found[place] = "JJ" if word.endswith(("st", "nd", "rd", "th")) else "CD"
        elif not is_known(word) and (small := tag_lexicon().get(word.lower())) and not word.istitle():
            found[place] = small
    return found


def _context_tag(words: Sequence[str], found: Sequence[str], place: int) -> str:
    word, tag = words[place], found[place]
    before = words[place - 1] if place else ""
    if word in _CLITICS:
        return _CLITICS[word]
    if word in _CUT_MODALS and words[place + 1 : place + 2] == ["n't"]:
        return "MD"
    if word == "'s" or (word == "s" and before == "'"):
        noun = words[place - 2 : place - 1] if word == "s" else [before]
        return "VBZ" if not _SINGULAR.isdisjoint(noun) else "POS"
    if word == "her":
        return "PRP$" if found[place + 1 : place + 2] and found[place + 1] in _NOMINAL else "PRP"
    if tag in ("VBD", "VBN", "VBP", "VB", "NN", "NNS", "JJ") and place:
        return _verb(words, found, place)
    return tag


def _verb(words: Sequence[str], found: Sequence[str], place: int) -> str:
    """The tag of a possible verb by the preceding word, skipping adverbs."""
    word, tag = words[place], found[place]
    back = place - 1
    while back > 0 and found[back] in _ADVERB:
        back -= 1
    before, tag_before = words[back], found[back]
    # "Can you tell", "did he go"
    is_question = back > 0 and before in _SUBJECTS and (words[back - 1] in _DO or found[back - 1] == "MD")
    if tag_before == "MD" or before in _DO or is_question:
        return "VB" if tag in _BASE_AFTER else tag
    if tag_before == "TO":
        return "VB" if tag in ("VBP", "VB") or (tag in _BASE_AFTER and _is_base(word)) else tag
    if before in _HAVE or before in _BE:
        return "VBN" if tag == "VBD" else tag
    if before in _SUBJECTS or tag_before == "NNP":
        return _after_subject(word, tag, before)
    if tag in ("VB", "VBP") and tag_before in _NOUN_BEFORE and back == place - 1:
        return "NN"
    if tag in ("VBN", "VB") and tag_before in ("CC", ",") and _last_verb(words, found, back) == "VBD":
        return "VBD"
    return tag


def _after_subject(word: str, tag: str, before: str) -> str:
    if tag == "VBN" or (tag == "JJ" and word.endswith("ed")):
        return "VBD"
    if before in _SUBJECTS:
        if tag == "NNS" and before in _SINGULAR:
            return "VBZ"
        if tag == "VB" or (tag == "NN" and before not in ("it", "who") and _is_base(word)):
            return "VBP"
    return tag


def _is_base(word: str) -> bool:
    """Whether it is the base form of a common verb, or its -ing form is in the lexicon."""
    stem = word.removesuffix("e")
    return any(
        is_known(form) and are_forms_of_one_verb(word, form, word_before="to")
        for form in (stem + "ing", word + word[-1] + "ing")
    )


def _last_verb(words: Sequence[str], found: Sequence[str], place: int) -> str:
    """The tag of the last verb before a position; "" if it is an auxiliary or there is none."""
    for back in range(place - 1, -1, -1):
        if found[back].startswith(("VB", "MD")):
            return "" if words[back] in _HAVE or words[back] in _BE else found[back]
    return ""
