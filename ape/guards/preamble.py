"""The model talking about its work, before the passage or after it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import regex

from ape import sentences
from ape.guards.reading import Reading, read, readings
from ape.guards.wording import quoted, reject
from ape.languages import name_of
from ape.segment import Draft, Segment
from ape.verdict import Finding


class Sign(NamedTuple):
    """A kind of wording that gives such talk away, and how much it weighs."""

    weight: int
    pattern: regex.Pattern[str]


def _sign(weight: int, *wordings: str) -> Sign:
    return Sign(weight, regex.compile(rf"(?<!\w)(?:{'|'.join(wordings)})(?!\w)", regex.IGNORECASE))


# Each sign counts once, and only by words that the MT does not have. None is enough alone: novels say "Of course!".
HEAD: tuple[Sign, ...] = (
    # the work itself, in the languages models answer in
    _sign(
        2,
        r"translat\w+", r"post[- ]?edit\w*", r"proof-?read\w*", r"re-?phras\w+", r"re-?writ\w+", r"re-?word\w+",
        r"revis(?:ed|ion|ions)", r"(?:copy-?)?edit(?:ed|s|ing)?", r"polish(?:ed|ing)", r"correct(?:ed|ion|ions)",
        r"improv(?:ed|ement|ements)", r"refin(?:ed|ement)", r"render(?:ed|ing)", r"(?:machine|mt) output",
        r"übersetz\w*", r"überarbeit\w*", r"lektor\w*", r"nachbearbeit\w*", r"tradu\w+", r"révis\w+", r"corrig\w+",
        r"correcci\w+", r"revisad\w+", r"revisi\w+", r"traduc\w+", r"traduz\w+", r"перев\w+", r"исправлен\w+",
        r"отредактиров\w+", r"tłumacz\w+", r"przekład\w*", r"vertaling\w*", r"çevir\w+", r"fordítás\w*", r"käännös\w*",
        r"översättning\w*", r"ترجم\w*", r"الترجمة",
    ),
    _sign(2, "as (?:you )?(?:requested|asked|instructed|an ai)", "(?:can|could|will|to) (?:help|assist)(?: you)?", "wie gewünscht",
          "comme demandé", "como pediste", "как вы просили"),
    # scripts without spaces have no word edges
    Sign(3, regex.compile("译文|翻译|譯文|翻譯|润色|修改后|校对|以下是|翻訳|訳文|修正版|推敲|번역|수정된")),
    _sign(
        1,
        "version", "draft", "passage", "paragraph", "sentence", "text", "output", "result", "answer", "response",
        "request(?:ed)?", "task", "instructions?", "fluent", "natural", "wording", "fassung", "text", "version",
        "texte", "texto", "versión", "versão", "testo", "версия", "текст", "вариант",
    ),
    _sign(
        1,
        "sure", "certainly", "of course", "absolutely", "okay", "ok", "alright", "all right", "great", "no problem", "thanks?(?: you)?",
        "understood", "got it", "happy to", "gladly", "glad to", "with pleasure", "definitely",
        "natürlich", "gerne?", "selbstverständlich", "bien sûr", "certainement", "volontiers", "claro", "por supuesto",
        "certo", "certamente", "com certeza", "конечно", "разумеется", "hello", "hi",
    ),
    Sign(1, regex.compile("当然|好的|没问题|もちろん|はい|承知|물론|네,")),
    _sign(
        1,
        "here(?:'s|’s| is| are| you go)?", "below", "following", "follows", "this is", "hier ist", "hier", "nachfolgend",
        "voici", "ci-dessous", "aquí", "aqui", "a continuación", "ecco", "segue", "вот", "ниже", "oto", "poniżej",
    ),
    _sign(
        1,
        "i(?:'ve|’ve|'ll|’ll|'m|’m| have| will| am| can| made| tried| kept| went)?", "my", "your", "you", "me", "let me",
        "ich", "ihre?", "je", "j'ai", "j’ai", "votre", "vous", "su", "mi", "yo", "he", "я", "ваш\\w*", "мой",
    ),
)  # fmt: skip
TAIL: tuple[Sign, ...] = (
    _sign(
        3,
        r"let me know", r"hope (?:this|that|it|these) helps?", r"feel free", r"happy to (?:help|assist|adjust|make|revise)",
        r"(?:further|additional|more|other|any) (?:changes|edits|adjustments|assistance|help|revisions|questions|tweaks)",
        r"if you(?:'d|’d| would)? (?:need|want|like|prefer|have)", r"(?:key |main |summary of )?changes(?: made)?:?",
        r"i(?:'ve|’ve| have)? (?:changed|kept|replaced|corrected|adjusted|preserved|fixed|removed|added|made|tried|edited"
        r"|rephrased|retained|left|maintained)",
        r"(?:end of|this) (?:translation|text|passage)", r"original (?:text|meaning|tone|style|source)",
        r"(?:translator(?:'s|’s)? |editor(?:'s|’s)? )?notes?\s*:", r"explanations?\s*:", r"remarks?\s*:",
        r"anmerkung(?:en)?\s*:", r"hinweis\s*:", r"remarque\s*:", r"nota\s*:", r"примечани[ея]\s*:", r"uwaga\s*:",
        r"lassen sie (?:es )?mich wissen", r"n['’]hésitez pas", r"faites-moi savoir", r"espero que", r"no dude",
        r"avísame", r"fammi sapere", r"дайте (?:мне )?знать", r"надеюсь, (?:это|что)",
    ),
    Sign(3, regex.compile("如果您?(?:还)?(?:有|需要)|希望(?:这|对)|请告诉我|注：|注:|说明：|ご要望|お知らせください|注：|도움이")),
    *HEAD[:5],
)  # fmt: skip
_ENOUGH = 3
_LONGEST_HEAD = 300
_MOST_PIECES = 3
_LABEL = regex.compile(r"^[\s*#>\"“«]{0,6}(?P<label>[\p{L}\p{M} ()/-]{2,40})\s?[:：](?=\s|$)")
_LABELS = frozenset(
    "translation|post-edit|post edit|postedit|edit|edited|revision|revised|revised version|corrected|corrected version"
    "|output|answer|response|result|final|final version|draft|mt|target|text|reply|übersetzung|traduction|traducción"
    "|traduzione|tradução|перевод|译文|翻译|翻訳|訳文|번역|vertaling|tłumaczenie|الترجمة".split("|")
)


def preamble(segment: Segment, draft: Draft) -> list[Finding]:
    """Talk that neither the MT nor the source has, at the head or the tail of the draft."""
    source, mt, new = readings(segment, draft)
    label = _label(segment, draft)
    if label:
        return [reject("preamble", f"The draft opens with a label, {quoted(label)}, that the MT does not have.")]
    for piece in _heads(draft.text):
        if _weight(piece, HEAD, mt, source) + _announces(piece, segment) >= _ENOUGH:
            return [reject("preamble", f"The draft opens with talk that is no part of the passage: {quoted(piece)}.")]
    for piece in _tails(draft.text):
        if _weight(piece, TAIL, mt, source) >= _ENOUGH:
            return [reject("preamble", f"The draft ends with talk that is no part of the passage: {quoted(piece)}.")]
    return []


def _label(segment: Segment, draft: Draft) -> str:
    match = _LABEL.match(draft.text)
    if not match or draft.text[: match.end()].strip() in segment.mt:
        return ""
    label = match["label"].strip().lower()
    languages = {name_of(code).lower() for code in (segment.source_language, segment.target_language)}
    return match.group() if label in _LABELS | languages else ""


def _heads(text: str) -> Iterator[str]:
    """The beginnings that might be talk: up to a colon, the first line, the first sentences."""
    start = text[:_LONGEST_HEAD]
    for mark in (":", "：", "\n", ". ", "! "):
        if mark in start:
            yield start[: start.index(mark) + 1]
    pieces = sentences.split(start)
    for count in range(1, min(_MOST_PIECES, len(pieces)) + 1):
        if len(pieces) > count:
            yield "".join(pieces[:count])


def _tails(text: str) -> Iterator[str]:
    """The endings that might be talk: the last line, the last sentences."""
    end = text[-_LONGEST_HEAD:]
    if "\n" in end.strip():
        yield end.strip().rsplit("\n", 1)[1]
    pieces = sentences.split(end)
    for count in range(1, min(_MOST_PIECES, len(pieces)) + 1):
        if len(pieces) > count:
            yield "".join(pieces[-count:])


def _weight(piece: str, signs: tuple[Sign, ...], mt: Reading, source: Reading) -> int:
    """The signs in a piece of the draft, unless most of its words are the MT's: then it is the passage that talks."""
    words = read(piece).words
    if not words or sum(word in mt.vocabulary for word in words) > _SHARED * len(words):
        return 0
    return sum(sign.weight for sign in signs if _shows(sign, piece, mt, source))


_SHARED = 0.6


def _shows(sign: Sign, piece: str, mt: Reading, source: Reading) -> bool:
    return any(
        not all(word in mt.vocabulary or word in source.vocabulary for word in read(match.group()).words)
        for match in sign.pattern.finditer(piece)
    )


def _announces(piece: str, segment: Segment) -> int:
    """A colon or a line of its own, where the MT's beginning has none."""
    if not piece.rstrip(" ").endswith((":", "：", "\n")):
        return 0
    start = segment.mt[:_LONGEST_HEAD]
    return 0 if piece.rstrip(" ")[-1] in start else 1
