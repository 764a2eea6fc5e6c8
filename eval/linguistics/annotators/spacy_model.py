"""spaCy annotation, if it is installed with a model of the language."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from eval.linguistics.annotators.protocol import Annotation, NamedEntity, Token, strip_possessive

# The largest first, as the most accurate.
_SIZES = ("trf", "lg", "md", "sm")
_BATCH = 128


def installed_models(language: str) -> tuple[str, ...]:
    """The installed models of a language, the largest first."""
    if find_spec("spacy") is None:
        return ()
    from spacy.util import get_installed_models

    def size(name: str) -> tuple[int, str]:
        last = name.rpartition("_")[2]
        return (_SIZES.index(last) if last in _SIZES else len(_SIZES), name)

    names: Iterable[str] = get_installed_models()
    return tuple(sorted((name for name in names if name.startswith(f"{language}_")), key=size))


def is_model_folder(name: str) -> bool:
    """Whether it is the path of a folder with a spaCy model."""
    return (Path(name) / "meta.json").is_file()


@dataclass(frozen=True)
class SpacyAnnotator:
    """Annotates with a spaCy pipeline: a model by name or folder, or `pipeline` instead of it.

    Tags are the model's fine-grained ones (Penn for English, CTB for Chinese); entities lose a trailing ’s.
    """

    model: str
    pipeline: Any = field(default=None, repr=False, compare=False)

    @property
    def name(self) -> str:
        """The name with the versions of spaCy and of the model, which both change results."""
        if meta := self._meta():
            return f"spacy-{version('spacy')}/{meta['lang']}_{meta['name']}-{meta['version']}"
        try:
            release = "-" + version(self.model)
        except PackageNotFoundError:
            release = ""
        return f"spacy-{version('spacy')}/{self.model}{release}"

    @property
    def language(self) -> str:
        """The first part of the model's name."""
        return self._meta().get("lang") or self.model.partition("_")[0]

    def _meta(self) -> dict[str, str]:
        """What a folder says of its model."""
        if not is_model_folder(self.model):
            return {}
        found: dict[str, str] = json.loads((Path(self.model) / "meta.json").read_text(encoding="utf-8"))
        return found

    @property
    def slow(self) -> bool:
        """Whether annotation takes longer than passing results between processes: true for neural models."""
        return self.pipeline is None

    @cached_property
    def _pipeline(self) -> Any:
        if self.pipeline is not None:
            return self.pipeline
        import spacy

        return spacy.load(self.model)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the name only, so that a worker process loads the model itself."""
        return SpacyAnnotator, (self.model, self.pipeline)

    def annotate(self, texts: Sequence[str]) -> list[Annotation]:
        """One annotation for each text, in order."""
        return [_annotation(parsed) for parsed in self._pipeline.pipe(texts, batch_size=_BATCH)]


def _annotation(parsed: Any) -> Annotation:
    words = [token for token in parsed if not token.is_space]
    tokens = tuple(
        Token(token.text, token.idx, token.tag_ or token.pos_, token.lemma_ or token.lower_) for token in words
    )
    entities = (
        strip_possessive(NamedEntity(span.text, span.start_char, span.end_char, span.label_)) for span in parsed.ents
    )
    starts = tuple(place for place, token in enumerate(words) if place == 0 or _begins(parsed, token))
    return Annotation(tokens, tuple(entities), starts)


def _begins(parsed: Any, token: Any) -> bool:
    return bool(parsed.has_annotation("SENT_START") and token.is_sent_start)
