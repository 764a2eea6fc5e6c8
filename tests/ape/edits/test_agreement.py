"""Agreement of neighbours: what two words tell."""

from __future__ import annotations

import pytest

from ape.edits.agreement import repairs_agreement
from ape.edits.diff import find_edits


@pytest.mark.parametrize(
    ("mt", "post_edit", "repaired"),
    [
        ("They was late.", "They were late.", True),
        ("They were late.", "They was late.", False),
        ("He have a boat.", "He has a boat.", True),
        ("It took a hour.", "It took an hour.", True),
        ("It took an hour.", "It took a hour.", False),
        ("She wrote an letter.", "She wrote a letter.", True),
        ("A old man came.", "An old man came.", True),
        ("It was a unidentified man.", "It was an unidentified man.", True),
        ("It was an utopia.", "It was a utopia.", True),
        ("It was a utopia.", "It was an utopia.", False),
        ("If he were here, she left.", "If he was here, she left.", False),
        ("They left early.", "They left late.", False),
    ],
)
def test_an_edit_repairs_agreement_if_fewer_neighbours_disagree(mt: str, post_edit: str, repaired: bool) -> None:
    (edit,) = find_edits(mt, post_edit)
    assert repairs_agreement(edit, mt) is repaired
