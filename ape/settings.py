"""One frozen Settings, read once: flag over environment over file over default.

The file is `ape.toml` in the working directory, or `config.toml` in the user's configuration directory, or
what APE_CONFIG names. A variable is a field's name in capitals after APE_: `APE_PORT=9000`.
"""

from __future__ import annotations

import os
import re
import shlex
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

import platformdirs
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from ape.errors import InputError
from ape.files.hashing import hash_text
from ape.network import url_host

ENVIRONMENT_PREFIX = "APE_"
# OPENAI_API_KEY is sent there and nowhere else; another server's key is APE_ENGINE_KEY.
OPENAI_HOST = "api.openai.com"
# Requests to the engine at once: another server may be shared, while vLLM batches all it gets.
DEFAULT_CONCURRENCY = {"embedded": 4, "url": 8, "vllm": 64}
MAX_EMBEDDED_CONCURRENCY = 64
# Former names, still read. Each of the first two was for some engines only.
_FORMER_NAMES = {"slots": "concurrency", "in_flight": "concurrency", "book_lanes": "book_concurrency"}
_PASSWORD = re.compile(r"(?<=:)[^:/@]*(?=@)")
_KEY_HASH = re.compile("sha256:[0-9a-f]{64}")


class Settings(BaseModel):
    """Everything that can be set, with its default."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    engine: Annotated[Literal["embedded", "vllm", "url"], Field(description="who runs the model")] = (
        "embedded"
    )
    url: Annotated[str | None, Field(description="an OpenAI-compatible server, up to and with /v1")] = None
    engine_key: Annotated[SecretStr | None, Field(description="the key to that server")] = None
    model: Annotated[
        str | None,
        Field(
            description="embedded: a catalogue name, .gguf file or hub id; vllm: a directory or hub id; url: a name"
        ),
    ] = None
    aliases: Annotated[
        dict[str, str], Field(description="other names of models, NAME=MODEL; `default` too")
    ] = {}
    cache: Annotated[
        Path,
        Field(
            description="where pulled models are kept",
            default_factory=lambda: platformdirs.user_cache_path("ape", appauthor=False) / "models",
        ),
    ]

    concurrency: Annotated[
        int,
        Field(
            ge=1,
            le=1024,
            description="requests to the engine at once; embedded 4 (at most 64), url 8, vllm 64 if left out",
        ),
    ] = Field(default_factory=lambda given: DEFAULT_CONCURRENCY[given.get("engine", "embedded")])
    window: Annotated[int, Field(ge=512, description="tokens for a passage and its answer, embedded")] = 4096
    threads: Annotated[
        int | None, Field(ge=1, description="threads of the embedded engine; all cores but one if left out")
    ] = None
    repeatable: Annotated[
        bool,
        Field(
            description="embedded: the same answer to the same prompt, whatever was asked before; "
            "needs a concurrency of 1"
        ),
    ] = False
    timeout_seconds: Annotated[
        float | None, Field(gt=0, description="longest silence of the model server; 60 by url, 300 of vllm")
    ] = None
    retry_attempts: Annotated[int, Field(ge=1, le=20, description="tries of a request that fails")] = 4
    retry_seconds: Annotated[float, Field(ge=0, description="longest time for those tries together")] = 180.0

    vllm_python: Annotated[
        Path | None, Field(description="the interpreter that has vllm; this one if left out")
    ] = None
    vllm_flags: Annotated[tuple[str, ...], Field(description="flags for vllm, as in a shell")] = ()
    vllm_start_seconds: Annotated[float, Field(gt=0, description="longest time for vllm to be up")] = 1800.0
    vllm_speculation: Annotated[
        bool | None, Field(description="whether vllm guesses ahead from the MT; on the CPU alone if left out")
    ] = None
    adapters: Annotated[dict[str, Path], Field(description="adapters to begin with, NAME=DIRECTORY")] = {}
    adapter_dirs: Annotated[
        tuple[Path, ...], Field(description="where adapters may be loaded from at run time, comma-separated")
    ] = ()
    max_adapters: Annotated[int, Field(ge=1, le=1000, description="adapters loaded at once")] = 32

    jobs: Annotated[
        str | None,
        Field(
            description="where books at work are kept: a file, or postgresql://…; the data folder if left out"
        ),
    ] = None
    price_in: Annotated[float | None, Field(ge=0, description="cost of a million tokens read, for plans")] = (
        None
    )
    price_out: Annotated[
        float | None, Field(ge=0, description="cost of a million tokens written, for plans")
    ] = None
    book_concurrency: Annotated[
        int | None,
        Field(
            ge=1,
            le=1024,
            description="paragraphs of a book at once; if left out the concurrency (embedded 1), "
            "in a service half of it",
        ),
    ] = None
    uploads: Annotated[
        Path | None, Field(description="where the service keeps uploaded books; the data folder if left out")
    ] = None
    comparisons: Annotated[
        Path | None,
        Field(
            description="where the service looks for folders of `ape compare`; the data folder if left out"
        ),
    ] = None
    max_book_bytes: Annotated[int, Field(ge=1024, description="largest upload of books")] = 200_000_000

    host: Annotated[str, Field(description="address the service binds to")] = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535, description="port of the service; 0: any free one")] = 8000
    api_keys: Annotated[
        tuple[str, ...], Field(description="keys to the service, comma-separated; kept as SHA-256 only")
    ] = ()
    admin_keys: Annotated[
        tuple[str, ...],
        Field(description="keys that may load adapters and move aliases; those of api_keys if left out"),
    ] = ()
    rate_limit: Annotated[
        str | None, Field(description="passages that a key may send, e.g. 600/minute; no limit if left out")
    ] = None
    drain_seconds: Annotated[
        float, Field(ge=0, le=3600, description="longest time to finish what is under way when told to stop")
    ] = 20.0
    max_body_bytes: Annotated[int, Field(ge=1024, description="largest request body")] = 2_000_000
    max_passages: Annotated[int, Field(ge=1, description="longest list of passages in a request")] = 64
    max_characters: Annotated[int, Field(ge=100, description="longest source or MT of a passage")] = 20_000
    max_queue: Annotated[int, Field(ge=1, description="passages that may wait or be worked on")] = 256

    @model_validator(mode="before")
    @classmethod
    def _read_former_names(cls, values: Any) -> Any:
        """Take `slots` for the embedded engine's concurrency, `in_flight` for that of the others."""
        values = dict(values)
        unused = "in_flight" if values.get("engine", "embedded") == "embedded" else "slots"
        values.pop(unused, None)
        return {_FORMER_NAMES.get(name, name): value for name, value in values.items()}

    @field_validator("concurrency")
    @classmethod
    def _fits_engine(cls, concurrency: int, info: ValidationInfo) -> int:
        if info.data.get("engine") == "embedded" and concurrency > MAX_EMBEDDED_CONCURRENCY:
            raise ValueError(f"at most {MAX_EMBEDDED_CONCURRENCY} for the embedded engine")
        return concurrency

    @field_validator("aliases", "adapters", mode="before")
    @classmethod
    def _pairs(cls, given: object) -> object:
        """NAME=VALUE, in a list or separated by commas."""
        if isinstance(given, str):
            given = [pair for pair in given.split(",") if pair.strip()]
        if not isinstance(given, list | tuple):
            return given
        pairs = [str(pair).partition("=") for pair in given]
        if not all(name.strip() and value.strip() for name, _, value in pairs):
            raise ValueError("is to be NAME=VALUE, or several of these")
        named = {name.strip(): value.strip() for name, _, value in pairs}
        if len(named) < len(pairs):
            raise ValueError("has a name twice")
        return named

    @field_validator("adapters", "adapter_dirs", "vllm_python", "cache", "uploads", "comparisons")
    @classmethod
    def _at_home(cls, given: Any) -> Any:
        """A shell leaves the ~ of NAME=~/DIRECTORY as it is."""
        if isinstance(given, dict):
            return {name: path.expanduser() for name, path in given.items()}
        if isinstance(given, tuple):
            return tuple(path.expanduser() for path in given)
        return given and given.expanduser()

    @field_validator("adapter_dirs", mode="before")
    @classmethod
    def _list(cls, given: object) -> object:
        if isinstance(given, str):
            return [part.strip() for part in given.split(",") if part.strip()]
        return given

    @field_validator("vllm_flags", mode="before")
    @classmethod
    def _words(cls, given: object) -> object:
        return shlex.split(given) if isinstance(given, str) else given

    @field_validator("api_keys", "admin_keys", mode="before")
    @classmethod
    def _hash_keys(cls, keys: object) -> object:
        """Keep no key in clear: only its hash, which may also be what was given (`sha256:…`)."""
        if isinstance(keys, str):
            keys = [key.strip() for key in keys.split(",") if key.strip()]
        return tuple(_hashed(key) for key in keys) if isinstance(keys, list | tuple) else keys

    @field_validator("url")
    @classmethod
    def _is_http(cls, url: str | None) -> str | None:
        if url is not None and not url.startswith(("http://", "https://")):
            raise ValueError("begins with http:// or https://")
        return url.rstrip("/") if url else url

    @property
    def jobs_url(self) -> str:
        """Where books at work are kept: the address of a database, or a file."""
        given = self.jobs or str(platformdirs.user_data_path("ape", appauthor=False) / "jobs.sqlite")
        return given if "://" in given else str(Path(given).expanduser())

    @property
    def uploads_folder(self) -> Path:
        """Where the service keeps uploaded books."""
        return self.uploads or platformdirs.user_data_path("ape", appauthor=False) / "uploads"

    @property
    def comparisons_folder(self) -> Path:
        """Where the service looks for comparisons."""
        return self.comparisons or platformdirs.user_data_path("ape", appauthor=False) / "comparisons"

    def masked(self) -> dict[str, str]:
        """All values for a reader, with secrets masked."""
        return {name: _masked(value) for name, value in self}


