"""Check that raters were shown the current texts; a system name may have been reused for others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ape.errors import InputError
from eval.human.trial import Trial, TrialPassage


def require_same_texts(trial: Trial, texts: Mapping[str, Mapping[str, str]], *, file: str) -> None:
    """Raise InputError for the first shown text that differs from the current text of its system.

    `texts` are by system and paragraph ("ch1:12"); other systems are not checked.
    """
    passages = {passage.id: passage for passage in trial.passages}
    current = {name: {place: _words(text) for place, text in own.items()} for name, own in texts.items()}
    all_texts = {name: set(own.values()) for name, own in current.items()}
    for item in (item for item in trial.items if item.kind == "pair"):
        for system, shown in zip(item.systems, item.texts, strict=True):
            if system not in current:
                continue
            read, expected = list(map(_words, shown)), _passage_texts(current[system], passages[item.passage])
            # A passage of another set is not in this one; its texts may still be.
            if read != expected if expected else not all_texts[system].issuperset(read):
                raise InputError(
                    f"{file} showed raters another text of {system!r}, first in item {item.id} "
                    f"(passage {item.passage!r}). Votes apply only to the texts that were read: give those "
                    "texts, or leave out the trial and votes.",
                    field="trial",
                )


def _passage_texts(texts: Mapping[str, tuple[str, ...]], passage: TrialPassage) -> list[tuple[str, ...]]:
    """The system's paragraphs of the passage; empty if the set lacks the passage."""
    names = list(_paragraphs(passage))
    return [texts[name] for name in names] if all(name in texts for name in names) else []


def _paragraphs(passage: TrialPassage) -> Iterator[str]:
    """Paragraph ids of a passage: those of "ch1:6-7" are "ch1:6" and "ch1:7"."""
    document, _, span = passage.id.rpartition(":")
    first = int(span.partition("-")[0])
    return (f"{document}:{first + number}" for number in range(passage.paragraphs))


def _words(text: str) -> tuple[str, ...]:
    """Ignore differences in whitespace, which pages do not show."""
    return tuple(text.split())
