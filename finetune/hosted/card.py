"""Card of a hosted model: its base, data, prompt format and training results."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from openai.types.fine_tuning import FineTuningJob
from pydantic import BaseModel, ConfigDict, JsonValue

from ape.engines.client import MALFORMED_REPLY_ERRORS
from ape.errors import ApeError, EngineError, EngineRefused
from finetune.hosted.provider import HostedProvider

CARD = "card.json"


class HostedCard(BaseModel):
    """A fine-tuned model at a provider; for a job that we did not create, prompt and data are unknown."""

    model_config = ConfigDict(frozen=True)

    version: Literal[1] = 1
    model: str
    base: str
    url: str
    job: str
    prompt: str | None
    data: str | None
    languages: tuple[str, ...] = ()
    training: dict[str, JsonValue]
    trained_tokens: int | None
    results: tuple[str, ...] = ()
    """CSV files next to the card with the training results by step"""
    last: dict[str, str] = {}
    """last value of each of their columns"""


def raise_for_failed_job(job: FineTuningJob) -> None:
    """Raise EngineRefused with the provider's reason unless the job succeeded."""
    if job.status == "cancelled":
        raise EngineRefused(f"Job {job.id} was cancelled: there is no model.")
    if job.status == "failed":
        error = job.error
        place = f" ({error.param})" if error and error.param else ""
        said = error.message if error and error.message else "the provider gives no reason."
        raise EngineRefused(f"Job {job.id} failed{place}: {said}")
    if not job.fine_tuned_model:
        raise EngineRefused(f"Job {job.id} {job.status}, but names no model.")


async def fetch_results(provider: HostedProvider, job: FineTuningJob) -> list[bytes]:
    """Download the result files (CSV), if the provider has any."""
    return [await provider.result(file) for file in job.result_files or ()]


def make_card(job: FineTuningJob, *, url: str) -> HostedCard:
    """Make the card of a successful job from the job's metadata."""
    try:
        metadata = job.metadata or {}
        return HostedCard(
            model=str(job.fine_tuned_model),
            base=job.model,
            url=url,
            job=job.id,
            prompt=metadata.get("prompt"),
            data=metadata.get("data"),
            languages=tuple(metadata.get("languages", "").split()),
            training=_settings(job),
            trained_tokens=job.trained_tokens,
        )
    except MALFORMED_REPLY_ERRORS as error:
        raise EngineError(
            f"Job {job.id} made the model {job.fine_tuned_model}, but its description is invalid."
        ) from error


def write_hosted_card(card: HostedCard, directory: Path, *, results: Sequence[bytes]) -> HostedCard:
    """Write card and results to the directory; return the card with the results."""
    named = {f"results-{number}.csv": content for number, content in enumerate(results, start=1)}
    last: dict[str, str] = {}
    for content in results:
        last |= _last_values(content)
    card = card.model_copy(update={"results": tuple(named), "last": last})
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, content in named.items():
            (directory / name).write_bytes(content)
        (directory / CARD).write_text(card.model_dump_json(indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise ApeError(f"{directory} can't be written to: {error.strerror}. The model is {card.model}.") from error
    return card


def _settings(job: FineTuningJob) -> dict[str, JsonValue]:
    method = job.method.supervised if job.method else None
    chosen = (method and method.hyperparameters) or job.hyperparameters
    return {
        "n_epochs": chosen.n_epochs if chosen else None,
        "batch_size": chosen.batch_size if chosen else None,
        "learning_rate_multiplier": chosen.learning_rate_multiplier if chosen else None,
        "seed": job.seed,
    }


def _last_values(content: bytes) -> dict[str, str]:
    """The last value of every column; not every column has a value at every step."""
    last: dict[str, str] = {}
    for row in csv.DictReader(io.StringIO(content.decode("utf-8", "replace"))):
        last |= {column: value for column, value in row.items() if column and value}
    return last
