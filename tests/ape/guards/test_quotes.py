"""Quotation marks that lose their partner."""

from __future__ import annotations

import pytest

from tests.ape.guards.conftest import Ask


@pytest.mark.parametrize(
    ("source", "mt", "draft"),
    [
        ("« Viens », dit-il.", "“Come,” he said.", "“Come, he said."),
        ("« Viens », dit-il.", '"Come," he said.', '"Come, he said.'),
        ("Il vint (enfin).", "He came (at last).", "He came (at last."),
        ("„Komm“, sagte er.", "«Viens», dit-il.", "«Viens, dit-il."),
        ("「来い」と言った。", "“Come,” he said.", "Come,” he said."),
    ],
)
def test_quotation_marks_that_lost_their_partner_are_refused(
    ask: Ask, source: str, mt: str, draft: str
) -> None:
    assert ask("quotes", mt, draft, source) == "reject"


@pytest.mark.parametrize(
    ("source", "mt", "draft"),
    [
        ("« Viens », dit-il.", "“Come,” he said.", '"Come," he said.'),
        ("« Viens », dit-il.", "“Come,” he said.", "‘Come,’ he said."),
        ("« Viens.", "“Come.", "“Come here."),
        ("„Komm“, sagte er.", "„Come“, he said.", "“Come,” he said."),
        ("Il n'est pas là.", "He isn't there.", "He's not there."),
        ("「来い」と言った。", "“Come,” he said.", "「Come」, he said."),
        ("« Viens.", "Come.", "“Come."),
        ("« Viens », dit-il.", "“Come,” he said.", "He told me to come."),
    ],
)
def test_quotation_marks_that_pair_or_never_did_pass(ask: Ask, source: str, mt: str, draft: str) -> None:
    assert ask("quotes", mt, draft, source) in ("", "warn")


@pytest.mark.parametrize(
    ("source", "mt", "draft", "weight"),
    [
        ("« Viens », dit-il.", "“Come,” he said.", "Come, he said.", "warn"),
        ("« Viens », dit-il.", "“Come,” he said.", "— Come, he said.", ""),
        ("« Viens », dit-il.", "“Come,” he said.", "'Come,' he said.", ""),
        ("« Viens », dit-il.", "Come, he said.", "Come here, he said.", ""),
        ("Viens, dit-il.", "“Come,” he said.", "Come, he said.", ""),
    ],
)
def test_quotation_marks_that_are_all_gone_are_told(
    ask: Ask, source: str, mt: str, draft: str, weight: str
) -> None:
    assert ask("quotes", mt, draft, source) == weight
