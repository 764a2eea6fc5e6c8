"""Settings, read once: flags override the environment, which overrides the file, which overrides the defaults.

The file is `ape.toml` in the working directory, else `config.toml` in the user's configuration directory, unless
APE_CONFIG names another. An environment variable is APE_ and the field in capitals: `APE_PORT=9000`.
"""

from __future__ import annotations

import difflib
import os
import re
import shlex
import tomllib
from collections.abc import Mapping
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
from ape.field_errors import describe_field_error
from ape.files.hashing import hash_text
from ape.network import url_host

ENVIRONMENT_PREFIX = "APE_"
# OPENAI_API_KEY is sent to this host only; the key of any other server is APE_ENGINE_KEY.
OPENAI_HOST = "api.openai.com"
# A server behind a URL may be shared; vLLM batches all requests it gets.
DEFAULT_CONCURRENCY = {"embedded": 4, "url": 8, "vllm": 64}
_LEAST_PLAN_MEMORY = 1_000_000_000
MAX_EMBEDDED_CONCURRENCY = 64
# Former names, still read. The first two applied to some engines only.
_FORMER_NAMES = {"slots": "concurrency", "in_flight": "concurrency", "book_lanes": "book_concurrency"}
_PASSWORD = re.compile(r"(?<=:)[^:/@]*(?=@)")
_KEY_HASH = re.compile("sha256:[0-9a-f]{64}")


