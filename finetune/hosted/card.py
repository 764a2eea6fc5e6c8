"""The card of a hosted model: what it was made from, how it is to be asked, and how its training went."""

from __future__ import annotations

import csv
import io
import shlex
from pathlib import Path
from typing import Literal

from openai.types.fine_tuning import FineTuningJob
from pydantic import BaseModel, ConfigDict, JsonValue

from ape.errors import ApeError, EngineRefused
from finetune.hosted.provider import Provider

CARD = "card.json"


class HostedCard(BaseModel):
    """A fine-tuned model that lives at its provider. A job that was not begun by us has no prompt and no data."""

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
    """the files beside the card that tell how training went, step by step"""
    last: dict[str, str] = {}
    """their last line"""

    @property
    def command(self) -> str:
        """How to post-edit with it."""
        return shlex.join(["ape", "edit", "--engine", "url", "--url", self.url, "--model", self.model])


def refuse_failure(job: FineTuningJob) -> None:
    """Raise what the provider says, where the job came to nothing."""
    if job.status == "cancelled":
        raise EngineRefused(f"Job {job.id} was cancelled: there is no model. --again begins another.")
    if job.status == "failed":
        error = job.error
        place = f" ({error.param})" if error and error.param else ""
        said = error.message if error and error.message else "its reason is not told."
        raise EngineRefused(
            f"Job {job.id} failed{place}: {said} Mend it and run the command again, with --again."
        )
    if not job.fine_tuned_model:
        raise EngineRefused(f"Job {job.id} {job.status}, but names no model.")


async def write_card(provider: Provider, job: FineTuningJob, directory: Path | None) -> HostedCard:
    """The card of a job that succeeded; with its results in the directory, if there is one."""
    told = job.metadata or {}
    card = HostedCard(
        model=str(job.fine_tuned_model),
        base=job.model,
        url=provider.url,
        job=job.id,
        prompt=told.get("prompt"),
        data=told.get("data"),
        languages=tuple(told.get("languages", "").split()),
        training=_settings(job),
        trained_tokens=job.trained_tokens,
    )
    if directory is None:
        return card
    try:
        directory.mkdir(parents=True, exist_ok=True)
        card = card.model_copy(update=await _results(provider, job, directory))
        (directory / CARD).write_text(card.model_dump_json(indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise ApeError(
            f"{directory} can't be written to: {error.strerror}. The model is {card.model}."
        ) from error
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


async def _results(provider: Provider, job: FineTuningJob, directory: Path) -> dict[str, object]:
    names: list[str] = []
    last: dict[str, str] = {}
    for number, id in enumerate(job.result_files or (), start=1):
        content = await provider.result(id)
        name = f"results-{number}.csv"
        (directory / name).write_bytes(content)
        names.append(name)
        for row in csv.DictReader(io.StringIO(content.decode("utf-8", "replace"))):
            last |= {column: value for column, value in row.items() if column and value}
    return {"results": tuple(names), "last": last}
