"""The ledger of a book: building against word alignment alone, applying against str.replace, memory by length.

The book is web fiction (Chinese) with its machine translation, repeated to the length. Word alignment is one sampler of
eflomal, which most tools that link names would have to run. Memory is the peak of a process of its own.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from itertools import chain, cycle

from ape.ledger.build import build_ledger
from ape.ledger.entity import Ledger, LedgerParagraph
from ape.ledger.links import LedgerIndex
from ape.ledger.repair import repair_paragraph
from ape.text.word_alignment.eflomal import EflomalAligner
from benchmarks.claims import Claim, measure_alternately, ratios_by_round
from benchmarks.data_folder import find_data_folder
from benchmarks.studies.corpora import fiction_rows

WORDS = 100_000
LONG = 1_000_000
ROUNDS = 3
_PEAK = """
import sys
from benchmarks.ledger import build, make_book
build(make_book(int(sys.argv[1])))
# Not ru_maxrss, which a child inherits from a larger parent.
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


def missing() -> str | None:
    """What this machine lacks, as a sentence, or None."""
    if not (find_data_folder() / "fiction_zh_en.jsonl").is_file():
        return "ledger: the shared data is not available (APE_DATA)"
    lacking = [name for name in ("jieba", "pypinyin", "eflomal") if find_spec(name) is None]
    return f"ledger: {', '.join(lacking)} not installed" if lacking else None


def make_book(words: int) -> list[LedgerParagraph]:
    """The chapters over and over, up to this many words of the translation."""
    rows = fiction_rows(find_data_folder())
    pairs = [pair for row in rows for pair in zip(row["source"], row["systems"]["base"], strict=True)]
    book: list[LedgerParagraph] = []
    for number, (source, mt) in enumerate(cycle(pairs)):
        if words <= 0:
            break
        book.append(LedgerParagraph(f"{number}", source, mt))
        words -= len(mt.split())
    return book


def build(book: Iterable[LedgerParagraph]) -> Ledger:
    """The ledger of the book."""
    return build_ledger(book, source_language="zh", target_language="en")


def measure() -> list[Claim]:
    """All three claims."""
    book = make_book(WORDS)
    build(book[:100])  # warm up: dictionaries are loaded
    ledger = build(book)
    names = f"{len(ledger.entities)} names"
    return [_building(book, names), _applying(book, ledger), _memory()]


def _building(book: list[LedgerParagraph], names: str) -> Claim:
    import jieba

    bitext = [(list(jieba.cut(one.source)), one.mt.split()) for one in book]
    aligner = EflomalAligner("zh", "en", samplers=1)
    measured = measure_alternately(
        lambda: _timed(lambda: build(book)), lambda: _timed(lambda: aligner.align(bitext)), rounds=ROUNDS
    )
    seconds = sorted(ours for ours, _ in measured)[ROUNDS // 2]
    note = f"{seconds:.1f} s for {WORDS:,} words, {names}"
    return Claim("building a ledger / one pass of eflomal", ratios_by_round(measured), 1.5, "at most", note)


def _applying(book: list[LedgerParagraph], ledger: Ledger) -> Claim:
    index = LedgerIndex(ledger)
    table = dict(chain.from_iterable(wordings.wrong.items() for wordings in index.wordings.values()))

    def ours() -> float:
        return _timed(lambda: [repair_paragraph(one, index) for one in book])

    def plain() -> float:
        def replace_all() -> None:
            for one in book:
                text = one.mt
                for wrong, right in table.items():
                    text = text.replace(wrong, right)

        return _timed(replace_all)

    ours()
    measured = measure_alternately(ours, plain, rounds=ROUNDS)
    seconds = sorted(one for one, _ in measured)[ROUNDS // 2]
    note = f"{seconds:.2f} s for {WORDS:,} words, {len(table)} wrong wordings"
    return Claim("applying a ledger / str.replace of the same table", ratios_by_round(measured), 20.0, "at most", note)


def _memory() -> Claim:
    small, large = (_peak(words) for words in (WORDS, LONG))
    note = f"{small / 1024:.0f} and {large / 1024:.0f} MB; the book repeats, so texts and vocabulary are shared"
    text = "peak memory of building for 1,000,000 words / 100,000"
    return Claim(text, (large / small,), 2.0, "at most", note)


def _peak(words: int) -> float:
    done = subprocess.run([sys.executable, "-c", _PEAK, str(words)], capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
