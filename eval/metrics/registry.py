"""All metrics by the name that is typed after --metric. A metric is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ape.errors import InputError
from eval.metrics.bertscore import BertScore
from eval.metrics.meteor import Meteor
from eval.metrics.metric import Metric
from eval.metrics.neural import Bleurt, Comet
from eval.metrics.sacrebleu import Bleu, Chrf, Ter

DEFAULT_METRICS = ("bleu", "chrf", "ter")
"""What is measured where nobody says."""


def _blonde() -> Metric:
    from eval.metrics.blonde import Blonde

    return Blonde()


def _discourse_blonde() -> Metric:
    from eval.metrics.blonde import DiscourseBlonde

    return DiscourseBlonde()


def _blonde_plus() -> Metric:
    from eval.metrics.blonde import BlondePlus

    return BlondePlus()


def _ltcr() -> Metric:
    from eval.metrics.ltcr import Ltcr

    return Ltcr()


def _consistency() -> Metric:
    from eval.metrics.dip import DipConsistency

    return DipConsistency()


def _connectives() -> Metric:
    from eval.metrics.dip import DipConnectives

    return DipConnectives()


def _pronouns() -> Metric:
    from eval.metrics.dip import DipPronouns

    return DipPronouns()


def _coherence() -> Metric:
    from eval.metrics.dip import DipCoherence

    return DipCoherence()


def _entities() -> Metric:
    from eval.metrics.entities import EntityMatch

    return EntityMatch()


def _kp() -> Metric:
    from eval.metrics.centering import KpCoherence

    return KpCoherence()


def _zero_pronouns() -> Metric:
    from eval.metrics.zero_pronouns import ZeroPronouns

    return ZeroPronouns()


METRICS: Mapping[str, Callable[[], Metric]] = {
    "bleu": Bleu,
    # For scores of single segments, which may be shorter than four words.
    "sentence-bleu": lambda: Bleu(effective_order=True, name="sentence-bleu"),
    "chrf": Chrf,
    "chrf++": lambda: Chrf(word_order=2, name="chrf++"),
    "ter": Ter,
    "meteor": Meteor,
    "bertscore": BertScore,
    "comet": Comet,
    "cometkiwi": lambda: Comet("Unbabel/wmt22-cometkiwi-da", with_references=False, name="cometkiwi"),
    "doc-comet": lambda: Comet(context=2, name="doc-comet"),
    "bleurt": Bleurt,
    "blonde": _blonde,
    "dblonde": _discourse_blonde,
    "blonde+": _blonde_plus,
    "ltcr": _ltcr,
    "dip-consistency": _consistency,
    "dip-connectives": _connectives,
    "dip-pronouns": _pronouns,
    "dip-coherence": _coherence,
    "entities": _entities,
    "kp": _kp,
    "zero-pronouns": _zero_pronouns,
}

DISCOURSE_METRICS = (
    "blonde",
    "dblonde",
    "ltcr",
    "dip-consistency",
    "dip-connectives",
    "dip-pronouns",
    "dip-coherence",
    "entities",
    "kp",
    "zero-pronouns",
)
"""What BLEU does not see, all at once as --metric discourse."""


def create_metrics(names: list[str]) -> list[Metric]:
    """The metrics of these names, each once; "discourse" stands for all of DISCOURSE."""
    wanted = [one for name in names for one in (DISCOURSE_METRICS if name == "discourse" else (name,))]
    for name in wanted:
        if name not in METRICS:
            raise InputError(
                f"There is no metric called {name!r}. There are: {', '.join(METRICS)}; and discourse for all that are "
                "about it.",
                field="metric",
            )
    return [METRICS[name]() for name in dict.fromkeys(wanted)]
