"""Composition of the marked-up chapters: Tables 4 and 5 and Figure 3 of the BWB paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from eval.linguistics.bwb.chapter import LANGUAGES, BwbChapter
from eval.linguistics.bwb.markup import BwbMarkup
from eval.linguistics.pronoun_gender import GENDERS
from eval.suites.bwb import published
from eval.suites.bwb.plots import plot_chains
from eval.suites.bwb.statistics import EntityShare, chain_statistics, entity_statistics, pronoun_statistics
from eval.suites.suite import SuiteFigure, SuiteRow, SuiteTable, published_rows

_FIGURES = ("count", "freq. %", "repet.")
_TYPE_COLUMNS = tuple(f"{language.upper()} {figure}" for language in LANGUAGES for figure in _FIGURES)
_PRONOUN_COLUMNS = (*GENDERS, "omitted %")


def composition_tables(chapters: Sequence[BwbChapter]) -> Iterator[SuiteTable]:
    """Both tables, or none without mark-up."""
    if marked := _marked(chapters):
        yield _types(marked)
        yield _pronouns(marked)


def chain_figures(chapters: Sequence[BwbChapter]) -> Iterator[SuiteFigure]:
    """Figure 3, or none without mark-up."""
    if marked := _marked(chapters):
        counted = {language.upper(): chain_statistics(found) for language, found in marked.items()}
        entities = ", ".join(f"{one.sizes.total():,} in {language}" for language, one in counted.items())
        yield SuiteFigure(
            "Coreference chains (as in Figure 3)", partial(plot_chains, counted), f"Of the entities, {entities}."
        )


def _marked(chapters: Sequence[BwbChapter]) -> dict[str, list[BwbMarkup]]:
    return {
        language: found
        for language in LANGUAGES
        if (found := [one for chapter in chapters for one in (chapter.markup or {}).get(language, ())])
    }


def _types(marked: Mapping[str, Sequence[BwbMarkup]]) -> SuiteTable:
    tables = {language: entity_statistics(found) for language, found in marked.items()}
    rows = []
    for name in published.ENTITY_TYPES:
        cells: dict[str, float | None] = {}
        for language, shares in tables.items():
            figures = zip(_FIGURES, _figures(shares.get(name)), strict=True)
            cells |= {f"{language.upper()} {figure}": value for figure, value in figures}
        rows.append(SuiteRow(name, cells))
    return SuiteTable(
        "Entities by type (as in Table 4)",
        _TYPE_COLUMNS,
        (*rows, *published_rows(published.ENTITY_TYPES, _TYPE_COLUMNS)),
        row_label="type",
    )


def _figures(share: EntityShare | None) -> tuple[float, float | None, float | None]:
    return (share.count, 100 * share.frequency, share.repetition) if share else (0, None, None)


def _pronouns(marked: Mapping[str, Sequence[BwbMarkup]]) -> SuiteTable:
    rows = []
    for language, found in marked.items():
        counted = pronoun_statistics(found)
        share = counted.share_omitted
        omitted = None if share is None else 100 * share
        values = (*(counted.by_gender[gender] for gender in GENDERS), omitted)
        rows.append(SuiteRow(language.upper(), dict(zip(_PRONOUN_COLUMNS, values, strict=True))))
    return SuiteTable(
        "Pronouns (as in Table 5)",
        _PRONOUN_COLUMNS,
        (*rows, *published_rows(published.PRONOUNS, _PRONOUN_COLUMNS)),
        row_label="language",
    )
