"""What we know of languages: their names, the scripts they are written in, and how to tell one from another."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

import regex

NAMES = {
    "ar": "Arabic", "bg": "Bulgarian", "ca": "Catalan", "cs": "Czech", "da": "Danish", "de": "German",
    "el": "Greek", "en": "English", "es": "Spanish", "et": "Estonian", "fa": "Persian", "fi": "Finnish",
    "fr": "French", "he": "Hebrew", "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian", "id": "Indonesian",
    "it": "Italian", "ja": "Japanese", "ko": "Korean", "lt": "Lithuanian", "lv": "Latvian", "ms": "Malay",
    "ne": "Nepali", "nl": "Dutch", "no": "Norwegian", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian",
    "ru": "Russian", "si": "Sinhala", "sk": "Slovak", "sl": "Slovene", "sr": "Serbian", "sv": "Swedish",
    "ta": "Tamil", "th": "Thai", "tr": "Turkish", "uk": "Ukrainian", "ur": "Urdu", "vi": "Vietnamese",
    "zh": "Chinese",
}  # fmt: skip

# The scripts a language's own words are written in. A language not listed is taken to use Latin letters.
SCRIPTS: dict[str, tuple[str, ...]] = {
    "ar": ("Arabic",), "bg": ("Cyrillic",), "el": ("Greek",), "fa": ("Arabic",), "he": ("Hebrew",),
    "hi": ("Devanagari",), "ja": ("Han", "Hiragana", "Katakana"), "ko": ("Hangul", "Han"),
    "ne": ("Devanagari",), "ru": ("Cyrillic",), "si": ("Sinhala",), "sr": ("Cyrillic", "Latin"),
    "ta": ("Tamil",), "th": ("Thai",), "uk": ("Cyrillic",), "ur": ("Arabic",), "zh": ("Han",),
}  # fmt: skip

_SCRIPT_NAMES = (
    "Latin", "Cyrillic", "Greek", "Han", "Hiragana", "Katakana", "Hangul", "Arabic", "Hebrew", "Devanagari",
    "Sinhala", "Tamil", "Thai", "Armenian", "Georgian", "Bengali",
)  # fmt: skip
_SCRIPT = regex.compile("|".join(rf"(?P<{name}>\p{{{name}}}+)" for name in _SCRIPT_NAMES))

# Scripts that name their language without any statistics.
_BY_SCRIPT = {"Hiragana": "ja", "Katakana": "ja", "Hangul": "ko", "Sinhala": "si", "Thai": "th", "Tamil": "ta",
              "Hebrew": "he", "Greek": "el"}  # fmt: skip


def name_of(code: str) -> str:
    """The English name of a language, or the code itself where we have none."""
    return NAMES.get(code, code)


def scripts_of(language: str) -> tuple[str, ...]:
    """The scripts that words of this language are written in."""
    return SCRIPTS.get(language, ("Latin",))


def script_counts(text: str) -> Counter[str]:
    """How many letters of each script the text has; letters of rarer scripts are not counted."""
    counts: Counter[str] = Counter()
    for match in _SCRIPT.finditer(text):
        counts[str(match.lastgroup)] += match.end() - match.start()
    return counts


def detect(text: str, *, default: str) -> str:
    """The language of a text: by its script where that decides, by letter statistics else.

    `default` is the answer for a text without letters.
    """
    counts = script_counts(text)
    if not counts:
        return default
    for script, language in _BY_SCRIPT.items():
        if counts[script] > 0.1 * counts.total():
            return language
    if counts["Han"] > 0.3 * counts.total():
        return "zh"
    return classify(text)[0]


@lru_cache(maxsize=1024)
def classify(text: str) -> tuple[str, float]:
    """The most likely language and its probability, by py3langid's letter statistics."""
    language, probability = _identifier().classify(text)
    return str(language), float(probability)


@lru_cache(maxsize=1)
def _identifier():  # type: ignore[no-untyped-def]  # py3langid has no types
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
