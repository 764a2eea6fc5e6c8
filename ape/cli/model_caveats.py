"""What to know of a model before it works on a book: that it is tiny, or was tuned or measured for other languages."""

from __future__ import annotations

from collections.abc import Sequence

from ape.engines.protocol import Model
from ape.models.catalogue import CATALOGUE, DEFAULT_MODEL, LARGE_MODEL, TUNED_MODEL
from ape.post_editor import untuned_pair_warning
from ape.text.languages import language_name
from prompts.formats import prompt_format
from prompts.prompt import Question

_TINY = (DEFAULT_MODEL, TUNED_MODEL)


def model_caveats(model: str, tuned_for: Sequence[str], *, source_language: str, target_language: str) -> list[str]:
    """A sentence for each reason not to expect much of this model. `tuned_for` are pairs as "fr-en"; none: any."""
    caveats = []
    if model in _TINY:
        caveats.append(f"{model} is tiny and leaves nearly everything as it is; {larger_model_hint(model)}")
    if warning := untuned_pair_warning(model, tuned_for, source_language, target_language):
        caveats.append(warning)
    measured = CATALOGUE[model].measured_targets if model in CATALOGUE and not tuned_for else ()
    if measured and target_language not in (*measured, "und"):
        names = " and ".join(map(language_name, measured))
        caveats.append(
            f"{model} was measured on translations into {names} only: review its edits of "
            f"{language_name(target_language)} with care."
        )
    return caveats


def ignored_wishes_caveat(model: Model, *, glossary: bool, instructions: bool) -> str:
    """The sentence for a model whose prompt format has no room for what the user asked for; "" if it has."""
    asked = Question(
        source="",
        mt="",
        source_language="",
        target_language="",
        glossary=(("a", "b"),) if glossary else (),
        instructions="a" if instructions else "",
    )
    ignored = prompt_format(model.format).render(asked).unused_fields
    return f"{model.name} was tuned on source and MT alone: its drafts ignore {_listed(ignored)}." if ignored else ""


def _listed(names: Sequence[str]) -> str:
    return " and ".join(f"the {name}" for name in names)


def larger_model_hint(model: str) -> str:
    """How to get a model that mends more than the tiny one."""
    return f"a model that mends more: ape models pull {LARGE_MODEL} (1.1 GB)" if model in _TINY else ""
