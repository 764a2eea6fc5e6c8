"""Spans and scores in Label Studio: labels are severities, each region may have a category, and a number is the score.

Regions of Label Studio have start and end in characters; a region with other text than its own is read in UTF-16 units,
which some versions count. Something missing is a checkbox, since a region can't be empty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

from ape.errors import InputError
from eval.human.span import CATEGORIES, SEVERITIES, SpanProtocol
from eval.human.vote import Vote, VoteSide

_LETTERS: Mapping[VoteSide, str] = {"first": "a", "second": "b"}
_COLORS = {"neutral": "#8a8a8a", "minor": "#d9a53a", "major": "#a4452c", "critical": "#5b0f0f"}


def add_span_controls(view: ElementTree.Element, letter: str, protocol: SpanProtocol) -> None:
    """Add the labels of a text, the categories of its regions, what is missing, and its score."""
    labels = ElementTree.SubElement(view, "Labels", name=f"spans_{letter}", toName=letter)
    for severity in SEVERITIES[protocol]:
        ElementTree.SubElement(labels, "Label", value=severity, background=_COLORS[severity])
    if protocol == "mqm":
        categories = ElementTree.SubElement(
            view, "Choices", name=f"category_{letter}", toName=letter, choice="single", perRegion="true"
        )
        for category in CATEGORIES:
            ElementTree.SubElement(categories, "Choice", value=category)
    missing = ElementTree.SubElement(view, "Choices", name=f"missing_{letter}", toName=letter, choice="single")
    for severity in SEVERITIES[protocol]:
        ElementTree.SubElement(missing, "Choice", value=severity, alias=severity)
    ElementTree.SubElement(
        view, "Number", name=f"score_{letter}", toName=letter, min="0", max="100", step="1", required="true"
    )


def span_results(vote: Vote, texts: Mapping[VoteSide, str]) -> list[dict[str, Any]]:
    """The regions and scores of a vote."""
    found: list[dict[str, Any]] = []
    for side, letter in _LETTERS.items():
        if side in vote.scores:
            found.append(_result(f"score_{letter}", letter, "number", {"number": vote.scores[side]}))
        for place, span in enumerate(vote.spans.get(side, ())):
            region_id = f"{letter}{place}"
            if span.start == span.end:
                found.append(_result(f"missing_{letter}", letter, "choices", {"choices": [span.severity]}))
                continue
            where = {"start": span.start, "end": span.end, "text": texts[side][span.start : span.end]}
            region = _result(f"spans_{letter}", letter, "labels", where | {"labels": [span.severity]})
            found.append(region | {"id": region_id})
            if span.category:
                category = _result(f"category_{letter}", letter, "choices", where | {"choices": [span.category]})
                found.append(category | {"id": region_id})
    return found


def _result(control: str, letter: str, kind: str, value: Mapping[str, Any]) -> dict[str, Any]:
    return {"from_name": control, "to_name": letter, "type": kind, "value": dict(value)}


def read_span_answer(results: Sequence[Mapping[str, Any]], data: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Scores and spans of an annotation, as values of an answer."""
    scores: dict[str, float] = {}
    spans: dict[str, list[dict[str, Any]]] = {side: [] for side in _LETTERS}
    try:
        for side, letter in _LETTERS.items():
            own = [one for one in results if one.get("to_name") == letter]
            categories = {
                one["id"]: one["value"]["choices"][0] for one in own if one["from_name"] == f"category_{letter}"
            }
            for one in own:
                value = one["value"]
                if one["from_name"] == f"score_{letter}":
                    scores[side] = float(value["number"])
                elif one["from_name"] == f"spans_{letter}":
                    start, end = _offsets(value, data[letter])
                    category = categories.get(one.get("id"), "")
                    spans[side].append(
                        {"start": start, "end": end, "severity": value["labels"][0], "category": category}
                    )
                elif one["from_name"] == f"missing_{letter}":
                    last = len(data[letter])
                    spans[side].append({"start": last, "end": last, "severity": value["choices"][0]})
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise InputError(f"{name} has a region that can't be read.", field="votes") from error
    if len(scores) < len(_LETTERS):
        raise InputError(f"{name} was submitted without a score for each text.", field="votes")
    return {"scores": scores, "spans": spans}


def _offsets(value: Mapping[str, Any], text: str) -> tuple[int, int]:
    start, end = int(value["start"]), int(value["end"])
    if value.get("text") in (None, text[start:end]):
        return start, end
    units = text.encode("utf-16-le")
    return tuple(len(units[: 2 * at].decode("utf-16-le", "ignore")) for at in (start, end))  # type: ignore[return-value]
