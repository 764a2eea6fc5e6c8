"""`ape demo`: post-edit the sample chapters and write a report."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ape.cli.flags import AdapterFlag, EngineFlag, ModelFlag, UrlFlag, engine_settings

if TYPE_CHECKING:
    from rich.console import Console

    from ape.jobs.job_paragraph import PlannedParagraph
    from ape.passage.result import PostEdit
    from ape.passage.segment import Segment
    from ape.sample import Sample
    from ape.settings import Settings

    Done = tuple[PlannedParagraph, PostEdit]


def demo(
    page: Annotated[Path, typer.Option(help="HTML file to write.")] = Path("out/demo.html"),
    engine: EngineFlag = None,
    url: UrlFlag = None,
    model: ModelFlag = None,
    adapter: AdapterFlag = None,
) -> None:
    """Post-edit two sample chapters (Chinese and French) and write a report."""
    import asyncio

    from rich.console import Console

    from ape.cli.terminal import fetch_with_progress
    from ape.jobs.job_paragraph import JobParagraph, ParagraphState
    from ape.reports.book_page import write_book_report
    from ape.sample import SAMPLES, load_sample

    settings = _demo_settings(engine_settings(engine=engine, url=url, model=model, adapter=adapter))
    page.parent.mkdir(parents=True, exist_ok=True)
    fetch_with_progress(settings)
    began = time.monotonic()
    samples = [load_sample(name) for name in SAMPLES]
    done = asyncio.run(_work(settings, samples))
    seconds = time.monotonic() - began
    out = Console(highlight=False)
    _show_changes(done, out)
    _show_table(done, out)
    _show_cost(done, seconds, settings, out)
    write_book_report(
        page,
        (JobParagraph(planned, ParagraphState.DONE, answer) for planned, answer in done),
        title="Two sample chapters, post-edited",
        subtitle="Source, machine translation and post-edit",
        source_language={i: sample.source_language for i, sample in enumerate(samples)},
        target_language={i: sample.target_language for i, sample in enumerate(samples)},
        facts={"Time": f"{seconds:.0f} s"},
    )
    out.print(f"The report is {page}.")


def _demo_settings(settings: Settings) -> Settings:
    """Use the base of the default model, because the tuned model makes few edits to show."""
    from ape.models import DEFAULT_MODEL

    if settings.model or settings.adapters or settings.engine != "embedded":
        return settings
    return settings.model_copy(update={"model": DEFAULT_MODEL})


async def _work(settings: Settings, samples: list[Sample]) -> list[Done]:
    import asyncio
    from collections import Counter

    from ape.cli.terminal import error_console, passages_progress, print_line
    from ape.engines.factory import open_engine
    from ape.post_editor import post_edit

    todo = list(_planned(samples))
    decisions: Counter[str] = Counter()
    async with open_engine(settings, log_line=print_line) as engine:
        with passages_progress(error_console()) as bar:
            task = bar.add_task("post-editing", total=len(todo), so_far="")

            async def edit(planned: PlannedParagraph, segment: Segment) -> Done:
                result = await post_edit(segment, engine)
                decisions[result.decision] += 1
                so_far = ", ".join(f"{count} {decision}" for decision, count in decisions.items())
                bar.update(task, advance=1, so_far=so_far)
                return planned, result

            return list(await asyncio.gather(*(edit(*item) for item in todo)))


def _planned(samples: list[Sample]) -> Iterator[tuple[PlannedParagraph, Segment]]:
    """The samples as paragraphs of one book, with a chapter for each sample."""
    from itertools import count

    from ape.jobs.job_paragraph import PlannedParagraph

    position = count()
    for chapter, sample in enumerate(samples):
        for paragraph, segment in zip(sample.paragraphs, sample.segments(), strict=True):
            name = f"{sample.name}/{paragraph.id}"
            place = next(position)
            yield (PlannedParagraph(name, place, chapter, sample.title, chapter, segment.source, segment.mt), segment)


def _show_changes(done: list[Done], out: Console) -> None:
    from ape.cli.terminal import format_decision, format_diff

    for planned, answer in done:
        out.print()
        out.print(format_decision(answer), planned.title, planned.id)
        out.print(format_diff(planned.mt, answer, coloured=bool(out.color_system)), soft_wrap=True)
        for finding in answer.findings:
            out.print(f"  attempt {finding.attempt}, {finding.guard}: {finding.message}", style="dim", markup=False)


def _show_table(done: list[Done], out: Console) -> None:
    from collections import Counter

    from rich.table import Table

    from ape.passage.result import Decision

    table = Table(title="Decisions")
    for heading in ("chapter", *Decision, "edits", "refused by"):
        table.add_column(heading)
    for title in dict.fromkeys(planned.title for planned, _ in done):
        answers = [answer for planned, answer in done if planned.title == title]
        counts = Counter(answer.decision for answer in answers)
        guards = Counter(
            finding.guard for answer in answers for finding in answer.findings if finding.severity == "reject"
        )
        refused = ", ".join(f"{guard} {count}" for guard, count in guards.most_common(4))
        edits = sum(len(answer.edits) for answer in answers)
        table.add_row(title, *(str(counts[decision]) for decision in Decision), str(edits), refused)
    out.print()
    out.print(table)
    out.print(
        "edited: a draft was accepted · unchanged: no edits · rejected: the guards refused all drafts, the MT is kept"
    )


def _show_cost(done: list[Done], seconds: float, settings: Settings, out: Console) -> None:
    from ape.passage.result import Usage

    usage = sum((answer.usage for _, answer in done), Usage())
    price = f"priced by {settings.url}" if settings.url else "free: the model ran on this machine"
    out.print(
        f"{len(done)} passages in {seconds:.0f} s · {usage.prompt_tokens:,} tokens read, "
        f"{usage.completion_tokens:,} written · {price}"
    )
