"""Run the BWB suite: Table 7 of the paper with details, the statistics of Tables 4 and 5, and figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from ape.errors import InputError
from eval.corpus.corpus import Corpus, Document
from eval.linguistics.annotators.protocol import Annotator
from eval.linguistics.bwb.chapter import BwbChapter, read_chapters
from eval.linguistics.bwb.error_lines import BwbErrorLine
from eval.linguistics.bwb.markup import BwbMarkup
from eval.linguistics.bwb.names import BwbNames
from eval.metrics.blonde import Blonde, BlondePlus
from eval.metrics.blonde.bwb_reader import collect_wordings
from eval.metrics.bwb_phenomena import PHENOMENA, BwbPhenomena
from eval.metrics.centering import KpCoherence
from eval.metrics.coreference import CoreferenceMatch
from eval.metrics.entities import EntityMatch
from eval.metrics.meteor import Meteor
from eval.metrics.metric import Metric
from eval.metrics.sacrebleu import Bleu, Ter
from eval.statistics.counts import FloatArray, MetricCounts, Score
from eval.suites.bwb import published
from eval.suites.bwb.composition import chain_figures, composition_tables
from eval.suites.bwb.omission import omitted_shares, score_by_omission
from eval.suites.bwb.plots import plot_omission
from eval.suites.outputs import REFERENCES_LABEL, add_outputs, score_rows, score_system
from eval.suites.suite import SuiteFigure, SuiteResult, SuiteRow, SuiteTable, published_rows

ANNOTATED_MT = "the annotated MT"
"""The sentences annotated with errors: the paper's Google."""
_OVERALL = ("BLEU", "METEOR", "TER", "BlonDe")
# Columns and the part of a metric's score in each; an empty name is the score itself.
_BLONDE = {
    "BlonDe": "",
    "tense": "tense",
    "pronoun": "pronoun",
    "entity": "entity",
    "markers": "dm",
    "n-grams": "n-grams",
}
_PLUS = {"BlonDe+": "", "ambiguity": "ambiguity", "ellipsis": "ellipsis"}
_KINDS = {part: part for one in PHENOMENA for part in (f"{one} F1", f"{one} exact")}
_ENTITIES = {
    "precision": "all precision",
    "recall": "all recall",
    "F1": "all F1",
    "persons F1": "PER F1",
    "others F1": "not PER F1",
}
_COREFERENCE = {"B³": "B³", "CEAF": "CEAFe"}
_CENTERING = {"KP": "", "reorderings beaten": "reorderings beaten"}
_TERMS = {"terminology": "terminology", "common phrases": "common phrases"}


@dataclass(frozen=True, slots=True)
class BwbSuite:
    """Chinese to English web novels; each part is measured where its annotation exists."""

    annotator: Annotator | None = None
    name: str = "bwb"
    paper: str = "Jiang et al. 2023, Discourse-Centric Evaluation of Document-level Machine Translation (BWB)"
    data_source: str = (
        "Its authors publish it at https://github.com/EleanorJiang/BlonDe. The data is the folder of a chapter with "
        "ref.txt and, optionally, an.txt (error lines), ner.txt (names), chs.txt and mark-up as NAME.en.an.txt and "
        "NAME.zh.an.txt; or a folder of such folders."
    )

    def run(self, data: Path, systems: Mapping[str, Path]) -> SuiteResult:
        """Score the outputs: one line for each line of the reference, chapter after chapter."""
        chapters = read_chapters(data)
        corpus = add_outputs(_corpus(chapters), systems)
        rows = [*systems, *(name for name in corpus.systems if name not in systems)]
        measured = _Measured(corpus, rows, self.annotator, chapters)
        tables = [measured.overall(), measured.categories(), measured.phenomena(), measured.entities()]
        tables.append(measured.coherence())
        tables += [*measured.marked_entities(), *composition_tables(chapters)]
        issues = tuple(issue for chapter in chapters for issue in chapter.issues)
        pictures = (*chain_figures(chapters), *measured.by_omitted_pronouns())
        return SuiteResult(
            self.name, tuple(tables), measured.signatures, self.paper, annotation_issues=issues, pictures=pictures
        )


