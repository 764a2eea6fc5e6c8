"""What the guards refuse and what they let through, measured: `python -m eval.guards --data DIR`.

Three questions. Do they refuse what humans made (MLQE-PE's post-edits, PAR3's literary translations)? Do they ever
refuse the MT itself? Do they catch faults put into good post-edits, one at a time? Each is asked of single sentences
and of pseudo-paragraphs, two to four neighbouring rows joined.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import regex

from ape import sentences
from ape.guards import check
from ape.segment import Context, Draft, Segment
from ape.verdict import Finding, Severity

PAIRS = ("et-en", "ro-en", "ru-en")
OTHER_PAIRS = ("ne-en", "si-en", "en-de", "en-zh")
# A new translation is no fault of wording: it is counted apart.
CAP = "edit_rate"


@dataclass(frozen=True, slots=True)
class Row:
    """A passage with its human post-edit."""

    id: str
    segment: Segment
    post_edit: str


def read_mlqe(data: Path, pair: str, split: str = "dev") -> list[Row]:
    """MLQE-PE's rows of a language pair, in their order."""
    source_language, target_language = pair.split("-")
    rows = []
    with (data / "mlqe_pe" / f"{pair}.{split}.jsonl").open(encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            row = json.loads(line)
            segment = Segment(row["source"], row["mt"], source_language, target_language)
            rows.append(Row(f"{pair}.{split}.{number}", segment, row["post_edit"].strip()))
    return rows


def read_english(data: Path) -> list[str]:
    """All English there is in MLQE-PE's train rows, to learn which words are ever written small."""
    into = [row.post_edit for pair in (*PAIRS, "ne-en", "si-en") for row in read_mlqe(data, pair, "train")]
    return into + [
        row.segment.source for pair in ("en-de", "en-zh") for row in read_mlqe(data, pair, "train")
    ]


def read_candide(data: Path) -> list[Row]:
    """PAR3's Candide: each human translation of a paragraph as if it were a post-edit of Google's.

    Each paragraph has the three before it as its context, as it has when a book is edited. Paragraphs that PAR3's
    aligner gave text of the one before are left out.
    """
    rows = []
    told: dict[str, list[Context]] = {}
    with (data / "par3" / "candide_fr.aligned.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            for name, text in row["human"].items():
                human = _FOOTNOTE.sub("", text).strip()
                before = tuple(told.get(name, ())[-3:])
                if before and _overlap(before[-1].target, human):
                    continue
                rows.append(
                    Row(f"{row['i']}.{name}", Segment(row["src"], row["gt"], "fr", "en", before), human)
                )
                told.setdefault(name, []).append(Context(row["src"], human))
    return rows


def _overlap(before: str, text: str, length: int = 10) -> bool:
    words = text.split()
    return any(" ".join(words[start : start + length]) in before for start in range(len(words) - length + 1))


# The printed translations' footnote marks, stuck to the words they stand at.
_FOOTNOTE = regex.compile(r"(?<=[\p{L}\p{P}])\d{1,3}(?=[\s\p{P}]|$)|(?<=[.!?”\"])\s?a[a-z](?=\s|$)")


def paragraphs(rows: Sequence[Row], seed: int = 1) -> list[Row]:
    """Pseudo-paragraphs: two to four neighbouring rows, joined."""
    chance = random.Random(seed)  # noqa: S311  # a seeded sample, not a secret
    joined = []
    start = 0
    while start < len(rows) - 1:
        group = rows[start : start + chance.randint(2, 4)]
        start += len(group)
        first = group[0].segment
        segment = Segment(
            " ".join(row.segment.source for row in group),
            " ".join(row.segment.mt for row in group),
            first.source_language,
            first.target_language,
        )
        joined.append(Row(group[0].id + "+", segment, " ".join(row.post_edit for row in group)))
    return joined


# --- what is refused of what humans made -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Refusal:
    """A row refused, and the findings that refuse it."""

    row: Row
    findings: tuple[Finding, ...]


def refusals(rows: Iterable[Row], *, mt: bool = False) -> list[Refusal]:
    """The rows whose post-edit, or with `mt` whose MT, is refused as a draft."""
    found = []
    for row in rows:
        against = rejections(row.segment, row.segment.mt if mt else row.post_edit)
        if against:
            found.append(Refusal(row, against))
    return found


def rejections(segment: Segment, text: str) -> tuple[Finding, ...]:
    """The findings that refuse a text as a draft."""
    return tuple(finding for finding in check(segment, Draft(text)) if finding.severity is Severity.REJECT)


def by_guard(found: Iterable[Refusal]) -> Counter[str]:
    """How many rows each guard refuses; a row may be refused by several."""
    return Counter(guard for refusal in found for guard in {finding.guard for finding in refusal.findings})


def faulty(found: Iterable[Refusal]) -> list[Refusal]:
    """Those refused for more than being a new translation."""
    return [refusal for refusal in found if {finding.guard for finding in refusal.findings} - {CAP}]


# --- faults ------------------------------------------------------------------------------------------------------

_NAME = regex.compile(
    r"(?<![.!?:\"“”„«»…(\[>*/'’\d-]\s)(?<=[\p{L}\p{N},;)\]%]\s)\p{Lu}\p{Ll}{2,}(?![\p{L}'’-])"
)
_NUMBER = regex.compile(r"(?<![\p{L}\p{N}.,:/-])\p{Nd}{1,4}(?![\p{L}\p{N}]|[.,:/-]\p{Nd})")
_OPENERS = (
    "Here is the post-edited paragraph:\n\n",
    "Sure, I can help with that! ",
    "Certainly! Below is the improved text:\n",
    "Okay, my attempt at this one: ",
    "Of course. The corrected passage reads as follows:\n\n",
    "Edited version: ",
    "I have revised the machine translation for fluency:\n",
    "Absolutely! Please find the polished wording below.\n\n",
    "As requested, this is the final text. ",
    "Translation: ",
    "Post-edit: ",
    "Assistant: ",
    "**Revised text**\n\n",
    "Great question! Here you go: ",
    "```\n",
    "### Output\n",
    "Improved English translation:\n",
    "The translation is mostly fine; I only fixed grammar. ",
    "Here's a more natural-sounding version: ",
    "Got it. This is how I would put it: ",
    "Thank you for the text. My edited rendering: ",
)
_CLOSERS = (
    "\n\nLet me know if you would like any other changes.",
    " I hope this helps!",
    "\n\nNote: I kept the names as they were.",
    "\n(I corrected two tense errors and one pronoun.)",
    " Feel free to ask for further revisions.",
    "\n\n**Changes made:** articles, word order.",
    "\n\nExplanation: the original was too literal.",
)


_TRIED_NAMES = 50


class NoCase(Exception):
    """The row offers no place for a fault of this kind."""


@dataclass(frozen=True, slots=True)
class Stock:
    """What faults are made of: names of other rows, and the words that are written small somewhere."""

    names: tuple[str, ...]
    small: frozenset[str]


Fault = Callable[[Row, Stock, random.Random], str]


def stock(rows: Sequence[Row], seen: Iterable[str]) -> Stock:
    """The names in the rows' post-edits: capitals within a sentence, never written small in the texts `seen`."""
    small = frozenset(word for text in seen for word in text.split() if word.islower())
    names = sorted({match.group() for row in rows for match in _names(row.post_edit, small)})
    return Stock(tuple(names), small)


def _names(text: str, small: frozenset[str]) -> list[regex.Match[str]]:
    return [match for match in _NAME.finditer(text) if match.group().lower() not in small]


def sentence_dropped(row: Row, stock: Stock, chance: random.Random) -> str:
    """One sentence left out."""
    pieces = [piece for piece in sentences.split(row.post_edit) if piece.strip()]
    places = [place for place, piece in enumerate(pieces) if len(piece.split()) >= 4]
    if not 2 <= len(pieces) <= len(sentences.split(row.segment.mt)) or not places:
        raise NoCase
    place = chance.choice(places)
    return "".join(pieces[:place] + pieces[place + 1 :]).strip()


def name_changed(row: Row, stock: Stock, chance: random.Random) -> str:
    """One name replaced by another row's."""
    places = _names(row.post_edit, stock.small)
    if not places:
        raise NoCase
    match = chance.choice(places)
    known = f"{row.segment.source} {row.segment.mt} {row.post_edit}".lower()
    start = match.group()[:3].lower()
    others = [
        name
        for name in chance.sample(stock.names, min(_TRIED_NAMES, len(stock.names)))
        if name.lower() not in known and not name.lower().startswith(start)
    ]
    if not others:
        raise NoCase
    return row.post_edit[: match.start()] + others[0] + row.post_edit[match.end() :]


def number_changed(row: Row, stock: Stock, chance: random.Random) -> str:
    """One number replaced by another of as many digits."""
    places = list(_NUMBER.finditer(row.post_edit))
    if not places:
        raise NoCase
    match = chance.choice(places)
    old = match.group()
    known = f"{row.segment.source} {row.segment.mt}"
    for _ in range(50):
        new = str(chance.randint(1, 9)) + "".join(str(chance.randint(0, 9)) for _ in old[1:])
        if new not in known and new != old:
            return row.post_edit[: match.start()] + new + row.post_edit[match.end() :]
    raise NoCase


def source_instead(row: Row, stock: Stock, chance: random.Random) -> str:
    """The source in place of the post-edit."""
    return row.segment.source


def source_appended(row: Row, stock: Stock, chance: random.Random) -> str:
    """The source before or after the post-edit."""
    parts = [row.post_edit, row.segment.source]
    chance.shuffle(parts)
    return chance.choice((" ", "\n", "\n\n")).join(parts)


def source_run(row: Row, stock: Stock, chance: random.Random) -> str:
    """Five to eight words of the source in place of as many of the post-edit."""
    source, words = row.segment.source.split(), row.post_edit.split()
    length = chance.randint(5, 8)
    if len(source) < length or len(words) < 2 * length:
        raise NoCase
    start, place = chance.randint(0, len(source) - length), chance.randint(0, len(words) - length)
    run = source[start : start + length]
    if sum(word.isalpha() for word in run) < 5 or sum(word in row.segment.mt for word in run) > length / 3:
        raise NoCase
    return " ".join(words[:place] + run + words[place + length :])


def loop(row: Row, stock: Stock, chance: random.Random) -> str:
    """The last word, phrase or sentence said again and again."""
    words = row.post_edit.split()
    length = min(chance.choice((1, 2, 3, 5, 8, 12, len(words))), len(words))
    return " ".join(words + words[-length:] * chance.randint(8 if length < 3 else 3, 20))


def preamble(row: Row, stock: Stock, chance: random.Random) -> str:
    """Talk before or after the post-edit."""
    if chance.random() < 0.7:
        return chance.choice(_OPENERS) + row.post_edit
    return row.post_edit + chance.choice(_CLOSERS)


def cut_short(row: Row, stock: Stock, chance: random.Random) -> str:
    """Cut at a word between 30% and 90%, without a mark at the end."""
    words = row.post_edit.split()
    if len(words) < 4:
        raise NoCase
    kept = words[: max(1, round(len(words) * chance.uniform(0.3, 0.9)))]
    if not any(word[0].isalnum() for word in words[len(kept) :]):
        raise NoCase
    text = " ".join(kept).rstrip(" .!?…,;:\"”»')")
    if not text:
        raise NoCase
    return text


def cut_at_sentence(row: Row, stock: Stock, chance: random.Random) -> str:
    """Cut after a sentence: all that follows it is lost."""
    pieces = [piece for piece in sentences.split(row.post_edit) if piece.strip()]
    if not 2 <= len(pieces) <= len(sentences.split(row.segment.mt)) or all(
        len(piece.split()) < 4 for piece in pieces[1:]
    ):
        raise NoCase
    text = "".join(pieces[: chance.randint(1, len(pieces) - 1)]).strip()
    if len(row.post_edit.split()) - len(text.split()) < 4:
        raise NoCase
    return text


FAULTS: Mapping[str, Fault] = {
    "sentence dropped": sentence_dropped,
    "name changed": name_changed,
    "number changed": number_changed,
    "source instead": source_instead,
    "source appended": source_appended,
    "source run left in": source_run,
    "loop": loop,
    "preamble": preamble,
    "cut short": cut_short,
    "cut at a sentence": cut_at_sentence,
}


@dataclass(frozen=True, slots=True)
class Trial:
    """A fault put into a row's post-edit, and whether it was caught."""

    kind: str
    row: Row
    text: str
    caught: bool


def trials(rows: Sequence[Row], stock: Stock, seed: int = 1) -> Iterator[Trial]:
    """Every kind of fault in every row that offers a place for it."""
    for kind, fault in FAULTS.items():
        chance = random.Random(f"{kind}{seed}")  # noqa: S311  # a seeded sample, not a secret
        for row in rows:
            try:
                text = fault(row, stock, chance)
            except NoCase:
                continue
            if text != row.segment.mt:
                yield Trial(kind, row, text, bool(rejections(row.segment, text)))


# --- tables ------------------------------------------------------------------------------------------------------


def missing(data: Path) -> str:
    """What the tables need and the folder lacks, or nothing."""
    needed = [
        f"mlqe_pe/{pair}.{split}.jsonl" for pair in (*PAIRS, *OTHER_PAIRS) for split in ("dev", "train")
    ]
    return next(
        (path for path in (*needed, "par3/candide_fr.aligned.jsonl") if not (data / path).is_file()), ""
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder that has mlqe_pe/ and par3/")
    parser.add_argument("--split", choices=("dev", "train"), default="dev", help="which rows of MLQE-PE")
    parser.add_argument("--skip", type=int, default=0, help="rows of each pair to leave out first")
    parser.add_argument(
        "--list", action="store_true", help="list every human post-edit refused, with the reason"
    )
    parser.add_argument("--missed", type=int, default=0, help="list so many missed faults of each kind")
    options = parser.parse_args(arguments)
    if lacking := missing(options.data):
        parser.exit(2, f"{options.data} has no {lacking}. Give the folder that has mlqe_pe/ and par3/.\n")
    corpora = {
        pair: read_mlqe(options.data, pair, options.split)[options.skip : options.skip + 1000]
        for pair in (*PAIRS, *OTHER_PAIRS)
    }
    print_refused(corpora, read_candide(options.data), show=options.list)
    print_caught(corpora, read_english(options.data), missed=options.missed)


def print_refused(corpora: Mapping[str, Sequence[Row]], candide: Sequence[Row], *, show: bool) -> None:
    """The tables of what is refused of what humans made."""
    print("Human post-edits refused")  # noqa: T201
    for pair, rows in corpora.items():
        _print_refused(pair, rows, show=show)
        _print_refused(f"{pair} paragraphs", paragraphs(rows), show=False)
    _print_refused("candide", candide, show=show)


def _print_refused(name: str, rows: Sequence[Row], *, show: bool) -> None:
    found = refusals(rows)
    wrong = faulty(found)
    reasons = ", ".join(f"{guard} {count}" for guard, count in by_guard(found).most_common())
    mt = len(refusals(rows, mt=True))
    print(  # noqa: T201
        f"  {name:<18} {len(found):>4} of {len(rows)} = {len(found) / len(rows):.1%}; without the edit-rate cap "
        f"{len(wrong)} = {len(wrong) / len(rows):.1%}; the MT itself {mt}   [{reasons}]"
    )
    for refusal in found if show else ():
        for finding in refusal.findings:
            print(f"      {refusal.row.id} {finding.guard}: {finding.message}")  # noqa: T201


def print_caught(corpora: Mapping[str, Sequence[Row]], english: Sequence[str], *, missed: int) -> None:
    """The tables of faults caught."""
    for name, join in (("sentences", False), ("pseudo-paragraphs", True)):
        table: dict[str, dict[str, list[Trial]]] = {kind: {} for kind in FAULTS}
        for pair in PAIRS:
            rows = corpora[pair]
            stocked = stock(rows, english)
            for trial in trials(paragraphs(rows) if join else rows, stocked):
                table[trial.kind].setdefault(pair, []).append(trial)
        print(f"Faults caught in {name}")  # noqa: T201
        for kind, cells in table.items():
            _print_caught(kind, cells, missed=missed)


def _print_caught(kind: str, cells: Mapping[str, Sequence[Trial]], *, missed: int) -> None:
    every = [trial for trials_ in cells.values() for trial in trials_]
    if not every:
        return
    columns = "".join(
        f"  {pair} {sum(trial.caught for trial in cell):>4}/{len(cell):<4}" for pair, cell in cells.items()
    )
    rate = sum(trial.caught for trial in every) / len(every)
    print(f"  {kind:<18} {rate:>6.1%} {columns}")  # noqa: T201
    for trial in [trial for trial in every if not trial.caught][:missed]:
        print(f"      {trial.row.id}\n        MT    {trial.row.segment.mt}\n        draft {trial.text}")  # noqa: T201


if __name__ == "__main__":
    main()
