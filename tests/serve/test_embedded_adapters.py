"""`ape serve` on the embedded engine with adapters: listed, selected by name, and fixed at start."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from ape.edits.filter import EditFilter
from ape.engines.factory import open_engine
from ape.settings import Settings
from prompts import SEP
from serve.app import create_app
from tests.ape.adapters.making import make_gguf_adapter
from tests.scripted import running
from tests.serve.book_library import begin, wait_for
from tests.serve.conftest import Serve

PASSAGE = {"source": "Ana veio.", "mt": "Ana come.", "max_attempts": 1, "target_language": "en"}
GATE = EditFilter(features={"lead": (-1.0, 1.0, 2.0)}, bias=0.0, threshold=0.5)


@pytest.fixture
def adapters(tmp_path: Path, smollm2: Path) -> dict[str, Path]:
    """Three adapters of one base: two with different weights, and the first with an edit filter."""
    made: dict[str, dict[str, Any]] = {"one": {}, "two": {"seed": 2}, "gated": {"gate": GATE}}
    return {name: make_gguf_adapter(tmp_path / name, smollm2, **options) for name, options in made.items()}


@pytest.mark.subprocess
def test_adapters_are_listed_with_their_cards_and_the_base_as_base(
    adapters: dict[str, Path], smollm2: Path, serve: Serve
) -> None:
    given = [f"--adapter={name}={place}" for name, place in adapters.items()]
    service = serve("--model", str(smollm2), *given, "--alias", "default=two")
    with httpx2.Client(base_url=service.address, timeout=300) as client:
        listed = client.get("/v1/models").json()
        models = {model["name"]: model for model in listed["models"]}
        assert {name: model["kind"] for name, model in models.items()} == {
            "two": "adapter",
            smollm2.stem: "base",
            "one": "adapter",
            "gated": "adapter",
        }
        assert next(iter(models)) == "two"
        assert [name for name, model in models.items() if model["default"]] == ["two"]
        assert listed["aliases"] == {"default": "two"}
        assert models[smollm2.stem]["adapter"] is None
        assert {model["prompt"] for name, model in models.items() if name in adapters} == {SEP.fingerprint}
        card = models["one"]["adapter"]
        assert (card["base"], card["rank"], card["in_use"]) == ("smollm2-135m", 2, 0)
        assert card["languages"] == ["et-en", "ro-en"]
        assert len({models[name]["adapter"]["revision"] for name in adapters}) == 3
        answer = client.post("/v1/post-edit", json=PASSAGE | {"source_language": "pt"}).json()
        assert (answer["model"], answer["prompt"]) == ("two", SEP.fingerprint)
        assert answer["findings"][0]["guard"] == "languages"
        assert "ape_adapters_loaded 3" in client.get("/metrics").text
        refused = client.delete("/v1/models/one")
        assert (refused.status_code, "can't be unloaded" in refused.json()["detail"]) == (409, True)
    service.stop(signal.SIGTERM)
    assert service.end() == 0


@pytest.fixture
def base_settings(tmp_path: Path, smollm2: Path) -> Settings:
    return Settings(
        model=str(smollm2),
        cache=tmp_path,
        concurrency=1,
        window=1024,
        jobs=str(tmp_path / "jobs.sqlite"),
        uploads=tmp_path / "uploads",
        drain_seconds=0,
    )


@contextmanager
def opened(settings: Settings, place: Path) -> Iterator[httpx2.Client]:
    """A service with the adapter as its default model."""
    changed = settings.model_copy(update={"adapters": {"mine": place}, "aliases": {"default": "mine"}})
    app = create_app(changed, open_engine(changed, log_line=lambda _: None))
    with running(app) as address, httpx2.Client(base_url=address, timeout=300) as client:
        yield client


@pytest.mark.parametrize("other", ["two", "gated"])
def test_a_job_goes_on_with_the_same_adapter_alone(
    other: str, adapters: dict[str, Path], base_settings: Settings
) -> None:
    with opened(base_settings, adapters["one"]) as client:
        job = begin(client, 40, max_attempts="1")
        assert job["model"] == "mine"
    # A parity check in between does not change its revision.
    card = adapters["one"] / "ape.json"
    card.write_text(card.read_text().replace('"parity": null', '"parity": {"identical": 50}'))
    with opened(base_settings, adapters["one"]) as client:
        assert client.get("/v1/models").json()["models"][0]["adapter"]["parity"] == {"identical": 50}
        waiting = job["counts"]["waiting"]
        assert wait_for(client, job["id"], lambda job: job["counts"]["waiting"] < waiting)["state"] == "running"
    with opened(base_settings, adapters[other]) as client:
        failed = wait_for(client, job["id"], lambda job: job["state"] == "failed")
        assert f"began with mine, revision {job['revision']}" in failed["note"]