class Settings(BaseModel):
    """All settings and their defaults."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    engine: Annotated[
        Literal["embedded", "vllm", "url"],
        Field(description="engine that runs the model: in this process, a vLLM server, or a server by URL"),
    ] = "embedded"
    url: Annotated[str | None, Field(description="base URL of an OpenAI-compatible server, including /v1")] = None
    engine_key: Annotated[SecretStr | None, Field(description="API key of that server")] = None
    model: Annotated[
        str | None,
        Field(
            description="model; embedded: catalogue name, .gguf file or hub id; vllm: directory or hub id; url: name"
        ),
    ] = None
    aliases: Annotated[dict[str, str], Field(description="aliases of models, NAME=MODEL; may include `default`")] = {}
    cache: Annotated[Path, Field(description="folder for downloaded models", default_factory=lambda: default_cache())]
    model_source: Annotated[
        str | None, Field(description="folder, or URL of a mirror, to take model files from instead of hub and index")
    ] = None

    concurrency: Annotated[
        int,
        Field(
            ge=1,
            le=1024,
            description="concurrent requests to the engine; default: embedded 4 (maximum 64), url 8, vllm 64",
        ),
    ] = Field(default_factory=lambda given: DEFAULT_CONCURRENCY[given.get("engine", "embedded")])
    window: Annotated[
        int, Field(ge=512, description="embedded: context length in tokens of each concurrent request")
    ] = 4096
    threads: Annotated[
        int | None,
        Field(ge=1, description="embedded: number of threads; default: the cores that no other program uses"),
    ] = None
    repeatable: Annotated[
        bool, Field(description="embedded: answers that do not depend on earlier requests; requires a concurrency of 1")
    ] = False
    timeout_seconds: Annotated[
        float | None, Field(gt=0, description="time without a byte from the model server; default: url 60, vllm 300")
    ] = None
    retry_attempts: Annotated[int, Field(ge=1, le=20, description="maximum attempts for a request")] = 4
    retry_seconds: Annotated[float, Field(ge=0, description="maximum time for all attempts together")] = 180.0

    prediction: Annotated[
        bool,
        Field(
            description="url: send the MT as OpenAI's predicted output, for models that have it: answers come sooner, "
            "and rejected tokens are paid as output"
        ),
    ] = False

    vllm_python: Annotated[
        Path | None, Field(description="Python interpreter with vllm installed; default: the current one")
    ] = None
    vllm_flags: Annotated[tuple[str, ...], Field(description="flags for vllm, quoted as in a shell")] = ()
    vllm_start_seconds: Annotated[float, Field(gt=0, description="maximum time for vllm to start")] = 1800.0
    vllm_speculation: Annotated[
        bool | None, Field(description="speculative decoding from the MT in vllm; default: on CPUs only")
    ] = None
    adapters: Annotated[dict[str, Path], Field(description="adapters to load at start, NAME=DIRECTORY")] = {}
    adapter_dirs: Annotated[
        tuple[Path, ...], Field(description="folders that adapters may be loaded from at run time, comma-separated")
    ] = ()
    max_adapters: Annotated[int, Field(ge=1, le=1000, description="maximum number of loaded adapters")] = 32

    jobs: Annotated[
        str | None, Field(description="job database: a file or postgresql://…; default: a file in the data folder")
    ] = None
    price_in: Annotated[
        float | None, Field(ge=0, description="price of a million input tokens, for cost estimates")
    ] = None
    price_out: Annotated[
        float | None, Field(ge=0, description="price of a million output tokens, for cost estimates")
    ] = None
    book_concurrency: Annotated[
        int | None,
        Field(
            ge=1,
            le=1024,
            description="concurrent paragraphs of a book; default: the concurrency (embedded 1), half in a service",
        ),
    ] = None
    uploads: Annotated[Path | None, Field(description="folder for uploaded books; default: in the data folder")] = None
    comparisons: Annotated[
        Path | None, Field(description="folder of the comparisons that the service shows; default: in the data folder")
    ] = None
    max_book_bytes: Annotated[int, Field(ge=1024, description="maximum size of a book upload")] = 200_000_000
    max_jobs: Annotated[int, Field(ge=1, description="maximum unfinished book jobs of a key")] = 100
    max_stored_bytes: Annotated[
        int,
        Field(
            ge=1024,
            description="maximum size on disk of all books of a key, with outputs and names; batch files and reviews "
            "count apart",
        ),
    ] = 5_000_000_000
    plan_seconds: Annotated[
        float, Field(gt=0, le=86_400, description="maximum time to read and pair an uploaded book")
    ] = 300.0
    plan_memory_bytes: Annotated[
        int | None,
        Field(
            ge=500_000_000,
            description="maximum memory to read and pair an uploaded book; default: a quarter of the machine's",
        ),
    ] = None

    host: Annotated[str, Field(description="address the service binds to")] = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535, description="port of the service; 0: any free port")] = 8000
    api_keys: Annotated[
        tuple[str, ...], Field(description="API keys of the service, comma-separated; stored as SHA-256 only")
    ] = ()
    admin_keys: Annotated[
        tuple[str, ...], Field(description="keys that may load adapters and move aliases; default: api_keys")
    ] = ()
    rate_limit: Annotated[
        str | None, Field(description="passages per key, such as 600/minute; a book counts as one; default: no limit")
    ] = None
    drain_seconds: Annotated[
        float, Field(ge=0, le=3600, description="maximum time to finish running requests at shutdown")
    ] = 20.0
    header_seconds: Annotated[
        float, Field(gt=0, le=3600, description="maximum time for a client to send the headers of a request")
    ] = 15.0
    body_seconds: Annotated[
        float,
        Field(gt=0, le=3600, description="maximum time without a byte while a client sends a body or takes an answer"),
    ] = 30.0
    max_connections: Annotated[int, Field(ge=1, description="maximum open connections")] = 2000
    max_connections_of_address: Annotated[
        int, Field(ge=1, description="maximum open connections of one address; a reverse proxy is one")
    ] = 1000
    max_body_bytes: Annotated[int, Field(ge=1024, description="maximum size of a request body")] = 2_000_000
    max_passages: Annotated[int, Field(ge=1, description="maximum passages in a request")] = 64
    max_characters: Annotated[
        int, Field(ge=100, description="maximum characters of the source or the MT of a passage")
    ] = 20_000
    max_queue: Annotated[int, Field(ge=1, description="maximum passages waiting or in progress")] = 256

    @model_validator(mode="before")
    @classmethod
    def _read_former_names(cls, values: Any) -> Any:
        """Read `slots` as the concurrency of the embedded engine, `in_flight` as that of the others."""
        values = dict(values)
        unused = "in_flight" if values.get("engine", "embedded") == "embedded" else "slots"
        values.pop(unused, None)
        return {_FORMER_NAMES.get(name, name): value for name, value in values.items()}

    @field_validator("concurrency")
    @classmethod
    def _limit_embedded(cls, concurrency: int, info: ValidationInfo) -> int:
        if info.data.get("engine") == "embedded" and concurrency > MAX_EMBEDDED_CONCURRENCY:
            raise ValueError(f"takes at most {MAX_EMBEDDED_CONCURRENCY} with the embedded engine")
        return concurrency

    @field_validator("aliases", "adapters", mode="before")
    @classmethod
    def _parse_pairs(cls, given: object) -> object:
        """Parse NAME=VALUE pairs, in a list or separated by commas."""
        if isinstance(given, str):
            given = [pair for pair in given.split(",") if pair.strip()]
        if not isinstance(given, list | tuple):
            return given
        pairs = [str(pair).partition("=") for pair in given]
        if not all(name.strip() and value.strip() for name, _, value in pairs):
            raise ValueError("must be NAME=VALUE pairs")
        named = {name.strip(): value.strip() for name, _, value in pairs}
        if len(named) < len(pairs):
            raise ValueError("must not repeat a name")
        return named

    @field_validator("adapters", "adapter_dirs", "vllm_python", "cache", "uploads", "comparisons")
    @classmethod
    def _expand_home(cls, given: Any) -> Any:
        """Expand ~, which a shell does not in NAME=~/DIRECTORY."""
        if isinstance(given, dict):
            return {name: path.expanduser() for name, path in given.items()}
        if isinstance(given, tuple):
            return tuple(path.expanduser() for path in given)
        return given and given.expanduser()

    @field_validator("adapter_dirs", mode="before")
    @classmethod
    def _split_commas(cls, given: object) -> object:
        if isinstance(given, str):
            return [part.strip() for part in given.split(",") if part.strip()]
        return given

    @field_validator("vllm_flags", mode="before")
    @classmethod
    def _split_words(cls, given: object) -> object:
        try:
            return shlex.split(given) if isinstance(given, str) else given
        except ValueError as error:
            raise ValueError("must be quoted as in a shell") from error

    @field_validator("api_keys", "admin_keys", mode="before")
    @classmethod
    def _hash_keys(cls, keys: object) -> object:
        """Store hashes instead of keys; a value may be a hash already (`sha256:…`)."""
        if isinstance(keys, str):
            keys = [key.strip() for key in keys.split(",") if key.strip()]
        return tuple(_hash_key(key) for key in keys) if isinstance(keys, list | tuple) else keys

    @field_validator("url")
    @classmethod
    def _require_http(cls, url: str | None) -> str | None:
        if url is not None and not url.startswith(("http://", "https://")):
            raise ValueError("must begin with http:// or https://")
        return url.rstrip("/") if url else url

    @property
    def jobs_url(self) -> str:
        """The job database: a URL or a file."""
        given = self.jobs or str(platformdirs.user_data_path("ape", appauthor=False) / "jobs.sqlite")
        return given if "://" in given else str(Path(given).expanduser())

    @property
    def uploads_folder(self) -> Path:
        """The folder for uploaded books."""
        return self.uploads or platformdirs.user_data_path("ape", appauthor=False) / "uploads"

    @property
    def plan_memory(self) -> int:
        """The memory that one uploaded book may take while it is read."""
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        return self.plan_memory_bytes or max(machine // 4, _LEAST_PLAN_MEMORY)

    @property
    def comparisons_folder(self) -> Path:
        """The folder of the comparisons that the service shows."""
        return self.comparisons or platformdirs.user_data_path("ape", appauthor=False) / "comparisons"

    def masked(self) -> dict[str, str]:
        """All values as text, with secrets masked."""
        return {name: _mask(value) for name, value in self}


def default_cache() -> Path:
    """The default folder for downloaded models."""
    return platformdirs.user_cache_path("ape", appauthor=False) / "models"


def load_settings(**flags: object) -> Settings:
    """Read the settings from the file, the environment and the flags; None means that a flag is not given."""
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for given, place in ((_from_file(), str(config_file())), (_from_environment(), None), (flags, "")):
        source = {name: value for name, value in given.items() if value is not None}
        origins |= {_FORMER_NAMES.get(name, name): _variable(name) if place is None else place for name in source}
        for former, name in _FORMER_NAMES.items():
            if name in source:  # it overrides the former name in this source and earlier ones
                source.pop(former, None)
                values.pop(former, None)
        # A URL implies the url engine, unless the same source names another.
        values |= ({"engine": "url"} if source.get("url") else {}) | source
    if "engine_key" not in values and url_host(str(values.get("url", ""))) == OPENAI_HOST:
        values["engine_key"] = os.environ.get("OPENAI_API_KEY")
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        raise _describe(error, origins) from error
    if settings.engine == "url" and not settings.url:
        raise InputError("The url engine needs a server: set `url`, as http://host:port/v1.", field="url")
    if settings.engine == "vllm" and not (settings.url or settings.model):
        raise InputError("The vllm engine needs a model: set `model` to a directory or hub id.", field="model")
    return settings


def _from_environment() -> dict[str, object]:
    names = (*Settings.model_fields, *_FORMER_NAMES)
    return {name: os.environ[_variable(name)] for name in names if os.environ.get(_variable(name))}


def _variable(name: str) -> str:
    return ENVIRONMENT_PREFIX + name.upper()


def misspelt_variables() -> dict[str, str]:
    """The variables of the environment that are nearly named like a setting, with the name they should have."""
    known = [_variable(name) for name in (*Settings.model_fields, *_FORMER_NAMES)]
    given = sorted(name for name in os.environ if name.startswith(ENVIRONMENT_PREFIX) and name not in known)
    near = {name: difflib.get_close_matches(name, known, n=1, cutoff=0.8) for name in given}
    return {name: found[0] for name, found in near.items() if found}


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
    paths = (Path("ape.toml"), Path(platformdirs.user_config_dir("ape")) / "config.toml")
    return next((path for path in paths if path.is_file()), None)


def _hash_key(key: object) -> str:
    text = str(key)
    if not text.startswith("sha256:"):
        return "sha256:" + hash_text(text)
    if not _KEY_HASH.fullmatch(text.lower()):
        raise ValueError("must have 64 hexadecimal digits after sha256:")
    return text.lower()


def _mask(value: object) -> str:
    if isinstance(value, SecretStr):
        return "********"
    if isinstance(value, str) and "://" in value:
        return _PASSWORD.sub("********", value)
    if isinstance(value, dict):
        return ", ".join(f"{name}={item}" for name, item in value.items())
    if isinstance(value, tuple):
        return ", ".join(f"{item[:15]}…" if _KEY_HASH.fullmatch(str(item)) else str(item) for item in value)
    return "" if value is None else str(value)


def _describe(error: ValidationError, origins: Mapping[str, str]) -> InputError:
    """What each wrong setting takes, what it was given, and where; the field is that of the first flag among them."""
    found = [each for each in error.errors() if each["type"] != "default_factory_not_called"]
    names = [str(each["loc"][0]) if each["loc"] else "settings" for each in found]
    flags = [name for name in names if not origins.get(name)]
    sentences = [_sentence(name, each, origins.get(name, "")) for name, each in zip(names, found, strict=True)]
    return InputError(" ".join(sentences), field=flags[0] if flags else None)


def _sentence(name: str, error: Any, origin: str) -> str:
    if name not in Settings.model_fields:
        near = difflib.get_close_matches(name, Settings.model_fields, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        return f"There is no setting {name}{f' ({origin})' if origin else ''}.{hint}"
    takes = describe_field_error(error)
    takes = f"{name} {takes}." if error["type"] == "value_error" else f"{name} takes {takes}."
    if "key" in name:  # its value is secret
        return f"{takes} It comes from {origin}." if origin else takes
    value = error["input"]
    shown = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return f"{takes} {f'{origin} says' if origin else 'Given:'} {shown[:80]!r}."
