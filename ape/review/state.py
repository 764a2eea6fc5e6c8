"""What people decided about a paragraph, as stored: choices, their own text, dismissed findings."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from ape.passage.edit import Edit, EditKind
from ape.passage.result import Finding, PostEdit, Severity
from ape.review.edits import EditKey, EditOrigin, EditState, ReviewEdit, proposed_edits

FindingKey = tuple[str, str]


@dataclass(frozen=True, slots=True)
class ReviewState:
    """The decisions on one paragraph.

    `choices` are those of people, by edit; all other edits have their first state. With a text of a person, `own_edits`
    are its edits and `warnings` what the guards say about it; both replace those of the result. `dismissed` findings
    were called fine.
    """

    choices: tuple[tuple[EditKey, EditState], ...] = ()
    own_edits: tuple[ReviewEdit, ...] | None = None
    warnings: tuple[Finding, ...] = ()
    dismissed: tuple[FindingKey, ...] = ()

    def edits(self, result: PostEdit | None) -> tuple[ReviewEdit, ...]:
        """The edits of the paragraph in order, each with its present state."""
        chosen = dict(self.choices)
        proposed = self.own_edits if self.own_edits is not None else tuple(proposed_edits(result))
        return tuple(
            replace(one, state=chosen[one.key], decided=True) if one.key in chosen else one for one in proposed
        )

    def choose(self, keys: Iterable[EditKey], state: EditState | None) -> ReviewState:
        """The state with a choice for some edits; None takes their choices back."""
        chosen = dict.fromkeys(keys)
        rest = tuple(one for one in self.choices if one[0] not in chosen)
        return replace(self, choices=(*rest, *((key, state) for key in chosen)) if state else rest)

    def to_json(self) -> str:
        """As stored; empty for a paragraph that nobody has touched."""
        if self == ReviewState():
            return ""
        content: dict[str, Any] = {"choices": self.choices, "dismissed": self.dismissed}
        if self.own_edits is not None:
            content["edits"] = [_edit_values(one) for one in self.own_edits]
            content["warnings"] = [(one.guard, one.severity, one.message) for one in self.warnings]
        return json.dumps(content, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str | None) -> ReviewState:
        """Parse the stored JSON."""
        if not text:
            return cls()
        content = json.loads(text)
        own = content.get("edits")
        return cls(
            choices=tuple(((at, before, after), EditState(state)) for (at, before, after), state in content["choices"]),
            own_edits=None if own is None else tuple(map(_read_edit, own)),
            warnings=tuple(
                Finding(guard, Severity(severity), message) for guard, severity, message in content.get("warnings", ())
            ),
            dismissed=tuple((guard, message) for guard, message in content["dismissed"]),
        )


def _edit_values(one: ReviewEdit) -> tuple[Any, ...]:
    edit = one.edit
    spans = (edit.mt_span, edit.span)
    return edit.kind, edit.before, edit.after, *spans, edit.reason, one.state, one.origin, one.decided, one.doubt


def _read_edit(values: list[Any]) -> ReviewEdit:
    kind, before, after, mt_span, span, reason, state, origin, decided, doubt = values
    edit = Edit(EditKind(kind), before, after, tuple(mt_span), tuple(span), reason)
    return ReviewEdit(edit, EditState(state), EditOrigin(origin), decided, doubt)
