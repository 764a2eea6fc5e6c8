"""Votes from an export of Label Studio.

Another project's export is refused, unless it compares two texts in a layout that we know: then its votes are read as
they stand, without a trial.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ape.errors import InputError
from eval.human.answer import RaterAnswer, VoteBuilder, read_answer, to_utc
from eval.human.label_studio.project import CHOICE_QUESTIONS, ERROR_QUESTIONS
from eval.human.trial import Trial
from eval.human.trial_index import TrialIndex
from eval.human.vote import Choice, Vote


@dataclass(frozen=True, slots=True)
class LabelStudioLayout:
    """How another project asks which of two texts is better, by the names it has in its tasks and questions."""

    question: str
    choices: Mapping[str, Choice]
    first: str
    second: str
    comment: str
    book: str
    language: str


# Of the study of literary paragraphs by Karpinska and Iyyer (2023).
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
    """The votes of an export in the format "JSON". Skipped tasks have none.

    Raises InputError for another trial's, and for another project's.
    """
    given = [_task(one, place) for one in values]
    if trial is None:
        return [vote for task in given for vote in _foreign(task, _name(task, place))]
    makers = _Makers(trial)
    found = []
    for task in given:
        name = _name(task, place)
        _check_ours(task["data"], trial, name)
        answers = [(_annotator(one), _answer(one, task["data"]["item"], name)) for one in _annotations(task)]
        found += [(who, makers.vote(task["data"], answer)) for who, answer in answers]
    return _by_annotator(found)


class _Makers:
    """Votes from answers: by the systems that the task names, as in our own exports, or by the rater's sheet."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self._catalogue = TrialIndex(trial)
        self._ballots: dict[str, VoteBuilder] = {}

    def vote(self, data: Mapping[str, Any], answer: RaterAnswer) -> Vote:
        rater = data["rater"]
        if "first" in data and "second" in data:
            vote = Vote(rater=rater, first=data["first"], second=data["second"], **answer.model_dump())
            return self._catalogue.complete(vote)
        if rater not in self._ballots:
            self._ballots[rater] = VoteBuilder(self._trial, rater)
        return self._ballots[rater].vote(answer)


def _task(value: Any, place: str) -> dict[str, Any]:
    if isinstance(value, dict) and "annotation_id" in value:
        raise InputError(f"{place} was exported as JSON-MIN. Export it as JSON.", field="votes")
    whole = isinstance(value, dict) and isinstance(value.get("data"), dict)
    if not whole or not isinstance(value.get("annotations", []), list):
        raise InputError(f"{place} is no export of Label Studio: its tasks have no data.", field="votes")
    return dict(value)


def _name(task: Mapping[str, Any], place: str) -> str:
    return f"{place}, task {task.get('id', task['data'].get('item', '?'))}"


def _check_ours(data: Mapping[str, Any], trial: Trial, name: str) -> None:
    named = [
        data.get(key)
        for key in ("trial", "rater", "item", *(key for key in ("first", "second") if key in data))
    ]
    if not all(isinstance(value, str) and value for value in named):
        raise InputError(
            f"{name} is from another project: it has no trial, rater and item. Import the tasks that `ape ab make "
            "--label-studio` writes, and export those.",
            field="votes",
        )
    if data["trial"] != trial.id:
        raise InputError(
            f"{name} is of the trial {data['trial'][:40]!r}, and this is {trial.id!r} ({trial.name}).",
            field="trial",
        )


def _annotations(task: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Those that count: who skips a task leaves one that is cancelled."""
    for one in task.get("annotations", []):
        if isinstance(one, dict) and not one.get("was_cancelled") and isinstance(one.get("result"), list):
            yield one


def _chosen(annotation: Mapping[str, Any]) -> dict[str, list[str]]:
    """What was chosen or written, by the name of the question."""
    values = {
        one["from_name"]: one["value"].get("choices") or one["value"].get("text")
        for one in annotation["result"]
        if isinstance(one, dict) and "from_name" in one and isinstance(one.get("value"), dict)
    }
    return {name: [said] if isinstance(said, str) else list(said) for name, said in values.items() if said}


def _answer(annotation: Mapping[str, Any], item: str, name: str) -> RaterAnswer:
    chosen = _chosen(annotation)
    if "choice" not in chosen:
        raise InputError(f"{name} was submitted without a choice between A and B.", field="votes")
    # A project may have been set up without our short names for the options.
    short = {
        key: {text: short for short, text in options.items()}
        for key, (_, options) in CHOICE_QUESTIONS.items()
    }
    single = {
        key: short[key].get(chosen[key][0], chosen[key][0]) for key in CHOICE_QUESTIONS if key in chosen
    }
    errors = {key.removeprefix("errors_"): chosen[key] for key in ERROR_QUESTIONS if key in chosen}
    comment = "\n".join(chosen.get("comment", []))
    given = {**single, "item": item, "errors": errors, "comment": comment, "at": _at(annotation)}
    return read_answer(given, place=name)


def _at(annotation: Mapping[str, Any]) -> str:
    try:
        return to_utc(str(annotation["created_at"]))
    except (KeyError, ValueError):
        return ""


def _annotator(annotation: Mapping[str, Any]) -> str:
    """Who did it, as Label Studio has it: a number, or an account with an e-mail address."""
    who = annotation.get("completed_by", "")
    return str(who.get("email") or who.get("id") or "") if isinstance(who, dict) else str(who)


def _by_annotator(found: Sequence[tuple[str, Vote]]) -> list[Vote]:
    """Under the name of the sheet; where several people worked on one sheet, all but who began it under theirs too.

    Who began it is the same in every later export, so nobody comes in again under another name.
    """
    began: dict[str, tuple[str, str]] = {}
    for who, vote in found:
        began[vote.rater] = min(began.get(vote.rater, (vote.at, who)), (vote.at, who), key=lambda one: one[0])
    return [
        vote if who == began[vote.rater][1] else replace(vote, rater=f"{vote.rater}/{who}")
        for who, vote in found
    ]


def _foreign(task: Mapping[str, Any], name: str) -> Iterator[Vote]:
    """The votes of another project, if we know how it asks."""
    data = task["data"]
    for annotation in _annotations(task):
        chosen = _chosen(annotation)
        layout = next(
            (one for one in LABEL_STUDIO_LAYOUTS if one.question in chosen and one.first in data), None
        )
        if layout is None:
            raise InputError(
                f"{name} is from a project that we do not know: it does not ask which of two texts is better in a way "
                "that we can read.",
                field="votes",
            )
        said = chosen[layout.question][0]
        if said not in layout.choices:
            raise InputError(f"{name}: {said[:60]!r} is no choice between the two texts.", field="votes")
        yield Vote(
            item=str(task.get("id", "")),
            rater=_annotator(annotation),
            first=str(data[layout.first]),
            second=str(data[layout.second]),
            choice=layout.choices[said],
            comment="\n".join(chosen.get(layout.comment, [])),
            book=str(data.get(layout.book, "")),
            language=str(data.get(layout.language, "")),
            at=_at(annotation),
        )
