"""Languages: names, scripts and detection."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

import regex

LANGUAGE_NAMES = {
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
LANGUAGE_SCRIPTS: dict[str, tuple[str, ...]] = {
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

# Scripts that identify a language.
_BY_SCRIPT = {"Hiragana": "ja", "Katakana": "ja", "Hangul": "ko", "Sinhala": "si", "Thai": "th", "Tamil": "ta",
              "Hebrew": "he", "Greek": "el"}  # fmt: skip


LANGUAGE_CODES = {name.lower(): code for code, name in LANGUAGE_NAMES.items()}
CERTAIN_PROBABILITY = 0.9
MIN_SPACES = 5


def language_name(code: str) -> str:
    """The English name of a language, or the code itself if it is not in the table."""
    return LANGUAGE_NAMES.get(code, "a foreign language" if code == "und" else code)


def language_code(language: str) -> str:
    """The code of a language given by its code or its English name: "fr" for "French", "fr" and "fr-CA"."""
    return language_tag(language).partition("-")[0]


def language_tag(language: str) -> str:
    """The code with the region or script, if given: "fr" for "French", "fr-CA" for "fr_CA"."""
    given = language.strip().replace("_", "-")
    code, dash, region = given.partition("-")
    return LANGUAGE_CODES.get(given.lower(), code.lower() + dash + region)


def language_scripts(language: str) -> tuple[str, ...]:
    """The scripts of a language."""
    return LANGUAGE_SCRIPTS.get(language, ("Latin",))


def script_counts(text: str) -> Counter[str]:
    """The number of letters of each script; rarer scripts are not counted."""
    counts: Counter[str] = Counter()
    for match in _SCRIPT.finditer(text):
        counts[str(match.lastgroup)] += match.end() - match.start()
    return counts


def detect_language(text: str, *, default: str) -> str:
    """Detect the language of a text by its script or, if the text is long enough, by letter statistics.

    `default` is returned if there are too few letters: statistics classify "Yes." as Kabyle.
    """
    if language := _by_script(text):
        return language
    language, probability = classify_language(text)
    if script_counts(text)["Latin"] == 0:
        return language if script_counts(text) else default
    return language if probability >= CERTAIN_PROBABILITY and text.count(" ") >= MIN_SPACES else default


def guess_language(text: str, *, other_than: str) -> str:
    """The most likely language of a text of any length, other than the one given; "und" if it has no letters."""
    if not script_counts(text):
        return "und"
    if language := _by_script(text):
        return language
    return next(str(language) for language, _ in _identifier().rank(text) if language != other_than)


def resolve_languages(
    source: str, mt: str, source_language: str | None = None, target_language: str | None = None
) -> tuple[str, str]:
    """The codes of both languages of a passage: as given, or detected from the texts."""
    target = language_code(target_language or detect_language(mt, default="en"))
    return language_code(source_language or guess_language(source, other_than=target)), target


def _by_script(text: str) -> str | None:
    counts = script_counts(text)
    for script, language in _BY_SCRIPT.items():
        if counts[script] > 0.1 * counts.total():
            return language
    return "zh" if counts["Han"] > 0.3 * counts.total() else None


@lru_cache(maxsize=64)
def classify_language(text: str) -> tuple[str, float]:
    """The most likely language of `LANGUAGE_NAMES` and its probability, by py3langid."""
    language, probability = _identifier().classify(text)
    return str(language), float(probability)


@lru_cache(maxsize=1)
def _identifier():  # type: ignore[no-untyped-def]  # py3langid has no types
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    # With all 139 languages it often classifies short texts as rare ones.
    identifier.set_languages(sorted(LANGUAGE_NAMES.keys() & set(identifier.nb_classes)))
    return identifier
