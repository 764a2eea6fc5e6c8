"""The English annotator that the tests of DiP's metrics share."""

from tests.eval.metrics.dip.conftest import english

__all__ = ["english"]
