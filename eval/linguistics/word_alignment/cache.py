"""Cache of word alignments by content.

One file for each aligned text, named by a digest of the aligner's name and all words, in Pharaoh format: one line for
each sentence, "0-0 1-2".
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from ape.errors import InputError
from ape.files.atomic import write_text_atomic
from ape.files.cache import cache_folder
from ape.text.word_alignment.protocol import Bitext, WordAligner, WordLinks
from eval.linguistics.word_alignment.error_rate import read_links


def default_alignment_folder() -> Path:
    """The default folder of the cache."""
    return cache_folder("word_alignment")


@dataclass(frozen=True, slots=True)
class CachedAligner:
    """An aligner with a cache of whole texts."""

    aligner: WordAligner
    folder: Path = field(default_factory=default_alignment_folder)

    @property
    def name(self) -> str:
        """The aligner's name, as the cache changes no result."""
        return self.aligner.name

    def align(self, bitext: Bitext, *, extra: Bitext = ()) -> list[WordLinks]:
        """Links from the file, or aligned and written to it; a folder without write access costs time only."""
        path = self.folder / f"{alignment_digest(self.name, bitext, extra)}.txt"
        with suppress(OSError, ValueError, InputError):
            links = [gold.sure for gold in read_links(path)]
            if len(links) == len(bitext):
                return links
        links = self.aligner.align(bitext, extra=extra)
        with suppress(OSError):
            _write(path, links)
        return links


def alignment_digest(name: str, bitext: Bitext, extra: Bitext) -> str:
    """A digest of everything the links depend on."""
    digest = sha256(name.encode())
    for texts in (bitext, extra):
        for source, target in texts:
            digest.update(json.dumps([*source, None, *target]).encode())
        digest.update(b"\n")
    return digest.hexdigest()[:32]


def _write(path: Path, links: Sequence[WordLinks]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text_atomic(path, (" ".join(f"{i}-{j}" for i, j in sorted(one)) + "\n" for one in links))
