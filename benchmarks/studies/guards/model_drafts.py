"""Drafts of a prompted model in place of human post-edits, from the files of `ape finetune score --base`."""

from __future__ import annotations

import asyncio
from pathlib import Path

from ape.edits.conventions import keep_conventions
from ape.errors import InputError
from ape.files.rows import read_jsonl
from ape.settings import load_settings
from benchmarks.studies.guards.passages import HumanPostEdit
from finetune.data.row_reader import DefaultLanguages, read_training_rows
from finetune.scoring.drafts import load_drafts
from finetune.scoring.served_adapter import find_prompted_model


def read_drafts(rows: Path, drafts: Path, base: str) -> dict[str, list[HumanPostEdit]]:
    """The drafts so far by language pair, with the conventions of their MT, as the guards get them."""
    target = asyncio.run(find_prompted_model(load_settings(model=base)))
    drafted = {row["id"] for _, row in read_jsonl(drafts) if row["key"] == target.cache_key}
    every = [row.to_example() for row in read_training_rows(rows, languages=DefaultLanguages())]
    examples = [example for example in every if example.id in drafted]
    stored = load_drafts(target.model, examples, drafts, key=target.cache_key)
    if not stored or not examples:
        raise InputError(f"{drafts} has no drafts by {base} of the rows in {rows}.")
    found: dict[str, list[HumanPostEdit]] = {}
    for example in examples:
        draft = stored.draft(example).text
        text = keep_conventions(example.mt.strip(), draft, language=example.target_language)
        found.setdefault(example.pair, []).append(HumanPostEdit(example.id, example.segment, text))
    return found
