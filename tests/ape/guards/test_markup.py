"""Chat and code mark-up in a draft."""

from __future__ import annotations

import pytest

from tests.ape.guards.conftest import SeverityOf

EDITED = "He took the lamp off the table, and the two of them went down into the cellar."
MT = "He took the lamp from the table, and together they went down to the cellar."


@pytest.mark.parametrize(
    "draft",
    [
        f"```\n{EDITED}\n```",
        f"**{EDITED}**",
        f"### Output\n{EDITED}",
        f"<|im_start|>assistant\n{EDITED}<|im_end|>",
        f"[INST] {EDITED}",
        f"Assistant: {EDITED}",
        f"<mt>{EDITED}</mt>",
        f"<source>x</source> {EDITED}",
        f"{EDITED} <SEP>",
        f"{EDITED}</s>",
        f"- {EDITED}\n- {EDITED}",
        f"{EDITED}\n---\n",
        f"<think>hm</think>{EDITED}",
        f"<start_of_turn>{EDITED}",
        f"‹source› {EDITED}",
        f"{EDITED} ⟨/translation⟩",
        f"《translation》{EDITED}",
        f"&lt;translation&gt;{EDITED}",
        f"{EDITED}[/translation]",
    ],
)
def test_chat_and_code_markup_is_rejected(severity_of: SeverityOf, draft: str) -> None:
    assert severity_of("markup", MT, draft) == "reject"


@pytest.mark.parametrize(
    ("mt", "draft"),
    [
        (MT, EDITED),
        ("He was **very** angry.", "He was **furious**."),
        ("# Chapter 1", "# Chapter One"),
        ("- Who is it? - It's me.", "- Who's there? - Me."),
        ("The <source> of it", "The <source> of this"),
        ("2 * 3 * 4", "2 * 3 * 4 = 24"),
        ("He paused -- then spoke.", "He paused --- then he spoke."),
        ("No. # 5", "No. #5"),
        ("He read the ‹Source› aloud.", "He read ‹Source› out loud."),
        ("He read 'The Passage' [sic].", "He read ‹The Passage› [sic]."),
    ],
)
def test_markup_of_the_mt_and_punctuation_of_prose_pass(severity_of: SeverityOf, mt: str, draft: str) -> None:
    assert severity_of("markup", mt, draft) == ""
