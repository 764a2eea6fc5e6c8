"""The fonts of all pages."""

from __future__ import annotations

import re
from importlib import resources


def test_only_texts_in_their_languages_are_set_in_cjk_fonts() -> None:
    css = resources.files("ape.reports").joinpath("style.css").read_text(encoding="utf-8")
    stacks = re.findall(r"--(?:serif|sans):([^;]+);", css)
    assert stacks
    assert not any("CJK" in stack for stack in stacks)
    assert set(re.findall(r":lang\((\w+)\) \{ font-family: [^}]*CJK", css)) == {"zh", "ja", "ko"}
