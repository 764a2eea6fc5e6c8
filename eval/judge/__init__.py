"""Language models as judges: which of two translations is better, or which errors one has.

Judges are known to be biased: each pair is judged in both orders, missing verdicts are counted, and agreement with
human votes is reported with every result.
"""

from eval.judge.agreement import JudgeAgreement, NoHumanVotes, judge_agreement
from eval.judge.cost import JudgeCost
from eval.judge.judgement import UNSCORED_REASONS, Judgement, Unscored, Verdict
from eval.judge.pair import JudgePair
from eval.judge.pair_judge import judge_pairs, pairs_from_corpus, pairs_from_trial
from eval.judge.pair_results import JudgeTally, PairJudgements, PositionBias
from eval.judge.requests import JudgeOptions
from eval.judge.span_judge import judge_spans
from eval.judge.span_results import SpanJudgements

__all__ = [
    "UNSCORED_REASONS",
    "JudgeAgreement",
    "JudgeCost",
    "JudgeOptions",
    "JudgePair",
    "JudgeTally",
    "Judgement",
    "NoHumanVotes",
    "PairJudgements",
    "PositionBias",
    "SpanJudgements",
    "Unscored",
    "Verdict",
    "judge_agreement",
    "judge_pairs",
    "judge_spans",
    "pairs_from_corpus",
    "pairs_from_trial",
]
