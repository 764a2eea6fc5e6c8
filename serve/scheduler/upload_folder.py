"""The folder of what was sent to the service, and what a service that was killed left in it."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from ape.errors import StoreError

# Half uploaded, or half written.
PARTIAL_PREFIX = ".part"
RESULT_PREFIX = ".result-"
STALE_SECONDS = 24 * 3600.0


def prepare_upload_folder(folder: Path) -> None:
    """Make the folder of the uploads, and clear away what a service that was killed left in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        stale = time.time() - STALE_SECONDS
        for left in (*folder.glob(f"*{PARTIAL_PREFIX}"), *folder.glob(f"{RESULT_PREFIX}*")):
            if left.stat().st_mtime < stale:
                shutil.rmtree(left, ignore_errors=True) if left.is_dir() else left.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(
            f"Uploads can't be kept in {folder}: {error.strerror}. Choose another folder (APE_UPLOADS)."
        ) from error
