"""Agreement of two alignments of one book: `python -m benchmarks.studies.alignment_agreement`.

An alignment is a set of pairs (human sentence, paragraph). Sentences are split by us; the other alignment, which may
have other sentences, has a pair if the paragraph contains more than half of the sentence's letters. F1 compares the two
sets. The share of letters, not sentences, that both assign to the same paragraph is printed too.

ALIGNED has a JSON object on each line, in order: {"src": …, "gt": …, "human": {"name": …}}. RAW_DIR has the texts that
it was made from: a file for each name, one that ends in `_src.txt`, and its MT, which ends in `_gt.txt`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from ape.errors import ApeError, InputError
from finetune.data.alignment.book_alignment import AlignmentProgress, align_book
from finetune.data.alignment.encoder import SentenceEncoder
from finetune.data.alignment.sentences import split_alignment_sentences
from finetune.data.raw_text import read_raw_paragraphs

TextSpan = tuple[int, int]


@dataclass(frozen=True, slots=True)
class AlignmentDisagreement:
    """A sentence in different paragraphs; `ours` and `theirs` are their numbers from 0."""

    sentence: str
    ours: tuple[int, ...]
    theirs: tuple[int, ...]

    @property
    def kind(self) -> str:
        """Kind of the difference."""
        if not self.ours or not self.theirs:
            return "left out on one side"
        if set(self.ours) & set(self.theirs):
            return "twice in theirs"
        near = min(abs(ours - theirs) for ours in self.ours for theirs in self.theirs)
        return "next paragraph" if near == 1 else "further away"


@dataclass(frozen=True, slots=True)
class AlignmentAgreement:
    """Agreement on a translation. `paragraphs` is the share of paragraphs with exactly the same sentences."""

    name: str
    sentences: int
    f1: float
    letters: float
    paragraphs: float
    disagreements: tuple[AlignmentDisagreement, ...]


def compare_alignments(
    name: str, text: Sequence[str], ours: Sequence[str], theirs: Sequence[str]
) -> AlignmentAgreement:
    """Compare two alignments of a translation, each given as the text for each paragraph of the source."""
    whole = [sentence for paragraph in text for sentence in split_alignment_sentences(paragraph)]
    letters = _letters("".join(whole))
    mine, yours = _spans(ours, letters, name), _spans(theirs, letters, name)
    pairs: tuple[set[tuple[int, int]], set[tuple[int, int]]] = (set(), set())
    disagreements, shared, start = [], 0, 0
    for number, sentence in enumerate(whole):
        span = (start, start + len(_letters(sentence)))
        start = span[1]
        held = [_paragraphs_of(span, spans) for spans in (mine, yours)]
        for found, paragraphs in zip(pairs, held, strict=True):
            found.update((number, paragraph) for paragraph in paragraphs)
        shared += max((_overlap(span, yours[paragraph]) for paragraph in held[0]), default=0)
        if held[0] != held[1]:
            disagreements.append(AlignmentDisagreement(sentence, *held))
    both = len(pairs[0] & pairs[1])
    astray = {paragraph for one in disagreements for paragraph in {*one.ours} ^ {*one.theirs}}
    return AlignmentAgreement(
        name,
        len(whole),
        2 * both / (len(pairs[0]) + len(pairs[1])),
        shared / len(letters),
        1 - len(astray) / len(ours),
        tuple(disagreements),
    )


def _letters(text: str) -> str:
    """The text without white space, in which two alignments may differ."""
    return "".join(text.split())


def _spans(texts: Sequence[str], whole: str, name: str) -> list[TextSpan]:
    """Position of each paragraph's text in the whole: after the previous one, or overlapping it."""
    spans: list[TextSpan] = []
    start = end = 0
    for index, text in enumerate(map(_letters, texts)):
        start = end if whole.startswith(text, end) else whole.find(text, start)
        if start < 0:
            raise InputError(f"Paragraph {index} of {name} is not a part of the raw text, or not in order.")
        end = start + len(text)
        spans.append((start, end))
    return spans


