"""The rater page: online it loads the sheet from the service; offline it contains the sheet and saves the votes.

Text from books and models never becomes HTML: it is embedded as escaped JSON and inserted as text. The content
security policy additionally blocks foreign scripts and styles.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ape.reports.base_page import Page, text_direction
from ape.text.languages import language_name
from eval.human.rater_page.tutorial import TUTORIAL
from eval.human.span import MQM_CATEGORIES, SEVERITIES, SpanProtocol
from eval.human.vote import ERROR_KINDS

# Short explanations of the error kinds for raters.
ERROR_DESCRIPTIONS: Mapping[str, str] = {
    "overly literal": "it follows the words instead of the meaning",
    "discourse": "the sentences are not coherent: references, tense, connectives",
    "catastrophic": "the meaning is destroyed",
    "precision": "a detail is blurred, lost or made up",
    "word sense": "the wrong meaning of a word",
}
_PAGE = Page(
    "eval.human.rater_page",
    styles=["rater.css", "spans.css"],
    scripts=["differences.js", "votes.js", "spans.js", "rater.js"],
)


def offline_page(public: Mapping[str, Any]) -> str:
    """The page as a single file for one rater; it works without a network and saves votes to a file."""
    return _page(public, page_content(public))


def online_page(public: Mapping[str, Any]) -> str:
    """The page that loads its sheet from, and sends votes to, its own address."""
    return _page(public, None)


def page_content(public: Mapping[str, Any], votes: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """The sheet for the page, with the votes so far, and the name and direction of each language."""
    items = public["items"]
    codes = {public["target_language"], public["source_language"], *(item.get("language") for item in items)}
    known = {
        code: {"name": language_name(code) if code != "und" else "", "direction": text_direction(code)}
        for code in sorted(filter(None, codes))
    }
    content = {**public, "languages": known, "votes": list(votes)}
    if protocol := public.get("spans"):
        content["spans"] = _span_settings(protocol)
    return content


def _span_settings(protocol: SpanProtocol) -> dict[str, Any]:
    """What the page needs to mark spans, with the tutorial."""
    categories = MQM_CATEGORIES if protocol == "mqm" else {}
    return {
        "protocol": protocol,
        "severities": list(SEVERITIES[protocol]),
        "categories": {kind: list(names) for kind, names in categories.items()},
        "tutorial": list(TUTORIAL),
    }


def _page(public: Mapping[str, Any], sheet: Mapping[str, Any] | None) -> str:
    name = str(public["name"])
    # Lone surrogates can't be encoded as UTF-8; they become question marks.
    return _PAGE.render(
        "rater.html",
        name=name.encode("utf-8", "replace").decode(),
        sheet=sheet,
        ties=bool(public["ties"]),
        spans=public.get("spans") or "",
        errors={name: ERROR_DESCRIPTIONS[name] for name in ERROR_KINDS},
    )
