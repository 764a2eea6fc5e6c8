"""Where other people's data is that some claims are measured on; it is not in the repository, and need not be there."""

from __future__ import annotations

import os
from pathlib import Path


def find_data_folder() -> Path:
    """The folder that APE_DATA names, or the one beside the repository."""
    return Path(os.environ.get("APE_DATA", Path(__file__).parent.parent.parent / "shared" / "data"))
