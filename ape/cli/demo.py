"""`ape demo`: repair the names of the sample chapters, post-edit them, and write a report."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ape.cli.flags import AdapterFlag, EngineFlag, ModelFlag, UrlFlag, engine_settings

if TYPE_CHECKING:
    from ape.sample.chapter import EditedParagraph, PreparedParagraph
    from ape.settings import Settings


def demo(
    page: Annotated[Path, typer.Option("--html", help="Page to write.")] = Path("out/demo.html"),
    engine: EngineFlag = None,
    url: UrlFlag = None,
    model: ModelFlag = None,
    adapter: AdapterFlag = None,
    passages: Annotated[
        int | None, typer.Option("--passages", min=1, help="Edit only the first passages of each chapter.")
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Print every passage with its changes.")] = False,
) -> None:
    """Post-edit two sample chapters (French and Chinese) and write a report."""
    import asyncio

    from rich.console import Console

    from ape.cli.demo_output import show_changes, show_names, show_summary
    from ape.cli.terminal import fetch_with_progress
    from ape.jobs.job_paragraph import JobParagraph, ParagraphState
    from ape.reports.book_page import write_book_report
    from ape.sample import SAMPLES, load_sample
    from ape.sample.chapter import prepare_chapters

    settings = _demo_settings(engine_settings(engine=engine, url=url, model=model, adapter=adapter))
    page.parent.mkdir(parents=True, exist_ok=True)
    samples = [load_sample(name) for name in SAMPLES]
    prepared = prepare_chapters(samples, first=passages)
    out = Console(highlight=False)
    show_names(prepared, out)
    fetch_with_progress(settings)
    began = time.monotonic()
    done, model_name = asyncio.run(_work(settings, prepared))
    seconds = time.monotonic() - began
    if verbose:
        show_changes(done, out)
    show_summary(done, samples, out, seconds=seconds, model=model_name)
    write_book_report(
        page,
        (JobParagraph(one.planned, ParagraphState.DONE, one.result) for one in done),
        title="Two sample chapters, post-edited",
        subtitle="Source, machine translation and post-edit",
        source_language={i: sample.source_language for i, sample in enumerate(samples)},
        target_language={i: sample.target_language for i, sample in enumerate(samples)},
        facts={"Time": f"{seconds:.0f} s", "Model": model_name},
    )
    out.print(f"Every passage with its changes: {page}")


def _demo_settings(settings: Settings) -> Settings:
    """Download the large model if the machine can run it, from then on the default.

    One passage at a time: each concurrent one would read the long instructions for itself, which takes longer than the
    passages of a short chapter.
    """
    from ape.cli.terminal import print_line
    from ape.models.default_choice import choose_default

    if settings.model or settings.adapters or settings.engine != "embedded":
        return settings
    chosen = choose_default(cache=settings.cache, may_download=True)
    if chosen.notice:
        print_line(chosen.notice)
    return settings.model_copy(update={"model": chosen.model, "concurrency": 1})


async def _work(settings: Settings, prepared: list[PreparedParagraph]) -> tuple[list[EditedParagraph], str]:
    from collections import Counter

    from ape.cli.terminal import error_console, passages_progress, print_line
    from ape.engines.factory import open_engine
    from ape.sample.chapter import edit_chapters

    decisions: Counter[str] = Counter()
    async with open_engine(settings, log_line=print_line) as engine:
        with passages_progress(error_console()) as bar:
            task = bar.add_task("post-editing", total=len(prepared), so_far="")

            def advance(edited: EditedParagraph) -> None:
                decisions[edited.result.decision] += 1
                so_far = ", ".join(f"{count} {decision}" for decision, count in decisions.items())
                bar.update(task, advance=1, so_far=so_far)

            done = await edit_chapters(prepared, engine, listen=advance)
    return done, done[0].result.model
