"""What the marked-up chapters are made of: Tables 4 and 5 and Figure 3 of the BWB paper, where there is mark-up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from eval.bwb.chapter import LANGUAGES, Chapter
from eval.bwb.markup import Marked
from eval.bwb.plots import plot_chains
from eval.bwb.pronouns import GENDERS
from eval.bwb.statistics import Share, chain_statistics, entity_table, pronoun_table
from eval.suites.bwb import paper
from eval.suites.suite import Picture, Row, Table, published

_FIGURES = ("count", "freq. %", "repet.")
_TYPE_COLUMNS = tuple(f"{language.upper()} {figure}" for language in LANGUAGES for figure in _FIGURES)
_PRONOUN_COLUMNS = (*GENDERS, "omitted %")


def statistics(chapters: Sequence[Chapter]) -> Iterator[Table]:
    """Both tables, or none where nothing is marked."""
    if marked := _marked(chapters):
        yield _types(marked)
        yield _pronouns(marked)


def chains(chapters: Sequence[Chapter]) -> Iterator[Picture]:
    """Figure 3, or none where nothing is marked."""
    if marked := _marked(chapters):
        counted = {language.upper(): chain_statistics(found) for language, found in marked.items()}
        entities = ", ".join(f"{one.sizes.total():,} in {language}" for language, one in counted.items())
        yield Picture(
            "Coreference chains (as in Figure 3)",
            partial(plot_chains, counted),
            f"Of the entities, {entities}.",
        )


def _marked(chapters: Sequence[Chapter]) -> dict[str, list[Marked]]:
    return {
        language: found
        for language in LANGUAGES
        if (found := [one for chapter in chapters for one in (chapter.marked or {}).get(language, ())])
    }


def _types(marked: Mapping[str, Sequence[Marked]]) -> Table:
    tables = {language: entity_table(found) for language, found in marked.items()}
    rows = []
    for name in paper.ENTITY_TYPES:
        cells: dict[str, float | None] = {}
        for language, shares in tables.items():
            figures = zip(_FIGURES, _figures(shares.get(name)), strict=True)
            cells |= {f"{language.upper()} {figure}": value for figure, value in figures}
        rows.append(Row(name, cells))
    return Table(
        "Entities by type (as in Table 4)",
        _TYPE_COLUMNS,
        (*rows, *published(paper.ENTITY_TYPES, _TYPE_COLUMNS)),
        of="type",
    )


def _figures(share: Share | None) -> tuple[float, float | None, float | None]:
    return (share.count, 100 * share.frequency, share.repetition) if share else (0, None, None)


def _pronouns(marked: Mapping[str, Sequence[Marked]]) -> Table:
    rows = []
    for language, found in marked.items():
        counted = pronoun_table(found)
        share = counted.share_omitted
        omitted = None if share is None else 100 * share
        values = (*(counted.by_gender[gender] for gender in GENDERS), omitted)
        rows.append(Row(language.upper(), dict(zip(_PRONOUN_COLUMNS, values, strict=True))))
    return Table(
        "Pronouns (as in Table 5)",
        _PRONOUN_COLUMNS,
        (*rows, *published(paper.PRONOUNS, _PRONOUN_COLUMNS)),
        of="language",
    )