def load_settings(**flags: object) -> Settings:
    """Read everything once; flags that are None were not given."""
    values: dict[str, Any] = {}
    for given in (_from_file(), _from_environment(), flags):
        told = {name: value for name, value in given.items() if value is not None}
        for former, name in _FORMER_NAMES.items():
            if name in told:  # it overrides the former name in this source and those before
                told.pop(former, None)
                values.pop(former, None)
        # A URL implies the url engine, unless the same source names another.
        values |= ({"engine": "url"} if told.get("url") else {}) | told
    if "engine_key" not in values and url_host(str(values.get("url", ""))) == OPENAI_HOST:
        values["engine_key"] = os.environ.get("OPENAI_API_KEY")
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        raise InputError("; ".join(_error_message(one) for one in error.errors())) from error
    if settings.engine == "url" and not settings.url:
        raise InputError("The url engine needs a server: --url http://host:port/v1, or APE_URL.", field="url")
    if settings.engine == "vllm" and not (settings.url or settings.model):
        raise InputError("The vllm engine needs a model: --model DIRECTORY_OR_HUB_ID.", field="model")
    return settings


def _from_environment() -> dict[str, object]:
    return {
        name: os.environ[ENVIRONMENT_PREFIX + name.upper()]
        for name in (*Settings.model_fields, *_FORMER_NAMES)
        if os.environ.get(ENVIRONMENT_PREFIX + name.upper())
    }


