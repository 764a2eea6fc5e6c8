"""The result files of our leaderboard: `python -m benchmarks.studies.board --data DIR -o docs/board`.

Measures the systems of the Chinese web fiction, PAR3's Candide, Cai & Xiong's suite and LTCR, always with the text as
it was before any work (do nothing): Google's translation where there is one, else the source itself, left
untranslated. The files have numbers and no sentences. Then: `ape eval board docs/board -o site`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from benchmarks.studies.corpora import candide_path, candide_rows
from eval.board.conversion import results_to_file, suite_to_file
from eval.board.result_file import BoardScore, BoardSystem, ResultFile
from eval.corpus.corpus import Corpus, Document
from eval.corpus.reader import read_corpus
from eval.corpus.validation import CorpusRules
from eval.linguistics.annotators import default_annotation_folder, use_annotation_cache
from eval.metrics.multi_reference import HUMAN, LeaveOneOutScores, leave_one_out
from eval.metrics.registry import create_metrics
from eval.metrics.scoring import ResamplingOptions, measure_systems
from eval.statistics.proportion import clopper_pearson_bounds
from eval.suites.cai_xiong.cases import read_cases
from eval.suites.cai_xiong.suite import CaiXiongSuite, score_cases
from eval.suites.ltcr import LtcrSuite, read_test_set, with_references_as_system
from eval.suites.outputs import REFERENCES_LABEL

FICTION_METRICS = (
    "bleu", "chrf", "ter", "blonde", "ltcr", "dip-consistency", "dip-connectives", "dip-pronouns", "entities", "kp",
)  # fmt: skip
CANDIDE_METRICS = ("sentence-bleu", "chrf", "ter", "meteor")
SOURCE = "source, untranslated"
CONSTANT = "我也是。 to everything"
_LINE_BY_LINE = "a language model's translation, line by line, as published with the set"
_WHOLE = "whole chapters, as published with the set"
FICTION_SYSTEMS: Mapping[str, str] = {
    "base": f"{_LINE_BY_LINE}: the base prompt",
    "p1": f"{_LINE_BY_LINE}: prompt 1",
    "p2": f"{_LINE_BY_LINE}: prompt 2",
    "p3": f"{_LINE_BY_LINE}: prompt 3",
    "chatgpt": f"ChatGPT, {_WHOLE}",
    "gpt-4": f"GPT-4, {_WHOLE}",
    "google": f"Google Translate, {_WHOLE}; the text that a post-editor would start from",
    "deepl": f"DeepL, {_WHOLE}",
    "tencent": f"Tencent, {_WHOLE}",
}
_REFERENCE = BoardSystem(
    name=REFERENCES_LABEL, role="human", description="the suite's own references, as a check of the measure"
)
_SOURCE = BoardSystem(
    name=SOURCE, role="do-nothing", description="the source text, left as it was: the suite has no machine translation"
)


def fiction(data: Path) -> ResultFile:
    """Nine chapters of Chinese web fiction, nine systems."""
    # Some systems left lines out: they are scored as empty texts.
    corpus = read_corpus(data / "fiction_zh_en.jsonl", rules=CorpusRules("zh", "en", allow_empty=True))
    how = ResamplingOptions("document", "google", seed=1)
    results = measure_systems(corpus, create_metrics(FICTION_METRICS), resampling=how)
    systems = [
        BoardSystem(name=name, description=what, role="do-nothing" if name == "google" else "system")
        for name, what in FICTION_SYSTEMS.items()
    ]
    return results_to_file(results, suite="fiction", title="Chinese web fiction", systems=systems)


def candide(data: Path) -> ResultFile:
    """Candide by PAR3's aggregation: the humans and Google, each scored against the other human translation."""
    documents = [
        Document(f"{row['i']}", {"Google Translate": (row["gt"],)}, tuple((text,) for text in row["human"].values()),
                 (row["src"],))
        for row in candide_rows(data)
    ]  # fmt: skip
    corpus = Corpus(tuple(documents), "fr", "en", candide_path(data).name)
    scores: list[BoardScore] = []
    for metric in create_metrics(CANDIDE_METRICS):
        found = leave_one_out(corpus, metric)
        if isinstance(found, LeaveOneOutScores):
            scores += _candide_scores(found, metric.name, higher=metric.higher_is_better)
    return ResultFile(
        suite="candide",
        title="Candide, by paragraphs",
        source_language="fr",
        target_language="en",
        paper="PAR3's one public book (Thai et al. 2022)",
        notes=("Means over paragraphs, each text scored against the other human translation. A metric's preference is "
               "no vote: translators prefer human translations.",),
        systems=(
            BoardSystem(name="Google Translate", role="do-nothing",
                        description="as published with PAR3; the text that a post-editor would start from"),
            BoardSystem(name=HUMAN, role="human", description="the two human translations of the set"),
        ),
        scores=tuple(scores),
    )  # fmt: skip


