"""The `sep` format: source, separator, MT, separator, and a tuned model goes on with the post-edit (PAR3).

Training and serving both call this module, so that a model is asked exactly as it was taught. The separator is
text, not a new token: any server can load the adapter. Prompt and completion are tokenised apart and joined, since a
server sees the prompt alone.
"""

from __future__ import annotations

import hashlib

from prompts.escaping import EscapedText, escape_delimiters
from prompts.prompt import Prompt, Question

SEPARATOR = "\n\n###\n\n"
# A model that does not stop by itself begins another round; its server ends it here.
STOP = SEPARATOR.rstrip()
_RECIPE = f"SRC{SEPARATOR}MT{SEPARATOR}HUM|stop={STOP}|fences=#{{3,}}"


def sep_fingerprint() -> str:
    """The name of the format, with the hash of its recipe."""
    return f"sep@{hashlib.sha256(_RECIPE.encode()).hexdigest()[:12]}"


def render_sep(question: Question) -> Prompt:
    """Ask a tuned model. It was taught on source and MT alone: what else the question has is left unsaid."""
    translation = _plain(question.mt)
    unsaid = {
        "context": question.earlier,
        "glossary": question.glossary,
        "instructions": question.instructions,
    }
    return Prompt(
        f"{_plain(question.source).text}{SEPARATOR}{translation.text}{SEPARATOR}",
        sep_fingerprint(),
        translation,
        opening="",
        stop=(STOP,),
        unsaid=tuple(name for name, given in unsaid.items() if given),
    )


def completion_sep(question: Question, human: str) -> str:
    """What a model is taught to answer, before the end token. The MT's own signs are those of the prompt."""
    translation = _plain(question.mt)
    answer = human.strip()
    # The longest first: a shorter one may be a part of it.
    for look_alike, original in sorted(translation.replaced, key=lambda pair: -len(pair[1])):
        answer = answer.replace(original, look_alike)
    return _plain(answer).text


def _plain(text: str) -> EscapedText:
    return escape_delimiters(text.strip(), fences=True)
