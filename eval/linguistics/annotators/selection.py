"""Choice of an annotator: spaCy if it has a model of the language, else one that needs no download."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from importlib.util import find_spec

from ape.errors import InputError
from eval.linguistics.annotators import cache, spacy_model
from eval.linguistics.annotators.chinese import JiebaAnnotator
from eval.linguistics.annotators.english import EnglishAnnotator
from eval.linguistics.annotators.literary import LiteraryAnnotator
from eval.linguistics.annotators.protocol import Annotator

FALLBACK_ANNOTATORS: Mapping[str, tuple[str, Callable[[], Annotator]]] = {
    "en": ("textblob", EnglishAnnotator),
    "zh": ("jieba", JiebaAnnotator),
}
"""By language: the required package, and the annotator built on it."""


_preferred: ContextVar[str | None] = ContextVar("preferred annotator", default=None)


@contextmanager
def use_annotator(name: str | None) -> Iterator[None]:
    """Prefer this annotator in the context, for the languages that it annotates; None changes nothing."""
    if name is not None and not any(_annotates(name, language) for language in ("en", "zh", name[:2])):
        raise NoAnnotatorError(_not_found_message(name[:2], name), field="annotator")
    token = _preferred.set(name or _preferred.get())
    try:
        yield
    finally:
        _preferred.reset(token)


def _annotates(name: str, language: str) -> bool:
    if spacy_model.is_model_folder(name):
        return spacy_model.SpacyAnnotator(name).language == language
    fallback, _ = FALLBACK_ANNOTATORS.get(language, ("", None))
    is_model = name == "spacy" or name in spacy_model.installed_models(language)
    return is_model or name == fallback or (name == "literary" and language == "en")


class NoAnnotatorError(InputError):
    """No annotator supports the language; metrics report this as "not applicable"."""


def annotator_for(language: str, *, prefer: str | None = None) -> Annotator:
    """The annotator of a language ("en", or with a region, "zh-CN"), cached inside `use_annotation_cache`.

    `prefer` is the name of a spaCy model ("en_core_web_trf") or its folder, "spacy" for any installed one, "literary"
    for English fiction, or "textblob" or "jieba", which are quick. By default spaCy comes first, its largest model.
    """
    language = language.lower().replace("_", "-").partition("-")[0]
    chosen = _preferred.get()
    found = _select(language, prefer or (chosen if chosen and _annotates(chosen, language) else None))
    folder = cache.current_annotation_folder()
    return found if folder is None else cache.CachedAnnotator(found, folder)


@lru_cache(maxsize=16)
def _select(language: str, prefer: str | None) -> Annotator:
    if prefer == "literary" and language == "en":
        return _with_package(LiteraryAnnotator, "simplemma")
    if prefer and spacy_model.is_model_folder(prefer):
        return _with_package(lambda: spacy_model.SpacyAnnotator(prefer), "spacy")
    fallback, build = FALLBACK_ANNOTATORS.get(language, (None, None))
    if build is not None and prefer == fallback:
        return _with_package(build, fallback)
    models = spacy_model.installed_models(language)
    if prefer not in (None, "spacy"):
        models = tuple(model for model in models if model == prefer)
    if models:
        return spacy_model.SpacyAnnotator(models[0])
    if build is not None and prefer is None:
        return _with_package(build, fallback)
    raise NoAnnotatorError(_not_found_message(language, prefer))


def _with_package(build: Callable[[], Annotator], package: str | None) -> Annotator:
    if package is None or find_spec(package) is None:
        extra = "spacy" if package == "spacy" else "eval"
        raise NoAnnotatorError(
            f"This annotator needs {package}, which is not installed. Type: pip install 'ape-books[{extra}]'"
        )
    return build()


def _not_found_message(language: str, prefer: str | None) -> str:
    preferred = "" if prefer in (None, "spacy") else f" called {prefer!r}"
    fallbacks = f" Without spaCy, {', '.join(sorted(FALLBACK_ANNOTATORS))} can be annotated."
    return (
        f"There is no annotator{preferred} for the language {language!r}: no spaCy model of it is installed. "
        f"See https://spacy.io/models for one, and install it with: python -m spacy download MODEL.{fallbacks}"
    )
