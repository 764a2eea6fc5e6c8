"""Links, tags and placeholders that a draft loses, invents or nests wrongly."""

from __future__ import annotations

import pytest

from tests.ape.guards.conftest import SeverityOf


@pytest.mark.parametrize(
    ("source", "mt", "draft"),
    [
        ("Voir https://example.org/a.", "See https://example.org/a.", "See the site."),
        ("Écris à a@example.org.", "Write to a@example.org.", "Write to b@example.org."),
        ("Bonjour {0} !", "Hello {0}!", "Hello!"),
        ("Il a %s ans.", "He is %s years old.", "He is years old."),
        ("Voir ⟦1⟧ ici.", "See ⟦1⟧ here.", "See ⟦2⟧ here."),
        ("Un <i>mot</i>.", "A <i>word</i>.", "A word."),
        ("Un <i>mot</i>.", "A <i>word</i>.", "A </i>word<i>."),
        ("Un <b><i>mot</i></b>.", "A <b><i>word</i></b>.", "A <b><i>word</b></i>."),
        ("Un mot.", "A word.", "A word (https://evil.example)."),
        ("Voir [[note]].", "See [[note]].", "See."),
    ],
)
def test_links_tags_and_placeholders_lost_invented_or_crossed_are_refused(
    severity_of: SeverityOf, source: str, mt: str, draft: str
) -> None:
    assert severity_of("placeholders", mt, draft, source) == "reject"


@pytest.mark.parametrize(
    ("source", "mt", "draft"),
    [
        ("Voir https://example.org/a.", "See https://example.org/a.", "Look at https://example.org/a, please."),
        ("Bonjour {0}, {1} !", "Hello {0}, {1}!", "{1}, hello {0}!"),
        ("Un <i>mot</i> juste.", "A <i>word</i> just.", "Just a <i>word</i>."),
        ("Un <i>mot</i>.", "A word.", "A <i>word</i>."),
        ("100% sûr", "100% sure", "100% certain"),
        ("Un<br/>deux", "One<br/>two", "First<br/>second"),
        ("a < b et c > d", "a < b and c > d", "a < b, and c > d"),
        ("Un mot.", "A word {x}.", "A word."),
    ],
)
def test_links_tags_and_placeholders_kept_moved_or_restored_pass(
    severity_of: SeverityOf, source: str, mt: str, draft: str
) -> None:
    assert severity_of("placeholders", mt, draft, source) in ("", "warn")
