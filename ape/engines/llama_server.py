"""llama.cpp's own HTTP server, in this process, on a loopback port of its own."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ape.adapters.gguf import GgufAdapter
from ape.engines.llama_library import packs_weights
from ape.errors import ModelError

# Prompt tokens read between two checks for disconnected callers; smaller batches are slower.
BATCH_TOKENS = 256


class LlamaServer:
    """A llama.cpp server and its API key."""

    def __init__(
        self, path: Path, *, name: str, concurrency: int, window: int, adapters: Sequence[GgufAdapter] = ()
    ) -> None:
        self.key = secrets.token_urlsafe(24)
        self.address = ""
        self._path, self._name, self._adapters = path, name, adapters
        self._concurrency, self._window = concurrency, window
        self._handle: Any = None

    def start(self, threads: int) -> None:
        """Load the model and listen on a free port."""
        import xllamacpp

        parameters = xllamacpp.CommonParams()
        parameters.model.path = str(self._path)
        parameters.model_alias = {self._name}
        parameters.hostnames = ["127.0.0.1"]
        parameters.port = 0
        parameters.api_keys = [self.key]
        parameters.n_parallel = self._concurrency
        parameters.n_ctx = self._window * self._concurrency
        parameters.endpoint_slots = True
        parameters.n_batch = parameters.n_ubatch = BATCH_TOKENS
        # By default it stores a copy of every prompt, up to 8 GB. A passage is read once, and the common prefix of
        # all prompts is in each slot anyway.
        parameters.cache_ram_mib = 0
        parameters.no_extra_bufts = not packs_weights()
        # Loaded with scale 0, until a request enables one.
        parameters.lora_adapters = [
            xllamacpp.CommonAdapterLoraInfo(str(adapter.path), 0.0) for adapter in self._adapters
        ]
        parameters.ui = False
        parameters.verbosity = -1
        for pool in (parameters.cpuparams, parameters.cpuparams_batch):
            pool.n_threads = threads
            pool.poll = 0  # spinning threads starve the Python threads of this process
        try:
            self._handle = xllamacpp.Server(parameters)
        except RuntimeError as error:
            raise ModelError(
                f"{self._path} can't be loaded as a model ({error}). "
                "Is it a complete GGUF file of a known architecture?"
            ) from error
        self.address = self._handle.listening_address

    def stop(self) -> None:
        """Drop the only handle, which joins the server's threads and frees its port."""
        self._handle = None
