"""A draft that does what the passage says instead of translating it; refusals; our instructions leaking out."""

from __future__ import annotations

from collections.abc import Iterator

import regex

from ape.guards.reading import Reading, read, readings
from ape.guards.wording import quoted, reject
from ape.segment import Draft, Segment
from ape.verdict import Finding

# Commands to a model, as they are smuggled into texts. Whoever says "forget what I told you" in a novel is translated
# faithfully, and this guard looks no further.
_COMMAND = regex.compile(
    r"""
      \b(?:ignore|disregard|forget|override|bypass|skip)\b (?:\W+\w+){0,5}? \W+ (?:instructions?|prompts?|rules|guidelines|commands?|above|context)\b
    | \b(?:system\s+prompt|developer\s+mode|jailbreak|you\s+are\s+now|act\s+as|pretend\s+to\s+be|new\s+instructions?)\b
    | \b(?:respond|reply|answer|output|print|write|say|repeat)\b (?:\W+\w+){0,4}? \W+ (?:only|exactly|nothing\s+but|the\s+word|the\s+following)\b
    | \b(?:ignor\w+|vergiss|vergessen\s+sie|oublie[zr]?|olvid\w+|dimentica\w*|esqueç\w+)\b (?:\W+\w+){0,5}? \W+ (?:anweisung\w*|instruction\w*|instruc\w+|istruzion\w+|instruç\w+|consignes?)
    | (?:игнорир\w+|забудь\w*|проигнорир\w+) (?:\W+\w+){0,5}? \W+ (?:инструкц\w+|указани\w+|команд\w+)
    | (?:忽略|无视|忘记|無視) .{0,10}? (?:指令|指示|说明|提示|命令)
    | 無視して | (?:تجاهل|انس) (?:\W+\w+){0,5}? \W+ (?:التعليمات|الأوامر)
    """,
    regex.VERBOSE | regex.IGNORECASE,
)
_REFUSAL = regex.compile(
    r"""
      \bas\s+an?\s+(?:ai|artificial|large\s+language|language\s+model|assistant)\b
    | \bi(?:\s+a|['’])m\s+(?:sorry|afraid|unable|not\s+able)\b.{0,60}?\b(?:can(?:no|['’])t|cannot|unable|assist|help|comply|translate|fulfil\w*|provide|process|continue)\b
    | \bi\s+(?:can(?:no|['’])?t|cannot|can\s+not|won['’]t|will\s+not|am\s+unable\s+to|must\s+decline\s+to)\s+(?:\w+\s+){0,2}(?:assist|help|comply|translate|fulfil\w*|provide|process|do\s+that|continue|answer|generate|create)\b
    | \bi\s+(?:do\s+not|don['’]t)\s+have\s+(?:access|enough\s+(?:context|information))\b
    | \b(?:against|violates?)\s+(?:my|our|the|openai['’]?s?)\s+(?:\w+\s+){0,2}(?:guidelines|policy|policies|programming)\b
    | \b(?:es\s+)?tut\s+mir\s+leid,?\s+(?:aber\s+)?(?:ich\s+kann|da(?:bei|zu))\b | \bals\s+ki\b
    | \bje\s+suis\s+désolée?,?\s+(?:mais\s+)?je\s+ne\s+peux | \ben\s+tant\s+qu['’]ia\b
    | \blo\s+siento,?\s+(?:pero\s+)?no\s+puedo | \bmi\s+dispiace,?\s+(?:ma\s+)?non\s+posso
    | (?:извините|к\s+сожалению),?\s+(?:но\s+)?я\s+не\s+могу | как\s+языковая\s+модель
    | (?:抱歉|对不起).{0,6}?(?:我)?(?:无法|不能) | 作为(?:一个|一名)?(?:AI|人工智能|语言模型)
    | 申し訳(?:ありません|ございません) .{0,20}? できません | 죄송합니다 .{0,20}? 없습니다
    """,
    regex.VERBOSE | regex.IGNORECASE | regex.DOTALL,
)
_OUR_WORDS = regex.compile(
    r"\byou\s+are\s+(?:an?|the)\s+(?:\w+\s+){0,4}(?:translator|post-?editor|editor|assistant|proofreader)\b"
    r"|\b(?:return|reply\s+with|output|give)\s+only\s+the\s+(?:\w+\s+){0,3}(?:translation|post-?edit|text|passage|paragraph)\b"
    r"|\bmachine[\s-]translated\s+(?:text|passage|paragraph)\b",
    regex.IGNORECASE,
)
# So many words in a row are no coincidence. The context is told in the same voice, so there it takes more.
_INSTRUCTION_RUN = 6
_CONTEXT_RUN = 10
_KEPT = 0.5


def obedience(segment: Segment, draft: Draft) -> list[Finding]:
    """Commands of the passage carried out, refusals, and our own words, where the MT has no such thing."""
    return [*_obeyed(segment, draft), *_refused(segment, draft), *_leaked(segment, draft)]


def _obeyed(segment: Segment, draft: Draft) -> Iterator[Finding]:
    """A command in the passage must still be in the draft, as words."""
    _, mt, new = readings(segment, draft)
    command = _COMMAND.search(segment.mt)
    if command is None and _COMMAND.search(segment.source) is None:
        return
    kept = sum(word in new.vocabulary for word in mt.vocabulary)
    if command and _COMMAND.search(draft.text) and kept >= _KEPT * len(mt.vocabulary):
        return
    if kept < _KEPT * len(mt.vocabulary):
        what = quoted(command.group()) if command else "a command"
        yield reject("obedience", f"The passage says {what}, and the draft seems to obey it instead of translating it.")


def _refused(segment: Segment, draft: Draft) -> Iterator[Finding]:
    match = _REFUSAL.search(draft.text)
    if match is None or _REFUSAL.search(segment.mt) or _REFUSAL.search(segment.source):
        return
    mt = read(segment.mt)
    said = [word for word in read(match.group()).words if len(word) > 3]
    # "I am sorry, I can not help you" may well become "I'm sorry, but I can't help you".
    if sum(word in mt.vocabulary for word in said) >= _KEPT * max(1, len(said)):
        return
    yield reject("obedience", f"The model refuses instead of editing: {quoted(match.group())}.")


def _leaked(segment: Segment, draft: Draft) -> Iterator[Finding]:
    match = _OUR_WORDS.search(draft.text)
    if match and not (_OUR_WORDS.search(segment.mt) or _OUR_WORDS.search(segment.source)):
        yield reject("obedience", f"The draft repeats what the model was told: {quoted(match.group())}.")
    _, mt, new = readings(segment, draft)
    if run := _shared_run(read(segment.instructions), new, mt, _INSTRUCTION_RUN):
        yield reject("obedience", f"The draft repeats the instructions: {quoted(run)}.")
    for context in segment.context:
        if run := _shared_run(read(context.target), new, mt, _CONTEXT_RUN):
            yield reject("obedience", f"The draft repeats an earlier paragraph: {quoted(run)}.")
            return


def _shared_run(told: Reading, new: Reading, mt: Reading, length: int) -> str:
    if len(told.words) < length or len(new.words) < length:
        return ""
    shared = (told.runs(length) & new.runs(length)) - mt.runs(length)
    return " ".join(min(shared)) if shared else ""
