"""What the guards' tests share: a quick way to ask one guard about one draft."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ape.guards import GUARDS
from ape.passage.result import Severity
from ape.passage.segment import Context, Draft, Segment

Ask = Callable[..., str]


@pytest.fixture
def ask() -> Ask:
    """Ask one guard about a draft: the weight of what it found ("reject", "warn"), or "" where it found nothing."""

    def asked(
        guard: str,
        mt: str,
        draft: str,
        source: str = "",
        languages: str = "fr-en",
        *,
        finish_reason: str = "stop",
        context: tuple[str, ...] = (),
        glossary: tuple[tuple[str, str], ...] = (),
        instructions: str = "",
    ) -> str:
        source_language, target_language = languages.split("-")
        before = tuple(Context("", target) for target in context)
        segment = Segment(source, mt, source_language, target_language, before, glossary, instructions)
        findings = GUARDS[guard](segment, Draft(draft, finish_reason))
        assert all(finding.guard == guard and finding.message.endswith((".", "”")) for finding in findings)
        weights = {finding.severity for finding in findings}
        return next((str(weight) for weight in (Severity.REJECT, Severity.WARN) if weight in weights), "")

    return asked
