"""Clause detection from words and tags, without a parser: sentence starts, subjects and finite verbs."""

from __future__ import annotations

from dataclasses import dataclass

from eval.linguistics.annotators.protocol import Annotation

FINITE_VERB_TAGS = frozenset({"VBD", "VBZ", "VBP", "MD"})
VERB_TAGS = FINITE_VERB_TAGS | {"VB", "VBG", "VBN"}
NOUN_TAGS = frozenset({"NN", "NNS", "NNP", "NNPS"})
ADVERB_TAGS = frozenset({"RB", "RBR"})
# Listed by form: taggers are least reliable here, and clauses are detected by these.
NOMINATIVE_PRONOUNS = frozenset({"i", "he", "she", "it", "we", "they", "you", "there", "who"})
_SUBJECT_TAGS = NOUN_TAGS | {"PRP", "PRP$", "DT", "EX", "CD", "JJ", "JJS", "NNP"}
SENTENCE_STOPS = frozenset({".", "?", "!", ";", ":", "…", "...", "—", "–", "--", "(", ")"})
_QUOTES = frozenset({'"', "“", "”", "``", "''", "‘", "'", "’", "«", "»"})
_OPENING = frozenset({"“", "‘", "«", "``"})
CLAUSE_BREAKS = frozenset({",", ";", ":", "—", "–", "--", "-", "("})
_LOOK = 10


@dataclass(frozen=True, slots=True)
class ClauseWords:
    """Words, tags and lemmas of a text for the connective rules."""

    words: tuple[str, ...]
    tags: tuple[str, ...]
    lemmas: tuple[str, ...]
    sentence_starts: frozenset[int]
    """Tokens that begin a sentence."""

    def word(self, at: int) -> str:
        """The lower-cased word at an index; "" out of range."""
        return self.words[at] if 0 <= at < len(self.words) else ""

    def tag(self, at: int) -> str:
        """The tag at an index; "" out of range."""
        return self.tags[at] if 0 <= at < len(self.tags) else ""

    def starts_sentence(self, at: int) -> bool:
        """Whether a sentence begins here, ignoring quotation marks and dashes."""
        while at not in self.sentence_starts and at > 0 and self.words[at - 1] in _QUOTES:
            at -= 1
            if self.words[at] in _OPENING:
                return True
        return at in self.sentence_starts or at == 0 or self.words[at - 1] in SENTENCE_STOPS

    def follows_break(self, at: int) -> bool:
        """Whether a sentence or a clause after punctuation begins here."""
        return self.starts_sentence(at) or self.word(at - 1) in CLAUSE_BREAKS

    def is_question(self, at: int) -> bool:
        """Whether the sentence of this token ends in a question mark."""
        rest = (word for word in self.words[at:] if word in {".", "?", "!"})
        return next(rest, "") == "?"

    def starts_clause(self, at: int) -> bool:
        """Whether a subject and a finite verb begin here, before any punctuation.

        "The war he had lost" does not count: a pronoun after a noun is the subject of a relative clause.
        """
        noun = False
        for place in range(at, min(at + _LOOK, len(self.words))):
            word, tag = self.words[place], self.tags[place]
            if word in SENTENCE_STOPS or word == "," or (word in _QUOTES and tag != "POS"):
                return False
            if word in NOMINATIVE_PRONOUNS and noun and self.word(place - 1) not in {"and", "or"}:
                return False
            if tag in FINITE_VERB_TAGS or (noun and self._is_past_tense(place)):
                return place > at
            noun = noun or tag in NOUN_TAGS or word in NOMINATIVE_PRONOUNS
        return False

    def starts_gerund(self, at: int) -> bool:
        """Whether an -ing form begins a phrase here; taggers take many for nouns."""
        word, after = self.word(at), self.tag(at + 1)
        if self.tag(at) in ADVERB_TAGS:
            return self.tag(at + 1) == "VBG"
        plain = word.endswith("ing") and len(word) > 5 and not word.endswith(("thing", "evening", "morning"))
        return self.tag(at) == "VBG" or (plain and after in {"DT", "PRP", "PRP$", "IN", "TO", "NNP", "WP"})

    def _is_past_tense(self, at: int) -> bool:
        """Whether a participle tag is a past tense: a true participle follows a form of be or have."""
        if self.tags[at] != "VBN":
            return False
        return not {"be", "have", "'ve", "'s", "’s", "'d", "’d"} & set(self.lemmas[max(0, at - 3) : at])

    def starts_subject(self, at: int) -> bool:
        """Whether a clause begins here with a word that can start a subject."""
        return (self.tag(at) in _SUBJECT_TAGS or self.word(at) in NOMINATIVE_PRONOUNS) and self.starts_clause(at)

    def starts_predicate(self, at: int) -> bool:
        """Whether a finite verb follows, after optional adverbs: "and slowly went"."""
        return self.tag(self.skip_adverbs(at)) in FINITE_VERB_TAGS

    def skip_adverbs(self, at: int) -> int:
        """The index of the first token from here that is not an adverb."""
        while self.tag(at) in ADVERB_TAGS:
            at += 1
        return at


def clause_words(annotation: Annotation) -> ClauseWords:
    """Convert an annotated text."""
    return ClauseWords(
        tuple(token.text.lower() for token in annotation.tokens),
        tuple(token.tag for token in annotation.tokens),
        tuple(token.lemma.lower() for token in annotation.tokens),
        frozenset(annotation.sentences),
    )
