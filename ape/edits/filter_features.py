"""Features of each edit of a draft: how sure the model was of it, and what it removes and adds.

A server reports the log-probability of each token of the draft and of some alternatives. Where the draft departs from
the MT, one of the alternatives continues the MT: the two log-probabilities are the model's own choice between editing
and keeping, at no extra cost.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from rapidfuzz.distance import Indel, Prefix

from ape.edits.diff import edit_rate, find_edits
from ape.passage.edit import Edit
from ape.passage.segment import Segment, TokenLogprobs
from ape.text.lexicon import load_lexicon
from ape.text.repetition import Loop, find_added_loops, word_spans
from ape.text.tokens import words

# Lower log-probabilities are raised to this.
LOGPROB_FLOOR = -10.0
FILTER_FEATURES = (
    "lead",  # log-probability of the token at which the draft departs from the MT
    "rival",  # that of the likeliest alternative that continues the MT
    "sure",  # mean log-probability of the edit's tokens
    "weakest",  # the lowest among them
    "back",  # log-probability of the token with which the draft returns to the MT
    "taken",  # logarithm of the words removed
    "put",  # logarithm of the words added
    "insertion",
    "deletion",
    "lead_insertion",  # `lead` of a pure insertion
    "lead_deletion",  # `lead` of a pure deletion
    "alike",  # similarity of the two wordings, by characters
    "spelling",  # whether only capitals or marks differ
    "from_source",  # share of the words added that the source contains verbatim
    "off_source",  # share of the words removed that the source contains verbatim
    "nearer",  # gain in similarity to the words of the source
    "repeated",  # share of the words removed that occur elsewhere in the MT
    "repeats",  # a deletion of nothing but words that occur elsewhere in the MT
    "restored",  # a wording of the source replaces one of equal length that it lacks
    "pieces",  # logarithm of tokens per word added: names and nonsense have many
    "loses_name",  # a capital or a digit is removed and none is added
    "brings_name",
    "first",  # the edit begins the text
    "last",  # the edit ends the text
    "rate",  # edit rate of the whole draft
    "foreign",  # share of the letters of the source that are not Latin
)
_WORD = re.compile(r"\w+")
_MARKED = re.compile(r"\d|\b[^\W\d_a-z]\w*")


@dataclass(frozen=True, slots=True)
class EditEvidence:
    """An edit and its features, in the order of FILTER_FEATURES; none if its tokens are not known.

    `blocked` edits are refused whatever their features: they lose content words, or change nothing but spaces.
    `cuts_loop` edits are accepted whatever their features: they only shorten a loop that the source lacks.
    """

    edit: Edit
    values: tuple[float, ...]
    blocked: bool = False
    cuts_loop: bool = False


def collect_edit_evidence(segment: Segment, text: str, logprobs: Sequence[TokenLogprobs]) -> list[EditEvidence]:
    """Find the edits of a draft with their features; `logprobs` are the tokens of the reply that holds `text`."""
    mt = segment.mt.strip()
    edits = find_edits(mt, text, language=segment.target_language)
    loop_cuts = _find_loop_cuts(edits, segment, mt)
    tokens = _join_split_characters(logprobs)
    starts = list(accumulate((len(token.text) for token in tokens), initial=0))
    shift = "".join(token.text for token in tokens).find(text)
    if shift < 0:  # these are not the tokens of this text
        return [EditEvidence(edit, (), cuts_loop=edit in loop_cuts) for edit in edits]
    draft = _DraftEvidence(
        mt,
        text,
        tuple(tokens),
        tuple(start - shift for start in starts),
        frozenset(_WORD.findall(segment.source.lower())),
        Counter(_WORD.findall(mt.lower())),
        min(edit_rate(mt, text), 1.0),
        _non_latin_share(segment.source),
        load_lexicon(segment.target_language).grammatical,
    )
    return [
        EditEvidence(
            edit,
            draft.features(edit),
            blocked=_is_spacing(edit) or draft.loses_content(edit),
            cuts_loop=edit in loop_cuts,
        )
        for edit in edits
    ]


def _find_loop_cuts(edits: Sequence[Edit], segment: Segment, mt: str) -> frozenset[Edit]:
    """The edits that shorten a loop of the MT to whole rounds and do nothing else."""
    joining = load_lexicon(segment.target_language).grammatical
    found: set[Edit] = set()
    for loop in find_added_loops(mt, segment.source):
        cuts = [edit for edit in edits if not words(edit.after) and _is_within(edit, loop)]
        removed = {
            index
            for index, (start, end) in enumerate(_shifted(word_spans(mt[slice(*loop.span)]), loop.span[0]))
            if any(edit.mt_span[0] <= start and end <= edit.mt_span[1] for edit in cuts)
        }
        if loop.is_shortened_to([word for index, word in enumerate(loop.words) if index not in removed], joining):
            found.update(cuts)
    return frozenset(found)


def _is_within(edit: Edit, loop: Loop) -> bool:
    """Whether all words that the edit removes belong to the loop; punctuation at its ends may lie outside."""
    spans = _shifted(word_spans(edit.before), edit.mt_span[0])
    return bool(spans) and loop.span[0] <= spans[0][0] and spans[-1][1] <= loop.span[1]


def _shifted(spans: Sequence[tuple[int, int]], offset: int) -> list[tuple[int, int]]:
    return [(start + offset, end + offset) for start, end in spans]


@dataclass(frozen=True, slots=True)
class _DraftEvidence:
    """Values shared by all edits of a draft. `starts` holds the offset of each token in the text, and of its end."""

    mt: str
    text: str
    tokens: tuple[TokenLogprobs, ...]
    starts: tuple[int, ...]
    source_words: frozenset[str]
    mt_words: Counter[str]
    rate: float
    foreign: float
    grammatical: frozenset[str]

    def loses_content(self, edit: Edit) -> bool:
        """Whether the edit removes more content words than it adds, ignoring words that occur elsewhere in the MT."""
        taken = [word for word in self._content(edit.before) if self.mt_words[word] < 2]
        return len(taken) > len(self._content(edit.after))

    def _content(self, text: str) -> list[str]:
        return [word for word in _WORD.findall(text.lower()) if word not in self.grammatical]

    def features(self, edit: Edit) -> tuple[float, ...]:
        before, after = edit.before.strip(), edit.after.strip()
        same = Prefix.similarity(self.mt[edit.mt_span[0] :], self.text[edit.span[0] :])
        departs, mt_departs = edit.span[0] + same, edit.mt_span[0] + same
        first = self._token_at(departs)
        overlap = min(departs - self.starts[first], mt_departs)  # the token may start before the texts differ
        next_token = max(first + 1, self._token_at(edit.span[1]))
        own = [self._logprob(index) for index in range(first, next_token)]
        taken, put = _WORD.findall(before), _WORD.findall(after)
        from_source, off_source = self._share_in_source(put), self._share_in_source(taken)
        repeated = self._share_repeated(taken)
        return (
            own[0],
            self._rival(first, self.mt[mt_departs - overlap :]),
            sum(own) / len(own),
            min(own),
            self._logprob(next_token),
            math.log1p(len(taken)),
            math.log1p(len(put)),
            float(not before),
            float(not after),
            own[0] * (not before),
            own[0] * (not after),
            Indel.normalized_similarity(before, after),
            float("".join(taken).lower() == "".join(put).lower()),
            from_source,
            off_source,
            self._similarity(put) - self._similarity(taken),
            repeated,
            float(repeated == 1 and not after),
            float(from_source == 1 and off_source == 0 and len(taken) == len(put)),
            math.log1p((next_token - first) / max(len(put), 1)),
            float(bool(_MARKED.search(before)) and not _MARKED.search(after)),
            float(bool(_MARKED.search(after)) and not _MARKED.search(before)),
            float(edit.mt_span[0] == 0),
            float(edit.mt_span[1] == len(self.mt)),
            self.rate,
            self.foreign,
        )

    def _token_at(self, position: int) -> int:
        """The index of the token at a position; past the end of the text, that of the unreported end token."""
        return max(bisect_right(self.starts, position) - 1, 0)

    def _logprob(self, index: int) -> float:
        return max(self.tokens[index].logprob, LOGPROB_FLOOR) if index < len(self.tokens) else 0.0

    def _rival(self, index: int, continuation: str) -> float:
        """The log-probability of the likeliest alternative that continues the MT."""
        if index >= len(self.tokens):
            return LOGPROB_FLOOR
        chosen = self.tokens[index]
        fitting = [
            logprob
            for text, logprob in chosen.alternatives
            if text != chosen.text and (continuation.startswith(text) if text else not continuation)
        ]
        return max([LOGPROB_FLOOR, *fitting])

    def _share_in_source(self, words: Sequence[str]) -> float:
        return sum(word.lower() in self.source_words for word in words) / len(words) if words else 0.0

    def _similarity(self, words: Sequence[str]) -> float:
        """The mean similarity of each word to its most similar word of the source; short words match anything."""
        long = [word.lower() for word in words if len(word) > 3 or word.isdigit()]
        return sum(_best_similarity(word, self.source_words) for word in long) / len(long) if long else 0.0

    def _share_repeated(self, words: Sequence[str]) -> float:
        again = sum(self.mt_words[word.lower()] > 1 for word in words)
        return again / len(words) if words else 0.0


def _is_spacing(edit: Edit) -> bool:
    return "".join(edit.before.split()) == "".join(edit.after.split())


def _best_similarity(word: str, words: Iterable[str]) -> float:
    return max((Indel.normalized_similarity(word, other) for other in words), default=0.0)


def _join_split_characters(tokens: Sequence[TokenLogprobs]) -> list[TokenLogprobs]:
    """Join tokens that are parts of one character: log-probabilities add up, alternatives are those of the first."""
    whole: list[TokenLogprobs] = []
    for token in tokens:
        if whole and not _is_text(whole[-1].text):
            first = whole.pop()
            joined = (first.text + token.text).encode(errors="surrogateescape")
            token = TokenLogprobs(
                joined.decode(errors="surrogateescape"), first.logprob + token.logprob, first.alternatives
            )
        whole.append(token)
    return whole


def _is_text(text: str) -> bool:
    return not any("\udc80" <= character <= "\udcff" for character in text)


def _non_latin_share(source: str) -> float:
    letters = [character for character in source if character.isalpha()]
    return sum(character > "\u024f" for character in letters) / len(letters) if letters else 0.0
