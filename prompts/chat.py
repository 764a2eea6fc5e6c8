"""The `chat` format: a question to an instruct model that was not tuned for post-editing."""

from __future__ import annotations

from functools import cached_property

import regex

from prompts.escaping import escape_delimiters
from prompts.prompt import Prompt, Question
from prompts.template import load_template, split_turns, template_text

_OPENING = "<translation>"
_TEMPLATE_CODE = regex.compile(r"\{\{.*?\}\}|\{%.*?%\}|^## .*$|</?\w+>", regex.MULTILINE)


class ChatFormat:
    """Messages rendered from `chat.md`; the fingerprint is the hash of that file."""

    name = "chat"
    is_chat = True
    stop = ("</translation>",)
    separators = ()
    serving_instructions = "It is queried as other chat models are."

    @property
    def fingerprint(self) -> str:
        """The name with the hash of `chat.md`."""
        return load_template(self.name).fingerprint

    def render(self, question: Question) -> Prompt:
        """Render the messages; examples are included only for their own target language."""
        template = load_template(self.name)
        translation = escape_delimiters(question.mt)
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
        }
        messages = template.render(variables, target_language=question.target_language)
        return Prompt(messages, self.fingerprint, translation, opening=_OPENING, stop=self.stop)

    def completion(self, question: Question, human: str) -> str:
        """The human version between the delimiters that the prompt asks for."""
        answer = escape_delimiters(question.mt).escape_copies(human.strip())
        return "\n".join((_OPENING, _escaped(answer), *self.stop))

    @cached_property
    def prompt_words(self) -> str:
        """The wording of `chat.md`, which no draft should repeat."""
        return _TEMPLATE_CODE.sub(" ", template_text(self.name))

    @cached_property
    def example_words(self) -> str:
        """The worked examples alone, which small models sometimes copy into the draft."""
        turns = split_turns(template_text(self.name))
        examples = [text for _, example_into, text in turns if example_into]
        return _TEMPLATE_CODE.sub(" ", "\n".join(examples))


CHAT = ChatFormat()


def _escaped(text: str) -> str:
    return escape_delimiters(text).text
