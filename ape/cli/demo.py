"""`ape demo`: post-edit the sample chapters on the embedded engine, and show what came of it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ape.cli.flags import EngineFlag, ModelFlag, UrlFlag

if TYPE_CHECKING:
    from rich.console import Console

    from ape.page import Passage
    from ape.sample import Sample
    from ape.segment import Segment
    from ape.settings import Settings


def demo(
    page: Annotated[Path, typer.Option(help="Where the page goes.")] = Path("out/demo.html"),
    engine: EngineFlag = None,
    url: UrlFlag = None,
    model: ModelFlag = None,
) -> None:
    """Post-edit two sample chapters (Chinese and French), show the changes and write a page."""
    import asyncio

    from rich.console import Console

    from ape.cli.talk import fetch_with_progress
    from ape.page import write_page
    from ape.settings import load_settings

    settings = load_settings(engine=engine, url=url, model=model)
    page.parent.mkdir(parents=True, exist_ok=True)
    fetch_with_progress(settings)
    began = time.monotonic()
    passages = asyncio.run(_work(settings))
    seconds = time.monotonic() - began
    out = Console(highlight=False)
    _show_changes(passages, out)
    _show_table(passages, out)
    _show_cost(passages, seconds, settings, out)
    title, facts = "Two sample chapters, post-edited", {"Time": f"{seconds:.0f} s"}
    write_page(page, passages, title=title, subtitle="Source, machine translation and post-edit", facts=facts)
    out.print(f"The page with source, MT and post-edit side by side: {page}")


async def _work(settings: Settings) -> list[Passage]:
    import asyncio
    from collections import Counter

    from ape.cli.talk import error_console, passages_progress
    from ape.engines.open import open_engine
    from ape.page import Passage
    from ape.postedit import post_edit
    from ape.sample import SAMPLES, load_sample

    console = error_console()
    samples = [load_sample(name) for name in SAMPLES]
    todo = [
        (sample, paragraph.id, segment)
        for sample in samples
        for paragraph, segment in zip(sample.paragraphs, sample.segments(), strict=True)
    ]
    decisions: Counter[str] = Counter()
    async with open_engine(settings) as engine:
        with passages_progress(console) as bar:
            task = bar.add_task("post-editing", total=len(todo), so_far="")

            async def one(sample: Sample, name: str, segment: Segment) -> Passage:
                result = await post_edit(segment, engine)
                decisions[result.decision] += 1
                so_far = ", ".join(f"{count} {decision}" for decision, count in decisions.items())
                bar.update(task, advance=1, so_far=so_far)
                return Passage(name, segment, result, sample.title)

            return list(await asyncio.gather(*(one(*item) for item in todo)))


def _show_changes(passages: list[Passage], out: Console) -> None:
    from ape.cli.talk import decision, diff

    for passage in passages:
        out.print()
        out.print(decision(passage.answer), passage.chapter, passage.heading)
        out.print(diff(passage.segment.mt, passage.answer, coloured=bool(out.color_system)), soft_wrap=True)
        for finding in passage.answer.findings:
            out.print(
                f"  attempt {finding.attempt}, {finding.guard}: {finding.message}", style="dim", markup=False
            )


def _show_table(passages: list[Passage], out: Console) -> None:
    from collections import Counter

    from rich.table import Table

    from ape.verdict import Decision

    table = Table(title="Decisions")
    for heading in ("chapter", *Decision, "edits", "refused by"):
        table.add_column(heading)
    for chapter in dict.fromkeys(passage.chapter for passage in passages):
        answers = [passage.answer for passage in passages if passage.chapter == chapter]
        counts = Counter(answer.decision for answer in answers)
        guards = Counter(
            finding.guard for answer in answers for finding in answer.findings if finding.severity == "reject"
        )
        refused = ", ".join(f"{guard} {count}" for guard, count in guards.most_common(4))
        edits = sum(len(answer.edits) for answer in answers)
        table.add_row(chapter, *(str(counts[one]) for one in Decision), str(edits), refused)
    out.print()
    out.print(table)
    out.print(
        "edited: a draft was taken · unchanged: nothing to mend · rejected: drafts were refused, the MT is kept"
    )


def _show_cost(passages: list[Passage], seconds: float, settings: Settings, out: Console) -> None:
    from ape.verdict import Usage

    usage = sum((passage.answer.usage for passage in passages), Usage())
    price = (
        "free: the model ran on this machine"
        if settings.engine == "embedded"
        else f"priced by {settings.url}"
    )
    out.print(
        f"{len(passages)} passages in {seconds:.0f} s · {usage.prompt_tokens:,} tokens read, "
        f"{usage.completion_tokens:,} written · {price}"
    )
