"""Mark-up of chats, code and prompts, which no book contains."""

from __future__ import annotations

from ape.guards.messages import quote, reject
from ape.guards.patterns import GuardPattern, guard_pattern
from ape.passage.result import Finding
from ape.passage.segment import Draft, Segment

MARKUP_PATTERNS: tuple[GuardPattern, ...] = (
    guard_pattern("a chat marker", "<|", r"<\|[^|<>\n]{0,40}\|>?"),
    guard_pattern("a chat marker", "[inst|[/inst|<<sys|<</sys|<s>|</s>", r"\[/?INST\] | <</?SYS>> | </?s>"),
    guard_pattern("a turn marker", "_turn>", r"</?(?:start|end)_of_turn>"),
    guard_pattern("a speaker label", ":", r"^\W{0,3}(?:assistant|user|system|human|ai|bot|chatgpt|model)\W{0,3}:"),
    guard_pattern("a code fence", "```|~~~", r"`{3} | ^\s{0,3}~{3}"),
    guard_pattern("bold stars", "**", r"\*\*(?=\S)[^*\n]{1,200}(?<=\S)\*\*"),
    guard_pattern("bold underscores", "__", r"(?<!\w)__(?=\S)[^_\n]{1,200}(?<=\S)__(?!\w)"),
    guard_pattern("a heading mark", "#", r"^[ \t]{0,3}\#{1,6}(?:\s|$) | \#{3}"),
    guard_pattern("inline code", "`", r"`[^`\n]{1,100}`"),
    # A single line that begins with a dash may be direct speech; a list has several.
    guard_pattern("a list", "-|*|•", r"^[ \t]{0,3}[-*•]\s++[^\n]*+\n++[ \t]{0,3}[-*•]\s"),
    guard_pattern("a dividing line", "---|===|___", r"^[ \t]{0,3}(?:-{3,}|={3,}|_{3,})[ \t]*$"),
    guard_pattern("a separator of the prompt", "sep>|eos>|bos>|pad>|unk>", r"</?(?:sep|eos|bos|pad|unk)>"),
    guard_pattern(
        "a tag of the prompt",
        ">|›|〉|》|＞|⟩|&gt;|]",
        # A model that can't write our brackets may write look-alikes.
        r"(?:[<‹〈《＜⟨]|&lt;|\[(?=/))[/／]?"
        r"(?:source|src|mt|target|tgt|draft|post[-_\ ]?edit|translation|context|glossary|style|instructions|output"
        r"|input|answer|response|think|thinking|system|assistant|user|text|passage|paragraph)"
        r"(?:[>›〉》＞⟩]|&gt;|\])",
    ),
)


def markup(segment: Segment, draft: Draft) -> list[Finding]:
    """Reject chat, code and Markdown mark-up, and delimiters of the prompt, that are new to the passage."""
    lowered = draft.text.lower()
    found = []
    for mark in MARKUP_PATTERNS:
        text = mark.search(draft.text, lowered)
        if text and not (mark.pattern.search(segment.mt) or mark.pattern.search(segment.source)):
            found.append(reject("markup", f"The draft contains {mark.description} and the MT does not: {quote(text)}."))
    return found
