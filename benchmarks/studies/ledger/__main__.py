"""Print what the ledger repairs: `python -m benchmarks.studies.ledger --data DIR [--list] [--only PART]`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.studies.ledger.books import StudyBook, candide_books, fiction_books
from benchmarks.studies.ledger.by_reference import format_alike, reference_names
from benchmarks.studies.ledger.consistency import agreement, measure_consistency
from benchmarks.studies.ledger.genders import measure_genders
from benchmarks.studies.ledger.injection import OTHER_TRANSLATIONS, TRANSLATIONS, measure_injection
from benchmarks.studies.ledger.tables import write_table

# Rules were written with the first seeds at hand; of the next ones only figures were seen before; the last were unseen.
SEEDS = {"at hand": (1, 2), "seen once": (3, 4), "unseen": (5, 6)}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print consistency by system, recall and precision of injected variants, and genders."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder that contains par3/ and fiction_zh_en.jsonl")
    parser.add_argument("--list", action="store_true", help="list every substitution and every name left inconsistent")
    parser.add_argument("--only", choices=PARTS, help="measure this part only")
    parser.add_argument("--tables", type=Path, help="folder for tables of original and repaired outputs; nothing else")
    options = parser.parse_args(arguments)
    if options.tables:
        options.tables.mkdir(parents=True, exist_ok=True)
        fiction = fiction_books(options.data)
        for system, books in fiction.items():
            write_table(options.tables / f"{system}.jsonl", books, fiction["reference"])
        return
    for part, measure in PARTS.items():
        if options.only in (None, part):
            measure(options.data, options.list)


def print_all_consistency(data: Path, show: bool) -> None:
    """Consistency of linked names by system, and every change."""
    for system, books in fiction_books(data).items():
        print_consistency(f"fiction {system}", books, show=show)
    for name, book in candide_books(data).items():
        print_consistency(f"Candide {name}", [book], show=show)


def print_injection(data: Path, show: bool) -> None:
    """Recall and precision of injected variants."""
    references = fiction_books(data)["reference"]
    for name, books in (("fiction reference", references), ("Candide gt", [candide_books(data)["gt"]])):
        for label, seeds in SEEDS.items():
            _print_injection(f"{name}, seeds {seeds}, {label}", books, seeds, TRANSLATIONS, show=show)
        if any(book.source_language == "zh" for book in books):
            _print_injection(f"{name}, other translations", books, SEEDS["unseen"], OTHER_TRANSLATIONS, show=show)


def _print_injection(
    name: str, books: Sequence[StudyBook], seeds: Sequence[int], translations: Mapping[str, str], *, show: bool
) -> None:
    results = [measure_injection(books, seed=seed, translations=translations) for seed in seeds]
    pooled = sum(results[1:], results[0])
    print(f"injected into {name}: {pooled.format()}")
    if show:
        print(*(f"    wrong: {text}" for text in pooled.wrong), sep="\n")
        print(*(f"    missed: {text}" for text in pooled.missed), sep="\n")


def print_genders(data: Path, show: bool) -> None:
    """Lines with the main wording of the names of the reference, and dropped pronouns."""
    fiction = fiction_books(data)
    names = [reference_names(book) for book in fiction["reference"]]
    for system, books in fiction.items():
        print(f"names of the reference, {system}: {format_alike(names, books)}")
        for confirmed in (False, True):
            result = measure_genders(data, books, fiction["reference"], confirmed=confirmed, show=show)
            print(f"dropped pronouns, {system}{', cast confirmed' * confirmed}: {result.format()}")


def print_consistency(name: str, books: Sequence[StudyBook], *, show: bool) -> None:
    """One line for a system: names, consistency before and after, changes and changes in 10,000 words."""
    measured = [measure_consistency(book) for book in books]
    names = [one for found, _ in measured for one in found]
    made = [one for _, found in measured for one in found]
    words = sum(book.words for book in books)
    print(
        f"{name:30} {len(names):3} names  {agreement(one.before for one in names):5.1f} -> "
        f"{agreement(one.after for one in names):5.1f}  {len(made):3} changes, "
        f"{10_000 * len(made) / max(1, words):.2f} in 10,000 words"
    )
    if show:
        for change in made:
            print(f"    {change.book} {change.paragraph}: {change.reason}")
        for one in names:
            if len(one.after) > 1:
                print(f"    left: {one.form}: {dict(one.after)}")


PARTS: dict[str, Callable[[Path, bool], None]] = {
    "consistency": print_all_consistency,
    "injection": print_injection,
    "genders": print_genders,
}

if __name__ == "__main__":
    main()
