"""Escape delimiters and control words inside a text, and restore them in what the model copies.

A passage may contain our own delimiters or a chat model's control words. Servers interpret control words anywhere in
a prompt (llama.cpp tokenises `<|im_end|>` inside a user's text as the end of the turn), so their brackets are
replaced by look-alikes before the text is rendered, and put back in the draft.
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
# Also the separator of the sep format: a run of number signs.
_FENCED = regex.compile(rf"{_DANGEROUS.pattern}|#{{3,}}", regex.IGNORECASE)
# In order of preference; the first that the text does not contain is used, so that it can be put back.
_LOOK_ALIKES = tuple(
    str.maketrans("<>[]|｜#", signs) for signs in ("‹›⁅⁆¦¦♯", "⟨⟩⦋⦌∣∣＃", "〈〉〔〕❘❘﹟", "❮❯⟦⟧❙❙⌗", "≺≻⟬⟭⦙⦙⋕")
)


@dataclass(frozen=True, slots=True)
class EscapedText:
    """A text without dangerous sequences; `replaced` pairs each look-alike with its original."""

    text: str
    replaced: tuple[tuple[str, str], ...] = ()

    def restore(self, draft: str) -> str:
        """Put the originals back where a draft copied a look-alike."""
        # Longest first, since a shorter one may be part of it.
        for look_alike, original in sorted(self.replaced, key=lambda pair: -len(pair[0])):
            draft = draft.replace(look_alike, original)
        return draft

    def escape_copies(self, text: str) -> str:
        """Replace the same originals in another text by the same look-alikes; the reverse of `restore`."""
        for look_alike, original in sorted(self.replaced, key=lambda pair: -len(pair[1])):
            text = text.replace(original, look_alike)
        return text


def escape_delimiters(text: str, *, fences: bool = False) -> EscapedText:
    """Replace the brackets of every delimiter and control word by look-alikes that the text does not contain.

    If it contains all of them, nothing is put back, since ours can't be distinguished from the author's. `fences`
    also escapes runs of three or more number signs.
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
