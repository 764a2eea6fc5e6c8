"""Judges: a language model asked which of two translations is better, or what is wrong in one.

They are known to be biased, so both orders are asked, what they fail to answer is counted, and their agreement with
human votes stands beside what they say.
"""

from eval.judge.agreement import Agreement, NoVotes, agreement, by_passage
from eval.judge.asking import Asking
from eval.judge.cost import Cost
from eval.judge.judged import Judged, PositionBias, Tally
from eval.judge.judgement import REASONS, Judgement, Unscored, Verdict
from eval.judge.pair import Pair
from eval.judge.pairs import judge_pairs, pairs_in, pairs_of
from eval.judge.spans import judge_spans
from eval.judge.spans_judged import SpansJudged

__all__ = [
    "REASONS",
    "Agreement",
    "Asking",
    "Cost",
    "Judged",
    "Judgement",
    "NoVotes",
    "Pair",
    "PositionBias",
    "SpansJudged",
    "Tally",
    "Unscored",
    "Verdict",
    "agreement",
    "by_passage",
    "judge_pairs",
    "judge_spans",
    "pairs_in",
    "pairs_of",
]
