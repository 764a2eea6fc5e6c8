"""The check of linear time lets linear work pass and refuses quadratic work."""

from __future__ import annotations

import pytest

from tests.linear import assert_linear


def test_linear_work_passes() -> None:
    assert_linear(lambda size: sum(range(1000 * size)), 300)


def test_quadratic_work_fails() -> None:
    with pytest.raises(pytest.fail.Exception, match="16 times the input"):
        assert_linear(lambda size: sum(range(size * size)), 600)
