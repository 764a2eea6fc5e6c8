"""Drafts that rewrite the MT."""

from __future__ import annotations

from tests.ape.guards.conftest import SeverityOf

LONG = (
    "The old house stood at the end of the lane, and nobody had lived in it since the war. "
    "In the evening the windows caught the light, so that it seemed as if somebody were at home."
)


def test_a_new_translation_is_over_the_cap_and_a_repair_is_not(severity_of: SeverityOf) -> None:
    anew = (
        "Decades ago, somewhere past that muddy crossing, someone built what everyone called a manor; soldiers came, "
        "its owners fled, none returned. Now sunset sets fire to every pane, fooling strangers who think families "
        "still dine inside."
    )
    assert severity_of("edit_rate", LONG * 3, anew * 3, LONG * 3) == "reject"
    assert severity_of("edit_rate", LONG, LONG.replace("nobody had lived in it", "it had been empty"), LONG) == ""


def test_a_short_passage_may_change_completely(severity_of: SeverityOf) -> None:
    assert severity_of("edit_rate", "It rains cats.", "It is pouring.", "Il pleut des cordes.") == ""


def test_an_mt_that_omits_most_of_its_source_may_be_rewritten(severity_of: SeverityOf) -> None:
    assert severity_of("edit_rate", "House was there in the lane of old.", LONG, LONG) in ("", "warn")
