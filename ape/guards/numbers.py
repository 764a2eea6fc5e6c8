"""Numbers lost or invented."""

from __future__ import annotations

from ape.guards.messages import quote, quote_list, reject, warn
from ape.passage.result import Finding
from ape.passage.segment import Draft, Segment
from ape.text.numerals import Number, TextNumbers, find_numbers, knows_number_words

# Small number words come and go with the wording ("one", "first", "a couple").
_DOZEN = 12
# From here on they are as often a way of speaking: "a hundred times" is "a thousand times" in the next translation, and
# eleven of Candide's 586 paragraphs change such a one. Of the exact ones below, none is lost there, nor in MLQE-PE.
_ROUND = 100


def numbers(segment: Segment, draft: Draft) -> list[Finding]:
    """Digits in the draft that neither source nor MT has, or that both have and the draft has not."""
    source = find_numbers(segment.source, segment.source_language)
    mt = find_numbers(segment.mt, segment.target_language)
    new = find_numbers(draft.text, segment.target_language)
    return (
        _invented(segment, source, mt, new)
        + _lost(segment, source, mt, new)
        + _unsaid(segment, source, mt, new)
    )


def _invented(segment: Segment, source: TextNumbers, mt: TextNumbers, new: TextNumbers) -> list[Finding]:
    found = [
        number.surface for number in new.digits if not (_said(number, mt, new) or _said(number, source, new))
    ]
    if not found:
        return []
    message = f"Neither the source nor the MT has the number {quote_list(found)}."
    return [reject("numbers", message)]


def _lost(segment: Segment, source: TextNumbers, mt: TextNumbers, new: TextNumbers) -> list[Finding]:
    found = [
        number for number in source.digits if _said(number, mt, source) and not _said(number, new, source)
    ]
    if not found:
        return []
    message = (
        f"The source and the MT have {quote_list(number.surface for number in found)}; the draft does not."
    )
    # A small number may be spelled out in a language whose number words we do not know.
    if not knows_number_words(segment.target_language) and all(len(number.joined) < 3 for number in found):
        return [warn("numbers", message)]
    return [reject("numbers", message)]


def _said(number: Number, numbers: TextNumbers, home: TextNumbers) -> bool:
    """Whether a number that stands in one text is said in another, in any form."""
    if numbers.has(number):
        return True
    return numbers.has_scaled(number) and (numbers.scaled or home.scaled)


def _unsaid(segment: Segment, source: TextNumbers, mt: TextNumbers, new: TextNumbers) -> list[Finding]:
    """Values above a dozen that source and MT spell out and the draft has in no form."""
    if not mt.may_exceed(_DOZEN):
        return []
    both = {value for value in source.values & mt.values if value > _DOZEN}
    gone = {value for value in both if not new.has_in_words(value)}
    # The twenty of twenty-five is judged with it.
    exact = sorted(v for v in gone if v < _ROUND and (v % 10 or both.isdisjoint(range(v + 1, v + 10))))
    if exact and not _is_guess(segment):
        message = f"The source and the MT say {quote_list(map(str, exact))} in words; the draft does not."
        said_otherwise = new.other_measures - mt.other_measures
        return [(warn if said_otherwise else reject)("numbers", message)]
    if gone and max(both) in gone and max(both) >= _ROUND:
        message = f"The source and the MT say {quote(str(max(both)))} in words; the draft does not."
        return [warn("numbers", message)]
    return []


def _is_guess(segment: Segment) -> bool:
    """Chinese puts two digits side by side for "eight or nine"; a number above ten has its sign for ten."""
    return segment.source_language in ("zh", "ja") and "十" not in segment.source
