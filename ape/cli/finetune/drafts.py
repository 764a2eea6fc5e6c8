"""The examples of a command, and drafts of them with a bar."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ape.cli.talk import error_console, passages_progress
from ape.settings import Settings

if TYPE_CHECKING:
    from finetune.drafting import Drafts
    from finetune.example import Example


async def drafted(
    adapter: Path, examples: Sequence[Example], path: Path, settings: Settings, *, base: bool = False
) -> Drafts:
    """Have the adapter, or its base, draft them on the engine of the settings, unless the file has them already."""
    from finetune.drafting import draft_all
    from finetune.served import serving

    with passages_progress(error_console()) as bar:
        task = bar.add_task("drafting", total=len(examples), so_far="")

        def progress(done: int, every: int) -> None:
            bar.update(task, completed=done, total=every)

        async with serving(adapter, settings) as served:
            chosen = await served.untuned() if base else served
            return await draft_all(
                chosen.engine,
                chosen.name,
                examples,
                path,
                key=chosen.key,
                at_once=settings.places,
                progress=progress,
            )


def chosen_examples(data: Path | None, split: str, rows: Sequence[Path]) -> list[Example]:
    """The examples of a training set, or of files with one to a line, which are taken whole and as they are."""
    from ape.errors import InputError
    from finetune.data.dataset import read_examples
    from finetune.data.inputs import refuse_same_ids
    from finetune.data.rows import Languages, read_rows

    if bool(data) == bool(rows):
        raise InputError("Give either --data, a training set, or --rows, files with an example a line.")
    if data:
        return read_examples(data).require(split)
    found = [one for path in rows for one in read_rows(path, languages=Languages())]
    refuse_same_ids(found)
    return [one.to_example() for one in found]
