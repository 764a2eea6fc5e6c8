"""Reader of Label Studio exports.

Exports of other projects are rejected, unless they compare two texts in a known layout; these are read without a trial.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ape.errors import InputError
from eval.human.answer import RaterAnswer, VoteBuilder, read_answer, to_utc
from eval.human.label_studio.project import CHOICE_QUESTIONS, ERROR_QUESTIONS
from eval.human.label_studio.spans import read_span_answer
from eval.human.trial import Trial
from eval.human.trial_index import TrialIndex
from eval.human.vote import Choice, Vote


@dataclass(frozen=True, slots=True)
class LabelStudioLayout:
    """Field names of another project that compares two texts."""

    question: str
    choices: Mapping[str, Choice]
    first: str
    second: str
    comment: str
    book: str
    language: str


# Karpinska and Iyyer (2023), literary paragraphs.
LABEL_STUDIO_LAYOUTS = (
    LabelStudioLayout(
        "BetterTranslation",
        {"TRANSLATION 1": "first", "TRANSLATION 2": "second"},
        "text1_tag",
        "text2_tag",
        "comments",
        "book",
        "source_lang",
    ),
)


def read_export(values: Sequence[Any], trial: Trial | None, *, place: str) -> list[Vote]:
    """Read the votes of an export in the "JSON" format; skipped tasks have none.

    Raises InputError for exports of another trial or project.
    """
    tasks = [_task(value, place) for value in values]
    if trial is None:
        return [vote for task in tasks for vote in _foreign(task, _name(task, place))]
    factory = _VoteFactory(trial)
    votes = []
    for task in tasks:
        name = _name(task, place)
        _check_ours(task["data"], trial, name)
        answers = [(_annotator(one), _answer(one, task["data"], name, trial)) for one in _annotations(task)]
        votes += [(annotator, factory.build_vote(task["data"], answer)) for annotator, answer in answers]
    return _name_annotators(votes)


class _VoteFactory:
    """Builds votes by the systems that a task names, as in our exports, or by the rater's sheet."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self._index = TrialIndex(trial)
        self._builders: dict[str, VoteBuilder] = {}

    def build_vote(self, data: Mapping[str, Any], answer: RaterAnswer) -> Vote:
        rater = data["rater"]
        if "first" in data and "second" in data:
            vote = Vote(rater=rater, first=data["first"], second=data["second"], **answer.fields())
            return self._index.complete_vote(vote)
        if rater not in self._builders:
            self._builders[rater] = VoteBuilder(self._trial, rater)
        return self._builders[rater].build_vote(answer)


def _task(value: Any, place: str) -> dict[str, Any]:
    if isinstance(value, dict) and "annotation_id" in value:
        raise InputError(f"{place} was exported as JSON-MIN. Export it as JSON.", field="votes")
    whole = isinstance(value, dict) and isinstance(value.get("data"), dict)
    if not whole or not isinstance(value.get("annotations", []), list):
        raise InputError(f"{place} is not a Label Studio export: its tasks have no data.", field="votes")
    return dict(value)


def _name(task: Mapping[str, Any], place: str) -> str:
    return f"{place}, task {task.get('id', task['data'].get('item', '?'))}"


def _check_ours(data: Mapping[str, Any], trial: Trial, name: str) -> None:
    named = [data.get(key) for key in ("trial", "rater", "item", *(key for key in ("first", "second") if key in data))]
    if not all(isinstance(value, str) and value for value in named):
        raise InputError(
            f"{name} is from another project: it lacks trial, rater or item. Export the project made from this trial's "
            "Label Studio tasks.",
            field="votes",
        )
    if data["trial"] != trial.id:
        raise InputError(
            f"{name} belongs to the trial {data['trial'][:40]!r}, not to {trial.id!r} ({trial.name}).", field="trial"
        )


def _annotations(task: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Annotations that count; skipped tasks have cancelled ones."""
    for one in task.get("annotations", []):
        if isinstance(one, dict) and not one.get("was_cancelled") and isinstance(one.get("result"), list):
            yield one


def _chosen(annotation: Mapping[str, Any]) -> dict[str, list[str]]:
    """Choices and texts by question."""
    values = {
        one["from_name"]: one["value"].get("choices") or one["value"].get("text")
        for one in annotation["result"]
        if isinstance(one, dict) and "from_name" in one and isinstance(one.get("value"), dict)
    }
    return {name: [value] if isinstance(value, str) else list(value) for name, value in values.items() if value}


def _answer(annotation: Mapping[str, Any], data: Mapping[str, Any], name: str, trial: Trial) -> RaterAnswer:
    chosen = _chosen(annotation)
    item = data["item"]
    if trial.spans:
        marked = read_span_answer(annotation["result"], data, name)
        comment = "\n".join(chosen.get("comment", []))
        return read_answer({**marked, "item": item, "comment": comment, "at": _at(annotation)}, place=name)
    if "choice" not in chosen:
        raise InputError(f"{name} was submitted without a choice between A and B.", field="votes")
    # A project may lack the aliases of the options.
    short = {key: {text: short for short, text in options.items()} for key, (_, options) in CHOICE_QUESTIONS.items()}
    single = {key: short[key].get(chosen[key][0], chosen[key][0]) for key in CHOICE_QUESTIONS if key in chosen}
    errors = {key.removeprefix("errors_"): chosen[key] for key in ERROR_QUESTIONS if key in chosen}
    comment = "\n".join(chosen.get("comment", []))
    values = {**single, "item": item, "errors": errors, "comment": comment, "at": _at(annotation)}
    return read_answer(values, place=name)


def _at(annotation: Mapping[str, Any]) -> str:
    try:
        return to_utc(str(annotation["created_at"]))
    except (KeyError, ValueError):
        return ""


def _annotator(annotation: Mapping[str, Any]) -> str:
    """The annotator in Label Studio: a number, or an account with an e-mail address."""
    account = annotation.get("completed_by", "")
    return str(account.get("email") or account.get("id") or "") if isinstance(account, dict) else str(account)


def _name_annotators(votes: Sequence[tuple[str, Vote]]) -> list[Vote]:
    """Add the annotator to the rater's name for all but the first annotator of a sheet.

    The first annotator is the same in every later export, so names stay stable.
    """
    first: dict[str, tuple[str, str]] = {}
    for annotator, vote in votes:
        start = (vote.at, annotator)
        first[vote.rater] = min(first.get(vote.rater, start), start, key=lambda one: one[0])
    return [
        vote if annotator == first[vote.rater][1] else replace(vote, rater=f"{vote.rater}/{annotator}")
        for annotator, vote in votes
    ]


def _foreign(task: Mapping[str, Any], name: str) -> Iterator[Vote]:
    """Votes of another project with a known layout."""
    data = task["data"]
    for annotation in _annotations(task):
        chosen = _chosen(annotation)
        layout = next((one for one in LABEL_STUDIO_LAYOUTS if one.question in chosen and one.first in data), None)
        if layout is None:
            raise InputError(
                f"{name} is from a project with an unknown layout: no question compares two texts.", field="votes"
            )
        choice = chosen[layout.question][0]
        if choice not in layout.choices:
            raise InputError(f"{name}: {choice[:60]!r} is not one of the choices.", field="votes")
        yield Vote(
            item=str(task.get("id", "")),
            rater=_annotator(annotation),
            first=str(data[layout.first]),
            second=str(data[layout.second]),
            choice=layout.choices[choice],
            comment="\n".join(chosen.get(layout.comment, [])),
            book=str(data.get(layout.book, "")),
            language=str(data.get(layout.language, "")),
            at=_at(annotation),
        )
