"""What `ape demo` prints: the repaired names, a summary for a translator, and all changes on request."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table

from ape.cli.terminal import format_decision, format_diff
from ape.passage.edit import EditKind
from ape.passage.result import Decision, Severity
from ape.sample import Sample
from ape.sample.chapter import EditedParagraph, PreparedParagraph

_KINDS = {
    EditKind.PRONOUN: "pronouns",
    EditKind.VERB: "verb forms",
    EditKind.NAME: "names",
    EditKind.NUMBER: "numbers",
    EditKind.CONNECTIVE: "connectives",
    EditKind.PUNCTUATION: "punctuation marks",
}
_GENDERED = re.compile(r"\b(?:he|him|his|himself|she|her|hers|herself)\b", re.IGNORECASE)
_MOST_NAMES = 8


def show_names(prepared: Sequence[PreparedParagraph], out: Console) -> None:
    """The people of the chapters, and what the ledger repairs before the model edits."""
    out.print("Names and pronouns, repaired from the names of the book before the model edits:")
    table = Table(box=None, pad_edge=False)
    for heading in ("source", "name", "gender", "repairs"):
        table.add_column(heading, overflow="fold")
    for names in dict.fromkeys(id(one.names) for one in prepared):
        chapter = [one for one in prepared if id(one.names) == names]
        repairs = Counter(
            (edit.entity, f"{edit.before} → {edit.after}") for one in chapter for edit in one.repair.edits
        )
        for entity in chapter[0].names.ledger.entities[:_MOST_NAMES]:
            own = [
                f"{text}{f' ×{count}' if count > 1 else ''}"
                for (key, text), count in repairs.items()
                if key == entity.id
            ]
            gender = "" if entity.gender == "unknown" else entity.gender.value
            table.add_row(entity.source_forms[0].text, entity.target, gender, ", ".join(own))
    out.print(table)
    out.print()


def _times(text: str, count: int) -> str:
    return f"{text} ×{count}" if count > 1 else text


def show_changes(done: Sequence[EditedParagraph], out: Console) -> None:
    """Every passage with its changes and findings."""
    for one in done:
        out.print()
        out.print(format_decision(one.result), one.planned.title, one.planned.id)
        out.print(format_diff(one.planned.mt, one.result, coloured=bool(out.color_system)), soft_wrap=True)
        for finding in one.result.findings:
            out.print(f"  attempt {finding.attempt}, {finding.guard}: {finding.message}", style="dim", markup=False)


def show_summary(
    done: Sequence[EditedParagraph], samples: Sequence[Sample], out: Console, *, seconds: float, model: str
) -> None:
    """Say in a few lines what was changed, what was refused, and how the result compares with a translator's."""
    edits = [edit for one in done for edit in one.result.edits]
    kinds = Counter(_KINDS.get(edit.kind, "other wordings") for edit in edits)
    decisions = Counter(one.result.decision for one in done)
    out.print()
    out.print(
        f"{len(edits)} changes in {decisions[Decision.EDITED]} of {len(done)} passages: "
        + ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
        + f"; {sum(bool(edit.reason) for edit in edits)} of them by the names of the book, the others by {model}."
    )
    refused = Counter(
        finding.guard for one in done for finding in one.result.findings if finding.severity is Severity.REJECT
    )
    if refused:
        out.print(
            f"{refused.total()} findings against drafts: {', '.join(f'{n} {guard}' for guard, n in refused.items())}."
        )
    _show_comparison(done, samples, out)
    out.print(f"{len(done)} passages in {seconds:.0f} s on this machine.")


def _show_comparison(done: Sequence[EditedParagraph], samples: Sequence[Sample], out: Console) -> None:
    from eval.scoring import score

    versions = {
        f"{sample.name}/{paragraph.id}": paragraph.good for sample in samples for paragraph in sample.paragraphs
    }
    good = [versions[one.planned.id] for one in done]
    people = [{name for person in sample.people for name in (person.target, *person.short_forms)} for sample in samples]
    names = [people[one.planned.chapter] for one in done]
    table = Table(
        title="Compared with the translator's version of the samples", title_justify="left", box=None, pad_edge=False
    )
    for heading in ("", "chrF", "he and she as there", "names as there"):
        table.add_column(heading, justify="left" if not heading else "right")
    for label, texts in (
        ("machine translation", [one.planned.mt for one in done]),
        ("after the names", [one.repair.text for one in done]),
        ("post-edit", [one.result.post_edit for one in done]),
    ):
        chrf = score(texts, good, metrics=["chrf"], target_language="en", source_language="fr")["chrf"]
        value = getattr(chrf, "value", float("nan"))
        pronouns = _share(_overlap(_pronouns(text), _pronouns(best)) for text, best in zip(texts, good, strict=True))
        named = _share(
            _overlap(_mentions(text, own), _mentions(best, own))
            for text, best, own in zip(texts, good, names, strict=True)
        )
        table.add_row(label, f"{value:.1f}", pronouns, named)
    out.print(table)


def _pronouns(text: str) -> Counter[str]:
    return Counter(word.lower() for word in _GENDERED.findall(text))


def _mentions(text: str, names: Iterable[str]) -> Counter[str]:
    return Counter({name: len(re.findall(rf"\b{re.escape(name)}\b", text)) for name in names})


def _overlap(found: Counter[str], wanted: Counter[str]) -> tuple[int, int]:
    return (found & wanted).total(), wanted.total()


def _share(pairs: Iterable[tuple[int, int]]) -> str:
    matched, wanted = map(sum, zip(*pairs, strict=True))
    return f"{matched} of {wanted}"
