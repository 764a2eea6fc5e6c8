"""The consistency test set of Lei et al. 2024: BLEU, L-All and L-Anno, as in Table 6 of the paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import BaseModel, ValidationError

from ape.errors import InputError
from eval.corpus.corpus import Corpus, Document
from eval.corpus.raw_document import numbered_lines
from eval.linguistics.annotators.protocol import Annotator
from eval.linguistics.word_alignment.protocol import WordAligner
from eval.metrics.ltcr.chains import read_annotated_chains
from eval.metrics.ltcr.metric import Ltcr
from eval.metrics.metric import Metric
from eval.metrics.sacrebleu import Bleu
from eval.suites.outputs import REFERENCES_LABEL, add_outputs, score_rows
from eval.suites.suite import SuiteResult, SuiteTable, published_rows

COLUMNS = ("BLEU", "L-All", "L-Anno")
# Table 6 of the paper.
_PUBLISHED = {
    "Sent-Transformer": (17.77, 65.63, 68.48),
    "Doc-Transformer": (18.12, 64.51, 68.53),
    "G-Transformer": (18.04, 66.00, 70.28),
    "CVAE-Transformer": (18.33, 67.20, 72.18),
}


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
            first = error.errors()[0]
            what = ".".join(map(str, first["loc"])) or "the line"
            raise InputError(
                f"Line {number} of {path} is not an article: {what}: {first['msg']}.", field="data"
            ) from error
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
        corpus, annotated = _with_references_as_system(read_test_set(data)), read_annotated_chains(data)
        corpus = add_outputs(corpus, systems)
        chains = Ltcr(aligner=self.aligner, annotator=self.annotator)
        metrics: dict[str, Metric] = {
            "BLEU": Bleu(lowercase=True),
            "L-All": chains,
            "L-Anno": replace(chains, annotated=annotated),
        }
        rows, signatures = score_rows(corpus, metrics, [*systems, REFERENCES_LABEL])
        table = SuiteTable(
            "BLEU, L-All and L-Anno (as in Table 6)",
            COLUMNS,
            (*rows, *published_rows(_PUBLISHED, COLUMNS)),
            "By construction L-Anno of the references is 100: the difference is the word aligner's error.",
        )
        return SuiteResult(self.name, (table,), signatures, self.paper)


def _with_references_as_system(corpus: Corpus) -> Corpus:
    """The corpus with the references as a system."""
    documents = (replace(one, outputs={REFERENCES_LABEL: one.outputs["reference"]}) for one in corpus.documents)
    return replace(corpus, documents=tuple(documents))
