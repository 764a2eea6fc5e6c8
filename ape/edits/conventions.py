"""Keep the conventions of the MT: a draft may mend its wording, not its typography, spelling standard or date order.

Models normalise what they copy: “word .” becomes “word.”, ’ becomes ', colour becomes color, Cunégonde becomes
Cunegonde, 3 November becomes November 3. None of these is a repair, and in a book each is a new inconsistency. First
the draft takes over the quotes, apostrophes, dashes and tokenisation of the MT; then edits that change a convention and
nothing else are undone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from ape.edits.diff import apply_edits, find_edits
from ape.passage.edit import Edit

# Marks of one meaning. If the MT uses one of a group and the draft another, the draft's is replaced.
_MARK_GROUPS = (("’", "'"), ("…", "..."), ("—", "–", "--"))
_CURLY_QUOTES = re.compile("[“”]")
_STRAIGHT_QUOTE = re.compile('"')
# A straight or curly apostrophe within a word is no quotation mark.
_QUOTATION_MARK = re.compile(r"[\"“”„«»‘]|(?<!\w)'|'(?!\w)")
_OPENS_QUOTE = re.compile(r"(?:^|[\s(\[—–-])$")
_MONTH = (
    "January|February|March|April|May|June|July|August|September|October|November|December|"
    "Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec"
)
_DAY = r"(?P<{0}>\d{{1,2}})(?:st|nd|rd|th)?"
_DATE = re.compile(
    rf"\b{_DAY.format('first')} (?:of )?(?P<month>{_MONTH})\b"
    rf"|\b(?P<later>{_MONTH}) {_DAY.format('second')}\b(?:,(?= \d{{4}}))?"
)
_TOKENISED = re.compile(r"\w [.,;:!?](?: |$)")
_NOT_TOKENISED = re.compile(r"\w[.,;:!?](?: |$)")
_PUNCTUATION = re.compile(r"(?<=[^\s.])([.,;:!?])(?=\s|$)|(?<=[^\s])([()\"“”])|([()\"“”])(?=\S)")
_WORD = re.compile(r"[^\W\d_]+")
# The space of tokenised text in “does n't”, “doesn 't” and “England 's”.
_APART_ENDING = re.compile(r"(?<=\w) (?=['’](?:s|t|re|ve|ll|m|d)\b)|(?<=\w) (?=n['’]t\b)")
# British endings and their American counterparts, longest first.
_ENDINGS = (
    ("isation", "ization"), ("isations", "izations"), ("ising", "izing"), ("ised", "ized"), ("ises", "izes"),
    ("ise", "ize"), ("yse", "yze"), ("ysed", "yzed"), ("ysing", "yzing"), ("ogue", "og"), ("ogues", "ogs"),
    ("lled", "led"), ("lling", "ling"), ("ller", "ler"), ("lment", "llment"), ("lful", "llful"), ("ence", "ense"),
    ("tre", "ter"), ("tres", "ters"), ("bre", "ber"), ("bres", "bers"), ("wards", "ward"),
)  # fmt: skip
_SPELLINGS = {
    "grey": "gray", "greyish": "grayish", "plough": "plow", "pyjamas": "pajamas", "moustache": "mustache",
    "mum": "mom", "storey": "story", "tyre": "tire", "kerb": "curb", "sceptical": "skeptical", "jewellery": "jewelry",
    "programme": "program", "cheque": "check", "axe": "ax", "licence": "license", "practise": "practice",
    "draught": "draft", "towards": "toward", "learnt": "learned", "burnt": "burned", "dreamt": "dreamed",
}  # fmt: skip


def keep_conventions(mt: str, draft: str, *, language: str, wanted: Sequence[str] = ()) -> str:
    """The draft with the conventions of the MT; `language` is that of both texts, `wanted` are wordings to allow."""
    if draft == mt:
        return draft
    text = tokenise_like(mt, _with_dates_of(mt, _with_marks_of(mt, draft)))
    edits = find_edits(mt, text, language=language)
    kept = [edit for edit in edits if not is_convention(edit) or any(wording in edit.after for wording in wanted)]
    return text if len(kept) == len(edits) else apply_edits(mt, kept)


def is_convention(edit: Edit) -> bool:
    """Whether an edit changes a convention and nothing else; a line break is none."""
    same_lines = edit.before.count("\n") == edit.after.count("\n")
    return same_lines and _folded(edit.before) == _folded(edit.after)


def is_quotation_mark(edit: Edit) -> bool:
    """Whether an edit only removes, adds or changes quotation marks."""
    return _without_quotes(edit.before) == _without_quotes(edit.after)


def _without_quotes(text: str) -> str:
    return "".join(_QUOTATION_MARK.sub("", text.replace("’", "'")).split())


def tokenise_like(mt: str, draft: str) -> str:
    """The draft with its punctuation set apart, where that of the MT is and its own is not."""
    return tokenise_punctuation(draft) if _is_tokenised(mt) and not _is_tokenised(draft) else draft


def tokenise_punctuation(text: str) -> str:
    """Set punctuation apart by spaces, as corpora of machine translation do."""
    return re.sub(r"[ \t]{2,}", " ", _PUNCTUATION.sub(_spaced, text)).strip()


def _spaced(match: re.Match[str]) -> str:
    return f" {match[0]} " if match[3] or match[2] else f" {match[0]}"


def _is_tokenised(text: str) -> bool:
    return len(_TOKENISED.findall(text)) > len(_NOT_TOKENISED.findall(text))


def _with_marks_of(mt: str, draft: str) -> str:
    for group in _MARK_GROUPS:
        used = [mark for mark in group if mark in mt]
        if len(used) == 1:
            for mark in group:
                if mark != used[0]:
                    draft = _replace_mark(draft, mark, used[0])
    curly, straight = bool(_CURLY_QUOTES.search(mt)), '"' in mt
    if straight and not curly:
        return _CURLY_QUOTES.sub('"', draft)
    return _STRAIGHT_QUOTE.sub(_curly, draft) if curly and not straight else draft


def _replace_mark(text: str, mark: str, wanted: str) -> str:
    if mark == "'":
        # Only within and after words: at the start of a word it may be a quotation mark.
        return re.sub(r"(?<=\w)'", wanted, text)
    return text.replace(mark, wanted)


def _curly(match: re.Match[str]) -> str:
    return "“" if _OPENS_QUOTE.search(match.string[: match.start()][-1:]) else "”"


def _with_dates_of(mt: str, draft: str) -> str:
    """The draft with day and month in the order that the MT has for the same date."""
    written = {_fold_date(match): match[0] for match in _DATE.finditer(mt)}
    return _DATE.sub(lambda match: written.get(_fold_date(match), match[0]), draft) if written else draft


@lru_cache(maxsize=10_000)
def _folded(text: str) -> str:
    """The text without its conventions: equal for wordings that differ in nothing else."""
    text = _APART_ENDING.sub("", text)
    text = _DATE.sub(_fold_date, text)
    text = unicodedata.normalize("NFKD", text)
    text = "".join(sign for sign in text if not unicodedata.combining(sign))
    text = text.replace("’", "'").replace("‘", "'").replace("“", '"').replace("”", '"').replace("--", "—")
    text = re.sub("[–—―]", "-", text).replace("...", "…")
    text = _WORD.sub(lambda match: fold_spelling(match[0]), text)
    return "".join(text.split())


def _fold_date(match: re.Match[str]) -> str:
    return f"{match['month'] or match['later']} {match['first'] or match['second']}"


def fold_spelling(word: str) -> str:
    """The American spelling of a word that has a British one; other words stay as they are."""
    lower = word.lower()
    if lower in _SPELLINGS:
        folded = _SPELLINGS[lower]
    else:
        folded = _with_american_ending(lower.replace("our", "or") if len(lower) > 4 else lower)
    return folded.capitalize() if word[0].isupper() else folded


def _with_american_ending(word: str) -> str:
    for british, american in _ENDINGS:
        if word.endswith(british) and len(word) > len(british) + 2:
            return word.removesuffix(british) + american
    return word
