"""Reading what is to be measured: JSON lines, tables, parallel texts with document marks, and our own book jobs.

The last are in `eval.reading.jobs`, which loads the job store.
"""

from eval.reading.checks import Rules
from eval.reading.read import read_corpus

__all__ = ["Rules", "read_corpus"]
