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
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from rapidfuzz.distance import Indel, Prefix

from ape.edits.agreement import repairs_agreement
from ape.edits.conventions import is_convention, is_quotation_mark
from ape.edits.diff import edit_rate, find_edits
from ape.passage.edit import Edit, EditKind
from ape.passage.segment import Segment, TokenLogprobs
from ape.text.english_verbs import is_past_form
from ape.text.lexicon import load_lexicon
from ape.text.repetition import Loop, find_added_loops, word_spans
from ape.text.romanisation import letter_similarity, plain_letters, romanise
from ape.text.tokens import words

# Lower log-probabilities are raised to this.
LOGPROB_FLOOR = -10.0
# A larger margin says no more: where the MT is not among the alternatives, its log-probability is unknown.
_MAX_MARGIN = 4.0
# A name is restored if its letters are this similar to a word of the source, and the name of the MT is less so.
_RESTORED_SIMILARITY = 0.8
_RESTORED_GAIN = 0.04
# Letters of a name that the source may have with another ending, and what this similarity counts.
_SHORTEST_STEM = 5
_STEM_WEIGHT = 0.95
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
    "margin",  # by how much `lead` exceeds `rival`
    "gendered",  # a pronoun of one gender replaces one of another
    "to_past",  # a verb form of the past replaces one of the present: no infinitive, not in speech or a question
    "to_present",  # the reverse
    "marks",  # only punctuation is changed, added or removed
    "renames",  # a name is changed, added or removed
    "doubt",  # how unlikely the model found the words of the MT that the draft keeps
    "verb",  # the same verb in another form
    "pronoun",
    "choice",  # other words of the same place
    "order",  # the same words in another order
    "capitalises",  # only the capital of a word is added
    "agrees",  # a verb or an article that does not fit its neighbour is replaced by one that does
)
# Fitted filters without these features ignore them.
_GENDERS = {
    word: words.split()[0]
    for words in ("he him his himself", "she her hers herself", "it its itself")
    for word in words.split()
}
_WORD = re.compile(r"\w+")
_IMPERSONAL = re.compile(
    r"it(?:['’]s| (?:\w+ )?(?:is|was|be|been|seems?|seemed|looks?|looked|appears?|appeared|feels?|felt))"
    r" (?:\w+ )?(?:as (?:if|though)|like|that)\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)")
_MARKUP = re.compile(r"</?\w[^<>]*>|⟦[^⟦⟧]*⟧")
_MARKED = re.compile(r"\d|\b[^\W\d_a-z]\w*")


@dataclass(frozen=True, slots=True)
class EditEvidence:
    """An edit and its features, in the order of FILTER_FEATURES; none if its tokens are not known.

    `blocked` edits are refused whatever their features: they lose content words, give an impersonal "it" a person, or
    change mark-up or a convention.
    `cuts_loop` edits are accepted whatever their features: they only shorten a loop that the source lacks.
    `restores_name` edits bring each name closer to a word of the source: Severin for Severei.
    """

    edit: Edit
    values: tuple[float, ...]
    blocked: bool = False
    cuts_loop: bool = False
    is_typography: bool = False
    restores_name: bool = False


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
        _doubt(tokens, starts, [(shift + edit.span[0], shift + edit.span[1]) for edit in edits], shift, len(text)),
    )
    return [
        EditEvidence(
            edit,
            draft.features(edit),
            blocked=_is_typography(edit) or draft.loses_content(edit) or _is_impersonal(edit, mt),
            cuts_loop=edit in loop_cuts,
            is_typography=_is_typography(edit),
            restores_name=restores_name(edit, segment.source),
        )
        for edit in edits
    ]


def restores_name(edit: Edit, source: str) -> bool:
    """Whether each name that the edit changes has the letters of a word of the source afterwards, and had not before.

    Words of other scripts are compared by their romanisation. A name that the source has as the MT does, such as a
    case form, is not restored by another.
    """
    before, after = _WORD.findall(edit.before), _WORD.findall(edit.after)
    if edit.kind is not EditKind.NAME or len(before) != len(after):
        return False
    read = {plain_letters(romanise(word)) for word in _WORD.findall(source)}
    return all(
        _is_restored(plain_letters(old), plain_letters(new), read) for old, new in zip(before, after, strict=True)
    )


