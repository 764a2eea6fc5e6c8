"""The published rows of the five papers that this project builds on, as result files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from eval.board import par3
from eval.board.result_file import BoardScore, BoardSystem, ResultFile, SystemRole
from eval.suites import ltcr
from eval.suites.bwb.published import COHERENCE, OVERALL, PHENOMENA
from eval.suites.cai_xiong import suite as cai_xiong
from eval.suites.dip.published import LANGUAGE_PAIRS, PUBLISHED

_LOWER = frozenset({"TER", "model score"})
_BWB_KINDS = ("ambiguity", "entity", "tense", "pronoun", "ellipsis")
_DIP_COLUMNS = {"consistency": ("%Con", "%Full"), "connectives": ("Acc", "ANY"), "pronouns": ("model score",)}
_DIP_TITLES = {
    "consistency": "DiP: lexical consistency",
    "connectives": "DiP: discourse connectives",
    "pronouns": "DiP: pronouns",
}
_PAR3_METRICS = ("BLEU", "BLEURT", "BlonDe")
_PAR3 = "Thai et al. 2022, Exploring Document-Level Literary Machine Translation with Parallel Paragraphs"
_GOOGLE = "Google Translate, April 2022; the text that the post-editor starts from"
_HUMAN = "a published human translation, scored against the other ones"


@dataclass(frozen=True, slots=True)
class _Table:
    """Rows of numbers by system, with their metrics."""

    metrics: Sequence[str]
    rows: Mapping[str, Sequence[float | None]]

    def scores(self) -> Iterator[BoardScore]:
        for system, values in self.rows.items():
            for metric, value in zip(self.metrics, values, strict=True):
                if value is not None:
                    better = "lower" if metric in _LOWER else "higher"
                    yield BoardScore.model_validate(
                        {"system": system, "metric": metric, "value": value, "better": better, "origin": "published"}
                    )


def published_files() -> list[ResultFile]:
    """All published rows; numbers are as printed in the papers, without intervals and signatures."""
    return [_bwb(), _cai_xiong(), _ltcr(), *_dip(), *_par3(), *_par3_post_edited()]


def _file(
    suite: str,
    languages: tuple[str, str],
    *tables: _Table,
    title: str,
    paper: str,
    systems: Mapping[str, tuple[SystemRole, str]] | None = None,
    notes: Sequence[str] = (),
) -> ResultFile:
    return ResultFile(
        suite=suite,
        title=title,
        source_language=languages[0],
        target_language=languages[1],
        paper=paper,
        notes=tuple(notes),
        systems=tuple(
            BoardSystem(name=name, role=role, description=what) for name, (role, what) in (systems or {}).items()
        ),
        scores=tuple(score for table in tables for score in table.scores()),
    )


def _bwb() -> ResultFile:
    return _file(
        "bwb",
        ("zh", "en"),
        _Table(("BLEU", "METEOR", "TER", "BlonDe"), OVERALL),
        _Table([f"{kind}, {what}" for kind in _BWB_KINDS for what in ("F1", "exact match")], PHENOMENA),
        _Table(("coreference, B³", "coreference, CEAF"), COHERENCE),
        title="BWB: bilingual web books",
        paper="Jiang et al. 2022, A Bilingual Parallel Corpus with Discourse Annotations, Tables 7 and 8",
        systems={
            "Bing": ("do-nothing", "Bing's translation as it was; the text that was post-edited by people"),
            "post-edited Bing": ("human", "Bing's translation, post-edited by people"),
            "PE": ("human", "a translation post-edited by people"),
            "HT": ("human", "human translation"),
        },
    )


def _cai_xiong() -> ResultFile:
    return _file(
        "cai-xiong",
        cai_xiong.LANGUAGES,
        _Table([f"BLEU, {kind}" for kind in cai_xiong.CASE_SETS], cai_xiong.PUBLISHED_BLEU),
        _Table([f"Accuracy, {column}" for column in cai_xiong.COLUMNS], cai_xiong.PUBLISHED_ACCURACY),
        title="Cai and Xiong's discourse suite",
        paper="Cai & Xiong 2020, A Test Suite for Evaluating Discourse Phenomena in Document-level NMT, Tables 2 and 3",
        notes=["Published accuracies are those of human judges; measured ones are of an automatic check, as bounds."],
    )


def _ltcr() -> ResultFile:
    return _file(
        "ltcr",
        ltcr.LANGUAGES,
        _Table(ltcr.PUBLISHED_COLUMNS, ltcr.PUBLISHED),
        title="LTCR: lexical translation consistency",
        paper="Lei et al. 2024, the LTCR test set, Table 6",
    )


def _dip() -> Iterator[ResultFile]:
    for phenomenon, pairs in PUBLISHED.items():
        for pair in LANGUAGE_PAIRS:
            source, target = pair.split("-")
            rows = {name: values[-1:] if phenomenon == "pronouns" else values for name, values in pairs[pair].items()}
            yield _file(
                f"dip-{phenomenon}",
                (source, target),
                _Table(_DIP_COLUMNS[phenomenon], rows),
                title=_DIP_TITLES[phenomenon],
                paper="DiP benchmark tests: evaluation benchmarks for discourse phenomena in MT, Tables 6, 7 and 9",
                notes=["The paper has no do-nothing row."],
            )


def _par3() -> Iterator[ResultFile]:
    for source, (*numbers,) in par3.AGGREGATED.items():
        yield _file(
            "par3",
            (source, "en"),
            _Table(_PAR3_METRICS, {"human": numbers[::2], "Google Translate": numbers[1::2]}),
            title="PAR3: novels by paragraphs",
            paper=f"{_PAR3}, Table 4",
            systems={"Google Translate": ("do-nothing", _GOOGLE), "human": ("human", _HUMAN)},
        )


def _par3_post_edited() -> Iterator[ResultFile]:
    for source, numbers in par3.POST_EDITED.items():
        rows = {name: numbers[place::3] for place, name in enumerate(("human", "GPT-3 post-edit", "Google Translate"))}
        tables = [_Table(_PAR3_METRICS, rows)]
        if votes := par3.PREFERRED.get(source):
            shares = {"human": votes[:1], "GPT-3 post-edit": votes[1:]}
            tables.append(_Table(("preferred over Google by translators, %",), shares))
        yield _file(
            "par3-post-edit",
            (source, "en"),
            *tables,
            title="PAR3: automatic post-editing of novels",
            paper=f"{_PAR3}, Tables 6 and 9",
            systems={
                "Google Translate": ("do-nothing", _GOOGLE),
                "GPT-3 post-edit": ("system", "GPT-3 davinci, fine-tuned to post-edit Google's translation"),
                "human": ("human", _HUMAN),
            },
        )