def _corpus(chapters: Sequence[BwbChapter]) -> Corpus:
    annotated = all(chapter.errors for chapter in chapters)
    documents = []
    for one in chapters:
        texts = {ANNOTATED_MT: tuple(line.text for line in one.errors)} if annotated else {}
        outputs = texts | {REFERENCES_LABEL: one.reference}
        sources = one.sources if all(chapter.sources for chapter in chapters) else ()
        documents.append(Document(one.id, outputs, (one.reference,), sources))
    return Corpus(tuple(documents), "zh", "en", name="BWB")


class _Measured:
    """Tables of the measurements; collects signatures."""

    def __init__(
        self, corpus: Corpus, systems: Sequence[str], annotator: Annotator | None, chapters: Sequence[BwbChapter]
    ) -> None:
        self._corpus, self._systems, self._annotator = corpus, systems, annotator
        self._chapters = chapters
        # A chapter without error lines has no errors.
        self._errors = {
            one.id: one.errors or (BwbErrorLine("", ()),) * len(one.reference)
            for one in chapters
            if any(other.errors for other in chapters)
        }
        self.signatures: dict[str, str] = {}
        self._blonde = self._rows(Blonde(annotator=annotator), _BLONDE, corpus)

    def overall(self) -> SuiteTable:
        metrics: dict[str, Metric] = {"BLEU": Bleu(), "METEOR": Meteor(), "TER": Ter()}
        rows, signatures = score_rows(self._corpus, metrics, self._systems)
        self.signatures |= signatures
        return SuiteTable(
            "Automatic metrics (as in Table 7)",
            _OVERALL,
            (*_join_columns(rows, self._blonde), *published_rows(published.OVERALL, _OVERALL)),
            "The published rows are of the whole test set, ours of the given chapters. The paper also has BERTScore "
            "and COMET, which need models: use the metrics bertscore and comet.",
        )

    def categories(self) -> SuiteTable:
        if not self._errors:
            return SuiteTable("BlonDe by category in %", tuple(_BLONDE), tuple(self._blonde))
        plus = BlondePlus(
            annotator=self._annotator,
            ambiguity=collect_wordings(self._errors, "ambiguity"),
            ellipsis=collect_wordings(self._errors, "ellipsis"),
        )
        rows = _join_columns(self._blonde, self._rows(plus, _PLUS, self._corpus))
        return SuiteTable("BlonDe by category in %", (*_BLONDE, *_PLUS), tuple(rows))

    def phenomena(self) -> SuiteTable:
        none = BwbNames(Counter(), Counter())
        names = {
            one.id: one.names or (none,) * len(one.reference)
            for one in self._chapters
            if any(other.names for other in self._chapters)
        }
        metric = BwbPhenomena(errors=self._errors, names=names, annotator=self._annotator)
        rows = self._rows(metric, _KINDS, self._corpus)
        columns = tuple(_KINDS)
        return SuiteTable(
            "Discourse phenomena: F1 and exact match in % (as in Table 7)",
            columns,
            (*rows, *published_rows(published.PHENOMENA, columns)),
        )

    def entities(self) -> SuiteTable:
        rows = self._rows(EntityMatch(annotator=self._annotator), _ENTITIES, self._corpus)
        note = "Entities are those that the annotator finds."
        return SuiteTable("Entities in %", tuple(_ENTITIES), tuple(rows), note)

    def coherence(self) -> SuiteTable:
        coreference = self._rows(CoreferenceMatch(annotator=self._annotator), _COREFERENCE, self._corpus)
        centering = self._rows(KpCoherence(annotator=self._annotator), _CENTERING, self._corpus)
        columns = tuple(_COREFERENCE)
        return SuiteTable(
            "Coreference and coherence in % (as in Table 8)",
            (*columns, *_CENTERING),
            (*_join_columns(coreference, centering), *published_rows(published.COHERENCE, columns)),
            "Ours compares the output's coreference with that of the reference, both found by the same resolver (the "
            "references are 100 by definition), and CEAF is CEAFe. The published figures are of annotated coreference, "
            "by a neural model; the paper ranks texts by KP and prints no values.",
        )

    def marked_entities(self) -> Iterator[SuiteTable]:
        """Entities and terminology of the lines with mark-up, if any."""
        marked = self._marked()
        if not marked:
            return
        corpus = self._marked_lines(marked)
        metric = EntityMatch(markup=marked, annotator=self._annotator, name="marked entities")
        columns = {**_ENTITIES, **_TERMS}
        yield SuiteTable(
            f"Entities and terminology of the {len(corpus):,} lines with mark-up in % (as in Figures 5 and 6)",
            tuple(columns),
            tuple(self._rows(metric, columns, corpus)),
            "Terminology and common phrases: recall.",
        )

    def by_omitted_pronouns(self) -> Iterator[SuiteFigure]:
        """Scores of the lines with mark-up by the share of pronouns that Chinese omits."""
        marked = self._marked()
        corpus = self._marked_lines(marked) if marked else self._corpus
        shares = omitted_shares(marked, [one.id for one in corpus.documents])
        if np.isnan(shares).all():
            return
        metrics: dict[str, Metric] = {
            "BlonDe": Blonde(annotator=self._annotator),
            "Coreference": CoreferenceMatch(annotator=self._annotator),
            "KP": KpCoherence(annotator=self._annotator),
        }
        for name, metric in metrics.items():
            yield SuiteFigure(
                f"{name} against omitted pronouns" + " (as in Figure 7)" * (name == "BlonDe"),
                partial(self._draw_omission, metric, corpus, shares, name),
                f"The lines with mark-up of {len(corpus.documents):,} chapters, in bins of a tenth.",
            )

    def _draw_omission(self, metric: Metric, corpus: Corpus, shares: FloatArray, name: str, path: Path) -> None:
        counted = {system: metric.count(corpus, system) for system in self._systems}
        curves = {
            system: score_by_omission(one, shares) for system, one in counted.items() if isinstance(one, MetricCounts)
        }
        plot_omission(curves, path, score=name)

    def _marked(self) -> dict[str, BwbMarkup]:
        """The English mark-up by chapter."""
        return {one.id: found for one in self._chapters if (found := _english(one)) is not None}

    def _marked_lines(self, marked: Mapping[str, BwbMarkup]) -> Corpus:
        return _cut(self._corpus, {name: len(one.lines) for name, one in marked.items()})

    def _rows(self, metric: Metric, columns: Mapping[str, str], corpus: Corpus) -> list[SuiteRow]:
        """Parts of a metric's score by column, in %."""
        rows = []
        for system in self._systems:
            found = score_system(corpus, metric, system)
            self.signatures[metric.name] = found.signature
            parts = {"": found.value, **found.parts} if isinstance(found, Score) else {}
            rows.append(SuiteRow(system, {column: _percent(parts.get(part)) for column, part in columns.items()}))
        return rows


