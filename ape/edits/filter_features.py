"""What speaks for and against each edit of a draft: how sure the model was of it, and what it takes away or brings.

A server tells the chance of each token it chose, and of some that it did not. Where the draft leaves the MT, one of
those others is how the MT goes on: the two chances are the model's own choice between editing and keeping, and cost
nothing.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from rapidfuzz.distance import Indel

from ape.edits.diff import edit_rate, find_edits
from ape.passage.edit import Edit
from ape.passage.segment import Segment, TokenLogprobs
from ape.text.lexicon import load_lexicon
from ape.text.repetition import Loop, find_added_loops, word_spans
from ape.text.tokens import words

# Log-probabilities below this are all the same: never.
LOGPROB_FLOOR = -10.0
FILTER_FEATURES = (
    "lead",  # log-probability of the token with which the draft leaves the MT
    "rival",  # that of the token with which the MT goes on
    "sure",  # mean log-probability of the edit's tokens
    "weakest",  # the lowest among them
    "back",  # that of the token with which the draft is back in the MT
    "taken",  # words taken out, as a logarithm
    "put",  # words put in, likewise
    "insertion",
    "deletion",
    "lead_insertion",  # the first of these, where something is only put in
    "lead_deletion",  # and where something is only taken out
    "alike",  # how far the two wordings have the same letters
    "spelling",  # whether only capitals or marks differ
    "from_source",  # share of the words put in that stand in the source as they are
    "off_source",  # share of the words taken out that do
    "nearer",  # how much more the wording looks like some word of the source than before
    "repeated",  # share of the words taken out that stand elsewhere in the MT
    "repeats",  # only words that stand elsewhere in the MT are taken out, and nothing comes
    "restored",  # a wording that the source has takes the place of as long a one that it has not
    "pieces",  # tokens a word put in, as a logarithm: names and nonsense have many
    "loses_name",  # a capital or a digit goes, and none comes
    "brings_name",
    "first",  # it is at the very beginning
    "last",  # it is at the very end
    "rate",  # edit rate of the whole draft
    "foreign",  # share of the source that is not in Latin letters
)
_WORD = re.compile(r"\w+")
_MARKED = re.compile(r"\d|\b[^\W\d_a-z]\w*")


@dataclass(frozen=True, slots=True)
class EditEvidence:
    """An edit and its features, in the order of FEATURES.

    `barred` is one that no weight can speak for: words of meaning go with none for them, or only spaces change.
    `unloops` is one that needs none: all it does is to take rounds out of a loop of the MT that the source has not.
    """

    edit: Edit
    values: tuple[float, ...]
    barred: bool = False
    unloops: bool = False


def collect_edit_evidence(
    segment: Segment, text: str, chances: Sequence[TokenLogprobs]
) -> list[EditEvidence]:
    """The edits of a draft, each with what speaks for it; `text` is the draft that the tokens spell."""
    mt = segment.mt.strip()
    edits = find_edits(mt, text, language=segment.target_language)
    unlooping = _unlooping(edits, segment, mt)
    chances = _whole_characters(chances)
    starts = list(accumulate((len(one.text) for one in chances), initial=0))
    whole = "".join(one.text for one in chances)
    shift = whole.find(text)
    if shift < 0:  # not the tokens of this text: nothing is known of any edit
        return [EditEvidence(edit, (), unloops=edit in unlooping) for edit in edits]
    frame = _DraftEvidence(
        mt,
        text,
        tuple(chances),
        tuple(start - shift for start in starts),
        frozenset(_WORD.findall(segment.source.lower())),
        Counter(_WORD.findall(mt.lower())),
        min(edit_rate(mt, text), 1.0),
        _foreign(segment.source),
        load_lexicon(segment.target_language).grammatical,
    )
    return [
        EditEvidence(
            edit,
            frame.features(edit),
            barred=_is_spacing(edit) or frame.loses_content(edit),
            unloops=edit in unlooping,
        )
        for edit in edits
    ]


def _unlooping(edits: Sequence[Edit], segment: Segment, mt: str) -> frozenset[Edit]:
    """The edits that cut loops of the MT down to whole rounds, and do nothing else."""
    joining = load_lexicon(segment.target_language).grammatical
    found: set[Edit] = set()
    for loop in find_added_loops(mt, segment.source):
        cuts = [edit for edit in edits if not words(edit.after) and _is_within(edit, loop)]
        gone = {
            at
            for at, place in enumerate(_shifted(word_spans(mt[slice(*loop.span)]), loop.span[0]))
            if any(edit.mt_span[0] <= place[0] and place[1] <= edit.mt_span[1] for edit in cuts)
        }
        if loop.is_cut_to([word for at, word in enumerate(loop.words) if at not in gone], joining):
            found.update(cuts)
    return frozenset(found)


def _is_within(edit: Edit, loop: Loop) -> bool:
    """Whether the edit takes words out, all of them the loop's; marks at its ends may stand outside."""
    places = _shifted(word_spans(edit.before), edit.mt_span[0])
    return bool(places) and loop.span[0] <= places[0][0] and places[-1][1] <= loop.span[1]


