"""Join what a person confirmed with what was found in the book: the person wins, and conflicts are recorded."""

from __future__ import annotations

from dataclasses import replace

from ape.ledger.entity import Entity, Gender, Ledger, LedgerConflict, Variant


def merge_known(found: Ledger, known: Ledger | None) -> Ledger:
    """The found ledger with the known entries in place of those that share a source form."""
    if known is None:
        return found
    forms = {form.text: entity for entity in found.entities for form in entity.source_forms}
    merged: list[Entity] = []
    used: set[str] = set()
    conflicts = [*known.conflicts, *found.conflicts]
    for entity in known.entities:
        others = {forms[form.text].id: forms[form.text] for form in entity.source_forms if form.text in forms}
        used.update(others)
        for other in others.values():
            conflicts += _conflicts(entity, other)
            entity = _enriched(entity, other)
        merged.append(entity)
    merged += (entity for entity in found.entities if entity.id not in used)
    return replace(found, entities=tuple(merged), conflicts=tuple(dict.fromkeys(conflicts)))


def _enriched(entity: Entity, found: Entity) -> Entity:
    """The known entry with the counts and variants of the found one."""
    right = {entity.target, *entity.short_forms}
    seen = {variant.text for variant in found.variants}
    # What the book mostly writes is wrong now if the person wants another wording.
    variants = [replace(one, firm=True) if one.text in {found.target, *right} else one for one in found.variants]
    variants += [one for one in entity.variants if one.text not in seen]
    if entity.target and entity.target not in {one.text for one in variants}:
        variants.append(Variant(entity.target, 0))
    short = entity.short_forms or tuple(
        text for text in found.short_forms if set(text.split()) <= set(entity.target.split())
    )
    return replace(
        entity,
        target=entity.target or found.target,
        short_forms=short,
        variants=tuple(variants),
        count=found.count,
        first=found.first,
        last=found.last,
        evidence=entity.evidence or found.evidence,
        gender=found.gender if entity.gender is Gender.UNKNOWN and not entity.vouched else entity.gender,
    )


def _conflicts(entity: Entity, found: Entity) -> list[LedgerConflict]:
    if not entity.target or not found.target or entity.target == found.target:
        return []
    reason = "the entry was kept; the book mostly has the other wording"
    return [LedgerConflict(entity.id, "target", (entity.target, found.target), reason)]
