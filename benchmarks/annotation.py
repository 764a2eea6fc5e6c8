"""Annotation: words per second of the literary annotator against spaCy's en_core_web_md on the same text.

APE_SPACY_MODEL is the folder or name of the spaCy model. Both sides get one thread and are measured in processor time.
The text is the references of fiction_zh_en if the shared data is available (APE_DATA), otherwise our sample chapters.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from importlib.util import find_spec

from benchmarks.claims import Claim, measure_alternately, ratios_by_round
from benchmarks.data_folder import find_data_folder
from eval.linguistics.annotators import Annotator, annotator_for

ROUNDS = 3


def missing() -> str | None:
    """What is missing, as a sentence; None if nothing is."""
    if find_spec("spacy") is None or "APE_SPACY_MODEL" not in os.environ:
        return (
            "Annotation is not measured: it needs spaCy (pip install 'ape-books[spacy]') and APE_SPACY_MODEL, the"
            " folder of en_core_web_md."
        )
    return None


def measure() -> list[Claim]:
    """Annotate the same text with both."""
    texts, what = _texts()
    ours, theirs = annotator_for("en", prefer="literary"), annotator_for("en", prefer=os.environ["APE_SPACY_MODEL"])
    for annotator in (ours, theirs):
        annotator.annotate(texts[:20])  # warm up: load the weights
    measured = measure_alternately(lambda: _seconds(theirs, texts), lambda: _seconds(ours, texts), rounds=ROUNDS)
    words = sum(len(text.split()) for text in texts)
    fastest = min(late for _, late in measured)
    note = f"{words / fastest:,.0f} words a second of processor time; {words:,} words"
    setting = f"{what}; {ours.name}, {theirs.name}"
    return [Claim("spaCy's md / the literary annotator", ratios_by_round(measured), 2.0, note=note, setting=setting)]


def _seconds(annotator: Annotator, texts: Sequence[str]) -> float:
    began = time.process_time()
    annotator.annotate(texts)
    return time.process_time() - began


def _texts() -> tuple[list[str], str]:
    path = find_data_folder() / "fiction_zh_en.jsonl"
    if path.exists():
        rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        return [text for row in rows for text in row["reference"]], "references of fiction_zh_en"
    from ape.sample import load_sample

    samples = [load_sample(name) for name in ("fr-en", "zh-en")]
    return [paragraph.mt for sample in samples for paragraph in sample.paragraphs] * 10, "sample chapters"
