"""The names of a job's book: its ledger, prepared for repairs, prompts and fingerprints of paragraphs."""

from __future__ import annotations

import json
import uuid
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ape.edits.diff import apply_edits, edit_rate, find_edits
from ape.jobs.job_paragraph import PlannedParagraph
from ape.ledger.entity import Entity, Gender, Ledger, LedgerParagraph, Variant
from ape.ledger.files.formats import parse_names_json
from ape.ledger.files.json_ledger import ledger_to_json
from ape.ledger.links import LedgerIndex
from ape.ledger.repair import LedgerRepair, repair_paragraph
from ape.passage.edit import Edit, EditKind
from ape.passage.result import Decision, PostEdit, Usage
from ape.passage.segment import CastMember

# The name of the model in a recipe and a result if no model is used.
NAMES_ONLY = "names-only"


@dataclass(frozen=True)
class BookNames:
    """A ledger, and where it came from: "auto", or the hash of the file that was given."""

    ledger: Ledger
    given: str = "auto"

    def to_json(self) -> str:
        """As stored with the job."""
        return json.dumps({"given": self.given, "ledger": ledger_to_json(self.ledger)}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> BookNames | None:
        """Parse what is stored with a job; None if it has no ledger."""
        if not text:
            return None
        stored = json.loads(text)
        return cls(parse_names_json(stored["ledger"], "The stored ledger"), stored["given"])

    @cached_property
    def index(self) -> LedgerIndex:
        """The ledger prepared for many paragraphs."""
        return LedgerIndex(self.ledger)

    def fingerprints(self, source: str, before: Iterable[str]) -> list[str]:
        """The fingerprints of the entities that decide the result of a paragraph: named in it, or just before it."""
        found = {entity.id: entity for text in (source, *before) for entity in self.index.entities_in(text)}
        return sorted(entity.fingerprint() for entity in found.values())

    def cast(self, source: str, before: Iterable[str]) -> tuple[CastMember, ...]:
        """The cast of a paragraph, then of those before it."""
        here = self.index.entities_in(source)
        known = {entity.id for entity in here}
        earlier = {one.id: one for text in before for one in self.index.entities_in(text) if one.id not in known}
        return (
            *(_member(entity, source, in_passage=True) for entity in here if entity.target),
            *(_member(entity, "", in_passage=False) for entity in earlier.values() if entity.target),
        )

    def repair(self, planned: PlannedParagraph, before: Sequence[PlannedParagraph], *, text: str = "") -> LedgerRepair:
        """Repair the MT of a paragraph, or another `text` for its source."""
        previous = [LedgerParagraph(one.id, one.source, one.mt) for one in before]
        paragraph = LedgerParagraph(planned.id, planned.source, text or planned.mt)
        return repair_paragraph(paragraph, self.index, previous=previous)


def _member(entity: Entity, source: str, *, in_passage: bool) -> CastMember:
    right = {entity.target, *entity.short_forms}
    forms = [form.text for form in entity.source_forms]
    gender = "" if entity.gender is Gender.UNKNOWN else entity.gender.value
    return CastMember(
        source=next((form for form in forms if form in source), forms[0]),
        wording=entity.target,
        gender=gender,
        other_wordings=entity.short_forms,
        wrong_wordings=tuple(one.text for one in entity.variants if one.firm and one.text not in right),
        confirmed=entity.vouched,
        in_passage=in_passage,
    )


class NameWindow:
    """The paragraphs before one, as far back as the model is shown context, in one chapter."""

    def __init__(self, size: int, before: Iterable[PlannedParagraph] = ()) -> None:
        self._chapter: int | None = None
        self._paragraphs: deque[PlannedParagraph] = deque(maxlen=size)
        for planned in before:
            self.add(planned)

    def before(self, chapter: int) -> tuple[PlannedParagraph, ...]:
        """The paragraphs before the next one, oldest first; none at the beginning of a chapter."""
        return tuple(self._paragraphs) if chapter == self._chapter else ()

    def add(self, planned: PlannedParagraph) -> None:
        """Add a paragraph, unless it is skipped."""
        if planned.chapter != self._chapter:
            self._paragraphs.clear()
            self._chapter = planned.chapter
        if not planned.skip:
            self._paragraphs.append(planned)


def names_only_result(planned: PlannedParagraph, repair: LedgerRepair, language: str) -> PostEdit:
    """The result of a paragraph that only the ledger repairs."""
    unchanged = PostEdit(
        uuid.uuid4().hex, planned.mt, Decision.UNCHANGED, (), (), 0.0, NAMES_ONLY, prompt="", usage=Usage()
    )
    return with_repair(unchanged, planned, repair, language, text=repair.text)


def with_repair(
    result: PostEdit, planned: PlannedParagraph, repair: LedgerRepair, language: str, *, text: str | None = None
) -> PostEdit:
    """The result as an edit of the original MT: the repairs are edits with their reasons.

    If all drafts were rejected, the repaired MT stands, so the paragraph counts as edited; the findings tell why the
    model had no part in it.
    """
    final = result.post_edit if text is None else text
    findings = (*repair.findings, *(one for one in result.findings if one not in repair.findings))
    if final == planned.mt:
        decision = Decision.REJECTED if result.decision is Decision.REJECTED else Decision.UNCHANGED
        return replace(result, post_edit=final, decision=decision, findings=findings, edits=(), edit_rate=0.0)
    edits = _with_reasons(find_edits(planned.mt, final, language=language), repair)
    return replace(
        result,
        post_edit=final,
        decision=Decision.EDITED,
        findings=findings,
        edits=edits,
        edit_rate=round(edit_rate(planned.mt, final), 4),
    )


def _with_reasons(edits: Sequence[Edit], repair: LedgerRepair) -> tuple[Edit, ...]:
    """The edits, those that a repair of the ledger made with its reason and kind."""
    found = []
    for edit in edits:
        start, end = edit.mt_span
        made = [one for one in repair.edits if one.mt_span[0] < end and start < one.mt_span[1]]
        if made:
            reasons = "; ".join(dict.fromkeys(one.reason for one in made))
            edit = replace(edit, kind=EditKind(made[0].kind), reason=reasons)
        found.append(edit)
    return tuple(found)


def apply_again(
    result: PostEdit,
    planned: PlannedParagraph,
    before: Sequence[PlannedParagraph],
    names: BookNames,
    old: BookNames | None,
    language: str,
) -> PostEdit:
    """The result under changed names, without a model: earlier repairs are undone and the new ones made."""
    without_repairs = apply_edits(planned.mt, [edit for edit in result.edits if not edit.reason])
    newer = _with_old_wordings(names, old) if old else names
    again = newer.repair(planned, before, text=without_repairs)
    own = names.repair(planned, before)
    kept = tuple(one for one in result.findings if one.guard != "ledger")
    return with_repair(
        replace(result, findings=kept, id=uuid.uuid4().hex), planned, replace(own, findings=again.findings), language,
        text=again.text,
    )  # fmt: skip


def _with_old_wordings(names: BookNames, old: BookNames) -> BookNames:
    """The names with the earlier wordings as variants: an earlier result may have them where the MT does not."""
    before = {form.text: entity for entity in old.ledger.entities for form in entity.source_forms}
    entities = []
    for entity in names.ledger.entities:
        known = {entity.target, *entity.short_forms, *(one.text for one in entity.variants)}
        former = before.get(entity.source_forms[0].text)
        if former and former.target and former.target not in known:
            entity = replace(entity, variants=(*entity.variants, Variant(former.target, 0)))
        entities.append(entity)
    return BookNames(replace(names.ledger, entities=tuple(entities)), names.given)
