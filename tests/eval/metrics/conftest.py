"""A corpus of two short chapters with two references and two systems."""

from __future__ import annotations

import pytest

from eval.corpus.corpus import Corpus, Document

FIRST = (
    "The ferryman waited until the fog had lifted from the river.",
    "He counted the coins twice, and then he let the widow go aboard.",
    "Nobody spoke before they reached the other bank.",
)
SECOND = (
    "The ferryman waited for the fog to leave the river.",
    "Having counted the money twice, he let the widow on board.",
    "Until they had reached the far side nobody said a word.",
)
MACHINE = (
    "The ferry man waited until fog lifted of the river.",
    "She counted coins two times and then let the widow aboard.",
    "Nobody speaks before the other bank.",
)
LAST = ("In spring the bridge was finished.", "The ferry lay in the reeds and rotted.")
LAST_AGAIN = ("The bridge was finished in spring.", "His ferry lay rotting among the reeds.")
LAST_MACHINE = ("In spring, the bridge finished.", "The ferry was in the cane and rotted.")


@pytest.fixture
def corpus() -> Corpus:
    """Two references, and systems called `same` (the first reference) and `machine`."""
    return Corpus(
        (
            Document("1", {"same": FIRST, "machine": MACHINE}, (FIRST, SECOND), ("甲", "乙", "丙")),
            Document("2", {"same": LAST, "machine": LAST_MACHINE}, (LAST, LAST_AGAIN), ("丁", "戊")),
        ),
        "zh",
        "en",
    )