def _overlap(one: TextSpan, other: TextSpan) -> int:
    return max(0, min(one[1], other[1]) - max(one[0], other[0]))


def _paragraphs_of(sentence: TextSpan, paragraphs: Sequence[TextSpan]) -> tuple[int, ...]:
    half = (sentence[1] - sentence[0]) / 2
    return tuple(index for index, span in enumerate(paragraphs) if _overlap(sentence, span) > half)


def measure_agreement(
    aligned: Path,
    raw: Path,
    *,
    first: int | None = None,
    encoder: SentenceEncoder | None = None,
    progress: AlignmentProgress | None = None,
) -> list[AlignmentAgreement]:
    """Align the raw texts, and compare each translation with the given alignment.

    `first` limits the comparison to that many paragraphs from the beginning.
    """
    theirs = [json.loads(line) for line in aligned.read_text(encoding="utf-8").splitlines()]
    names = list(theirs[0]["human"])
    texts = {name: read_raw_paragraphs(raw / f"{name}.txt") for name in names}
    source, mt = (read_raw_paragraphs(_only_file(raw, ending)) for ending in ("_src.txt", "_gt.txt"))
    if len(source) != len(theirs):
        raise InputError(f"{aligned.name} has {len(theirs):,} paragraphs, and the source {len(source):,}.")
    if first:
        source, mt, theirs = source[:first], mt[:first], theirs[:first]
        texts = {name: _truncate_to(text, [one["human"][name] for one in theirs]) for name, text in texts.items()}
    ours = align_book(source, mt, texts, encoder=encoder, progress=progress)
    return [
        compare_alignments(name, texts[name], [one.human[name] for one in ours], [one["human"][name] for one in theirs])
        for name in names
    ]


def _truncate_to(text: Sequence[str], theirs: Sequence[str]) -> list[str]:
    """The paragraphs of a translation up to the end of the last of theirs."""
    ends = accumulate(len(_letters(paragraph)) for paragraph in text)
    last = _spans(theirs, _letters("".join(text)), "the translation")[-1][1]
    return [paragraph for paragraph, end in zip(text, ends, strict=True) if end - len(_letters(paragraph)) < last]


def _only_file(folder: Path, ending: str) -> Path:
    found = sorted(folder.glob(f"*{ending}"))
    if len(found) != 1:
        raise InputError(f"{folder} has {len(found)} files that end in {ending}; exactly one is needed.")
    return found[0]


def _print_agreement(found: AlignmentAgreement) -> None:
    out = sys.stdout
    out.write(
        f"{found.name}: {found.sentences:,} sentences, F1 {found.f1:.4f}, letters {found.letters:.4f}, "
        f"paragraphs the same {found.paragraphs:.3f}\n"
    )
    for kind, count in Counter(one.kind for one in found.disagreements).most_common():
        out.write(f"  {kind}: {count}\n")
        for one in found.disagreements:
            if one.kind == kind:
                out.write(
                    f"    ours {_join_numbers(one.ours)}, theirs {_join_numbers(one.theirs)}: {one.sentence[:90]}\n"
                )


def _join_numbers(paragraphs: Sequence[int]) -> str:
    return " and ".join(map(str, paragraphs)) or "none"


def main() -> int:
    """Print the agreement of each translation, and all disagreements by kind."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.studies.alignment_agreement", description=__doc__)
    parser.add_argument("aligned", type=Path)
    parser.add_argument("raw_dir", type=Path)
    parser.add_argument("--first", type=int, metavar="N", help="compare only the first N paragraphs")
    given = parser.parse_args()
    try:
        found = measure_agreement(given.aligned, given.raw_dir, first=given.first)
    except ApeError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    for one in found:
        _print_agreement(one)
    return 0


if __name__ == "__main__":
    sys.exit(main())
