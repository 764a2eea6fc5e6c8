"""One self-contained HTML page: source, MT and post-edit of every passage side by side, a summary on top.

The summary stands first but is known last. So rows go to a temporary file as they come and are counted on the
way, and the memory taken is that of one row, however long the book.

Text is never HTML here: the templates escape whatever comes from a book or a model. Should they ever fail to,
the page's content security policy runs no script and no style but its own, and loads nothing from anywhere.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, groupby, pairwise
from pathlib import Path
from tempfile import TemporaryFile
from typing import Literal

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from ape.edits import Edit
from ape.languages import name_of
from ape.segment import Segment
from ape.verdict import Decision, PostEdit, Usage

_RIGHT_TO_LEFT = frozenset({"ar", "arc", "ckb", "dv", "fa", "he", "ks", "ps", "sd", "syr", "ug", "ur", "yi"})

Side = Literal["mt", "post_edit"]


@dataclass(frozen=True, slots=True)
class Passage:
    """A row of the page: a passage, what became of it, and the chapter it opens or goes on."""

    heading: str
    segment: Segment
    answer: PostEdit
    chapter: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a text, and the edit that touched it."""

    text: str
    edit: Edit | None = None


@dataclass(frozen=True, slots=True)
class Slice:
    """The part of the summary's bar that stands for one decision, in thousandths."""

    decision: Decision
    x: int
    width: int


@dataclass(slots=True)
class Tally:
    """What the summary says, counted while the rows go by."""

    decisions: Counter[Decision] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    languages: set[tuple[str, str]] = field(default_factory=set)
    models: set[str] = field(default_factory=set)
    prompts: set[str] = field(default_factory=set)
    usage: Usage = field(default_factory=Usage)

    def count(self, passages: Iterable[Passage]) -> Iterator[Passage]:
        """The same passages, each counted as it passes."""
        for passage in passages:
            answer = passage.answer
            self.decisions[answer.decision] += 1
            self.kinds.update(str(edit.kind) for edit in answer.edits)
            self.languages.add((passage.segment.source_language, passage.segment.target_language))
            self.models.add(answer.model)
            self.prompts.add(answer.prompt)
            self.usage += answer.usage
            yield passage

    def facts(self) -> dict[str, str]:
        """What was used, in the words of the page."""
        pairs = (f"{name_of(source)} to {name_of(target)}" for source, target in sorted(self.languages))
        facts = {
            "Languages": ", ".join(pairs),
            "Model": ", ".join(sorted(filter(None, self.models))),
            "Prompt": ", ".join(sorted(filter(None, self.prompts))),
            "Tokens": f"{self.usage.prompt_tokens:,} read, {self.usage.completion_tokens:,} written",
        }
        return {name: value for name, value in facts.items() if value}

    def bar(self) -> list[Slice]:
        """The decisions as slices of a bar, none of them too thin to see."""
        total = self.decisions.total()
        present = [decision for decision in Decision if self.decisions[decision]]
        widths = {decision: max(8, 1000 * self.decisions[decision] // total) for decision in present}
        if widths:
            widest = max(widths, key=lambda decision: widths[decision])
            widths[widest] += 1000 - sum(widths.values())
        edges = pairwise(accumulate(widths.values(), initial=0))
        return [Slice(decision, x, end - x) for decision, (x, end) in zip(widths, edges, strict=True)]


def write_page(
    path: Path,
    passages: Iterable[Passage],
    *,
    title: str,
    subtitle: str = "",
    facts: Mapping[str, str] | None = None,
) -> None:
    """Write the page to `path`, replacing what was there only once the page is whole.

    Passages of one chapter follow each other. `facts` are lines to add to the summary: names and values.
    """
    tally = Tally()
    part = path.with_name(f"{path.name}.part")
    # A model's JSON may hold half of a surrogate pair, which has no UTF-8: it becomes a question mark.
    with TemporaryFile("w+", encoding="utf-8", errors="replace", newline="\n") as rows:
        numbered = enumerate(tally.count(passages), start=1)
        chapters = groupby(numbered, key=lambda row: row[1].chapter)
        rows.writelines(_templates().get_template("page_rows.html").generate(chapters=chapters))
        rows.seek(0)
        page = _templates().get_template("page.html")
        with part.open("w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.writelines(
                page.generate(
                    title=title,
                    subtitle=subtitle,
                    facts=tally.facts() | dict(facts or {}),
                    tally=tally,
                    decisions=list(Decision),
                    rows=map(Markup, rows),  # safe: the template escaped them as it wrote them
                )
            )
    part.replace(path)


def pieces(text: str, edits: Sequence[Edit], side: Side) -> Iterator[Piece]:
    """The text cut at its edits, so that the pieces joined give it back; `side` says of which text.

    Spaces at the rim of an edit stay unmarked: a rule drawn under them reads as a gap to fill. A span that is
    empty, reaches beyond the text or overlaps the one before marks nothing.
    """
    done = 0
    for edit in sorted(edits, key=lambda edit: _span(edit, side)):
        start, end = _span(edit, side)
        if not done <= start < end <= len(text) or text[start:end].isspace():
            continue
        touched = text[start:end].strip()
        start = text.index(touched, start)
        end = start + len(touched)
        if done < start:
            yield Piece(text[done:start])
        yield Piece(text[start:end], edit)
        done = end
    if done < len(text):
        yield Piece(text[done:])


def _span(edit: Edit, side: Side) -> tuple[int, int]:
    return edit.mt_span if side == "mt" else edit.span


def direction(language: str) -> str:
    """Which way a language is written, as HTML says it."""
    return "rtl" if language.partition("-")[0] in _RIGHT_TO_LEFT else "ltr"


def _policy_hash(content: str) -> str:
    digest = hashlib.sha256(content.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


@lru_cache(maxsize=1)
def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("ape", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"direction": direction, "language": name_of, "policy_hash": _policy_hash}
    environment.globals["pieces"] = pieces
    return environment
