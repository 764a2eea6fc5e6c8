"""Estimate a job before it starts: the model that would be used, its speed here, and its price."""

from __future__ import annotations

from dataclasses import replace

from ape.books.pairing.book_pairing import ParagraphPair, UnpairedCounter
from ape.engines.model_selection import ModelSelection, select_models
from ape.errors import ApeError
from ape.jobs.counts import ModelRate
from ape.jobs.estimate import ENGINE_SPEEDS, FREE_PRICE, BookEstimate, EngineSpeed, TokenPrice, estimate_book
from ape.jobs.job import Job, JobRecipe
from ape.jobs.job_paragraph import PlannedParagraph
from ape.jobs.planning import OpenedFiles, skip_too_long
from ape.jobs.run import book_concurrency
from ape.jobs.store import JobStore
from ape.settings import Settings
from prompts import prompt_format


def estimate_job(
    opened: OpenedFiles, settings: Settings, *, use: str, context: int, max_attempts: int
) -> tuple[BookEstimate, UnpairedCounter]:
    """The estimate, and the source paragraphs without MT."""
    model, prompt = _select_model(settings, use)
    recipe = JobRecipe(
        model=model,
        prompt=prompt_format(prompt).fingerprint,
        source_language=opened.source_language,
        target_language=opened.target_language,
        context=context,
        max_attempts=max_attempts,
    )
    pairing = opened.pairing()
    estimate = estimate_book(
        skip_too_long(pairing.pairs()),
        recipe,
        speed=_engine_speed(settings, model),
        price=configured_price(settings),
        prediction=settings.prediction,
    )
    return estimate, pairing.unpaired_source


def _select_model(settings: Settings, use: str) -> tuple[str, str]:
    """The model and its prompt format, as far as they are known without starting the engine."""
    embedded = settings.engine == "embedded"
    models = select_models(settings) if embedded else ModelSelection(settings.model or "", settings.adapters)
    return models.name_and_format(settings.aliases.get(use, use))


def estimate_stored_job(store: JobStore, job: Job, settings: Settings, *, concurrency: int) -> BookEstimate:
    """The estimate of a job that is planned already, as if no paragraph were done."""
    pairs = (_pair(row.planned) for row in store.rows(job.id))
    speed = _speed(settings, store.rate(job.recipe.model), concurrency)
    price = configured_price(settings)
    return estimate_book(pairs, job.recipe, speed=speed, price=price, prediction=settings.prediction)


def _pair(planned: PlannedParagraph) -> ParagraphPair:
    return ParagraphPair(
        id=planned.id,
        chapter=planned.chapter,
        title=planned.title,
        position=planned.position,
        mt=planned.mt,
        source=planned.source,
        source_ids=(),
        how=planned.how,
        confidence=planned.confidence,
        skip=planned.skip,
    )


def _engine_speed(settings: Settings, model: str) -> EngineSpeed:
    """The speed measured by earlier jobs of this store, or a first guess."""
    try:
        with JobStore(settings.jobs_url) as store:
            rate = store.rate(model)
    except ApeError:
        rate = None  # an estimate is useful without it
    return _speed(settings, rate, book_concurrency(settings))


def _speed(settings: Settings, rate: ModelRate | None, concurrency: int) -> EngineSpeed:
    if rate:
        return EngineSpeed.measured(rate, concurrency=concurrency)
    return replace(ENGINE_SPEEDS[settings.engine], concurrency=concurrency)


def configured_price(settings: Settings) -> TokenPrice | None:
    """The price in the settings; otherwise a local engine is free, and the price of a server is unknown."""
    if settings.price_in is not None or settings.price_out is not None:
        return TokenPrice(settings.price_in or 0.0, settings.price_out or 0.0)
    return None if settings.engine == "url" else FREE_PRICE
