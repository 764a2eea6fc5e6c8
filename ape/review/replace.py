"""Search and replace over a book: a preview with the findings of the guards, then one step that can be undone."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import regex

from ape.errors import InputError, TooLong
from ape.jobs.job import Job
from ape.passage.result import Finding
from ape.review.decisions import ReviewAction, ReviewDecision, check_own_text, refuse_unwritable
from ape.review.filters import ReviewFilter
from ape.review.paragraph import ReviewConflict, ReviewParagraph
from ape.review.store import ReviewStore

# How long a pattern may search a book, all paragraphs together.
SEARCH_SECONDS = 5.0
MAX_PATTERN = 1_000
MAX_MATCHES = 5_000
_CONTEXT = 40


@dataclass(frozen=True, slots=True)
class TextSearch:
    """What to find in the texts of a book, and by what to replace it.

    The replacement of a regular expression may name groups, as `\\\\1` or `\\\\g<name>`. Marks of formatting are never
    matched in part: what would lose or repeat one is listed as refused.
    """

    find: str
    replacement: str = ""
    whole_word: bool = False
    is_regex: bool = False
    match_case: bool = True
    chapter: int | None = None

    def compile(self) -> regex.Pattern[str]:
        """Compile the pattern; raises InputError where it is none."""
        if not self.find:
            raise InputError("Say what to find.", field="find")
        for name, text in (("find", self.find), ("replacement", self.replacement)):
            if len(text) > MAX_PATTERN:
                raise TooLong(f"{name} has more than {MAX_PATTERN:,} characters.", actual=len(text), limit=MAX_PATTERN)
        pattern = self.find if self.is_regex else regex.escape(self.find, literal_spaces=True)
        # Not \\b, which would need a word character at both ends of the pattern.
        pattern = rf"(?<!\w)(?:{pattern})(?!\w)" if self.whole_word else pattern
        try:
            compiled = regex.compile(pattern, regex.V0 if self.match_case else regex.V0 | regex.IGNORECASE)
        except (regex.error, IndexError, OverflowError, RecursionError) as error:
            raise InputError(f"{self.find!r} is not a regular expression: {error}.", field="find") from error
        return compiled


@dataclass(frozen=True, slots=True)
class TextMatch:
    """A place where the text was found, with the words around it."""

    left: str
    found: str
    replacement: str
    right: str


@dataclass(frozen=True, slots=True)
class TextReplacement:
    """What a replacement would do to a paragraph. `refused` is why it can't be done there."""

    paragraph: ReviewParagraph
    matches: tuple[TextMatch, ...]
    text: str
    findings: tuple[Finding, ...] = ()
    refused: str = ""


def preview(reviews: ReviewStore, job: Job, search: TextSearch) -> list[TextReplacement]:
    """The paragraphs whose text changes, with what the guards say about the new text."""
    clock = _Clock()
    pattern = search.compile()
    found: list[TextReplacement] = []
    count = 0
    for one in reviews.paragraphs(job.id, ReviewFilter(chapter=search.chapter), with_comments=False):
        matches = [] if one.row.planned.skip else _matches(pattern, one.text, search, clock)
        count += len(matches)
        if count > MAX_MATCHES:
            raise TooLong(f"There are more than {MAX_MATCHES:,} places. Search for something longer.", field="find")
        if matches:
            found.append(_replacement(one, matches, job))
    return found


class _Clock:
    """The time that is left for matching: neither reading the book nor the guards count."""

    def __init__(self) -> None:
        self._left = SEARCH_SECONDS

    @contextmanager
    def running(self) -> Iterator[float]:
        """Count the time of the block; raises TimeoutError if none is left."""
        if self._left <= 0:
            raise TimeoutError
        began = time.thread_time()
        yield self._left
        self._left -= time.thread_time() - began


def _matches(
    pattern: regex.Pattern[str], text: str, search: TextSearch, clock: _Clock
) -> list[tuple[regex.Match[str], str]]:
    """The matches with their replacements; empty ones, and those that change nothing, are left out."""
    try:
        with clock.running() as left:
            found = [(match, _expand(match, search)) for match in pattern.finditer(text, timeout=left)]
    except TimeoutError as error:
        raise InputError(
            f"The search took more than {SEARCH_SECONDS:.0f} seconds and was stopped. Use a simpler expression.",
            field="find",
        ) from error
    return [(match, new) for match, new in found if match.group() and match.group() != new]


def _expand(match: regex.Match[str], search: TextSearch) -> str:
    if not search.is_regex:
        return search.replacement
    try:
        return match.expand(search.replacement)
    except (regex.error, IndexError) as error:
        raise InputError(
            f"The replacement {search.replacement!r} can't be used: {error}.", field="replacement"
        ) from error


def _replacement(one: ReviewParagraph, matches: Sequence[tuple[regex.Match[str], str]], job: Job) -> TextReplacement:
    old, new, at = one.text, "", 0
    for match, wording in matches:
        new += old[at : match.start()] + wording
        at = match.end()
    new += old[at:]
    views = tuple(
        TextMatch(old[max(0, m.start() - _CONTEXT) : m.start()], m.group(), wording, old[m.end() : m.end() + _CONTEXT])
        for m, wording in matches
    )
    try:
        refuse_unwritable(new, one.row.planned.mt)
    except InputError as error:
        return TextReplacement(one, views, new, refused=str(error))
    return TextReplacement(one, views, new, findings=check_own_text(one, new, job))


def replace_all(
    reviews: ReviewStore,
    job: Job,
    found_now: Sequence[TextReplacement],
    chosen: Sequence[tuple[str, str]],
    *,
    author: str,
) -> tuple[ReviewParagraph, ...]:
    """Replace in the paragraphs that were chosen from an earlier preview, given as id and version. One step to undo.

    `found_now` is the preview as it is now. Raises ReviewConflict where one of them has changed since, and nothing is
    replaced.
    """
    versions = dict(chosen)
    found = {one.paragraph.id: one for one in found_now if one.paragraph.id in versions}
    stale = [name for name in versions if name not in found or found[name].paragraph.version != versions[name]]
    if stale:
        present = tuple(reviews.paragraph(job.id, name) for name in stale[:20])
        raise ReviewConflict(
            f"{len(stale)} of the paragraphs changed after the preview. Nothing was replaced; look at it again.",
            present,
        )
    decisions = [
        ReviewDecision(name, versions[name], ReviewAction.REPLACE, text=one.text)
        for name, one in found.items()
        if not one.refused
    ]
    if not decisions:
        raise InputError("Nothing can be replaced in these paragraphs.", field="paragraphs")
    return reviews.decide(job, decisions, author=author)
