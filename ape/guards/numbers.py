"""Numbers lost or invented."""

from __future__ import annotations

from ape.guards.numerals import Number, Numbers, knows, numbers_in
from ape.guards.wording import listed, reject, warn
from ape.segment import Draft, Segment
from ape.verdict import Finding


def numbers(segment: Segment, draft: Draft) -> list[Finding]:
    """Digits in the draft that neither source nor MT has, or that both have and the draft has not."""
    source = numbers_in(segment.source, segment.source_language)
    mt = numbers_in(segment.mt, segment.target_language)
    new = numbers_in(draft.text, segment.target_language)
    return _invented(segment, source, mt, new) + _lost(segment, source, mt, new)


def _invented(segment: Segment, source: Numbers, mt: Numbers, new: Numbers) -> list[Finding]:
    found = [
        number.surface for number in new.digits if not (_said(number, mt, new) or _said(number, source, new))
    ]
    if not found:
        return []
    message = f"Neither the source nor the MT has the number {listed(found)}."
    return [reject("numbers", message)]


def _lost(segment: Segment, source: Numbers, mt: Numbers, new: Numbers) -> list[Finding]:
    found = [
        number for number in source.digits if _said(number, mt, source) and not _said(number, new, source)
    ]
    if not found:
        return []
    message = f"The source and the MT have {listed(number.surface for number in found)}; the draft does not."
    # A small number may be spelled out in a language whose number words we do not know.
    if not knows(segment.target_language) and all(len(number.joined) < 3 for number in found):
        return [warn("numbers", message)]
    return [reject("numbers", message)]


def _said(number: Number, numbers: Numbers, home: Numbers) -> bool:
    """Whether a number that stands in one text is said in another, in any form."""
    if numbers.has(number):
        return True
    return numbers.has_scaled(number) and (numbers.scaled or home.scaled)
