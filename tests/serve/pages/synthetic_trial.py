"""A blind test of our own invention, and what a rater does in a browser."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import count
from typing import Any

from eval.human.sheet import public_sheet
from eval.human.trial import Trial, TrialItem, TrialPassage
from eval.human.trial_file import assign_ids
from eval.human.vote import SHUFFLED_SYSTEM
from tests.ape.reports.browser import Tab

HOSTILE = "<script>document.title = 'taken'</script> & </script><!-- <b>bold</b> &amp; \u2028 \"'"
LITERAL, FREE = "literal", "free"
_SEEDS = count(1)  # each trial is another, or votes of one test would be votes of the next


def invented_trial(
    pairs: int = 12, *, hostile: bool = False, spam: int = 0, language: str = "fr", **values: Any
) -> Trial:
    """So many pairs of two systems; each text says which it is, by its own words."""
    passages = tuple(_passage(number, language, hostile) for number in range(pairs + spam))
    items = [
        TrialItem(str(number), passages[number].id, (LITERAL, FREE), _texts(number, hostile)) for number in range(pairs)
    ]
    caught = [
        TrialItem(
            str(number),
            passages[number].id,
            (FREE, SHUFFLED_SYSTEM),
            ((_free(number),), (" ".join(reversed(_free(number).split())),)),
            kind="spam",
        )
        for number in range(pairs, pairs + spam)
    ]
    trial = Trial(
        id="",
        name=f"The harbour {HOSTILE}" if hostile else "The harbour, twice",
        seed=next(_SEEDS),
        systems=(LITERAL, FREE),
        passages=passages,
        items=(*items, *caught),
        target_language="en",
    )
    return assign_ids(replace(trial, **values))


def _passage(number: int, language: str, hostile: bool) -> TrialPassage:
    source = f"Le port dormait encore, et le vieux Marius comptait {number + 2} barques."
    return TrialPassage(f"b:{number}", 1, (f"{source} {HOSTILE}" if hostile else source,), "The harbour", language, "b")


def _texts(number: int, hostile: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    literal = f"The port was sleeping still, and the old Marius was counting {number + 2} boats."
    if hostile:
        return (f"{literal} {HOSTILE}",), (f"{_free(number)} {HOSTILE}",)
    return (literal,), (_free(number),)


def _free(number: int) -> str:
    return f"The harbour was still asleep, and old Marius went on counting: {number + 2} boats today."


def key_for(trial: Trial, rater: str, place: int, system: str = FREE) -> str:
    """The key by which this rater prefers a system in the passage at this place."""
    word = {FREE: "harbour", LITERAL: "port"}[system]
    return "1" if word in public_sheet(trial, rater)["items"][place]["a"][0] else "2"


PLACE = "document.querySelector('#place').textContent"
COUNT = "document.querySelector('#count').textContent"
SAID = "document.querySelector('#said').textContent"
NOTICE = "document.querySelector('#notice').checkVisibility() ? document.querySelector('#notice-text').textContent : ''"


def until(tab: Tab, condition: str) -> None:
    """Come back once an expression of the page is true; the browser's patience is the limit."""
    tab.run(
        f"""new Promise((done) => {{ const look = () => ({condition}) ? done(1) : requestAnimationFrame(look);
        look(); }})"""
    )


def until_at(tab: Tab, place: int) -> None:
    """Come back once the passage of that place is shown, counted from one."""
    until(tab, f"document.querySelector('#vote').checkVisibility() && {PLACE}.startsWith('Passage {place} of ')")


def until_overview(tab: Tab) -> None:
    until(tab, "document.querySelector('#overview').checkVisibility()")


def is_wide(tab: Tab, width: int) -> bool:
    """Whether the page can be scrolled sideways."""
    return int(tab.run("document.documentElement.scrollWidth")) > width


def hidden_to_the_right(tab: Tab) -> bool:
    """Whether a table is wider than its place, so that cells are out of sight until somebody scrolls."""
    wide = "[...document.querySelectorAll('.scroll')].some((one) => one.scrollWidth > one.clientWidth)"
    return bool(tab.run(wide))


def picked(tab: Tab) -> dict[str, Any]:
    """What is chosen in the form."""
    found: dict[str, Any] = json.loads(
        tab.run(
            """JSON.stringify(Object.fromEntries(["choice", "confidence", "believed_human"].map((name) =>
            [name, document.querySelector(`[name=${name}]:checked`)?.value ?? null])))"""
        )
    )
    return found