def _shifted(places: Sequence[tuple[int, int]], by: int) -> list[tuple[int, int]]:
    return [(start + by, end + by) for start, end in places]


@dataclass(frozen=True, slots=True)
class _DraftEvidence:
    """What all edits of a draft have in common. `starts` are the tokens' places in the text, and its end."""

    mt: str
    text: str
    chances: tuple[TokenLogprobs, ...]
    starts: tuple[int, ...]
    source_words: frozenset[str]
    mt_words: Counter[str]
    rate: float
    foreign: float
    grammatical: frozenset[str]

    def loses_content(self, edit: Edit) -> bool:
        """Whether more words of meaning are taken out than put in, but for those that stand elsewhere in the MT."""
        taken = [word for word in self._content(edit.before) if self.mt_words[word] < 2]
        return len(taken) > len(self._content(edit.after))

    def _content(self, text: str) -> list[str]:
        return [word for word in _WORD.findall(text.lower()) if word not in self.grammatical]

    def features(self, edit: Edit) -> tuple[float, ...]:
        before, after = edit.before.strip(), edit.after.strip()
        same = _common(self.mt[edit.mt_span[0] :], self.text[edit.span[0] :])
        leaves, mt_leaves = edit.span[0] + same, edit.mt_span[0] + same
        first = self._token_at(leaves)
        begun = min(leaves - self.starts[first], mt_leaves)  # the token may start before the texts part
        behind = max(first + 1, self._token_at(edit.span[1]))
        own = [self._chance(at) for at in range(first, behind)]
        taken, put = _WORD.findall(before), _WORD.findall(after)
        from_source, off_source, repeated = (
            self._in_source(put),
            self._in_source(taken),
            self._repeated(taken),
        )
        return (
            own[0],
            self._rival(first, self.mt[mt_leaves - begun :]),
            sum(own) / len(own),
            min(own),
            self._chance(behind),
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
            self._likeness(put) - self._likeness(taken),
            repeated,
            float(repeated == 1 and not after),
            float(from_source == 1 and off_source == 0 and len(taken) == len(put)),
            math.log1p((behind - first) / max(len(put), 1)),
            float(bool(_MARKED.search(before)) and not _MARKED.search(after)),
            float(bool(_MARKED.search(after)) and not _MARKED.search(before)),
            float(edit.mt_span[0] == 0),
            float(edit.mt_span[1] == len(self.mt)),
            self.rate,
            self.foreign,
        )

    def _token_at(self, place: int) -> int:
        """The token that the character there is of; behind the text, the end token, which servers do not tell."""
        return max(bisect_right(self.starts, place) - 1, 0)

    def _chance(self, at: int) -> float:
        return max(self.chances[at].logprob, LOGPROB_FLOOR) if at < len(self.chances) else 0.0

    def _rival(self, at: int, goes_on: str) -> float:
        """Of the tokens that were not chosen, the likeliest with which the MT would go on."""
        others = self.chances[at].others if at < len(self.chances) else ()
        chosen = self.chances[at].text if at < len(self.chances) else ""
        fit = [
            chance
            for token, chance in others
            if token != chosen and (goes_on.startswith(token) if token else not goes_on)
        ]
        return max([LOGPROB_FLOOR, *fit])

    def _in_source(self, words: Sequence[str]) -> float:
        return sum(word.lower() in self.source_words for word in words) / len(words) if words else 0.0

    def _likeness(self, words: Sequence[str]) -> float:
        """How much they look like words of the source, the best for each; short ones look like anything."""
        long = [word.lower() for word in words if len(word) > 3 or word.isdigit()]
        return sum(_likeness(word, self.source_words) for word in long) / len(long) if long else 0.0

    def _repeated(self, words: Sequence[str]) -> float:
        again = sum(self.mt_words[word.lower()] > 1 for word in words)
        return again / len(words) if words else 0.0


def _is_spacing(edit: Edit) -> bool:
    return "".join(edit.before.split()) == "".join(edit.after.split())


def _likeness(word: str, words: Iterable[str]) -> float:
    return max((Indel.normalized_similarity(word, other) for other in words), default=0.0)


def _whole_characters(chances: Sequence[TokenLogprobs]) -> list[TokenLogprobs]:
    """Tokens that are parts of one character, as one: their chances multiplied, the others those of the first."""
    whole: list[TokenLogprobs] = []
    for one in chances:
        if whole and not _is_text(whole[-1].text):
            joined = (whole[-1].text + one.text).encode(errors="surrogateescape")
            one = TokenLogprobs(
                joined.decode(errors="surrogateescape"), whole[-1].logprob + one.logprob, whole[-1].others
            )
            whole.pop()
        whole.append(one)
    return whole


def _is_text(text: str) -> bool:
    return not any("\udc80" <= character <= "\udcff" for character in text)


def _common(one: str, other: str) -> int:
    """How many characters both begin with."""
    for at, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return at
    return min(len(one), len(other))


def _foreign(source: str) -> float:
    letters = [character for character in source if character.isalpha()]
    return sum(character > "\u024f" for character in letters) / len(letters) if letters else 0.0
