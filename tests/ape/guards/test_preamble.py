"""Drafts with comments about the work."""

from __future__ import annotations

import pytest

from tests.ape.guards.conftest import SeverityOf

EDITED = "He took the lamp off the table, and the two of them went down into the cellar."
MT = "He took the lamp from the table, and together they went down to the cellar."


@pytest.mark.parametrize(
    "draft",
    [
        f"Here is the corrected translation:\n\n{EDITED}",
        f"Sure! Here's the revised passage: {EDITED}",
        f"Certainly, I have polished the text below.\n\n{EDITED}",
        f"Post-edit: {EDITED}",
        f"English: {EDITED}",
        f"Of course! I'd be happy to help. The improved version reads: {EDITED}",
        f"Hier ist die überarbeitete Übersetzung:\n{EDITED}",
        f"Voici la traduction révisée : {EDITED}",
        f"Вот исправленный перевод:\n{EDITED}",
        f"以下是润色后的译文：\n{EDITED}",
        f"{EDITED}\n\nLet me know if you'd like any further changes!",
        f"{EDITED}\n\nNote: I changed the order of the words.",
        f"{EDITED} I hope this helps!",
        f"{EDITED}\n(I have corrected the preposition.)",
        f"{EDITED} Please feel free to ask for other revisions.",
    ],
)
def test_comments_about_the_work_are_rejected(severity_of: SeverityOf, draft: str) -> None:
    assert (
        severity_of("preamble", MT, draft, "Il prit la lampe sur la table et ils descendirent à la cave.") == "reject"
    )


@pytest.mark.parametrize(
    ("mt", "draft"),
    [
        (MT, EDITED),
        ("Of course! I will help you.", "Sure! I'll help you."),
        ("Here is the text of the letter: come.", "Here is what the letter said: come."),
        ("This is the translation that he gave me: “Flee.”", "Here is the translation he gave me: “Flee!”"),
        ("Say me if you have need of something.", "Let me know if you need anything."),
        ("I have kept your letters. Note well: I burned mine.", "I kept your letters. Note: I burned mine."),
        ("Certainly, sir. The carriage waits.", "Of course, sir. Your carriage is waiting."),
        ("他说：“当然可以。”", "他说：“当然。”"),
    ],
)
def test_dialogue_passes(severity_of: SeverityOf, mt: str, draft: str) -> None:
    assert severity_of("preamble", mt, draft) == ""
