"""Client for files and fine-tuning jobs of OpenAI's API, with retries on transient errors.

Orders are made once: where the answer to one is lost, its ticket is looked for before it is sent again.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Awaitable, Callable, Collection
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import openai
from openai.types.fine_tuning import FineTuningJob, FineTuningJobEvent

from ape.engines.client import MALFORMED_REPLY_ERRORS
from ape.engines.retry import RetryPolicy, retry_loop, translate_error
from ape.errors import EngineError, EngineRefused, InputError, KeyRefused, UnknownJob
from ape.network import is_loopback, url_host
from ape.passage.events import Listener
from ape.settings import OPENAI_HOST
from finetune.hosted.job_record import HostedJobOrder

TICKET_KEY = "ape_ticket"
T = TypeVar("T")
_MAX_JOBS_LISTED = 500
_REDACTED = "********"


class HostedProvider:
    """OpenAI or a compatible server."""

    def __init__(
        self,
        url: str,
        *,
        key: str | None,
        listen: Listener,
        retry: RetryPolicy | None = None,
        timeout_seconds: float = 300.0,
    ) -> None:
        self.url = url
        self.host = url_host(url)
        self._key = key or ""
        self._listen = listen
        self._retry = retry or RetryPolicy()
        if not key and self.host == OPENAI_HOST:
            raise InputError("OpenAI needs a key: set OPENAI_API_KEY.")
        self._client = openai.AsyncOpenAI(
            base_url=url,
            api_key=key or "none",
            max_retries=0,
            timeout=openai.Timeout(timeout_seconds, connect=10.0),
            http_client=openai.DefaultAsyncHttpxClient(trust_env=not is_loopback(self.host)),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.close()

    async def upload(self, path: Path) -> str:
        """Upload a file and return its id."""

        async def once() -> str:
            return _named((await self._client.files.create(file=path, purpose="fine-tune")).id)

        return await self._ask(once)

    async def has_file(self, id: str) -> bool:
        """Whether an uploaded file still exists."""

        async def once() -> bool:
            try:
                return (await self._client.files.retrieve(id)).id == id
            except openai.NotFoundError:
                return False

        return await self._ask(once)

    async def create(self, order: HostedJobOrder, *, files: dict[str, str], ticket: str) -> FineTuningJob:
        """Create the job, at most once."""
        tries = 0

        async def once() -> FineTuningJob:
            nonlocal tries
            tries += 1
            arrived = await self._find(ticket) if tries > 1 else None
            return arrived or _job(await self._client.fine_tuning.jobs.create(**_body(order, files, ticket)))

        return await self._ask(once)

    async def find(self, ticket: str) -> FineTuningJob | None:
        """The job with this ticket, if it was created."""
        return await self._ask(lambda: self._find(ticket))

    async def _find(self, ticket: str) -> FineTuningJob | None:
        looked_at = 0
        async for job in self._client.fine_tuning.jobs.list(limit=100, metadata={TICKET_KEY: ticket}):
            # Servers without this filter list all jobs, newest first.
            if (job.metadata or {}).get(TICKET_KEY) == ticket:
                return _job(job)
            looked_at += 1
            if looked_at >= _MAX_JOBS_LISTED:
                break
        return None

    async def job(self, id: str) -> FineTuningJob:
        """The current state of a job."""

        async def once() -> FineTuningJob:
            try:
                return _job(await self._client.fine_tuning.jobs.retrieve(id))
            except openai.NotFoundError as error:
                raise UnknownJob(f"{self.host} knows no job {id}, at least not by this key.") from error

        return await self._ask(once)

    async def events(self, id: str, *, seen: Collection[str]) -> list[FineTuningJobEvent]:
        """Events since the last call, oldest first; the API lists the newest first."""

        async def once() -> list[FineTuningJobEvent]:
            new: list[FineTuningJobEvent] = []
            async for event in self._client.fine_tuning.jobs.list_events(id, limit=100):
                if _named(event.id) in seen:
                    break
                new.append(event)
            return new[::-1]

        return await self._ask(once)

    async def cancel(self, id: str) -> FineTuningJob:
        """Cancel a job."""

        async def once() -> FineTuningJob:
            return _job(await self._client.fine_tuning.jobs.cancel(id))

        return await self._ask(once)

    async def result(self, id: str) -> bytes:
        """Content of a result file; OpenAI encodes its CSV in base64."""
        content = (await self._ask(lambda: self._client.files.content(id))).content
        try:
            return base64.b64decode(content.strip(), validate=True)
        except binascii.Error:
            return content

    async def _ask(self, once: Callable[[], Awaitable[T]]) -> T:
        async for attempt in retry_loop(self._retry, self._listen):
            with attempt:
                try:
                    return await once()
                except openai.OpenAIError as error:
                    raise self._ours(error) from error
                except MALFORMED_REPLY_ERRORS as error:
                    raise EngineError(f"{self.host} sent an invalid response. Is the address right?") from error
        raise AssertionError("unreachable: the loop returns or raises")

    def _ours(self, error: openai.OpenAIError) -> Exception:
        """Convert to our error with a remedy, and without the key, which servers may echo."""
        ours = translate_error(error)
        message = str(ours).replace(self._key, _REDACTED) if self._key else str(ours)
        if isinstance(error, openai.APIStatusError) and error.code == "insufficient_quota":
            return EngineRefused(f"{self.host} reports that the quota of this account is used up. {message}")
        if isinstance(ours, KeyRefused):
            variable = "OPENAI_API_KEY" if self.host == OPENAI_HOST else "APE_ENGINE_KEY"
            sentence = message.removesuffix(" Set APE_ENGINE_KEY.")
            return KeyRefused(f"{sentence} Set {variable} to a key that may fine-tune at {self.host}.")
        if isinstance(ours, EngineError):
            return type(ours)(message, retry_after=ours.retry_after)
        return EngineRefused(message)


def _body(order: HostedJobOrder, files: dict[str, str], ticket: str) -> dict[str, Any]:
    chosen = {
        "n_epochs": order.epochs,
        "batch_size": order.batch_size,
        "learning_rate_multiplier": order.learning_rate_multiplier,
    }
    hyperparameters = {name: value for name, value in chosen.items() if value is not None}
    body = {
        "model": order.base,
        "training_file": files[order.training],
        "validation_file": files[order.validation] if order.validation else None,
        "method": {"type": "supervised", "supervised": {"hyperparameters": hyperparameters}},
        "seed": order.seed,
        "suffix": order.suffix,
        # The card is made from these, on any machine.
        "metadata": {
            TICKET_KEY: ticket,
            "prompt": order.prompt,
            "data": order.data,
            "languages": " ".join(order.languages)[:512],
        },
    }
    return {name: value for name, value in body.items() if value is not None}


def _job(job: FineTuningJob) -> FineTuningJob:
    """Check the required fields of a job, which the client library does not."""
    _named(job.id)
    _named(job.status)
    return job


def _named(name: object) -> str:
    if not isinstance(name, str) or not name:
        raise TypeError("an id is missing")
    return name
