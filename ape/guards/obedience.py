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

# Commands to a model, as they are smuggled into texts. Whoever says "forget the rules" in a novel is translated
# faithfully, and this guard looks no further.
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
# "I cannot help thinking" refuses nothing.
_HELP = r"help(?!\ (?:\w+ing|but|it|him|her|them|us)\b)"
_WORK = rf"(?:assist|{_HELP}|comply|translate|fulfil\w*|provide|process|do\ that|continue|answer|generate|create|edit)"
REFUSAL_PATTERNS: tuple[GuardPattern, ...] = (
    guard_pattern(
        "a refusal",
        "as an ai|language model|as a large|as an art|as an assistant",
        r"\bas\ an?\ (?:ai|artificial|large\ language|language\ model|assistant)\b",
    ),
    guard_pattern(
        "a refusal",
        "unable to|not able to",
        rf"\bi(?:\ a|['’])m\ (?:unable|not\ able)\ to\ (?:\w+\ ){{0,2}}{_WORK}\b",
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
        "a refusal",
        "désolé|qu'ia|qu’ia",
        r"\bje\ suis\ désolée?,?\ (?:mais\ )?je\ ne\ peux | \ben\ tant\ qu['’]ia\b",
    ),
    guard_pattern(
        "a refusal",
        "lo siento|mi dispiace",
        r"\blo\ siento,?\ (?:pero\ )?no\ puedo | \bmi\ dispiace.{0,6}non\ posso",
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
# So many words in a row are no coincidence. The context is told in the same voice, so there it takes more.
_INSTRUCTION_RUN = 6
# Of the worked example four are enough, if one of them tells something: any book has "she said to her".
_EXAMPLE_RUN = 4
_TELLING = 5
_TELLS_NOTHING = frozenset(("another",))
_CONTEXT_RUN = 10
_REFRAIN = 6
_KEPT = 0.5


def obedience(segment: Segment, draft: Draft) -> list[Finding]:
    """Commands of the passage carried out, refusals, and our own words, where the MT has no such thing."""
    return [*_obeyed(segment, draft), *_refused(segment, draft), *_leaked(segment, draft)]


def _obeyed(segment: Segment, draft: Draft) -> Iterator[Finding]:
    """A command in the passage must still be in the draft, as words."""
    _, mt, new = passage_features(segment, draft)
    command = first_match(COMMAND_PATTERNS, segment.mt) or first_match(COMMAND_PATTERNS, segment.source)
    if command and len(mt.vocabulary & new.vocabulary) < _KEPT * len(mt.vocabulary):
        yield reject(
            "obedience",
            f"The passage says {quote(command)}, and the draft seems to obey it instead of translating it.",
        )


def _refused(segment: Segment, draft: Draft) -> Iterator[Finding]:
    refusal = first_match(REFUSAL_PATTERNS, draft.text)
    if (
        not refusal
        or first_match(REFUSAL_PATTERNS, segment.mt)
        or first_match(REFUSAL_PATTERNS, segment.source)
    ):
        return
    mt = text_features(segment.mt)
    said = [word for word in text_features(refusal).words if len(word) > 3]
    # "I am sorry, I can not help you" may well become "I'm sorry, but I can't help you".
    if sum(word in mt.vocabulary for word in said) >= _KEPT * max(1, len(said)):
        return
    yield reject("obedience", f"The model refuses instead of editing: {quote(refusal)}.")


def _leaked(segment: Segment, draft: Draft) -> Iterator[Finding]:
    told = first_match(PROMPT_PATTERNS, draft.text)
    if told and not (
        first_match(PROMPT_PATTERNS, segment.mt) or first_match(PROMPT_PATTERNS, segment.source)
    ):
        yield reject("obedience", f"The draft repeats what the model was told: {quote(told)}.")
    source, mt, new = passage_features(segment, draft)
    told_by_us = [_own_runs()]
    if segment.instructions:
        told_by_us.append(text_features(segment.instructions).runs(_INSTRUCTION_RUN))
    said = new.runs(_INSTRUCTION_RUN)
    for told_runs in told_by_us:
        if run := _least(told_runs & said, mt):
            yield reject("obedience", f"The draft repeats what the model was told: {quote(run)}.")
    if run := _example_run(new, mt, source):
        yield reject("obedience", f"The draft repeats the example the model was shown: {quote(run)}.")
    for context in segment.context:
        # What the author says twice is said twice.
        if text_features(context.source).runs(_REFRAIN) & source.runs(_REFRAIN):
            continue
        if run := _least(text_features(context.target).runs(_CONTEXT_RUN) & new.runs(_CONTEXT_RUN), mt):
            yield reject("obedience", f"The draft repeats an earlier paragraph: {quote(run)}.")
            return


def _least(shared: set[tuple[str, ...]], mt: TextFeatures) -> str:
    """One of the runs that draft and we share, the same each time, but for those that the MT has too."""
    if not shared:
        return ""
    fresh = shared - mt.runs(len(next(iter(shared))))
    return " ".join(min(fresh, default=()))


# What we say is the same for every draft, so it is read once, apart from the texts that come and go.
@lru_cache(maxsize=1)
def _own_runs() -> set[tuple[str, ...]]:
    return TextFeatures(" ".join(known.prompt_words for known in FORMATS.values())).runs(_INSTRUCTION_RUN)


@lru_cache(maxsize=1)
def _example_runs() -> set[tuple[str, ...]]:
    return _example().runs(_EXAMPLE_RUN)


@lru_cache(maxsize=1)
def _example() -> TextFeatures:
    return TextFeatures(" ".join(known.example_words for known in FORMATS.values()))


def _example_run(new: TextFeatures, mt: TextFeatures, source: TextFeatures) -> str:
    """A few words of the example with a telling one among them that neither the MT nor the source has."""
    telling = {
        word
        for word in (_example().vocabulary & new.vocabulary) - mt.vocabulary - source.vocabulary
        if len(word) >= _TELLING and word not in _TELLS_NOTHING
    }
    if not telling:
        return ""
    shared = _example_runs() & new.runs(_EXAMPLE_RUN)
    return _least({run for run in shared if telling.intersection(run)}, mt)
