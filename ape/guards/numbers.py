"""Numbers lost or invented."""

from __future__ import annotations

from ape.guards.messages import quote, quote_list, reject, warn
from ape.passage.result import Finding
from ape.passage.segment import Draft, Segment
from ape.text.numerals import Number, TextNumbers, find_numbers, knows_number_words

# Small number words change with the wording ("one", "first", "a couple").
_DOZEN = 12
# From here on number words are often figurative: one translation says "a hundred times", another "a thousand times".
# Eleven of the 586 paragraphs of Candide change such a number. None loses a smaller, exact number, nor does MLQE-PE.
_ROUND = 100


def numbers(segment: Segment, draft: Draft) -> list[Finding]:
    """Find numbers that the draft invents, and numbers of both source and MT that it loses."""
    source = find_numbers(segment.source, segment.source_language)
    mt = find_numbers(segment.mt, segment.target_language)
    new = find_numbers(draft.text, segment.target_language)
    return _invented(segment, source, mt, new) + _lost(segment, source, mt, new) + _lost_words(segment, source, mt, new)


def _invented(segment: Segment, source: TextNumbers, mt: TextNumbers, new: TextNumbers) -> list[Finding]:
    found = [number.surface for number in new.digits if not (_occurs(number, mt, new) or _occurs(number, source, new))]
    if not found:
        return []
    noun = "number" if len(found) == 1 else "numbers"
    message = f"Neither the source nor the MT contains the {noun} {quote_list(found)}."
    return [reject("numbers", message)]


def _lost(segment: Segment, source: TextNumbers, mt: TextNumbers, new: TextNumbers) -> list[Finding]:
    found = [number for number in source.digits if _occurs(number, mt, source) and not _occurs(number, new, source)]
    if not found:
        return []
    message = f"The source and the MT contain {quote_list(number.surface for number in found)}; the draft does not."
    # A small number may be spelled out in a language whose number words we do not know.
    if not knows_number_words(segment.target_language) and all(len(number.joined) < 3 for number in found):
        return [warn("numbers", message)]
    return [reject("numbers", message)]


def _occurs(number: Number, numbers: TextNumbers, home: TextNumbers) -> bool:
    """Whether a number of the text `home` occurs in another text, in any form."""
    if numbers.has(number):
        return True
    return numbers.has_scaled(number) and (numbers.scaled or home.scaled)


def _lost_words(segment: Segment, source: TextNumbers, mt: TextNumbers, new: TextNumbers) -> list[Finding]:
    """Values above a dozen that source and MT spell out and the draft does not contain in any form."""
    if not mt.may_exceed(_DOZEN):
        return []
    large = {value for value in mt.values if value > _DOZEN}
    if not large:
        return []
    both = large & source.values
    lost = {value for value in both if not new.has_in_words(value)}
    # The twenty of twenty-five is not judged separately.
    exact = sorted(v for v in lost if v < _ROUND and (v % 10 or both.isdisjoint(range(v + 1, v + 10))))
    if exact and not _may_be_estimate(segment):
        message = f"The source and the MT say {quote_list(map(str, exact))} in words; the draft does not."
        other_measures = new.other_measures - mt.other_measures
        return [(warn if other_measures else reject)("numbers", message)]
    if lost and max(both) in lost and max(both) >= _ROUND:
        message = f"The source and the MT say {quote(str(max(both)))} in words; the draft does not."
        return [warn("numbers", message)]
    return []


def _may_be_estimate(segment: Segment) -> bool:
    """Whether the number may be an estimate: Chinese writes "eight or nine" as two digits without the sign for ten."""
    return segment.source_language in ("zh", "ja") and "十" not in segment.source
