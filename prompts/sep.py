"""The `sep` format: source, separator, MT, separator; a tuned model continues with the post-edit (PAR3).

Training and serving both use this module, so that a model is queried exactly as it was trained. The separator is
text, not a new token, so that any server can load the adapter. Prompt and completion are tokenised separately and
joined, since a server sees only the prompt.
"""

from __future__ import annotations

import hashlib
import json

from prompts.escaping import EscapedText, escape_delimiters
from prompts.prompt import Prompt, Question

SEPARATOR = "\n\n###\n\n"
# A model that does not stop by itself starts another round; the server ends it here.
_STOP = SEPARATOR.rstrip()
_RECIPE = f"SRC{SEPARATOR}MT{SEPARATOR}HUM|stop={_STOP}|fences=#{{3,}}"


class SepFormat:
    """Source and MT as text. Context, glossary and instructions are not part of the training data and are ignored."""

    name = "sep"
    fingerprint = f"sep@{hashlib.sha256(_RECIPE.encode()).hexdigest()[:12]}"
    is_chat = False
    stop = (_STOP,)
    separators = (SEPARATOR,)
    prompt_words = ""
    example_words = ""
    serving_instructions = (
        "It has to be queried in the format sep, as text and never as a chat: send to /v1/completions the source, "
        f"{json.dumps(SEPARATOR)}, the MT, {json.dumps(SEPARATOR)}; with {json.dumps(_STOP)} as stop."
    )

    def render(self, question: Question) -> Prompt:
        """Write source and MT, each followed by the separator."""
        translation = _escape(question.mt)
        ignored = {"context": question.context, "glossary": question.glossary, "instructions": question.instructions}
        return Prompt(
            f"{_escape(question.source).text}{SEPARATOR}{translation.text}{SEPARATOR}",
            self.fingerprint,
            translation,
            opening="",
            stop=self.stop,
            unused_fields=tuple(name for name, value in ignored.items() if value),
        )

    def completion(self, question: Question, human: str) -> str:
        """The human version, escaped as the MT is in the prompt."""
        return _escape(_escape(question.mt).escape_copies(human.strip())).text


SEP = SepFormat()


def _escape(text: str) -> EscapedText:
    return escape_delimiters(text.strip(), fences=True)
