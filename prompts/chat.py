"""Chat formats: questions to an instruct model that was not tuned for post-editing.

`chat` has one worked example. `examples` has three, with a list of who is who: models of 1 to 2 billion parameters edit
twice as much with it, and it is too long for smaller ones.
"""

from __future__ import annotations

from functools import cached_property

import regex

from prompts.escaping import escape_delimiters
from prompts.prompt import Prompt, Question
from prompts.template import load_template, split_turns, template_text

_OPENING = "<translation>"
_TEMPLATE_CODE = regex.compile(r"\{\{.*?\}\}|\{%.*?%\}|^## .*$|</?\w+>", regex.MULTILINE)


class ChatFormat:
    """Messages rendered from the file `<name>.md`; the fingerprint is the hash of that file."""

    is_chat = True
    stop = ("</translation>",)
    separators = ()
    serving_instructions = "It is queried as other chat models are."

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def fingerprint(self) -> str:
        """The name with the hash of the file."""
        return load_template(self.name).fingerprint

    def render(self, question: Question) -> Prompt:
        """Render the messages; examples are included only for their own target language."""
        template = load_template(self.name)
        translation = escape_delimiters(question.mt)
        cast = ", ".join(f"{_escaped(name)} is “{pronoun}”" for name, pronoun in question.cast)
        variables = {
            "source": _escaped(question.source),
            "translation": translation.text,
            "source_language": question.source_language,
            "target_language": question.target_language,
            "earlier": [
                {"source": _escaped(source), "target": _escaped(target)} for source, target in question.context
            ],
            "glossary": [{"term": _escaped(term), "wording": _escaped(wording)} for term, wording in question.glossary],
            "style": _escaped(question.instructions),
            "cast": cast,
        }
        if cast and self.name == "chat":  # its file has no place for them, and another file would be another format
            variables["style"] = f"{variables['style']}\nPronouns of the characters: {cast}.".strip()
        messages = template.render(variables, target_language=question.target_language)
        return Prompt(messages, self.fingerprint, translation, opening=_OPENING, stop=self.stop)

    def completion(self, question: Question, human: str) -> str:
        """The human version between the delimiters that the prompt asks for."""
        answer = escape_delimiters(question.mt).escape_copies(human.strip())
        return "\n".join((_OPENING, _escaped(answer), *self.stop))

    @cached_property
    def prompt_words(self) -> str:
        """The wording of the file, which no draft should repeat."""
        return _TEMPLATE_CODE.sub(" ", template_text(self.name))

    @cached_property
    def example_words(self) -> str:
        """The worked examples alone, which small models sometimes copy into the draft."""
        turns = split_turns(template_text(self.name))
        examples = [text for _, example_into, text in turns if example_into]
        return _TEMPLATE_CODE.sub(" ", "\n".join(examples))


CHAT = ChatFormat("chat")
EXAMPLES = ChatFormat("examples")


def _escaped(text: str) -> str:
    return escape_delimiters(text).text
