"""Unbalanced quotation marks and brackets."""

from __future__ import annotations

import pytest

from tests.ape.guards.conftest import SeverityOf


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
def test_unbalanced_quotation_marks_are_rejected(severity_of: SeverityOf, source: str, mt: str, draft: str) -> None:
    assert severity_of("quotes", mt, draft, source) == "reject"


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
def test_balanced_marks_and_marks_unbalanced_in_the_mt_pass(
    severity_of: SeverityOf, source: str, mt: str, draft: str
) -> None:
    assert severity_of("quotes", mt, draft, source) in ("", "warn")


@pytest.mark.parametrize(
    ("source", "mt", "draft", "severity"),
    [
        ("« Viens », dit-il.", "“Come,” he said.", "Come, he said.", "warn"),
        ("« Viens », dit-il.", "“Come,” he said.", "— Come, he said.", ""),
        ("« Viens », dit-il.", "“Come,” he said.", "'Come,' he said.", ""),
        ("« Viens », dit-il.", "Come, he said.", "Come here, he said.", ""),
        ("Viens, dit-il.", "“Come,” he said.", "Come, he said.", ""),
    ],
)
def test_missing_quotation_marks_are_a_warning(
    severity_of: SeverityOf, source: str, mt: str, draft: str, severity: str
) -> None:
    assert severity_of("quotes", mt, draft, source) == severity
