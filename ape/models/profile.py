"""Profiles: the prompt format and the edit filter that were measured best for a model of the catalogue."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from ape.edits.filter import EditFilter
from ape.errors import ModelError
from ape.files.hashing import hash_text
from ape.models.catalogue import CATALOGUE, HubSource
from prompts import DEFAULT_FORMAT

PROFILES = Path(__file__).with_name("profiles")
# In the directory of a model that vLLM serves: a profile of the user's own.
BASE_PROFILE = "ape.profile.json"
# After the name of a .gguf file without its ending: a profile of the user's own, next to the file.
PROFILE_SUFFIX = ".profile.json"


class ModelProfile(BaseModel):
    """How a model is queried, and which of its edits are trusted."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: str = DEFAULT_FORMAT.name
    edit_filter: EditFilter | None = None

    @property
    def revision(self) -> str:
        """A digest of the profile: with another one, the same model makes other edits."""
        return hash_text(self.model_dump_json(), length=12)


def read_profile(name: str, folder: Path = PROFILES) -> ModelProfile | None:
    """The profile of a model, by its name in the catalogue or the path of its file; None if it has none."""
    own = Path(name).expanduser()
    if own.suffix == ".gguf":
        return _read_own(own.with_suffix(PROFILE_SUFFIX))
    path = folder / f"{name}.json"
    return None if "/" in name or not path.is_file() else _read(path, (0, 0))


def read_base_profile(root: str) -> ModelProfile | None:
    """The profile of a model that vLLM serves, by its directory or hub id; None if it has none.

    A model of the hub is queried as its GGUF file in the catalogue is.
    """
    for model in CATALOGUE.values():
        if isinstance(model.source, HubSource) and model.source.repository == f"{root}-GGUF":
            return read_profile(model.name)
    return _read_own(Path(root) / BASE_PROFILE)


def _read_own(path: Path) -> ModelProfile | None:
    # Read again if it was changed, by its time and size.
    return _read(path, (path.stat().st_mtime_ns, path.stat().st_size)) if path.is_file() else None


@lru_cache
def _read(path: Path, _version: tuple[int, int]) -> ModelProfile:
    try:
        return ModelProfile.model_validate_json(path.read_text(encoding="utf-8"))
    except ValidationError as error:
        reason = "; ".join(f"{'.'.join(map(str, one['loc']))} {one['msg']}".strip() for one in error.errors()[:3])
        raise ModelError(f"{path} is no profile of a model ({reason}). Fit it again, or remove it.") from error
