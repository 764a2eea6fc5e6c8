"""Comments of the model about its own work, before or after the passage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import regex

from ape.guards.messages import quote, reject
from ape.guards.text_features import TextFeatures, WordStep, lowercase_words, passage_features, word_steps
from ape.passage.result import Finding
from ape.passage.segment import Draft, Segment
from ape.text import sentences
from ape.text.languages import language_name


class PreamblePattern(NamedTuple):
    """A wording that is typical of such comments, and its weight."""

    weight: int
    pattern: regex.Pattern[str]


def _preamble_pattern(weight: int, *wordings: str) -> PreamblePattern:
    return PreamblePattern(weight, regex.compile(rf"(?<!\w)(?:{'|'.join(wordings)})(?!\w)", regex.IGNORECASE))


# Each pattern counts once, and only for words that are not in the MT. Novels say "Of course!" and "Here is the text",
# so several patterns must match.
_WORK = _preamble_pattern(
    2,
    r"translat\w+|post[- ]?edit\w*|proof-?read\w*|re-?phras\w+|re-?writ\w+|re-?word\w+|revis(?:ed|ions?)",
    r"(?:copy-?)?edit(?:ed|s|ing)?|correct(?:ed|ions?)|improv(?:ed|ements?)|refin(?:ed|ement)|render(?:ed|ing)",
    r"polish(?:ed|ing)|mt output",
    r"übersetz\w*|überarbeit\w*|lektor\w*|nachbearbeit\w*|tradu\w+|révis\w+|corrig\w+|correcci\w+|revisad\w+|revisi\w+",
    r"перев(?:од|ед)\w*|исправлен\w+|отредактиров\w+|tłumacz\w+|przekład\w*|vertaling\w*|çevir\w+|fordítás\w*|käännös\w*",
    r"översättning\w*|ترجم\w*|الترجمة",
)
# Scripts without spaces have no word boundaries.
_WORK_UNSPACED = PreamblePattern(
    3, regex.compile("译文|翻译|譯文|翻譯|润色|修改后|校对|翻訳|訳文|修正版|推敲|번역|수정된")
)
_SERVICE = _preamble_pattern(
    2,
    r"as (?:you )?(?:requested|asked|instructed|an ai)|(?:can|could|will|to|happy to) (?:help|assist)(?: you)?",
    r"wie gewünscht|comme demandé|como pediste|как вы просили",
)
_TEXT = _preamble_pattern(
    1,
    r"version|draft|passage|paragraph|sentence|text|output|result|answer|response|request(?:ed)?|task|instructions?",
    r"fluent|natural|natural-sounding|wording|grammar|fassung|texte|texto|versión|versão|testo|версия|текст|вариант",
)
_EAGER = _preamble_pattern(
    1,
    r"sure|certainly|of course|absolutely|okay|ok|alright|all right|great|no problem|thanks?(?: you)?|understood",
    r"happy to|gladly|glad to|with pleasure|definitely|hello|hi|got it|natürlich|gerne?|selbstverständlich|bien sûr",
    r"volontiers|certainement|claro|por supuesto|certo|certamente|com certeza|конечно|разумеется",
)
_EAGER_UNSPACED = PreamblePattern(1, regex.compile("当然|好的|没问题|以下|もちろん|はい|承知|물론|네,"))
_POINTING = _preamble_pattern(
    1,
    r"here(?:['’]s| is| are| you go)?|below|follow(?:ing|s)|this is|hier(?: ist)?|nachfolgend|voici|ci-dessous",
    r"aquí|aqui|a continuación|ecco|segue|вот|ниже|oto|poniżej",
)
_PERSON = _preamble_pattern(
    1,
    r"i(?:['’](?:ve|ll|m)| have| will| am| can| made| tried| kept| went)?|my|your|you|me|let me|ich|ihre?|je|j['’]ai",
    r"votre|vous|mi|yo|he|я|ваш\w*|мой",
)
HEAD_PATTERNS: tuple[PreamblePattern, ...] = (
    _WORK, _WORK_UNSPACED, _SERVICE, _TEXT, _EAGER, _EAGER_UNSPACED, _POINTING, _PERSON,
)  # fmt: skip
_FAREWELL = _preamble_pattern(
    3,
    r"let me know|hope (?:this|that|it|these) helps?|feel free|happy to (?:help|assist|adjust|revise)|no dude en",
    r"if you(?:['’]d| would)? (?:need|like|prefer) (?:any|me|a|more)|lassen sie (?:es )?mich wissen|n['’]hésitez pas",
    r"faites-moi savoir",
    r"(?:further|additional|other|any) (?:changes|edits|adjustments|assistance|revisions|questions|tweaks)|avísame",
    r"fammi sapere|дайте (?:мне )?знать|надеюсь, (?:это|что)",
)
_NOTE = _preamble_pattern(
    3,
    r"(?:(?:translator|editor)['’]?s? )?notes?\s?:|explanations?\s?:|remarks?\s?:|(?:key |main )?changes(?: made)?\s?:",
    r"anmerkung(?:en)?\s?:|hinweis\s?:|remarque\s?:|nota\s?:|примечани[ея]\s?:|uwaga\s?:|summary of changes",
)
_REPORT = _preamble_pattern(
    2,
    r"i(?:['’]ve| have)?(?: also| only)? (?:changed|kept|replaced|adjusted|preserved|fixed|removed|added|retained"
    r"|corrected|edited|translated|rephrased|improved|made)",
    r"original (?:text|meaning|tone|style|source)|(?:end of|this) (?:translation|text|passage)",
)
_FAREWELL_UNSPACED = PreamblePattern(
    3, regex.compile("请告诉我|希望(?:这|对).{0,6}帮助|[注说][明释]?[：:]|お知らせください|도움이")
)
TAIL_PATTERNS: tuple[PreamblePattern, ...] = (
    _FAREWELL,
    _FAREWELL_UNSPACED,
    _NOTE,
    _REPORT,
    _WORK,
    _WORK_UNSPACED,
    _SERVICE,
    _TEXT,
)
_MIN_WEIGHT = 3
_MAX_CHARACTERS = 300
_MIN_AGREEING_WORDS = 4
_MAX_SENTENCES = 3
# A piece with a larger share of words from the MT is part of the passage.
_SHARED = 0.6
_LABEL = regex.compile(r"^[\s*#>\"“«]{0,6}(?P<label>[\p{L}\p{M} ()/-]{2,40})\s?[:：](?=\s|$)")
_LABELS = frozenset(
    """
    translation|post-edit|post edit|postedit|edit|edited|revision|revised|revised version|corrected|corrected version
    edited version|output|answer|response|result|final|final version|draft|mt|target|text|reply|übersetzung|traduction
    traducción|traduzione|tradução|перевод|vertaling|tłumaczenie|译文|翻译|翻訳|訳文|번역|الترجمة
    """.replace("\n    ", "|").split("|")
)


def preamble(segment: Segment, draft: Draft) -> list[Finding]:
    """Reject a label or a comment at the beginning or end of the draft that is new to the passage."""
    if label := _label(segment, draft):
        return [reject("preamble", f"The draft begins with a label that is not in the MT: {quote(label)}.")]
    source, mt, new = passage_features(segment, draft)
    path = word_steps(segment.mt, draft.text)
    for piece in _heads(draft.text) if not _agrees(path[:1]) else ():
        announced = _announces(piece, segment)
        if not (announced or _is_extra(piece, mt, new)):
            continue
        if _weight(piece, HEAD_PATTERNS, mt, source) + announced >= _MIN_WEIGHT:
            return [
                reject("preamble", f"The draft begins with a comment that is not part of the passage: {quote(piece)}.")
            ]
    for piece in _tails(draft.text) if not _agrees(path[-1:]) else ():
        own_line = f"\n{piece}" in draft.text and "\n" not in segment.mt
        if not (own_line or _is_extra(piece, mt, new)):
            continue
        if _weight(piece, TAIL_PATTERNS, mt, source) + own_line >= _MIN_WEIGHT:
            return [
                reject("preamble", f"The draft ends with a comment that is not part of the passage: {quote(piece)}.")
            ]
    return []


def _label(segment: Segment, draft: Draft) -> str:
    match = _LABEL.match(draft.text)
    if not match or match.group().strip() in segment.mt:
        return ""
    label = match["label"].strip().lower()
    languages = {language_name(code).lower() for code in (segment.source_language, segment.target_language)}
    return str(match.group()) if label in _LABELS | languages else ""


def _agrees(end: tuple[WordStep, ...]) -> bool:
    """Whether at least a few words at this end of the draft equal those of the MT."""
    return bool(end) and end[0].kind == "equal" and end[0].end - end[0].start >= _MIN_AGREEING_WORDS


def _heads(text: str) -> Iterator[str]:
    """The beginnings that may be comments: up to a colon, the first line, the first sentences."""
    start = text[:_MAX_CHARACTERS]
    found = [start[: start.index(mark) + 1] for mark in (":", "：", "\n", ". ", "! ") if mark in start]
    pieces = sentences.split_sentences(start)
    found += ["".join(pieces[:count]) for count in range(1, min(_MAX_SENTENCES + 1, len(pieces)))]
    yield from dict.fromkeys(found)


def _tails(text: str) -> Iterator[str]:
    """The endings that may be comments: the last line, the last sentences."""
    end = text[-_MAX_CHARACTERS:].strip()
    found = [end.rsplit("\n", 1)[1]] if "\n" in end else []
    pieces = sentences.split_sentences(end)
    found += ["".join(pieces[-count:]) for count in range(1, min(_MAX_SENTENCES + 1, len(pieces)))]
    yield from dict.fromkeys(found)


def _weight(piece: str, patterns: tuple[PreamblePattern, ...], mt: TextFeatures, source: TextFeatures) -> int:
    words = lowercase_words(piece)
    if not words or sum(word in mt.vocabulary for word in words) > _SHARED * len(words):
        return 0
    return sum(candidate.weight for candidate in patterns if _matches(candidate, piece, mt, source))


def _matches(candidate: PreamblePattern, piece: str, mt: TextFeatures, source: TextFeatures) -> bool:
    return any(
        not all(word in mt.vocabulary or word in source.vocabulary for word in lowercase_words(match.group()))
        for match in candidate.pattern.finditer(piece)
    )


def _announces(piece: str, segment: Segment) -> bool:
    """Whether the piece ends with a colon or a line break that the beginning of the MT lacks."""
    last = piece.rstrip(" ")[-1:]
    return last in (":", "：", "\n") and last not in segment.mt[:_MAX_CHARACTERS]


def _is_extra(piece: str, mt: TextFeatures, new: TextFeatures) -> bool:
    """Whether the draft has more sentences than the MT, or enough more words to hold this piece."""
    if len(new.sentences) > len(mt.sentences):
        return True
    longer = len(new.words) - len(mt.words)
    return longer >= 0 and longer >= len(lowercase_words(piece)) / 2
