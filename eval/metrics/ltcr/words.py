"""Words of a translation with offsets and stems, and which of them are content words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from ape.text.languages import language_code
from ape.text.word_alignment.stemmer import stem_word
from eval.linguistics.annotators.protocol import Token

_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+|\S")
LTCR_UNSPACED_LANGUAGES = frozenset({"ja", "th", "zh"})
"""Languages whose words an annotator has to find."""

# Never renderings: aligners link words without a counterpart to them. Modals, negations and degree words are not
# listed, as they render adverbs and verbs such as 必须 and 更.
FUNCTION_WORDS = frozenset(
    """a an the this that these those of to in on at by for from with into onto over under about as than and or but nor
    so if then there it its he his him she her hers they their them we our us you your i my me who whom whose which
    what when where while be is are was were been being am has have had having do does did s t re ve ll d m up out off
    through between among""".split()
)


def tokenize_words(texts: Sequence[str], language: str) -> list[tuple[Token, ...]]:
    """The words and punctuation of each text; a token's lemma is its stem."""
    if language_code(language) not in LTCR_UNSPACED_LANGUAGES:
        return [
            tuple(_token(match.group(), match.start(), language) for match in _WORD.finditer(text)) for text in texts
        ]
    from eval.linguistics.annotators import annotator_for

    return [
        tuple(_token(token.text, token.start, language) for token in annotation.tokens)
        for annotation in annotator_for(language).annotate(texts)
    ]


def _token(text: str, start: int, language: str) -> Token:
    return Token(text, start, "", stem_word(text, language))


def is_content_word(token: Token) -> bool:
    """Whether a word may be a rendering: not an English function word, and not a symbol except currencies."""
    word = token.text
    if word.lower() in FUNCTION_WORDS:
        return len(word) > 1 and word.isupper()  # US, IT, WHO
    return any(map(str.isalnum, word)) or unicodedata.category(word[0]) == "Sc"


def locate_words(words: Sequence[str], text: str) -> list[tuple[int, int]]:
    """The span of each word in the text it was cut from, ignoring spaces; empty for a word that does not occur."""
    places = [place for place, letter in enumerate(text) if not letter.isspace()]
    squeezed = "".join(text[place] for place in places)
    spans, done = [], 0
    for word in words:
        letters = "".join(word.split())
        if letters and squeezed.startswith(letters, done):
            start, done = done, done + len(letters)
            spans.append((places[start], places[done - 1] + 1))
        else:
            spans.append((0, 0))
    return spans
