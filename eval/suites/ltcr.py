"""The consistency test set of Lei et al. 2024: BLEU, L-All and L-Anno, as in Table 6 of the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import BaseModel, ValidationError

from ape.errors import InputError
from ape.files.rows import describe_validation_error
from ape.text.word_alignment.protocol import WordAligner
from eval.corpus.corpus import Corpus, Document
from eval.corpus.raw_document import numbered_lines
from eval.linguistics.annotators.protocol import Annotator
from eval.metrics.ltcr.chains import read_annotated_chains
from eval.metrics.ltcr.metric import Ltcr
from eval.metrics.metric import Metric
from eval.metrics.sacrebleu import Bleu
from eval.suites.outputs import REFERENCES_LABEL, add_outputs, score_rows
from eval.suites.suite import SuiteResult, SuiteRow, SuiteTable, published_rows

LANGUAGES = ("zh", "en")
COLUMNS = ("BLEU", "L-All, our pairs", "L-All, paper's pairs", "L-Anno")
PUBLISHED_COLUMNS = ("BLEU", "L-All, paper's pairs", "L-Anno")
ALIGNER_SEEDS = (1, 2, 3)
"""Seeds of the word aligner; scores are means over them."""
# Table 6 of the paper.
PUBLISHED = {
    "Sent-Transformer": (17.77, 65.63, 68.48),
    "Doc-Transformer": (18.12, 64.51, 68.53),
    "G-Transformer": (18.04, 66.00, 70.28),
    "CVAE-Transformer": (18.33, 67.20, 72.18),
}

_REFERENCES = ("reference", REFERENCES_LABEL)


class _Texts(BaseModel):
    id: str
    source: tuple[str, ...]
    reference: tuple[str, ...]


def read_test_set(path: Path) -> Corpus:
    """Read the articles, with their references also as the output of a system `reference`."""
    rows = []
    for number, line in numbered_lines(path):
        try:
            rows.append(_Texts.model_validate_json(line))
        except ValidationError as error:
            message = describe_validation_error(error, root="the line")
            raise InputError(f"Line {number} of {path} is not an article: {message}.", field="data") from error
    if not rows:
        raise InputError(f"{path} has no articles.", field="data")
    documents = (
        Document(row.id, {"reference": row.reference}, references=(row.reference,), sources=row.source) for row in rows
    )
    return Corpus(tuple(documents), "zh", "en", name="LTCR")


@dataclass(frozen=True, slots=True)
class LtcrSuite:
    """Chinese to English articles with chains of words that require one translation."""

    aligner: WordAligner | None = None
    annotator: Annotator | None = None
    name: str = "ltcr"
    paper: str = "Lei et al. 2024, the LTCR test set (Lyu et al. 2021 for the measure)"
    data_source: str = (
        "Its authors publish it with their paper. Convert it to JSON lines, one object for each article, with id, "
        "source and reference (lists of sentences), source_tokens (a list for each sentence), and chains, each with "
        "word, translation and positions: pairs of sentence and token, counted from 0."
    )

    def run(self, data: Path, systems: Mapping[str, Path]) -> SuiteResult:
        """Score the outputs: one line for each sentence, article after article."""
        return self.score_corpus(data, add_outputs(with_references_as_system(read_test_set(data)), systems))

    def score_corpus(self, data: Path, corpus: Corpus) -> SuiteResult:
        """Score the systems of a corpus that was read from `data` and has the outputs already."""
        annotated = read_annotated_chains(data)
        names = [*(name for name in corpus.systems if name not in _REFERENCES), REFERENCES_LABEL]
        rows, signatures = score_rows(corpus, {"BLEU": Bleu(lowercase=True)}, names)
        seeds = [self.aligner] if self.aligner else [_aligner(corpus, seed) for seed in ALIGNER_SEEDS]
        runs = []
        for aligner in seeds:
            chains = Ltcr(aligner=aligner, annotator=self.annotator)
            metrics: dict[str, Metric] = {COLUMNS[1]: chains, "L-Anno": replace(chains, annotated=annotated)}
            run, found = score_rows(corpus, metrics, names)
            runs.append(run)
            signatures |= {f"{column}, seed {len(runs)}": text for column, text in found.items()}
        rows = [_with_means(row, [run[at] for run in runs]) for at, row in enumerate(rows)]
        table = SuiteTable(
            "BLEU, L-All and L-Anno (as in Table 6)",
            COLUMNS,
            (*rows, *published_rows(PUBLISHED, PUBLISHED_COLUMNS)),
            f"L-All and L-Anno are means over {len(seeds)} seeds of the word aligner, with their lowest and highest. "
            "Our L-All counts the pairs of all repeated content words that our tagger finds (98,691 on the whole set), "
            "the paper's counts 30,667: the two columns are not comparable. By construction L-Anno of the references "
            "is 100: the difference is the word aligner's error.",
        )
        return SuiteResult(self.name, (table,), signatures, self.paper)


def _aligner(corpus: Corpus, seed: int) -> WordAligner:
    from eval.linguistics.word_alignment import CachedAligner, EflomalAligner

    return CachedAligner(EflomalAligner(corpus.source_language, corpus.target_language, seed=seed))


def _with_means(row: SuiteRow, runs: Sequence[SuiteRow]) -> SuiteRow:
    """The row with the means over runs, and their lowest and highest where they differ."""
    cells, bounds = dict(row.cells), dict(row.bounds)
    for column in runs[0].cells:
        values = [value for run in runs if (value := run.cells[column]) is not None]
        cells[column] = sum(values) / len(values) if values else None
        if len(set(values)) > 1:
            bounds[column] = (min(values), max(values))
    return replace(row, cells=cells, bounds=bounds)


def with_references_as_system(corpus: Corpus) -> Corpus:
    """The corpus with the references as a system."""
    documents = (replace(one, outputs={REFERENCES_LABEL: one.outputs["reference"]}) for one in corpus.documents)
    return replace(corpus, documents=tuple(documents))
