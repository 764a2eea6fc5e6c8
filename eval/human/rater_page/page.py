"""Writing the rater's page: the same page asks our server for its sheet, or carries it and keeps the votes itself.

Text from books and models is never HTML here: it travels as JSON, in which no tag can begin, and the script puts it
into the page as text. Should that ever fail, the page's policy runs no script and no style but the page's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ape.reports.base_page import Page, text_direction
from ape.text.languages import language_name
from eval.human.vote import ERROR_KINDS

# What a rater is told of each type of error, in a few words.
ERROR_DESCRIPTIONS: Mapping[str, str] = {
    "overly literal": "it follows the words and not the sense",
    "discourse": "the sentences do not hang together: who is who, tense, connection",
    "catastrophic": "the meaning is destroyed",
    "precision": "a detail is blurred, lost or made up",
    "word sense": "the wrong meaning of a word",
}
_PAGE = Page(
    "eval.human.rater_page", styles=["rater.css"], scripts=["differences.js", "votes.js", "rater.js"]
)


def offline_page(public: Mapping[str, Any]) -> str:
    """The page as one file for one rater: it needs no network and saves the votes to a file."""
    return _page(str(public["name"]), page_content(public), ties=bool(public["ties"]))


def online_page(public: Mapping[str, Any]) -> str:
    """The page that asks for its sheet, and sends the votes, at its own address."""
    return _page(str(public["name"]), None, ties=bool(public["ties"]))


def page_content(public: Mapping[str, Any], votes: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """The sheet as the page reads it: with the votes so far, and what each of its languages is called and written."""
    items = public["items"]
    codes = {public["target_language"], public["source_language"], *(item.get("language") for item in items)}
    known = {
        code: {"name": language_name(code) if code != "und" else "", "direction": text_direction(code)}
        for code in sorted(filter(None, codes))
    }
    return {**public, "languages": known, "votes": list(votes)}


def _page(name: str, sheet: Mapping[str, Any] | None, *, ties: bool) -> str:
    # A model's JSON may hold half of a surrogate pair, which has no UTF-8: it becomes a question mark.
    return _PAGE.render(
        "rater.html",
        name=name.encode("utf-8", "replace").decode(),
        sheet=sheet,
        ties=ties,
        errors={name: ERROR_DESCRIPTIONS[name] for name in ERROR_KINDS},
    )
