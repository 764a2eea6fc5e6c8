"""`ape` with a log of every model request before it is sent, for tests that kill it."""

from __future__ import annotations

import json
import os

from ape.cli.main import main
from ape.engines.client import OpenAIEngine
from ape.engines.protocol import Model, Reply, Sampling
from ape.passage.events import Listener
from prompts import Prompt

_ask = OpenAIEngine.ask


async def _written_down(
    self: OpenAIEngine, prompt: Prompt, sampling: Sampling, *, model: Model, listen: Listener
) -> Reply:
    line = json.dumps(prompt.mt.restore(prompt.mt.text), ensure_ascii=False) + "\n"
    # One write to a file opened for appending is whole or not there, also of several processes.
    file = os.open(os.environ["APE_ASKED"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(file, line.encode())
    finally:
        os.close(file)
    return await _ask(self, prompt, sampling, model=model, listen=listen)


if __name__ == "__main__":
    OpenAIEngine.ask = _written_down  # type: ignore[method-assign]
    main()
