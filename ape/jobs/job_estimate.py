"""Estimate a job before it starts: the model that would be used, its speed here, and its price."""

from __future__ import annotations

from dataclasses import replace

from ape.books.pairing.book_pairing import UnpairedCounter
from ape.engines.model_selection import ModelSelection, select_models
from ape.errors import ApeError
from ape.jobs.estimate import ENGINE_SPEEDS, FREE_PRICE, BookEstimate, EngineSpeed, TokenPrice, estimate_book
from ape.jobs.job import JobRecipe
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
        skip_too_long(pairing.pairs()), recipe, speed=_engine_speed(settings, model), price=configured_price(settings)
    )
    return estimate, pairing.unpaired_source


def _select_model(settings: Settings, use: str) -> tuple[str, str]:
    """The model and its prompt format, as far as they are known without starting the engine."""
    embedded = settings.engine == "embedded"
    models = select_models(settings) if embedded else ModelSelection(settings.model or "", settings.adapters)
    return models.name_and_format(settings.aliases.get(use, use))


def _engine_speed(settings: Settings, model: str) -> EngineSpeed:
    """The speed measured by earlier jobs of this store, or a first guess."""
    concurrency = book_concurrency(settings)
    try:
        with JobStore(settings.jobs_url) as store:
            rate = store.rate(model)
    except ApeError:
        rate = None  # an estimate is useful without it
    if rate:
        return EngineSpeed.measured(rate, concurrency=concurrency)
    return replace(ENGINE_SPEEDS[settings.engine], concurrency=concurrency)


def configured_price(settings: Settings) -> TokenPrice | None:
    """The price in the settings; otherwise a local engine is free, and the price of a server is unknown."""
    if settings.price_in is not None or settings.price_out is not None:
        return TokenPrice(settings.price_in or 0.0, settings.price_out or 0.0)
    return None if settings.engine == "url" else FREE_PRICE
