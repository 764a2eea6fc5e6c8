"""`ape finetune --help` lists the commands and imports none of their dependencies."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"torch", "transformers", "datasets", "peft", "numpy", "pydantic", "openai"}
HELP = """
import sys
from ape.cli.main import main
try:
    main()
finally:
    print(*sys.modules, file=sys.stderr)
"""


@pytest.mark.subprocess
def test_help_imports_no_training_dependency() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HELP, "--help"], capture_output=True, text=True, timeout=300, check=True
    )
    assert "finetune" in done.stdout
    assert not HEAVY & set(done.stderr.split())