def _from_file() -> dict[str, Any]:
    path = config_file()
    if path is None:
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"The settings file {path} can't be read: {error}.") from error


def config_file() -> Path | None:
    """The settings file in force, or None."""
    if named := os.environ.get(ENVIRONMENT_PREFIX + "CONFIG"):
        return Path(named)
    places = (Path("ape.toml"), Path(platformdirs.user_config_dir("ape")) / "config.toml")
    return next((place for place in places if place.is_file()), None)


def _hashed(key: object) -> str:
    text = str(key)
    if not text.startswith("sha256:"):
        return "sha256:" + hash_text(text)
    if not _KEY_HASH.fullmatch(text.lower()):
        raise ValueError("a key after sha256: is to be 64 hexadecimal digits")
    return text.lower()


def _masked(value: object) -> str:
    if isinstance(value, SecretStr):
        return "********"
    if isinstance(value, str) and "://" in value:
        return _PASSWORD.sub("********", value)
    if isinstance(value, dict):
        return ", ".join(f"{name}={one}" for name, one in value.items())
    if isinstance(value, tuple):
        return ", ".join(f"{one[:15]}…" if _KEY_HASH.fullmatch(str(one)) else str(one) for one in value)
    return "" if value is None else str(value)


def _error_message(error: Any) -> str:
    name = ".".join(str(part) for part in error["loc"]) or "settings"
    sentence = f"{name}: {error['msg'].removeprefix('Value error, ')}"
    # What we don't know by name may be a mistyped key.
    is_secret = "key" in name or name not in Settings.model_fields
    return sentence if is_secret else f"{sentence} (given: {str(error['input'])[:80]!r})"
