"""Source text that a draft leaves untranslated."""

from __future__ import annotations

import pytest

from tests.ape.guards.conftest import SeverityOf
from tests.ape.guards.test_language import CHINESE, EDITED, ENGLISH, FRENCH, GERMAN, RUSSIAN


@pytest.mark.parametrize(
    ("languages", "source", "mt", "draft"),
    [
        ("fr-en", FRENCH, ENGLISH, FRENCH),
        ("fr-en", FRENCH, ENGLISH, f"{EDITED} {FRENCH}"),
        ("fr-en", FRENCH, ENGLISH, "The girl carried le lourd sac de l'autre côté before the rain."),
        ("de-en", GERMAN, ENGLISH, "The miller's girl trug den schweren Sack über die Brücke before it rained."),
        ("zh-en", CHINESE, ENGLISH, f"{EDITED} {CHINESE}"),
        ("ru-en", RUSSIAN, ENGLISH, f"The girl перенесла тяжёлый мешок через мост, прежде чем it rained. {EDITED}"),
    ],
)
def test_source_left_in_is_refused(severity_of: SeverityOf, languages: str, source: str, mt: str, draft: str) -> None:
    assert severity_of("source_left_in", mt, draft, source, languages) == "reject"


@pytest.mark.parametrize(
    ("source", "mt", "draft"),
    [
        (FRENCH, ENGLISH, EDITED),
        ("Il lut Le Rouge et le Noir.", "He read The Red and the Black.", "He read Le Rouge et le Noir."),
        ("« Honni soit qui mal y pense. »", "“Honni soit qui mal y pense.”", "“Honni soit qui mal y pense!”"),
        ("Paris, 12 mai 1846", "Paris, 12 May 1846", "Paris, May 12, 1846"),
        ("Non.", "No.", "Non."),
    ],
)  # fmt: skip
def test_what_the_mt_left_as_it_was_and_short_titles_may_stay(
    severity_of: SeverityOf, source: str, mt: str, draft: str
) -> None:
    assert severity_of("source_left_in", mt, draft, source) in ("", "warn")
