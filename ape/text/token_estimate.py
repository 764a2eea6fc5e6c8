"""Estimate the number of tokens of a text as a range, by script, without a tokenizer."""

from __future__ import annotations

from dataclasses import dataclass

from ape.text.languages import script_counts


@dataclass(frozen=True, slots=True)
class TokenRange:
    """A range of token counts or rates."""

    low: float = 0.0
    high: float = 0.0

    def __add__(self, other: TokenRange) -> TokenRange:
        return TokenRange(self.low + other.low, self.high + other.high)

    def times(self, low: float, high: float | None = None) -> TokenRange:
        """Multiply the two ends, by `low` and `high` or both by `low`."""
        return TokenRange(self.low * low, self.high * (low if high is None else high))


# Tokens per character, spaces and punctuation included. High: measured with the mostly English vocabulary of SmolLM2
# (49,152 tokens; en 0.23, de 0.37, fr 0.36, et 0.42, ro 0.43, ru 0.76, ne 1.15, zh 1.80, si 2.61) and rounded up;
# estimated for other scripts. Low: estimated for multilingual vocabularies of 150,000 tokens and more.
PER_CHARACTER = {
    "Latin": TokenRange(0.20, 0.45), "Cyrillic": TokenRange(0.22, 0.80),
    "Greek": TokenRange(0.30, 1.00), "Han": TokenRange(0.55, 1.90), "Hiragana": TokenRange(0.55, 1.70),
    "Katakana": TokenRange(0.55, 1.90), "Hangul": TokenRange(0.50, 2.20),
    "Arabic": TokenRange(0.25, 1.00), "Hebrew": TokenRange(0.30, 1.10), "Devanagari": TokenRange(0.25, 1.20),
    "Sinhala": TokenRange(0.60, 2.70), "Tamil": TokenRange(0.35, 2.60), "Thai": TokenRange(0.30, 2.20),
}  # fmt: skip
PER_CHARACTER_OTHER = TokenRange(0.30, 2.70)
PER_CHARACTER_NO_LETTERS = TokenRange(0.30, 1.00)
# Every vocabulary encodes English best.
PER_CHARACTER_ENGLISH = TokenRange(0.20, 0.27)


def estimate_tokens(text: str, *, language: str = "") -> TokenRange:
    """Estimate the tokens of a text; with the language "en", Latin letters count as English."""
    scripts = script_counts(text)
    letters = scripts.total()
    if not letters:
        return PER_CHARACTER_NO_LETTERS.times(len(text))
    total = TokenRange()
    for script, count in scripts.items():
        english = script == "Latin" and language == "en"
        rate = PER_CHARACTER_ENGLISH if english else PER_CHARACTER.get(script, PER_CHARACTER_OTHER)
        total += rate.times(len(text) * count / letters)
    return total
