"""Published test suites, runnable on any system's outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from eval.suites.bwb.suite import BwbSuite
from eval.suites.cai_xiong.suite import CaiXiongSuite
from eval.suites.dip.suite import DipSuite
from eval.suites.ltcr import LtcrSuite
from eval.suites.suite import Suite

__all__ = ["SUITES"]

SUITES: Mapping[str, Callable[[], Suite]] = {
    "cai-xiong": CaiXiongSuite,
    "ltcr": LtcrSuite,
    "bwb": BwbSuite,
    "dip": DipSuite,
}