def _is_restored(old: str, new: str, source_words: Collection[str]) -> bool:
    if min(len(old), len(new)) < 4 or not source_words:
        return False
    similarity = max(_name_similarity(new, word) for word in source_words)
    if similarity < _RESTORED_SIMILARITY:
        return False
    return similarity > _RESTORED_GAIN + max(_name_similarity(old, word) for word in source_words)


def _name_similarity(name: str, word: str) -> float:
    """How similar the letters of a name and of a word are; the word may have a case ending (Severinului)."""
    stem = letter_similarity(name, word[: len(name)]) if len(name) >= _SHORTEST_STEM else 0.0
    return max(letter_similarity(name, word), _STEM_WEIGHT * stem)


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
    doubt: float

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
        rival = self._rival(first, self.mt[mt_departs - overlap :])
        was_past, is_past = any(map(is_past_form, taken)), any(map(is_past_form, put))
        return (
            own[0],
            rival,
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
            min(own[0] - rival, _MAX_MARGIN),
            float(len(taken) == len(put) == 1 and _differ_in_gender(taken[0], put[0])),
            float(
                is_past
                and not was_past
                and edit.kind is EditKind.VERB
                and taken[:1] != ["to"]
                and not _is_speech_or_question(self.mt, edit.mt_span[0])
            ),
            float(was_past and not is_past and edit.kind is EditKind.VERB),
            float(not taken and not put),
            float(edit.kind is EditKind.NAME),
            self.doubt,
            float(edit.kind is EditKind.VERB),
            float(edit.kind is EditKind.PRONOUN),
            float(edit.kind is EditKind.WORD_CHOICE),
            float(edit.kind is EditKind.REORDERING),
            float(edit.kind is EditKind.CASING and before.islower()),
            float(repairs_agreement(edit, self.mt)),
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


def _is_speech_or_question(text: str, position: int) -> bool:
    """Whether a position is between quotation marks or in a question: the tense of the story does not decide there."""
    before = text[:position]
    opened, closed = (sum(map(before.count, marks)) for marks in ("“«「『", "”»」』"))
    if opened > closed or before.count('"') % 2:
        return True
    end = _SENTENCE_END.search(text, position)
    return end is not None and end.group() == "?"


def _is_impersonal(edit: Edit, mt: str) -> bool:
    """Whether the edit replaces an "it" that stands for nobody: "it was as if", "it seemed that"."""
    return edit.kind is EditKind.PRONOUN and _IMPERSONAL.match(mt, edit.mt_span[0]) is not None


def _differ_in_gender(before: str, after: str) -> bool:
    """Whether both are gendered pronouns, not forms of the same one: "her" for "she" repairs a case, not a person."""
    genders = {_GENDERS.get(before.lower()), _GENDERS.get(after.lower())}
    return len(genders) == 2 and None not in genders


def _doubt(
    tokens: Sequence[TokenLogprobs], starts: Sequence[int], edited: Sequence[tuple[int, int]], begin: int, length: int
) -> float:
    """The mean negative log-probability of the draft's tokens outside the edits."""
    kept: list[float] = []
    spans = iter(edited)
    span = next(spans, None)
    for token, start in zip(tokens, starts, strict=False):
        while span and span[1] < start:
            span = next(spans, None)
        inside = span is not None and start + len(token.text) > span[0]
        if begin <= start < begin + length and not inside:
            kept.append(max(token.logprob, LOGPROB_FLOOR))
    return -sum(kept) / len(kept) if kept else 0.0


def _is_typography(edit: Edit) -> bool:
    changes_markup = _MARKUP.findall(edit.before) != _MARKUP.findall(edit.after)
    return changes_markup or is_convention(edit) or is_quotation_mark(edit)


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
