"""Load a corpus from tables, text files or finished jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ape.errors import InputError
from eval.corpus.corpus import Corpus
from eval.corpus.parallel_reader import DocumentBoundaries
from eval.corpus.reader import read_corpus
from eval.corpus.validation import CorpusRules


@dataclass(frozen=True, slots=True)
class CorpusInputs:
    """The files, or the jobs, that a corpus is read from."""

    tables: Sequence[Path] = ()
    systems: Mapping[str, Path] = field(default_factory=dict)
    references: Sequence[Path] = ()
    source: Path | None = None
    documents: DocumentBoundaries = "auto"
    encoding: str | None = None
    jobs: Sequence[str] = ()


def load_corpus(inputs: CorpusInputs, rules: CorpusRules, *, jobs_url: str = "") -> Corpus:
    """Read the files, or the jobs of the store at `jobs_url`."""
    if not inputs.jobs:
        return read_corpus(
            *inputs.tables,
            systems=inputs.systems,
            references=inputs.references,
            source=inputs.source,
            documents=inputs.documents,
            rules=rules,
            encoding=inputs.encoding,
        )
    if inputs.tables or inputs.systems or inputs.source:
        raise InputError("A job has its own source and outputs: leave out tables, systems and the source.", field="job")
    from ape.jobs.store import JobStore
    from eval.corpus.job_reader import read_jobs

    with JobStore(jobs_url) as store:
        return read_jobs(store, inputs.jobs, references=inputs.references, rules=rules)


def load_corpora(inputs: CorpusInputs, rules: CorpusRules, *, jobs_url: str = "") -> list[Corpus]:
    """A corpus for each table, since each may have its own source language; one corpus without tables."""
    if len(inputs.tables) > 1 and (inputs.systems or inputs.references):
        raise InputError("Several tables hold all texts themselves: leave out text files.", field="data")
    if not (inputs.tables or inputs.systems or inputs.jobs):
        raise InputError("There is nothing to compare: give a table or the outputs of systems.", field="data")
    parts = [replace(inputs, tables=[table]) for table in inputs.tables] or [inputs]
    return [load_corpus(part, rules, jobs_url=jobs_url) for part in parts]
