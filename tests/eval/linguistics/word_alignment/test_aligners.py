"""The aligners on small sentences, and their cache."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest

from ape.errors import ModelError
from ape.text.word_alignment.eflomal_sampler import find_eflomal, iteration_counts
from ape.text.word_alignment.stemmer import stem_word, stemmer_name
from eval.linguistics.word_alignment import (
    AwesomeAligner,
    Bitext,
    CachedAligner,
    EflomalAligner,
    WordAligner,
    WordLinks,
)
from eval.linguistics.word_alignment.awesome_align import extract_links

NOUNS = {"猫": "cat", "狗": "dog", "马": "horse", "鱼": "fish", "鸟": "bird"}
VERBS = {"睡": "sleeps", "跑": "runs", "吃": "eats", "看": "looks"}
BITEXT: Bitext = [([noun, verb], [NOUNS[noun], VERBS[verb]]) for noun in NOUNS for verb in VERBS]
# Words with little evidence, so that links depend on the seed.
HARD: Bitext = [
    ([f"s{(3 * line + word) % 11}" for word in range(9)], [f"t{(5 * line + word) % 13}" for word in range(9)])
    for line in range(20)
]


def short(seed: int) -> EflomalAligner:
    """A fast aligner."""
    return EflomalAligner("zh", "en", samplers=1, iterations=0.01, seed=seed)


@dataclass(frozen=True, slots=True)
class Diagonal:
    """Links words of the same index, and records the size of each call."""

    sizes: list[int] = field(default_factory=list)
    name: str = "diagonal"

    def align(self, bitext: Bitext, *, extra: Bitext = ()) -> list[WordLinks]:
        self.sizes.append(len(bitext) + len(extra))
        return [frozenset((i, i) for i in range(min(map(len, pair)))) for pair in bitext]


@pytest.mark.subprocess
def test_eflomal_links_translations() -> None:
    found = EflomalAligner("zh", "en").align([*BITEXT, ([], ["nothing"])], extra=[*BITEXT, *BITEXT, *BITEXT])
    right = sum(links == {(0, 0), (1, 1)} for links in found[:-1])
    assert right >= 0.9 * len(BITEXT)
    assert found[-1] == frozenset()


def test_the_name_has_all_settings() -> None:
    name = EflomalAligner("zh", "en", samplers=2).name
    assert name.startswith("eflomal-2")
    assert name.endswith("/lower+snowball-english/samplers-2/iterations-1/seed-1/gdfa")


@pytest.mark.subprocess
def test_links_are_reproducible_by_seed() -> None:
    first, again, other = (short(seed).align(HARD) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert short(1).name != short(2).name


@pytest.mark.subprocess
def test_a_build_without_seed_support_says_so_in_its_name(tmp_path: Path) -> None:
    program = tmp_path / "eflomal"
    program.write_bytes(find_eflomal().read_bytes() + b"\0/dev/urandom\0")  # two occurrences: ambiguous
    program.chmod(0o700)
    aligner = replace(short(1), program=program)
    assert "/seed-none/" in aligner.name
    assert len(aligner.align(HARD)) == len(HARD)


@pytest.mark.subprocess
def test_an_eflomal_that_cant_be_run_is_a_model_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"eflomal can't be run: .*set TMPDIR"):
        replace(short(1), program=tmp_path / "none").align(HARD)
    program = tmp_path / "eflomal"
    program.write_text("#!/bin/sh\necho no memory >&2\nexit 3\n", encoding="ascii")
    program.chmod(0o700)
    with pytest.raises(ModelError, match=r"eflomal failed \(3\): no memory"):
        replace(short(1), program=program).align(HARD)


@pytest.mark.parametrize(
    ("sentences", "times", "expected"),
    # As passed by the Python code of eflomal 2.0.0.
    [(1, 1.0, (1250, 1250, 5000)), (77, 1.0, (142, 142, 570)), (100_000, 0.3, (2, 1, 5))],
)
def test_iteration_counts_equal_eflomals(sentences: int, times: float, expected: tuple[int, int, int]) -> None:
    assert iteration_counts(sentences, times) == expected


def test_an_empty_bitext_has_no_links() -> None:
    assert EflomalAligner().align([]) == []
    assert EflomalAligner().align([([], []), (["a"], [])]) == [frozenset(), frozenset()]


def test_the_same_texts_are_aligned_once(tmp_path: Path) -> None:
    inner = Diagonal()
    aligner: WordAligner = CachedAligner(inner, tmp_path)
    first = aligner.align(BITEXT)
    assert aligner.align(BITEXT) == first
    assert inner.sizes == [len(BITEXT)]
    aligner.align(BITEXT, extra=BITEXT[:1])
    aligner.align(BITEXT[1:])
    assert inner.sizes == [len(BITEXT), len(BITEXT) + 1, len(BITEXT) - 1]


def test_a_damaged_cache_file_is_rewritten(tmp_path: Path) -> None:
    inner = Diagonal()
    aligner = CachedAligner(inner, tmp_path)
    first = aligner.align(BITEXT)
    (path,) = tmp_path.iterdir()
    path.write_text("0-0\n", encoding="ascii")
    assert aligner.align(BITEXT) == first == aligner.align(BITEXT)
    assert len(inner.sizes) == 2


def test_an_unwritable_cache_folder_does_not_fail(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert CachedAligner(Diagonal(), tmp_path / "file").align(BITEXT[:1]) == [frozenset({(0, 0), (1, 1)})]


def test_awesome_align_links_words_likely_in_both_directions() -> None:
    similarity = np.array([[20.0, 0.0, 0.0], [0.0, 20.0, 19.0]])
    assert set(extract_links(similarity)) == {(0, 0), (1, 1), (1, 2)}
    # The third column is likely only in its own direction when the first two outweigh it in its row.
    assert set(extract_links(np.array([[20.0, 0.0], [20.0, 5.0]]))) == {(0, 0), (1, 0)}


def test_a_missing_encoder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="can't be loaded"):
        AwesomeAligner(str(tmp_path)).align(BITEXT[:1])


@pytest.mark.parametrize(
    ("word", "language", "expected"),
    [("Laws", "en", "law"), ("LAW", "en-GB", "law"), ("诊所", "zh", "诊所"), ("PRROWESS", "zh", "prrowess")],
)
def test_words_are_compared_without_case_and_endings(word: str, language: str, expected: str) -> None:
    assert stem_word(word, language) == expected


def test_a_language_without_a_stemmer_is_only_lower_cased() -> None:
    assert (stemmer_name("zh"), stemmer_name("English")) == ("lower", "snowball-english")
