"""Build the ledger of a book from its paragraphs alone: no model, no lexicon of names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256

from ape.ledger.clusters import WordingCluster, cluster_wordings
from ape.ledger.elimination import link_by_elimination
from ape.ledger.entity import Entity, EntityKind, FormRole, Ledger, LedgerConflict, LedgerParagraph, SourceForm, Variant
from ape.ledger.gender import add_genders
from ape.ledger.known import merge_known
from ape.ledger.renderings import FormEvidence, RenderingCounts, count_renderings
from ape.ledger.source_names import SUPPORTED, count_candidates, extend_forms
from ape.text.inline_marks import strip_marks
from ape.text.languages import detect_language, language_code, language_name, language_scripts, script_counts
from ape.text.romanisation import missing_romaniser, pinyin_wording

Listener = Callable[[str, int, int], None]
_SAMPLE = 4000
_PLACE_ENDINGS = tuple("镇城村山河江湖海岛国省市县州渡桥")
# Words before a name that tell a place, a people or a thing from a person: articles, "in", and mostly "at" or "of".
_BEFORE_PLACES = {
    "article": frozenset("le la les l' du des aux au un une ces der die das den dem el los las il lo gli i".split()),
    "in": frozenset("en in nach в na".split()),
    "at": frozenset("à de d' von aus из в a di".split()),
}


def build_ledger(
    paragraphs: Sequence[LedgerParagraph] | Iterable[LedgerParagraph],
    *,
    source_language: str,
    target_language: str,
    known: Ledger | None = None,
    listen: Callable[[str, int, int], None] = lambda stage, done, total: None,
) -> Ledger:
    """The entities of a book. `known` is what a person confirmed: it wins, and conflicts are recorded."""
    texts = paragraphs if isinstance(paragraphs, Sequence) else list(paragraphs)
    language, target = language_code(source_language), language_code(target_language)
    note = _obstacle(texts, language, target)
    if note:
        empty = Ledger(language, target, notes=(note,))
        return replace(merge_known(empty, known), notes=(note,)) if known else empty
    sources = [strip_marks(paragraph.source) for paragraph in texts]
    listen("candidates", 0, len(texts))
    forms = count_candidates(sources, language)
    if known:
        forms.update(form.text for entity in known.entities for form in entity.source_forms)
    if language == "zh":
        forms = extend_forms(forms, ((text, strip_marks(one.mt)) for text, one in zip(sources, texts, strict=True)))
    listen("renderings", 0, len(texts))
    _, clusters = _clusters(texts, forms, language, targets={})
    # Once more with the renderings known, without the forms that are no names: the longest of two forms hid the other.
    targets = {form: clusters[form].target for form in _without_extensions(clusters)}
    counted, clusters = _clusters(texts, targets, language, targets=targets)
    ledger = _entities(clusters, counted.forms, language, target)
    ledger = link_by_elimination(ledger, texts, counted.wordings)
    if known:
        ledger = merge_known(ledger, known)
    listen("genders", 0, len(texts))
    ledger = add_genders(ledger, texts)
    listen("genders", len(texts), len(texts))
    return ledger


def _clusters(
    texts: Sequence[LedgerParagraph], forms: Iterable[str], language: str, *, targets: Mapping[str, str]
) -> tuple[RenderingCounts, dict[str, WordingCluster]]:
    counted = count_renderings(texts, forms, language, targets=targets)
    found = {
        form: cluster_wordings(
            evidence, counted, language, is_person=_kind(form, evidence, language) is EntityKind.PERSON
        )
        for form, evidence in counted.forms.items()
    }
    return counted, {form: cluster for form, cluster in found.items() if cluster}


def _without_extensions(clusters: dict[str, WordingCluster]) -> list[str]:
    """The forms but those that contain another one with the same wording: 阎修三 of 阎修三人."""
    targets = {form: cluster.target for form, cluster in clusters.items()}
    return [
        form
        for form, target in targets.items()
        if not any(
            len(part) > 1 and targets.get(part) == target
            for size in range(2, len(form))
            for part in (form[:size], form[-size:])
        )
    ]


def _obstacle(texts: Sequence[LedgerParagraph], language: str, target: str) -> str:
    """Why no ledger can be built, as a sentence; "" if it can."""
    if target != "en":
        return f"Names are repaired in English texts only; this one is {language_name(target)}, so nothing was done."
    if language not in SUPPORTED:
        return f"There are no rules for names of {language_name(language)}, so nothing was done."
    if missing := missing_romaniser(language):
        return missing[0].upper() + missing[1:]
    source = " ".join(_sample(texts))[:_SAMPLE]
    scripts = script_counts(source)
    if scripts and not any(scripts[script] for script in language_scripts(language)):
        return f"The source has no letters of {language_name(language)}: are source and MT swapped? Nothing was done."
    if language_scripts(language) == ("Latin",) and detect_language(source, default=language) == "en":
        return f"The source is not {language_name(language)} but English: are source and MT swapped? Nothing was done."
    return ""


def _sample(texts: Sequence[LedgerParagraph]) -> list[str]:
    return [paragraph.source for paragraph in texts[:: max(1, len(texts) // 40)]]


def _entities(
    clusters: dict[str, WordingCluster], evidence: dict[str, FormEvidence], language: str, target: str
) -> Ledger:
    """One entity for each full form, with its shorter forms; those that could belong to several stay alone."""
    parents = {form: parent for form in clusters if (parent := _parent(form, clusters, language))}
    entities, conflicts = [], []
    for form, cluster in clusters.items():
        if form in parents:
            continue
        parts = [part for part, parent in parents.items() if parent == form]
        entity = _entity(form, cluster, evidence[form], language)
        for part in parts:
            entity = _with_part(entity, part, clusters[part], evidence[part])
        entities.append(entity)
        conflicts += [
            LedgerConflict(entity.id, "target", (cluster.target, *cluster.rivals), "several renderings are as frequent")
        ] * bool(cluster.rivals)
    entities.sort(key=lambda one: -one.count)
    return Ledger(language, target, tuple(entities), tuple(conflicts))


def _parent(form: str, clusters: dict[str, WordingCluster], language: str) -> str:
    """The one longer form that a form is the given name of; "" if there are none or several."""
    words = clusters[form].target.split()
    if language == "zh":
        longer = [other for other in clusters if len(other) > len(form) >= 2 and other.endswith(form)]
    else:
        longer = [other for other in clusters if form != other and form in other.split()]
    fits = [other for other in longer if set(words) <= set(clusters[other].target.split())]
    return fits[0] if len(longer) == 1 and fits else ""


def _entity(form: str, cluster: WordingCluster, evidence: FormEvidence, language: str) -> Entity:
    return Entity(
        id=entity_id(form),
        kind=_kind(form, evidence, language, target=cluster.target),
        source_forms=(SourceForm(form),),
        target=cluster.target,
        short_forms=cluster.short_forms,
        variants=_sorted(cluster.variants),
        count=evidence.paragraphs,
        first=evidence.first,
        last=evidence.last,
    )


def _with_part(entity: Entity, form: str, cluster: WordingCluster, evidence: FormEvidence) -> Entity:
    right = {entity.target, *entity.short_forms, cluster.target, *cluster.short_forms}
    known = {variant.text for variant in entity.variants}
    merged = [
        replace(variant, firm=True) if variant.text in right else variant
        for variant in (*entity.variants, *(one for one in cluster.variants if one.text not in known))
    ]
    short = dict.fromkeys((*entity.short_forms, cluster.target, *cluster.short_forms))
    return replace(
        entity,
        source_forms=(*entity.source_forms, SourceForm(form, FormRole.GIVEN)),
        short_forms=tuple(text for text in short if text != entity.target),
        variants=_sorted(merged),
        count=entity.count + evidence.paragraphs,
    )


def _sorted(variants: Iterable[Variant]) -> tuple[Variant, ...]:
    return tuple(sorted(variants, key=lambda one: (-one.count, one.text)))


def _kind(form: str, evidence: FormEvidence, language: str, *, target: str = "") -> EntityKind:
    if language == "zh":
        # 王一城 is "Wang Yicheng", as people are, and 东来城 "Donglai City".
        is_place = len(form) > 2 and form.endswith(_PLACE_ENDINGS) and target != pinyin_wording(form)
        return EntityKind.PLACE if is_place else EntityKind.PERSON
    share = {
        group: sum(count for word, count in evidence.preceded.items() if word in words) / max(1, evidence.occurrences)
        for group, words in _BEFORE_PLACES.items()
    }
    is_place = any(share[group] > least for group, least in (("article", 0.3), ("in", 0.1), ("at", 0.75)))
    return EntityKind.PLACE if is_place else EntityKind.PERSON


def entity_id(form: str) -> str:
    """A stable id of the entity with this main form."""
    return "e" + sha256(form.encode()).hexdigest()[:10]
