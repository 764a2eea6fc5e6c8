"""Rules for connectives in discourse use in English: "since he left" has one, "since Monday" does not.

Every connective has a class (the four of the Penn Discourse Treebank) and a rule over the words and tags around it.
The rules look for explicit discourse use and favour precision over recall.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from eval.metrics.dip.clauses import (
    CLAUSE_BREAKS,
    FINITE_VERB_TAGS,
    NOMINATIVE_PRONOUNS,
    NOUN_TAGS,
    SENTENCE_STOPS,
    VERB_TAGS,
    ClauseWords,
)

CONNECTIVE_CLASSES = ("comparison", "contingency", "temporal", "expansion")
ConnectiveRule: TypeAlias = Callable[[ClauseWords, int, int], bool]
"""Arguments: the text, the first token of the connective, and the token after its last."""
_DEGREE = frozenset({"JJ", "RB", "JJR", "RBR"})
_ASKING = frozenset("know ask wonder tell see check doubt sure unsure decide remember forget explain".split())
_AFTER_SO = frozenset(", why how what where who let do don don't please".split())


def _always(text: ClauseWords, at: int, end: int) -> bool:
    return True


def _clause(text: ClauseWords, at: int, end: int) -> bool:
    return text.starts_clause(end)


def _clause_or_ing(text: ClauseWords, at: int, end: int) -> bool:
    return text.starts_clause(end) or text.starts_gerund(end)


def _opening(text: ClauseWords, at: int, end: int) -> bool:
    """A sentence adverb: at the head of the sentence, or between punctuation."""
    return text.starts_sentence(at) or (text.word(at - 1) in CLAUSE_BREAKS and text.word(end) in {",", ";"})


def _opening_or_clause(text: ClauseWords, at: int, end: int) -> bool:
    return _opening(text, at, end) or (text.word(at - 1) in {",", ";", "and", "but", "or"} and text.starts_clause(end))


def _ing(text: ClauseWords, at: int, end: int) -> bool:
    """ "By running", not "by the running water"."""
    return text.starts_gerund(end)


def _after(text: ClauseWords, at: int, end: int) -> bool:
    return text.word(end) != "all" and _clause_or_ing(text, at, end)


def _and(text: ClauseWords, at: int, end: int) -> bool:
    """Between clauses or predicates, not between nouns or adjectives."""
    if text.tag(at - 1) in {"JJ", "JJR"} and text.tag(end) in {"JJ", "JJR"}:
        return False
    if text.starts_sentence(at) or text.starts_predicate(end):
        return True
    after = text.skip_adverbs(end)
    return text.starts_subject(after) and (
        text.word(at - 1) in CLAUSE_BREAKS or text.word(after) in NOMINATIVE_PRONOUNS
    )


def _but(text: ClauseWords, at: int, end: int) -> bool:
    if text.word(at - 1) in {"nothing", "anything", "everything", "all", "none", "cannot", "choice", "last", "can't"}:
        return False
    return text.word(end) != "for" and (
        text.follows_break(at) or text.starts_predicate(end) or text.starts_subject(end)
    )


def _or(text: ClauseWords, at: int, end: int) -> bool:
    return text.starts_sentence(at) or (text.follows_break(at) and text.starts_subject(end))


def _for(text: ClauseWords, at: int, end: int) -> bool:
    """ "For he knew": only a nominative distinguishes it from the preposition."""
    return (
        text.follows_break(at)
        and text.word(end) in NOMINATIVE_PRONOUNS - {"it", "you", "who"}
        and text.starts_clause(end)
    )


def _so(text: ClauseWords, at: int, end: int) -> bool:
    """Of consequence, not of degree ("so tired") and not for a clause ("I think so")."""
    if text.tag(end) in _DEGREE and text.word(end) not in NOMINATIVE_PRONOUNS:
        return False
    begins = text.follows_break(at) or text.word(at - 1) == "and"
    return begins and (
        text.word(end) in _AFTER_SO or text.starts_subject(end) or (text.starts_sentence(at) and text.is_question(at))
    )


def _so_that(text: ClauseWords, at: int, end: int) -> bool:
    """ "So that he could", not "so that was it"."""
    return text.tag(end) not in FINITE_VERB_TAGS and text.starts_clause(end)


def _as(text: ClauseWords, at: int, end: int) -> bool:
    """Of time, cause or manner, with a clause; not "as tall as", "the same as", "such as", "as a child"."""
    before, after = text.words[max(0, at - 5) : at], text.word(end)
    if {"as", "same", "such"} & set(before) or after in {"well", "for", "to", "of", "usual", "such", "yet", "soon"}:
        return False
    if text.tag(end) in _DEGREE and "as" in text.words[end : end + 5]:
        return False
    if "so" in before and text.word(at - 2) == "so":
        return False
    return text.starts_clause(end)


def _when(text: ClauseWords, at: int, end: int) -> bool:
    """With a clause; not a direct or indirect question, and not "the day when"."""
    if text.lemmas[at - 1 : at] and text.lemmas[at - 1] in _ASKING:
        return False
    if text.starts_sentence(at) and text.is_question(at) and text.tag(end) in VERB_TAGS:
        return False
    if text.word(at - 1) in {"day", "time", "moment", "year", "night", "age", "point", "hour", "since", "days"}:
        return False
    return _clause_or_ing(text, at, end)


def _if(text: ClauseWords, at: int, end: int) -> bool:
    """A condition; not "asked if", "what if"."""
    if text.word(at - 1) in {"what", "as"} or (at and text.lemmas[at - 1] in _ASKING):
        return False
    return text.starts_clause(end)


def _while(text: ClauseWords, at: int, end: int) -> bool:
    """Not the noun."""
    if text.word(at - 1) in {"a", "the", "this", "that", "some", "long", "little", "quite", "good", "short"}:
        return False
    return _clause_or_ing(text, at, end)


def _since(text: ClauseWords, at: int, end: int) -> bool:
    """With a clause, of time or cause; not "since then", "since 1990", "ever since"."""
    return text.tag(end) != "CD" and text.word(end) not in {"then", "when"} and _clause_or_ing(text, at, end)


def _once(text: ClauseWords, at: int, end: int) -> bool:
    """ "Once he left", not "he once left" or "at once"."""
    return text.word(at - 1) not in {"at", "for"} and text.word(end) != "upon" and text.starts_subject(end)


def _then(text: ClauseWords, at: int, end: int) -> bool:
    """Sequence; not "by then", "just then", "the then king"."""
    if text.word(at - 1) in "since by until till just back only even now the from every right".split():
        return False
    if text.follows_break(at) or text.word(at - 1) in {"and", "but"}:
        return text.word(end) not in {"", *SENTENCE_STOPS}
    if text.word(end) in NOMINATIVE_PRONOUNS and text.starts_clause(end):
        return True
    between = text.tag(at - 1) in NOUN_TAGS | {"PRP", "MD"} | FINITE_VERB_TAGS
    return between and text.tag(end) in VERB_TAGS


def _still(text: ClauseWords, at: int, end: int) -> bool:
    """Concession; not "up to now"."""
    return text.starts_sentence(at) and (text.word(end) == "," or text.starts_subject(end))


def _yet(text: ClauseWords, at: int, end: int) -> bool:
    """Contrast; not "not yet", "yet another", "have yet to"."""
    if text.word(end) in {"another", "to", "again", "more", "", *SENTENCE_STOPS} or text.word(at - 1) in {"not", "as"}:
        return False
    return text.follows_break(at) or (
        text.word(at - 1) == "and" and (text.starts_predicate(end) or text.starts_subject(end))
    )


def _however(text: ClauseWords, at: int, end: int) -> bool:
    """Not "however hard he tried" and not "do it however you want"."""
    return text.word(end) in {",", "."} or (text.starts_sentence(at) and text.tag(end) not in _DEGREE)


def _because(text: ClauseWords, at: int, end: int) -> bool:
    return text.word(end) != "of"


def _instead(text: ClauseWords, at: int, end: int) -> bool:
    return text.word(end) != "of"


def _rather(text: ClauseWords, at: int, end: int) -> bool:
    return text.starts_sentence(at) and text.word(end) == ","


def _to_do(text: ClauseWords, at: int, end: int) -> bool:
    return text.tag(end) in {"VB", "RB", "VBP"}


_COMPARISON: Mapping[str, ConnectiveRule] = {
    "although": _always, "but": _but, "by comparison": _always, "by contrast": _always, "conversely": _always,
    "even though": _always, "even if": _clause, "however": _however, "in contrast": _opening, "instead": _instead,
    "nevertheless": _always, "nonetheless": _always, "on the contrary": _always, "on the other hand": _always,
    "rather": _rather, "rather than": _always, "still": _still, "though": _always, "whereas": _always, "yet": _yet,
}  # fmt: skip
_CONTINGENCY: Mapping[str, ConnectiveRule] = {
    "accordingly": _opening, "as a result": _opening_or_clause, "as long as": _clause, "because": _because,
    "by": _ing, "consequently": _always, "for": _for, "hence": _opening_or_clause, "if": _if, "in case": _clause,
    "in order to": _to_do, "lest": _always, "now that": _clause, "otherwise": _opening_or_clause, "since": _since,
    "so": _so, "so that": _so_that, "therefore": _always, "thereby": _always, "thus": _always, "unless": _always,
    "or else": _opening_or_clause,
}  # fmt: skip
_TEMPORAL: Mapping[str, ConnectiveRule] = {
    "after": _after, "afterward": _always, "afterwards": _always, "as": _as, "as soon as": _clause,
    "at the same time": _opening, "before": _clause_or_ing, "eventually": _opening, "finally": _opening,
    "in the meantime": _always, "later": _opening, "meanwhile": _always, "next": _opening, "once": _once,
    "previously": _opening, "simultaneously": _opening, "since then": _opening, "subsequently": _always,
    "then": _then, "thereafter": _always, "till": _clause, "ultimately": _opening, "until": _clause_or_ing,
    "when": _when, "whenever": _clause, "while": _while,
}  # fmt: skip
_EXPANSION: Mapping[str, ConnectiveRule] = {
    "additionally": _always, "also": _always, "and": _and, "as if": _always, "as though": _always,
    "besides": _opening, "for example": _always, "for instance": _always, "furthermore": _always,
    "in addition": _opening, "in fact": _always, "in other words": _always, "indeed": _opening,
    "likewise": _opening, "moreover": _always, "nor": _clause, "or": _or, "plus": _opening, "similarly": _opening,
    "without": _ing,
}  # fmt: skip
CONNECTIVES: Mapping[str, tuple[int, ConnectiveRule]] = {
    name: (kind, rule)
    for kind, rules in enumerate((_COMPARISON, _CONTINGENCY, _TEMPORAL, _EXPANSION))
    for name, rule in rules.items()
}
