"""Run torch on one thread, as the tests of training do."""

from tests.finetune.conftest import one_thread

__all__ = ["one_thread"]
