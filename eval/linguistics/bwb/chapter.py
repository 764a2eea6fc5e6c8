"""Reader for annotated BWB chapters: folders with reference, error lines, names and mark-up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ape.errors import InputError
from eval.corpus.annotation_issue import AnnotationIssue
from eval.corpus.raw_document import numbered_lines
from eval.linguistics.bwb.error_lines import BwbErrorLine, parse_errors
from eval.linguistics.bwb.markup import BwbMarkup, parse_markup
from eval.linguistics.bwb.names import BwbNames, parse_names

_REFERENCE = ("ref.txt", "ref_re.txt")
_SOURCE = ("chs.txt", "chs_re.txt")
_ERRORS = ("an.txt",)
_NAMES = ("ner.txt", "ner_re.txt")
LANGUAGES = ("en", "zh")


@dataclass(frozen=True, slots=True)
class BwbChapter:
    """A reference by lines with its annotations, which are empty where missing."""

    id: str
    reference: tuple[str, ...]
    sources: tuple[str, ...] = ()
    errors: tuple[BwbErrorLine, ...] = ()
    names: tuple[BwbNames, ...] = ()
    markup: Mapping[str, tuple[BwbMarkup, ...]] | None = None
    """By language, parts of the chapter from its first line on."""
    issues: tuple[str, ...] = ()


def read_chapters(folder: Path) -> list[BwbChapter]:
    """Read the chapter in a folder, or those in its sub-folders."""
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder. An annotated chapter is a folder of several files.", field="data")
    folders = [one for one in (folder, *sorted(folder.iterdir())) if one.is_dir() and _file(one, _REFERENCE)]
    if not folders:
        raise InputError(f"There is no reference, {_REFERENCE[0]}, in {folder}.", field="data")
    return [_chapter(one) for one in folders]


def _file(folder: Path, names: Iterable[str]) -> Path | None:
    return next((path for name in names if (path := folder / name).is_file()), None)


def _chapter(folder: Path) -> BwbChapter:
    path = _file(folder, _REFERENCE)
    assert path is not None, "only folders with a reference are read"
    reference = tuple(_lines(path))
    for number, text in enumerate(reference, 1):
        if not text.strip():
            raise InputError(f"Line {number} of {path} is empty: the reference has no text there.", field="data")
    files = _ChapterFiles(folder, path, len(reference))
    errors, wrong = parse_errors(error_lines := files.lines(_ERRORS))
    names, misnamed = parse_names(name_lines := files.lines(_NAMES))
    marked = {language: _marked(folder, language) for language in LANGUAGES}
    issues = [*_format_issues(folder, _ERRORS, wrong if error_lines else ())]
    issues += _format_issues(folder, _NAMES, misnamed if name_lines else ())
    for pieces in marked.values():
        for name, piece in pieces.items():
            issues += [f"{folder.name}/{name}, {issue}" for issue in piece.issues]
    return BwbChapter(
        folder.name,
        reference,
        tuple(files.lines(_SOURCE)),
        errors,
        names,
        {language: tuple(pieces.values()) for language, pieces in marked.items() if pieces},
        tuple(issues),
    )


@dataclass(frozen=True, slots=True)
class _ChapterFiles:
    """Files with one line for each line of the reference."""

    folder: Path
    reference: Path
    length: int

    def lines(self, names: Iterable[str]) -> list[str]:
        """The lines of the first existing file; empty if none exists."""
        path = _file(self.folder, names)
        found = _lines(path) if path else []
        if path and len(found) != self.length:
            raise InputError(
                f"{path} has {len(found):,} lines, and {self.reference} has {self.length:,}: line "
                f"{min(len(found), self.length) + 1} is on one side only.",
                field="data",
            )
        return found


def _marked(folder: Path, language: str) -> dict[str, BwbMarkup]:
    return {path.name: parse_markup(_lines(path)) for path in sorted(folder.glob(f"*.{language}.an.txt"))}


def _lines(path: Path) -> list[str]:
    return [text for _, text in numbered_lines(path)]


def _format_issues(folder: Path, names: Iterable[str], issues: Sequence[AnnotationIssue]) -> list[str]:
    path = _file(folder, names)
    return [f"{folder.name}/{path.name}, {issue}" for issue in issues] if path else []
