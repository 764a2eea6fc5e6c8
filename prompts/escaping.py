"""Data stays data: take the power from delimiters inside a text, and give it back to what the model copies.

A passage may hold our own delimiters or a chat model's control words. Servers read control words anywhere in
a prompt (llama.cpp tokenises `<|im_end|>` inside a user's text as the real end of the turn), so their brackets
are swapped for look-alikes before the text is rendered, and swapped back in the draft.
"""

from __future__ import annotations

from dataclasses import dataclass

import regex

DELIMITERS = ("source", "translation", "earlier", "glossary", "style", "verdict", "errors")

_DANGEROUS = regex.compile(
    rf"</?(?:{'|'.join(DELIMITERS)})\s*>"
    r"|<\|[^|<>\n]{1,40}\|>"  # ChatML, Llama 3, Phi
    r"|<[|｜][^|｜<>\n]{1,40}[|｜]>"  # DeepSeek
    r"|</?s>|<(?:bos|eos|pad|unk|SEP)>"
    r"|<(?:start|end)_of_turn>"  # Gemma
    r"|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS)\]|<</?SYS>>"  # Mistral, Llama 2
    r"|</?think>",
    regex.IGNORECASE,
)
# Where a run of number signs separates the parts of a prompt, no text may hold one.
_FENCED = regex.compile(rf"{_DANGEROUS.pattern}|#{{3,}}", regex.IGNORECASE)
# In order of preference: the first that the text does not have is taken, so that each can be put back.
_LOOK_ALIKES = tuple(
    str.maketrans("<>[]|｜#", signs)
    for signs in ("‹›⁅⁆¦¦♯", "⟨⟩⦋⦌∣∣＃", "〈〉〔〕❘❘﹟", "❮❯⟦⟧❙❙⌗", "≺≻⟬⟭⦙⦙⋕")
)


@dataclass(frozen=True, slots=True)
class EscapedText:
    """A text without dangerous sequences, and how to put them back."""

    text: str
    replaced: tuple[tuple[str, str], ...] = ()

    def restore(self, draft: str) -> str:
        """The draft with the original wording where it copied one of the look-alikes."""
        # The longest first: a shorter one may be a part of it.
        for look_alike, original in sorted(self.replaced, key=lambda pair: -len(pair[0])):
            draft = draft.replace(look_alike, original)
        return draft


def escape_delimiters(text: str, *, fences: bool = False) -> EscapedText:
    """Swap the brackets of every delimiter or control word in the text for look-alikes that it does not have.

    Where it has them all, nothing is put back, since ours can't be told from the author's own. `fences` are runs of
    three or more number signs.
    """
    dangerous = _FENCED if fences else _DANGEROUS
    found = dict.fromkeys(match.group() for match in dangerous.finditer(text))
    chosen: dict[str, str] = {}
    for original in found:
        choices = [original.translate(signs) for signs in _LOOK_ALIKES]
        free = (choice for choice in choices if choice not in text and choice not in chosen.values())
        chosen[original] = next(free, choices[0])
    safe = dangerous.sub(lambda match: chosen[match.group()], text)
    return EscapedText(safe, tuple((new, old) for old, new in chosen.items() if new not in text))
