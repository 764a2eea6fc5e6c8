"""A draft that obeys the passage instead of translating it, refuses, or leaks the prompt."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from ape.guards.messages import quote, reject
from ape.guards.patterns import GuardPattern, first_match, guard_pattern
from ape.guards.text_features import TextFeatures, passage_features, text_features
from ape.passage.result import Finding
from ape.passage.segment import Draft, Segment
from prompts import FORMATS

# Prompt injections. A character of a novel may say "forget the rules" too: a draft that translates it passes.
_UP_TO_FIVE = r"(?:\W+\w+){0,5}? \W+"
COMMAND_PATTERNS: tuple[GuardPattern, ...] = (
    guard_pattern(
        "a command",
        "instruction|prompt|rules|guideline|command|above|context",
        r"\b(?:ignore|disregard|forget|override|bypass|skip)\b"
        rf"{_UP_TO_FIVE} (?:instructions?|prompts?|rules|guidelines|commands?|above|context)\b",
    ),
    guard_pattern(
        "a command",
        "system prompt|developer mode|jailbreak|new instruction|you are now an ai|act as an ai|language model",
        r"\b(?:system\ prompt|developer\ mode|jailbreak|new\ instructions?"
        r"|(?:you\ are\ now|act\ as)\ an\ ai|language\ model)\b",
    ),
    guard_pattern(
        "a command",
        "respond|reply|output|print",
        r"\b(?:respond|reply|output|print)\b"
        rf"{_UP_TO_FIVE} (?:only|exactly|nothing\ but|the\ word|the\ following)\b",
    ),
    guard_pattern(
        "a command",
        "anweisung|instruc|istruzion|instruç|consigne",
        r"\b(?:ignor\w+|vergiss|vergessen\ sie|oublie[zr]?|olvid\w+|dimentica\w*|esqueç\w+)\b"
        rf"{_UP_TO_FIVE} (?:anweisung\w*|instruc\w+|istruzion\w+|instruç\w+|consignes?)",
    ),
    guard_pattern(
        "a command",
        "инструкц|указани|команд",
        rf"(?:игнорир\w+|забудь\w*|проигнорир\w+) {_UP_TO_FIVE} (?:инструкц\w+|указани\w+|команд\w+)",
    ),
    guard_pattern(
        "a command",
        "指令|指示|说明|提示|命令",
        r"(?:忽略|无视|忘记|無視) .{0,10}? (?:指令|指示|说明|提示|命令) | (?:指示|命令).{0,6}?無視",
    ),
    guard_pattern("a command", "تعليمات|أوامر", rf"(?:تجاهل|انس) {_UP_TO_FIVE} (?:\w*تعليمات|\w*أوامر)"),
)
# "I cannot help thinking" is not a refusal.
_HELP = r"help(?!\ (?:\w+ing|but|it|him|her|them|us)\b)"
_WORK = rf"(?:assist|{_HELP}|comply|translate|fulfil\w*|provide|process|do\ that|continue|answer|generate|create|edit)"
REFUSAL_PATTERNS: tuple[GuardPattern, ...] = (
    guard_pattern(
        "a refusal",
        "as an ai|language model|as a large|as an art|as an assistant",
        r"\bas\ an?\ (?:ai|artificial|large\ language|language\ model|assistant)\b",
    ),
    guard_pattern(
        "a refusal", "unable to|not able to", rf"\bi(?:\ a|['’])m\ (?:unable|not\ able)\ to\ (?:\w+\ ){{0,2}}{_WORK}\b"
    ),
    guard_pattern(
        "a refusal",
        "i can|i won|i will not|i am unable|i must decline",
        r"\bi\ (?:can(?:no|['’])?t|cannot|can\ not|won['’]t|will\ not|am\ unable\ to|must\ decline\ to)\ "
        rf"(?:\w+\ ){{0,2}}{_WORK}\b",
    ),
    guard_pattern(
        "a refusal",
        "have access|have enough",
        r"\bi\ (?:do\ not|don['’]t)\ have\ (?:access|enough\ (?:context|information))\b",
    ),
    guard_pattern(
        "a refusal",
        "guideline|polic|programming",
        r"\b(?:against|violates?)\ (?:my|our|the|openai['’]?s?)\ (?:\w+\ ){0,2}"
        r"(?:guidelines|policy|policies|programming)\b",
    ),
    guard_pattern(
        "a refusal", "leid|als ki", r"\btut\ mir\ leid,?\ (?:aber\ )?(?:ich\ kann|da(?:bei|zu)) | \bals\ ki\b"
    ),
    guard_pattern(
        "a refusal", "désolé|qu'ia|qu’ia", r"\bje\ suis\ désolée?,?\ (?:mais\ )?je\ ne\ peux | \ben\ tant\ qu['’]ia\b"
    ),
    guard_pattern(
        "a refusal", "lo siento|mi dispiace", r"\blo\ siento,?\ (?:pero\ )?no\ puedo | \bmi\ dispiace.{0,6}non\ posso"
    ),
    guard_pattern(
        "a refusal",
        "не могу|языковая модель",
        r"(?:извините|к\ сожалению),?\ (?:но\ )?я\ не\ могу | как\ языковая\ модель",
    ),
    guard_pattern(
        "a refusal",
        "抱歉|对不起|作为",
        r"(?:抱歉|对不起).{0,6}?(?:无法|不能) | 作为(?:一个|一名)?(?:AI|人工智能|语言模型)",
    ),
    guard_pattern("a refusal", "申し訳", r"申し訳(?:ありません|ございません).{0,20}?できません"),
    guard_pattern("a refusal", "죄송", r"죄송합니다.{0,20}?없습니다"),
)
PROMPT_PATTERNS: tuple[GuardPattern, ...] = (
    guard_pattern(
        "our words",
        "you are a|you are the",
        r"\byou\ are\ (?:an?|the)\ (?:[\w-]+\ ){0,4}(?:translator|post-?editor|editor|assistant|proofreader)\b",
    ),
    guard_pattern(
        "our words",
        "only the",
        r"\b(?:return|reply\ with|output|give)\ only\ the\ (?:[\w-]+\ ){0,3}"
        r"(?:translation|post-?edit|text|passage|paragraph)\b",
    ),
    guard_pattern("our words", "machine", r"\bmachine[\ -]translated\ (?:text|passage|paragraph)\b"),
)
# Shared runs of this many words are not a coincidence; the context is by the same author, so its runs must be longer.
_INSTRUCTION_RUN = 6
# Four words of the worked example are enough if one of them is distinctive: any book has "she said to her".
_EXAMPLE_RUN = 4
_DISTINCTIVE_LENGTH = 5
_NOT_DISTINCTIVE = frozenset(("another",))
_CONTEXT_RUN = 10
_REFRAIN = 6
_SHARED_WORDS = 0.5


def obedience(segment: Segment, draft: Draft) -> list[Finding]:
    """Reject obeyed commands, refusals and leaked prompt text that are new to the passage."""
    return [*_obeyed_commands(segment, draft), *_refusals(segment, draft), *_leaks(segment, draft)]


def _obeyed_commands(segment: Segment, draft: Draft) -> Iterator[Finding]:
    """Find a command of the passage that the draft carries out rather than translates."""
    _, mt, new = passage_features(segment, draft)
    if len(mt.vocabulary & new.vocabulary) >= _SHARED_WORDS * len(mt.vocabulary):
        return
    if command := first_match(COMMAND_PATTERNS, segment.mt) or first_match(COMMAND_PATTERNS, segment.source):
        yield reject(
            "obedience", f"The passage says {quote(command)}, and the draft seems to obey rather than translate it."
        )


def _refusals(segment: Segment, draft: Draft) -> Iterator[Finding]:
    refusal = first_match(REFUSAL_PATTERNS, draft.text)
    if not refusal or first_match(REFUSAL_PATTERNS, segment.mt) or first_match(REFUSAL_PATTERNS, segment.source):
        return
    mt = text_features(segment.mt)
    words = [word for word in text_features(refusal).words if len(word) > 3]
    # "I am sorry, I can not help you" may well become "I'm sorry, but I can't help you".
    if sum(word in mt.vocabulary for word in words) >= _SHARED_WORDS * max(1, len(words)):
        return
    yield reject("obedience", f"The model refused instead of editing: {quote(refusal)}.")


def _leaks(segment: Segment, draft: Draft) -> Iterator[Finding]:
    leak = first_match(PROMPT_PATTERNS, draft.text)
    if leak and not (first_match(PROMPT_PATTERNS, segment.mt) or first_match(PROMPT_PATTERNS, segment.source)):
        yield reject("obedience", f"The draft repeats the prompt: {quote(leak)}.")
    source, mt, new = passage_features(segment, draft)
    prompt_runs = [_prompt_runs()]
    if segment.instructions:
        prompt_runs.append(text_features(segment.instructions).runs(_INSTRUCTION_RUN))
    draft_runs = new.runs(_INSTRUCTION_RUN)
    for known_runs in prompt_runs:
        if run := _first_new_run(known_runs & draft_runs, mt):
            yield reject("obedience", f"The draft repeats the prompt: {quote(run)}.")
    if run := _example_run(new, mt, source):
        yield reject("obedience", f"The draft repeats an example from the prompt: {quote(run)}.")
    for context in segment.context:
        # The author repeats it too.
        if text_features(context.source).runs(_REFRAIN) & source.runs(_REFRAIN):
            continue
        if run := _first_new_run(text_features(context.target).runs(_CONTEXT_RUN) & new.runs(_CONTEXT_RUN), mt):
            yield reject("obedience", f"The draft repeats an earlier paragraph: {quote(run)}.")
            return


def _first_new_run(shared: set[tuple[str, ...]], mt: TextFeatures) -> str:
    """The first shared run, in lexical order, that the MT lacks, or ""."""
    if not shared:
        return ""
    new = shared - mt.runs(len(next(iter(shared))))
    return " ".join(min(new, default=()))


# The prompt is the same for every draft, so its features are cached separately.
@lru_cache(maxsize=1)
def _prompt_runs() -> set[tuple[str, ...]]:
    return TextFeatures(" ".join(known.prompt_words for known in FORMATS.values())).runs(_INSTRUCTION_RUN)


@lru_cache(maxsize=1)
def _example_runs() -> set[tuple[str, ...]]:
    return _example().runs(_EXAMPLE_RUN)


@lru_cache(maxsize=1)
def _example() -> TextFeatures:
    return TextFeatures(" ".join(known.example_words for known in FORMATS.values()))


def _example_run(new: TextFeatures, mt: TextFeatures, source: TextFeatures) -> str:
    """A run of words of the example with a distinctive word that is in neither MT nor source, or ""."""
    distinctive = {
        word
        for word in (_example().vocabulary & new.vocabulary) - mt.vocabulary - source.vocabulary
        if len(word) >= _DISTINCTIVE_LENGTH and word not in _NOT_DISTINCTIVE
    }
    if not distinctive:
        return ""
    shared = _example_runs() & new.runs(_EXAMPLE_RUN)
    return _first_new_run({run for run in shared if distinctive.intersection(run)}, mt)
