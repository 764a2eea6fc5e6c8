"""Annotations as Pearmut writes them: read with a trial as votes, or of any campaign as ratings; and written.

A span of Pearmut ends at its last character; the character after the text stands for something missing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ape.errors import InputError
from ape.files.rows import read_utf8
from eval.human.answer import VoteBuilder, read_answer
from eval.human.pearmut.campaign import pearmut_item
from eval.human.sheet import rater_sheet
from eval.human.span import ErrorSpan
from eval.human.span_rating import SpanRating
from eval.human.trial import Trial
from eval.human.vote import Vote


def is_pearmut(values: object) -> bool:
    """Whether JSON is a download of Pearmut: annotations by campaign, or the lines of one."""
    records = _records(values)
    return bool(records) and all(isinstance(one, dict) and {"annotation", "item"} <= one.keys() for one in records)


def read_download(path: Path) -> object:
    """The JSON of a download, or the lines of an output file; None if it is neither."""
    text = read_utf8(path, field="votes")
    try:
        if path.suffix.lower() == ".jsonl":
            return [json.loads(line) for line in text.splitlines() if line.strip()]
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _records(values: object) -> list[Any]:
    if isinstance(values, Mapping):
        return [one for own in values.values() if isinstance(own, list) for one in own]
    return list(values) if isinstance(values, list) else []


def read_annotations(values: object, trial: Trial, *, place: str) -> list[Vote]:
    """The votes of a campaign that was made from the trial; of several annotations of one item the last one counts."""
    votes: dict[tuple[str, str], Vote] = {}
    builders: dict[str, VoteBuilder] = {}
    sides = {rater: _sides(trial, rater) for rater in trial.raters}
    for number, record in enumerate(_records(values), 1):
        at = f"{place}, annotation {number}"
        for item, by_model in _items(record, at):
            rater, item_id = item.get("rater"), item.get("item_id")
            if item.get("trial") != trial.id or rater not in sides or item_id not in sides[rater]:
                raise InputError(f"{at} is not of the trial {trial.id!r} ({trial.name}).", field="trial")
            by_side = dict(zip(("first", "second"), sides[rater][item_id], strict=True))
            if set(by_model) != set(by_side.values()):
                raise InputError(f"{at} lacks a score of {' or '.join(by_side.values())}.", field="votes")
            given = {"item": item_id, **_answer(item, by_side, by_model, at)}
            builder = builders.setdefault(rater, VoteBuilder(trial, rater))
            votes[rater, item_id] = builder.build_vote(read_answer(given, place=at))
    return list(votes.values())


def read_ratings(values: object, *, place: str) -> list[SpanRating]:
    """The ratings of any campaign."""
    found: dict[tuple[str, str, str], SpanRating] = {}
    for number, record in enumerate(_records(values), 1):
        at = f"{place}, annotation {number}"
        for item, by_model in _items(record, at):
            for model, annotation in by_model.items():
                score = annotation.get("score")
                text = str(item.get("tgt", {}).get(model, ""))
                item_id, rater = str(item.get("item_id", number)), str(record.get("user_id", ""))
                if score is not None:
                    found[item_id, rater, model] = SpanRating(
                        item_id,
                        rater,
                        model,
                        float(score),
                        tuple(_spans(annotation, text, at)),
                        len(text),
                        item_id,
                        item_id,
                    )
    return list(found.values())


def _items(record: Mapping[str, Any], at: str) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    items, annotations = record.get("item"), record.get("annotation")
    if not isinstance(items, list) or not isinstance(annotations, list) or len(items) != len(annotations):
        raise InputError(f"{at} is not an annotation of Pearmut: its items and annotations differ.", field="votes")
    for item, annotation in zip(items, annotations, strict=True):
        if not isinstance(item, dict) or not isinstance(annotation, dict):
            raise InputError(f"{at} is not an annotation of Pearmut.", field="votes")
        yield item, annotation


def _answer(
    item: Mapping[str, Any], by_side: Mapping[str, str], by_model: Mapping[str, Any], at: str
) -> dict[str, Any]:
    given = {side: (by_model[system], str(item["tgt"][system])) for side, system in by_side.items()}
    return {
        "scores": {side: one.get("score") for side, (one, _) in given.items()},
        "spans": {side: list(_spans(one, text, at)) for side, (one, text) in given.items()},
        "comment": "\n".join(str(one["textfield"]) for one, _ in given.values() if one.get("textfield")),
    }


def _spans(annotation: Mapping[str, Any], text: str, at: str) -> Iterator[ErrorSpan]:
    try:
        for span in annotation.get("error_spans", []):
            start, end = min(int(span["start_i"]), len(text)), min(int(span["end_i"]) + 1, len(text))
            category = str(span.get("category") or "").strip("/")
            severity = str(span.get("severity") or "minor").lower()
            yield ErrorSpan(start, end, severity, category)  # type: ignore[arg-type]  # votes are checked
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{at} has a span without start_i and end_i.", field="votes") from error


def _sides(trial: Trial, rater: str) -> dict[str, tuple[str, str]]:
    """The systems shown first and second, by item."""
    return {shown.item.id: (shown.first, shown.second) for shown in rater_sheet(trial, rater)}


def export_annotations(trial: Trial, votes: Iterable[Vote]) -> dict[str, list[dict[str, Any]]]:
    """The annotations of a trial with spans, as Pearmut's download has them."""
    records = []
    shown: dict[str, dict[str, Any]] = {}
    for vote in votes:
        if vote.rater not in shown:
            shown[vote.rater] = {one.item.id: one for one in rater_sheet(trial, vote.rater)}
        item = pearmut_item(trial, vote.rater, shown[vote.rater][vote.item])
        annotation = {
            system: {
                "score": vote.scores.get(side),
                "error_spans": [_pearmut_span(span, len(item["tgt"][system])) for span in vote.spans.get(side, ())],
                "textfield": vote.comment or None,
            }
            for side, system in vote.sides
        }
        records.append({"annotation": [annotation], "item": [item], "user_id": vote.rater})
    return {trial.id: records}


def _pearmut_span(span: ErrorSpan, length: int) -> dict[str, Any]:
    missing = span.start == span.end == length
    last = length if missing else span.end - 1
    return {"start_i": span.start, "end_i": last, "category": span.category or None, "severity": span.severity}
