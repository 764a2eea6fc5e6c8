"""Source text that is left in a book."""

from __future__ import annotations

import pytest

from ape.jobs.untranslated_text import find_untranslated_text

SOURCE = "Il y avait dans le château de monsieur le baron de Thunder-ten-tronckh un jeune garçon très doux."


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("There lived in the castle of the baron de Thunder-ten-tronckh a very gentle boy.", False),
        ("There lived in the château de monsieur le baron de Thunder-ten-tronckh a very gentle boy.", True),
    ],
)
def test_a_name_that_the_mt_keeps_is_not_source_text(text: str, found: bool) -> None:
    assert bool(find_untranslated_text(SOURCE, text, source_language="fr", target_language="en")) is found
