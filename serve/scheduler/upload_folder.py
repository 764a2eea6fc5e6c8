"""The folder of uploads, and the removal of leftovers from a service that was killed."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from ape.errors import StoreError

# Marks of uploads in progress and of results being written.
PARTIAL_SUFFIX = ".part"
RESULT_PREFIX = ".result-"
STALE_SECONDS = 24 * 3600.0


def prepare_upload_folder(folder: Path) -> None:
    """Create the folder and remove partial files that are older than a day."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        stale = time.time() - STALE_SECONDS
        for path in (*folder.glob(f"*{PARTIAL_SUFFIX}"), *folder.glob(f"{RESULT_PREFIX}*")):
            if path.stat().st_mtime < stale:
                shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(
            f"Uploads can't be stored in {folder}: {error.strerror}. Choose another folder (APE_UPLOADS)."
        ) from error
