"""Label Studio project: tasks, labelling interface, and votes in its export format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from xml.etree import ElementTree

from eval.human.label_studio.spans import add_span_controls, span_results
from eval.human.sheet import public_sheet
from eval.human.trial import Trial
from eval.human.trial_index import TrialIndex
from eval.human.vote import ERROR_KINDS, Vote

CHOICE_QUESTIONS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "choice": (
        "Which translation do you prefer?",
        {"first": "A", "second": "B", "tie": "They are equally good or bad"},
    ),
    "confidence": ("How sure are you?", {"sure": "Sure", "unsure": "Not sure"}),
    "believed_human": (
        "Which do you think a person wrote?",
        {"first": "A", "second": "B", "both": "Both", "neither": "Neither"},
    ),
}
ERROR_QUESTIONS = {"errors_first": ("a", "What is wrong with A?"), "errors_second": ("b", "What is wrong with B?")}


def build_tasks(trial: Trial, rater: str) -> list[dict[str, Any]]:
    """Tasks of one rater's sheet. Each rater needs a separate project, since the sides differ."""
    return [{"data": _data(trial.id, rater, item)} for item in public_sheet(trial, rater)["items"]]


def build_interface(trial: Trial) -> str:
    """Labelling interface (XML) for the project settings."""
    view = ElementTree.Element("View")
    texts = (("Source", "source"),) if trial.bilingual else ()
    for title, name in (*texts, ("A", "a"), ("B", "b")):
        ElementTree.SubElement(view, "Header", value=title)
        ElementTree.SubElement(view, "Text", name=name, value=f"${name}")
        if trial.spans and name != "source":
            add_span_controls(view, name, trial.spans)
    if trial.spans:
        _comment(view)
        ElementTree.indent(view)
        return ElementTree.tostring(view, encoding="unicode") + "\n"
    for name, (question, options) in CHOICE_QUESTIONS.items():
        offered = {key: text for key, text in options.items() if key != "tie" or trial.ties}
        _choices(view, name, question, offered, target="a")
    for name, (target, question) in ERROR_QUESTIONS.items():
        _choices(view, name, question, dict(zip(ERROR_KINDS, ERROR_KINDS, strict=True)), target=target, several=True)
    _comment(view)
    ElementTree.indent(view)
    return ElementTree.tostring(view, encoding="unicode") + "\n"


def _comment(view: ElementTree.Element) -> None:
    ElementTree.SubElement(view, "Header", value="Comment")
    ElementTree.SubElement(view, "TextArea", name="comment", toName="a", rows="4", maxSubmissions="1")


def export_votes(trial: Trial, votes: Iterable[Vote]) -> list[dict[str, Any]]:
    """Tasks with votes as annotations, in the format of Label Studio; they name the systems."""
    index = TrialIndex(trial)
    return [_annotated_task(vote, index) for vote in votes]


def _annotated_task(vote: Vote, index: TrialIndex) -> dict[str, Any]:
    item, passage = index.find(vote.item)
    texts = dict(zip(item.systems, item.texts, strict=True))
    fields = {"id": item.id, "book": passage.book, "sources": passage.sources}
    sides = {"a": texts[vote.first], "b": texts[vote.second]}
    data = _data(index.trial.id, vote.rater, fields | sides)
    annotation = _annotation(vote)
    annotation["result"] += span_results(vote, {"first": data["a"], "second": data["b"]})
    return {"data": data | {"first": vote.first, "second": vote.second}, "annotations": [annotation]}


def _data(trial: str, rater: str, item: Mapping[str, Any]) -> dict[str, str]:
    texts = {"source": item["sources"], "a": item["a"], "b": item["b"]}
    joined = {name: "\n\n".join(paragraphs) for name, paragraphs in texts.items()}
    return {"trial": trial, "rater": rater, "item": item["id"], "book": item["book"], **joined}


def _choices(
    view: ElementTree.Element,
    name: str,
    question: str,
    options: Mapping[str, str],
    *,
    target: str,
    several: bool = False,
) -> None:
    ElementTree.SubElement(view, "Header", value=question)
    how = {"choice": "multiple"} if several else {"choice": "single-radio"}
    required = {"required": "true"} if name == "choice" else {}
    element = ElementTree.SubElement(
        view, "Choices", {"name": name, "toName": target, "showInline": "true", **how, **required}
    )
    for key, text in options.items():
        ElementTree.SubElement(element, "Choice", value=text, alias=key)


def _annotation(vote: Vote) -> dict[str, Any]:
    asked: Iterable[str] = () if vote.scores else CHOICE_QUESTIONS
    single = {name: [value] for name in asked if (value := getattr(vote, name))}
    several = {f"errors_{side}": list(kinds) for side, kinds in vote.errors.items() if kinds}
    result = [
        {
            "from_name": name,
            "to_name": ERROR_QUESTIONS.get(name, ("a",))[0],
            "type": "choices",
            "value": {"choices": chosen},
        }
        for name, chosen in (single | several).items()
    ]
    if vote.comment:
        text = {"text": [vote.comment]}
        result.append({"from_name": "comment", "to_name": "a", "type": "textarea", "value": text})
    return {"result": result, "was_cancelled": False, "created_at": vote.at}
