"""Reader for coreference in CoNLL columns: one token on each line, mentions in the last column.

`(12` opens a mention of entity 12 and `12)` closes it; `(12)` is a single token. Several are separated by `|` or by
nothing. Of nested mentions of one entity, the inner closes first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import regex

from ape.errors import InputError
from eval.corpus.raw_document import numbered_lines
from eval.linguistics.coreference.partition import Clusters

_BEGIN = regex.compile(r"#begin document\s+(?P<name>.*?);?\s*$")
_BRACKET = regex.compile(r"\((?P<whole>[^()|\s]+)\)|\((?P<open>[^()|\s]+)|(?P<close>[^()|\s]+)\)")


@dataclass(slots=True)
class ConllDocument:
    """The entities of a document in order of first mention; a mention is its first and last token."""

    name: str
    tokens: int = 0
    entities: dict[str, list[tuple[int, int]]] = field(default_factory=dict)

    @property
    def clusters(self) -> Clusters:
        """The clusters for a scorer."""
        return tuple(map(tuple, self.entities.values()))


def read_conll(path: Path) -> dict[str, ConllDocument]:
    """Read all documents of a file by name and part."""
    found: dict[str, ConllDocument] = {}
    for document in _Reader(path).documents():
        if document.name in found:
            raise InputError(f"{path}: the document {document.name!r} begins twice.")
        found[document.name] = document
    if not found:
        raise InputError(f'{path} has no line "#begin document (name);": is it a CoNLL file?')
    return found


def read_document_pairs(key: Path, response: Path) -> list[tuple[Clusters, Clusters]]:
    """The documents of both files in pairs for the scorers."""
    keys, responses = read_conll(key), read_conll(response)
    if keys.keys() != responses.keys():
        unpaired = ", ".join(map(repr, sorted(keys.keys() ^ responses.keys())))
        raise InputError(f"{key} and {response} have different documents: {unpaired} is in only one of them.")
    for name, document in keys.items():
        if document.tokens != responses[name].tokens:
            raise InputError(
                f"The document {name!r} has {document.tokens} tokens in {key}, "
                f"and {responses[name].tokens} in {response}."
            )
    return [(document.clusters, responses[name].clusters) for name, document in keys.items()]


@dataclass(slots=True)
class _Reader:
    path: Path
    _document: ConllDocument | None = None
    _open: dict[str, list[tuple[int, int, int]]] = field(default_factory=dict)
    """The open mentions of each entity: index in its list, first token, line."""

    def documents(self) -> Iterator[ConllDocument]:
        number = 0
        for number, line in numbered_lines(self.path):
            if begun := _BEGIN.match(line):
                yield from self._end(number)
                self._document = ConllDocument(begun["name"])
            elif line.startswith("#end"):
                yield from self._end(number)
            elif line.strip() and not line.startswith("#"):
                self._token(line.split()[-1], number)
        yield from self._end(number)

    def _token(self, brackets: str, number: int) -> None:
        document = self._document
        if document is None:
            raise InputError(f'{self.path}, line {number}: a token before the first "#begin document".')
        if _BRACKET.sub("", brackets).strip("|-_"):
            raise InputError(
                f"{self.path}, line {number}: the last column is {brackets!r}; "
                "it should have brackets such as (1|2), or a hyphen."
            )
        for bracket in _BRACKET.finditer(brackets):
            if entity := bracket["whole"]:
                document.entities.setdefault(entity, []).append((document.tokens, document.tokens))
            elif entity := bracket["open"]:
                mentions = document.entities.setdefault(entity, [])
                self._open.setdefault(entity, []).append((len(mentions), document.tokens, number))
                mentions.append((document.tokens, -1))
            else:
                self._close(document, bracket["close"], number)
        document.tokens += 1

    def _close(self, document: ConllDocument, entity: str, number: int) -> None:
        if not self._open.get(entity):
            raise InputError(f"{self.path}, line {number}: {entity}) closes a mention that was never opened.")
        place, first, _ = self._open[entity].pop()
        document.entities[entity][place] = (first, document.tokens)

    def _end(self, number: int) -> Iterator[ConllDocument]:
        unclosed: Mapping[str, int] = {entity: at[-1][2] for entity, at in self._open.items() if at}
        for entity, line in unclosed.items():
            raise InputError(
                f"{self.path}, line {line}: ({entity} is still open at the end of its document, line {number}."
            )
        if self._document is not None:
            yield self._document
        self._document, self._open = None, {}
