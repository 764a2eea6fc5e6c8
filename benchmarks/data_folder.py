"""Location of external data that some claims are measured on; it is optional and not in the repository."""

from __future__ import annotations

import os
from pathlib import Path


def find_data_folder() -> Path:
    """The folder in APE_DATA; by default shared/data next to the repository."""
    return Path(os.environ.get("APE_DATA", Path(__file__).parent.parent.parent / "shared" / "data"))
