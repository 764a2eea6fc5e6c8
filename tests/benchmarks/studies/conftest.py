"""One thread of torch, as the tests of training have it."""

from tests.finetune.conftest import one_thread

__all__ = ["one_thread"]