def _candide_scores(found: LeaveOneOutScores, metric: str, *, higher: bool) -> Iterator[BoardScore]:
    better = "higher" if higher else "lower"
    values = {**found.systems, HUMAN: found.human}
    for system, value in values.items():
        yield BoardScore.model_validate(
            {
                "system": system,
                "metric": metric,
                "value": round(value, 5),
                "better": better,
                "signature": found.signature,
            }
        )
    for system, wins in found.wins.items():
        decided = wins.better + wins.worse
        ends = clopper_pearson_bounds(wins.better, decided)
        yield BoardScore(
            system=system,
            metric=f"{metric} prefers it to the human, %",
            value=round(100 * wins.better / decided, 5),
            interval=(round(100 * ends.low, 5), round(100 * ends.high, 5)),
            signature=f"{found.signature}|interval:clopper-pearson",
        )


def cai_xiong(data: Path) -> ResultFile:
    """The source, a system that says the same to everything, and the references."""
    cases = read_cases(data / "cai_xiong_en_zh.jsonl")
    outputs = {SOURCE: [case.source for case in cases], CONSTANT: ["我也是。"] * len(cases)}
    result = score_cases(cases, outputs, paper=CaiXiongSuite().paper)
    described = (
        _SOURCE,
        BoardSystem(name=CONSTANT, description="the same sentence for every case, as a floor of the automatic check"),
        _REFERENCE,
    )
    return _suite_file(result.to_dict(), described)


def ltcr(data: Path) -> ResultFile:
    """The source and the references, by three seeds of the word aligner."""
    path = data / "ltcr_zh_en.jsonl"
    corpus = with_references_as_system(read_test_set(path))
    corpus = corpus.with_system(SOURCE, [document.sources for document in corpus.documents])
    return _suite_file(LtcrSuite().score_corpus(path, corpus).to_dict(), (_SOURCE, _REFERENCE))


def _suite_file(values: Mapping[str, object], systems: tuple[BoardSystem, ...]) -> ResultFile:
    """Our rows of a suite; the site adds the published ones."""
    return suite_to_file(values, published=False).model_copy(update={"systems": systems})


STUDIES: Mapping[str, Callable[[Path], ResultFile]] = {
    "fiction": fiction,
    "candide": candide,
    "cai-xiong": cai_xiong,
    "ltcr": ltcr,
}


def main() -> None:
    """Parse the flags, measure, and write the files."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder of the result files")
    parser.add_argument("--only", nargs="*", choices=sorted(STUDIES), default=list(STUDIES), help="some of the suites")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    with use_annotation_cache(default_annotation_folder()):
        for name in options.only:
            file = STUDIES[name](options.data)
            (options.output / f"{file.key}.json").write_text(file.to_json(), encoding="utf-8")
            print(f"{name}: {len(file.scores)} scores in {file.key}.json", flush=True)


if __name__ == "__main__":
    main()
