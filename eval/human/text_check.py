"""Whether people were shown the texts that are here now: a name may have passed to other texts since."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ape.errors import InputError
from eval.human.trial import Trial, TrialPassage


def require_same_texts(trial: Trial, texts: Mapping[str, Mapping[str, str]], *, file: str) -> None:
    """Raises InputError with the first text that was shown under the name of a system and is not what it says here.

    `texts` are by system and paragraph, as "ch1:12". Of other systems nothing is known.
    """
    passages = {passage.id: passage for passage in trial.passages}
    here = {name: {place: _words(text) for place, text in said.items()} for name, said in texts.items()}
    every = {name: set(said.values()) for name, said in here.items()}
    for item in (item for item in trial.items if item.kind == "pair"):
        for system, shown in zip(item.systems, item.texts, strict=True):
            if system not in here:
                continue
            read, said = list(map(_words, shown)), _said(here[system], passages[item.passage])
            # A passage of another set has no place in this one; its texts may still be here.
            if read != said if said else not every[system].issuperset(read):
                raise InputError(
                    f"{file} showed another text of {system!r} than it has here, first in item {item.id} (passage "
                    f"{item.passage!r}). Votes are on what was read: give those texts, or leave --trial and its "
                    "--votes out.",
                    field="trial",
                )


def _said(texts: Mapping[str, tuple[str, ...]], passage: TrialPassage) -> list[tuple[str, ...]]:
    """What a system says in the passage; nothing where the set does not have it."""
    names = list(_paragraphs(passage))
    return [texts[name] for name in names] if all(name in texts for name in names) else []


def _paragraphs(passage: TrialPassage) -> Iterator[str]:
    """The names of its paragraphs in a set: those of "ch1:6-7" are "ch1:6" and "ch1:7"."""
    document, _, span = passage.id.rpartition(":")
    first = int(span.partition("-")[0])
    return (f"{document}:{first + number}" for number in range(passage.paragraphs))


def _words(text: str) -> tuple[str, ...]:
    """A page shows texts alike that differ in their spaces only."""
    return tuple(text.split())
