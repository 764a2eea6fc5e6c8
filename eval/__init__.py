"""Evaluation: corpora, metrics, statistics, human and model judgements, comparisons and reports.

Scores from Python: `from eval.scoring import score`. Never `import eval`, which would hide the builtin.
"""
