"""How many tokens a text will be, without the model that counts them: a range, by the scripts of its letters."""

from __future__ import annotations

from dataclasses import dataclass

from ape.languages import script_counts


@dataclass(frozen=True, slots=True)
class Range:
    """Between what and what."""

    low: float = 0.0
    high: float = 0.0

    def __add__(self, other: Range) -> Range:
        return Range(self.low + other.low, self.high + other.high)

    def times(self, low: float, high: float | None = None) -> Range:
        """Both ends multiplied, each by its own factor."""
        return Range(self.low * low, self.high * (low if high is None else high))


# Tokens per character, spaces and points included. High: SmolLM2's vocabulary of 49,152, mostly English, measured (en
# 0.23, de 0.37, fr 0.36, et 0.42, ro 0.43, ru 0.76, ne 1.15, zh 1.80, si 2.61) and rounded up; for scripts not measured
# our estimate. Low: our estimate of what vocabularies of 150,000 and more, made for many languages, come to.
PER_CHARACTER = {
    "Latin": Range(0.20, 0.45), "Cyrillic": Range(0.22, 0.80), "Greek": Range(0.30, 1.00), "Han": Range(0.55, 1.90),
    "Hiragana": Range(0.55, 1.70), "Katakana": Range(0.55, 1.90), "Hangul": Range(0.50, 2.20),
    "Arabic": Range(0.25, 1.00), "Hebrew": Range(0.30, 1.10), "Devanagari": Range(0.25, 1.20),
    "Sinhala": Range(0.60, 2.70), "Tamil": Range(0.35, 2.60), "Thai": Range(0.30, 2.20),
}  # fmt: skip
OTHER = Range(0.30, 2.70)
NO_LETTERS = Range(0.30, 1.00)
# English is what every vocabulary is best at.
ENGLISH = Range(0.20, 0.27)


def estimate(text: str, *, language: str = "") -> Range:
    """The tokens of a text; Latin letters are taken as English ones where that is the language."""
    scripts = script_counts(text)
    letters = scripts.total()
    if not letters:
        return NO_LETTERS.times(len(text))
    total = Range()
    for script, count in scripts.items():
        english = script == "Latin" and language == "en"
        rate = ENGLISH if english else PER_CHARACTER.get(script, OTHER)
        total += rate.times(len(text) * count / letters)
    return total
