"""Connectives of a Chinese source that an output surely leaves out.

Most connectives that an output lacks stand for a comma, a participle or a paraphrase, and are no errors. One is surely
left out only where the source has a contrast or a cause in so many words, the reference has a connective of that sense,
and the output is about as long as the reference and has none of the many words that may express the sense. Conditions
are not judged: English says them in too many ways ("the point of losing", "anyone who leaves").
All others are undecided. A source that is not Chinese decides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eval.linguistics.annotators.protocol import Annotation, Token
from eval.metrics.dip.connective_senses import CONNECTIVE_SENSES

_CLAUSE_START = r"(?:^|[，。！？；：、…—“”「」『』‘’\s,.!?;:\"])"
_SOURCE: Mapping[str, re.Pattern[str]] = {
    "contrast": re.compile(
        _CLAUSE_START
        + r"(?:但是|但(?![凡愿求])|可是|然而|不过(?![是一二三四五六七八九十百千万两几\d]|如此|而已|片刻|短短))"
        r"|虽然|虽说|尽管|即使|哪怕|就算|即便"
    ),
    "cause": re.compile(r"因为|由于|所以(?!然)|因此|因而|既然"),
}
"""What says each relation in a Chinese sentence and hardly anything else; 却 and 可 are often rightly left out."""
_SENSES: Mapping[str, frozenset[str]] = {
    "contrast": frozenset({"contrast"}),
    "cause": frozenset({"cause", "consequence"}),
}
# These have several senses, or are often understood from the order of clauses.
_LOOSE = frozenset({"and", "as", "for", "once", "or", "since", "still", "then", "when", "whenever", "while"})
_EXPRESSIONS: Mapping[str, frozenset[str]] = {
    "contrast": frozenset(
        """but however yet though although while whilst whereas still nevertheless nonetheless despite spite even
        instead rather only just except unfortunately otherwise regardless hand contrary conversely contrast unlike
        notwithstanding albeit least matter actually fact alas merely simply never anyway if as""".split()
    ),
    "cause": frozenset(
        """because since as for so due owing thanks therefore thus hence result results resulting consequently
        accordingly why reason reasons given account cause caused causes causing led lead leads leading by from with
        through view light after consequence and being having enough""".split()
    ),
}
"""Words that may express a relation; an output with any of them is not judged."""
_CONNECTIVES: Mapping[str, frozenset[str]] = {
    relation: frozenset(name for name, all_of in CONNECTIVE_SENSES.items() if all_of & senses and name not in _LOOSE)
    for relation, senses in _SENSES.items()
}
_SHORTEST_OUTPUT = 0.6
_ENDS = frozenset(".!?…")
_QUOTES = "\"'”’»)] "


@dataclass(frozen=True, slots=True)
class ConnectiveContext:
    """A segment in which a connective may be left out: source, reference, and the output with its neighbours."""

    source: str
    reference: Annotation
    output: Annotation
    before: Annotation | None = None
    after: Annotation | None = None

    def is_surely_omitted(self, name: str) -> bool:
        """Whether the output, which lacks this connective of the reference, leaves out what the source says."""
        if name in _LOOSE or not self._is_whole():
            return False
        return any(
            CONNECTIVE_SENSES[name] & _SENSES[relation]
            and said.search(self.source)
            and _words(self.output.tokens).isdisjoint(_EXPRESSIONS[relation])
            and self._words_nearby().isdisjoint(_CONNECTIVES[relation])
            for relation, said in _SOURCE.items()
        )

    def _is_whole(self) -> bool:
        """Whether the output is about as long as the reference, and begins and ends as sentences do."""
        tokens = [token.text for token in self.output.tokens if token.text.strip(_QUOTES)]
        if len(tokens) < _SHORTEST_OUTPUT * len(self.reference.tokens):
            return False
        return not next(word for word in tokens if word[0].isalnum())[0].islower() and tokens[-1][-1] in _ENDS

    def _words_nearby(self) -> set[str]:
        """The words of the sentences before and after: outputs may be divided in other places than references."""
        tokens: list[Token] = []
        if self.before is not None:
            tokens += self.before.tokens[max(self.before.sentences, default=0) :]
        if self.after is not None:
            second = min((start for start in self.after.sentences if start), default=None)
            tokens += self.after.tokens[:second]
        return _words(tokens)


def _words(tokens: Sequence[Token]) -> set[str]:
    return {token.text.lower() for token in tokens}
