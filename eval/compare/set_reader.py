"""Reader of the comparison set and of ready outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ape.errors import InputError
from eval.compare.comparison_set import DO_NOTHING, ComparisonSet, build_comparison_set
from eval.compare.system import System, ready_system, system_from_set
from eval.compare.system_spec import OutputFileSpec, SetSystemSpec, SystemSpec, read_texts_by_id
from eval.corpus.parallel_reader import DocumentBoundaries
from eval.corpus.raw_document import numbered_lines
from eval.corpus.reader import read_corpus
from eval.corpus.validation import CorpusRules


@dataclass(frozen=True, slots=True)
class ComparisonInputs:
    """Input files of a set: tables, or parallel text files; `mt` is a system of the set, or "@FILE"."""

    tables: tuple[Path, ...] = ()
    mt: str = ""
    source: Path | None = None
    references: tuple[Path, ...] = ()
    documents: DocumentBoundaries = "auto"
    encoding: str | None = None

    def files(self, specs: Sequence[SystemSpec]) -> list[Path]:
        """All input files, including ready outputs."""
        files = [*self.tables, *self.references, *([self.source] if self.source else [])]
        files += [Path(self.mt[1:])] if self.mt.startswith("@") else []
        return files + [spec.path for spec in specs if isinstance(spec, OutputFileSpec)]


def read_comparison_set(given: ComparisonInputs, specs: Sequence[SystemSpec], rules: CorpusRules) -> ComparisonSet:
    """Read the set, with the ready outputs of text files among its systems."""
    for path in given.files(specs):
        if not path.is_file():
            raise InputError(f"There is no file {path}.", field="path")
    systems = {spec.name: spec.path for spec in specs if isinstance(spec, OutputFileSpec) and not _is_json(spec.path)}
    mt = given.mt
    if mt.startswith("@"):
        systems, mt = {DO_NOTHING: Path(mt[1:]), **systems}, DO_NOTHING
    corpus = read_corpus(
        *given.tables,
        systems=systems,
        references=given.references,
        source=given.source,
        documents=given.documents,
        rules=rules,
        encoding=given.encoding,
    )
    return build_comparison_set(corpus, mt, added=systems)


def read_ready_systems(data: ComparisonSet, specs: Sequence[SystemSpec]) -> dict[str, System]:
    """Systems with ready outputs, by name."""
    systems: dict[str, System] = {}
    for spec in specs:
        if isinstance(spec, SetSystemSpec):
            systems[spec.name] = system_from_set(spec.name, spec.system, data)
        elif isinstance(spec, OutputFileSpec):
            systems[spec.name] = ready_system(spec.name, _texts(spec, data), data, given=f"@{spec.path}")
    return systems


def _texts(file: OutputFileSpec, data: ComparisonSet) -> tuple[str, ...]:
    """Texts by paragraph; a text file was already read with the set, unless the set is a job."""
    if _is_json(file.path):
        return read_texts_by_id(file.path, data.ids, name=file.name)
    if file.name in data.others:
        return data.others[file.name]
    texts = tuple(line for _, line in numbered_lines(file.path) if line.strip())
    if len(texts) != len(data.ids):
        raise InputError(
            f"{file.path.name} has {len(texts):,} lines of text, and the set has {len(data.ids):,} paragraphs.",
            field="system",
        )
    return texts


def _is_json(path: Path) -> bool:
    return path.suffix.lower() in (".jsonl", ".ndjson")
