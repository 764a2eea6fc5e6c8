"""All guards together: they never raise, never reject the MT, are quick, and give printable messages."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ape.guards import GUARDS, check_draft
from ape.guards.thresholds import PAIR_THRESHOLDS, pair_thresholds
from ape.passage.result import Severity
from ape.passage.segment import Context, Draft, Segment
from tests.linear import assert_linear

LANGUAGES = st.sampled_from(["en", "fr", "de", "ru", "zh", "ja", "ar", "ne", "si", "th", "xx"])
TEXTS = st.text(
    alphabet=st.characters() | st.sampled_from(" .!?\n\"'“”<>{}[]()*#-:0123456789ABCdef的他ёЖعの"), max_size=300
)


@settings(max_examples=200, deadline=None)
@given(TEXTS, TEXTS, TEXTS, LANGUAGES, LANGUAGES, TEXTS)
def test_no_text_in_any_script_makes_a_guard_raise(
    source: str, mt: str, draft: str, source_language: str, target_language: str, other: str
) -> None:
    segment = Segment(source, mt, source_language, target_language, (Context(other, other),), ((other, other),), other)
    for finding in check_draft(segment, Draft(draft)):
        assert finding.guard in GUARDS
        assert "\n" not in finding.message


@settings(max_examples=200, deadline=None)
@given(TEXTS, TEXTS, LANGUAGES, LANGUAGES)
def test_a_draft_equal_to_the_mt_has_no_findings(
    source: str, mt: str, source_language: str, target_language: str
) -> None:
    assert check_draft(Segment(source, mt, source_language, target_language), Draft(mt.strip())) == ()


def test_a_good_repair_has_no_finding() -> None:
    segment = Segment(
        "Anna prit le train de 8 heures et arriva à Lyon le soir même.",
        "Anna took the train of 8 hours and arrived in Lyon the evening same.",
        "fr",
        "en",
    )
    assert check_draft(segment, Draft("Anna took the 8 o'clock train and arrived in Lyon that same evening.")) == ()


def test_a_draft_without_words_is_checked_by_one_guard_only() -> None:
    findings = check_draft(Segment("Il partit.", "He left.", "fr", "en"), Draft("…", "length"))
    assert [finding.guard for finding in findings] == ["empty"]


def test_findings_are_in_the_order_of_the_guards_and_quote_the_words() -> None:
    segment = Segment("Il avait 17 ans à Lyon.", "He was 17 years old in Lyon.", "fr", "en")
    findings = check_draft(segment, Draft("Assistant: He was 19 years old in Lyon."))
    guards = [finding.guard for finding in findings]
    assert guards == sorted(guards, key=list(GUARDS).index)
    assert any("“19”" in finding.message for finding in findings if finding.guard == "numbers")


def test_long_quotations_are_shortened_and_control_characters_removed() -> None:
    segment = Segment("Il partit.", "He left.", "fr", "en")
    for finding in check_draft(segment, Draft("Translation:\x1b[31m " + "He went away. \x00" * 500)):
        assert len(finding.message) < 400
        assert finding.message.isprintable()


def test_every_language_pair_has_plausible_thresholds() -> None:
    for pair in [*PAIR_THRESHOLDS, ("xx", "yy")]:
        row = pair_thresholds(*pair)
        assert 0 < row.shortest < 1 < row.longest
        assert row.edit_rate > 0.5


WORST = {
    "one letter": "a" * 20_000,
    "one word": "no " * 6_600,
    "one phrase": "and so it went on and " * 900,
    "one sentence": "It rained all day. " * 1_050,
    "marks": ".,;:!?" * 3_300,
    "spaces": " " * 20_000,
    "newlines": "\n" * 20_000,
    "quotes": '"“”' * 6_600,
    "brackets": "(" * 10_000 + "[" * 10_000,
    "tags": "<i>" * 6_600,
    "open angles": "<" * 20_000,
    "braces": "{" * 20_000,
    "stars": "*" * 20_000,
    "dashes": "- " * 10_000,
    "hashes": "#" * 20_000,
    "digits": "1" * 20_000,
    "numbers": "1 000 " * 3_300,
    "different numbers": " ".join(str(number) for number in range(10_000, 13_300)),
    "dotted numbers": "1." * 10_000,
    "number words": "hundred " * 2_500,
    "names": "Anna Boris Clara " * 1_170,
    "fresh names": " ".join(f"the Name{chr(97 + i % 26)}{chr(97 + i // 26 % 26)}ov" for i in range(1_600)),
    "at signs": "a@" * 10_000,
    "urls": "http://" * 2_800,
    "han": "的" * 20_000,
    "han numerals": "一百" * 10_000,
    "different han": "".join(chr(0x4E00 + number % 9_000) for number in range(20_000)),
    "syllables": "abcdefg" * 2_800,
    "ignore": "ignore the " * 1_800,
    "sorry": "I'm sorry " * 2_000,
    "here is": "Here is the " * 1_600,
    "bars": "<|" * 10_000,
    "percent": "%(" * 10_000,
    "arabic": "كان " * 5_000,
}


@pytest.mark.parametrize("name", WORST)
def test_the_worst_texts_are_checked_in_time_that_grows_with_their_length(name: str) -> None:
    def check(size: int) -> None:
        text = WORST[name][:size]
        usual = ("The captain counted his men twice before the ferry left the harbour. " * 290)[:size]
        check_draft(Segment(usual, usual, "fr", "en"), Draft(text))
        check_draft(Segment(usual, text, "fr", "en"), Draft(usual))
        check_draft(Segment(text, text, "fr", "en"), Draft(text[::-1]))

    assert_linear(check, 1_250)


def test_texts_of_nothing_but_names_are_compared_in_time_that_grows_with_their_length() -> None:
    """Each new or lost name is compared with those of another text: of very many, the first are judged."""

    def names(first: str, size: int) -> str:
        words = (f"{first}{chr(97 + i % 26)}{chr(97 + i // 26 % 26)}{chr(97 + i // 676)}ov saw" for i in range(2_000))
        return " ".join(words)[:size]

    def check(size: int) -> None:
        source, mt, draft = (names(first, size) for first in "BDK")
        check_draft(Segment(source, mt, "fr", "en"), Draft(draft))
        check_draft(Segment("word " * (size // 5), "Word " * (size // 5), "fr", "en"), Draft(draft))

    assert_linear(check, 1_250)


def test_warnings_do_not_reject_a_draft() -> None:
    segment = Segment("Alors Antoine partit.", "Then Antoine left.", "fr", "en")
    findings = check_draft(segment, Draft("Then he left."))
    assert findings
    assert {finding.severity for finding in findings} == {Severity.WARN}


def test_every_guard_has_its_own_module_and_test_file() -> None:
    here = Path(__file__).parent
    for name, guard in GUARDS.items():
        assert guard.__module__ == f"ape.guards.{name}"
        assert (here / f"test_{name}.py").exists()
