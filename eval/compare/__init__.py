"""Compare models over one set, the MT as it was always among them."""

from __future__ import annotations

from eval.compare.compared import Compared, Tests, compare
from eval.compare.data import NOTHING, Data, data_of
from eval.compare.system import Outcome, System, ready

__all__ = ["NOTHING", "Compared", "Data", "Outcome", "System", "Tests", "compare", "data_of", "ready"]