def _join_columns(rows: Sequence[SuiteRow], more: Sequence[SuiteRow]) -> list[SuiteRow]:
    return [replace(row, cells={**row.cells, **other.cells}) for row, other in zip(rows, more, strict=True)]


def _percent(value: float | None) -> float | None:
    return None if value is None else 100 * value


def _english(chapter: BwbChapter) -> BwbMarkup | None:
    """The English mark-up, checked against the chapter's lines."""
    for marked in (chapter.markup or {}).get("en", ()):
        for number, text in enumerate(marked.lines):
            known = chapter.reference[number] if number < len(chapter.reference) else ""
            if _letters(text) != _letters(known):
                raise InputError(
                    f"Line {number + 1} of the English mark-up of {chapter.id} is not line {number + 1} of its "
                    "reference.",
                    field="data",
                )
        return marked
    return None


def _letters(text: str) -> str:
    """The letters only, as errors in the mark-up can remove a space."""
    return "".join(text.split())


def _cut(corpus: Corpus, lengths: Mapping[str, int]) -> Corpus:
    """The named documents, cut to their first segments."""
    documents = tuple(
        Document(
            one.id,
            {name: texts[: lengths[one.id]] for name, texts in one.outputs.items()},
            tuple(texts[: lengths[one.id]] for texts in one.references),
        )
        for one in corpus.documents
        if one.id in lengths
    )
    return replace(corpus, documents=documents)
