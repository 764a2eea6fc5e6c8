"""English names by capitalisation rules, without a model.

A run of capitalised words is a name unless grammar requires the capital: at the start of a sentence or quotation, only
words that are not English words count, or that are capitalised elsewhere in the text. The label comes from words in and
around the name (Mr., University, "in") and small tables of places and peoples; the rest are persons, the most frequent
case in fiction. So the rules confuse unmarked persons and places, miss names that are ordinary words at the start of a
sentence ("Rose laughed"), know works of art only as several capitals in quotation marks, and take all-capital and
title-cased lines for headings without names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ape.text.common_words import is_common_word
from eval.linguistics.annotators.english_tags import is_known
from eval.linguistics.annotators.protocol import NamedEntity, Token, strip_possessive

_TITLES = frozenset(
    """mr mrs ms miss dr doctor prof professor sir madam lady lord king queen prince princess captain general colonel
    major lieutenant sergeant inspector president chairman chairwoman director master mistress mademoiselle madame
    monsieur don doña signor signora herr frau saint st father mother sister brother uncle aunt auntie grandma grandpa
    elder senior junior young old count countess baron baroness duke duchess emperor empress""".split()
)
_PEOPLES = frozenset(
    """american african asian european chinese japanese korean english british french german italian spanish russian
    greek roman dutch polish turkish indian persian arab arabic jewish jew christian muslim buddhist taoist hindu
    catholic protestant irish scottish welsh danish swedish norwegian finnish austrian swiss hungarian czech bulgarian
    portuguese mexican canadian australian brazilian egyptian vietnamese thai mongolian tibetan cantonese latin
    americans europeans russians germans italians jews christians muslims romans greeks turks arabs indians""".split()
)
_PLACES = frozenset(
    """america africa asia europe china japan korea england britain france germany italy spain russia greece rome
    holland poland turkey india persia egypt ireland scotland wales denmark sweden norway finland austria switzerland
    hungary bulgaria portugal mexico canada australia brazil vietnam thailand mongolia tibet taiwan beijing shanghai
    guangzhou shenzhen nanjing hangzhou chengdu wuhan tianjin hong_kong macau tokyo kyoto osaka seoul london paris
    berlin vienna moscow madrid lisbon venice naples milan constantinople istanbul new_york washington chicago
    california texas hollywood singapore sydney united_states united_kingdom soviet_union""".split()
)
_PLACE_WORDS = frozenset("city county province state kingdom empire republic town village island islands".split())
_BUILT_WORDS = frozenset(
    """bridge hotel airport street road avenue square palace hospital station tower temple hall church cathedral castle
    mansion villa restaurant plaza stadium park""".split()
)
_BODY_WORDS = frozenset(
    """university college school academy company corporation corp inc ltd co group bank ministry department party
    committee council association institute union club agency entertainment studio studios media press times news
    weibo wechat google facebook twitter microsoft apple amazon""".split()
)
_NEVER = frozenset(
    """i monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december mon tue wed thu fri sat sun ok okay tv god oh ah""".split()
)
_INNER = frozenset(("of", "de", "du", "von", "van", "der", "la", "le", "al", "bin"))
_OPENING = frozenset(("``", "''", "(", ":"))
_QUOTES = frozenset(("``", "''"))
# A line with this share of capitals is a heading.
_HEADING = 0.8


def find_names(text: str, tokens: Sequence[Token], sentences: Sequence[int]) -> tuple[NamedEntity, ...]:
    """The names in a text, in order."""
    heads = _heads(tokens, frozenset(sentences))
    if _is_heading(tokens):
        return ()
    inside = {token.text for place, token in enumerate(tokens) if place not in heads and _has_capital(token)}
    capital = [
        _has_capital(token) and (place not in heads or token.text in inside or _is_name_at_head(token, tokens, place))
        for place, token in enumerate(tokens)
    ]
    found = (_entity(text, tokens, start, end) for start, end in _runs(tokens, capital))
    return tuple(entity for entity in found if entity is not None)


def _heads(tokens: Sequence[Token], starts: frozenset[int]) -> frozenset[int]:
    """Positions where any word is capitalised: after a sentence start, a quotation mark or a colon."""
    heads = set()
    fresh = False
    for place, token in enumerate(tokens):
        fresh = fresh or place in starts
        if fresh and token.text[0].isalnum():
            heads.add(place)
        fresh = token.tag in _OPENING or (fresh and not token.text[0].isalnum())
    return frozenset(heads)


def _is_heading(tokens: Sequence[Token]) -> bool:
    words = [token.text for token in tokens if token.text[0].isalpha()]
    capitals = sum(word[0].isupper() for word in words)
    whole = sum(word.isupper() and len(word) > 1 for word in words)
    return len(words) > 3 and (capitals >= _HEADING * len(words) or 2 * whole > len(words))


def _has_capital(token: Token) -> bool:
    word = token.text
    # T-shirt, C-list
    return word[0].isupper() and word.lower() not in _NEVER and not (word[1:2] == "-" and word[2:].islower())


def _is_name_at_head(token: Token, tokens: Sequence[Token], place: int) -> bool:
    """Whether a word at such a position is a name nevertheless."""
    small = token.text.lower()
    after = tokens[place + 1] if place + 1 < len(tokens) else None
    if small in _PEOPLES or small in _PLACES or small.rstrip(".") in _TITLES:
        return True
    if not (is_known(small) or is_common_word(small)):
        return True
    # "Song Cheng stood": a word before an unknown name is part of it.
    follows = after is not None and _has_capital(after) and not is_known(after.text.lower())
    return follows and token.tag in ("NN", "NNP", "JJ", "VBG") and not token.text.isupper()


def _runs(tokens: Sequence[Token], capital: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Runs of capitalised words, optionally joined by "of", "de" …."""
    place = 0
    while place < len(tokens):
        if not capital[place]:
            place += 1
            continue
        end = place + 1
        while end < len(tokens):
            if capital[end]:
                end += 1
            elif tokens[end].text in _INNER and end + 1 < len(tokens) and capital[end + 1]:
                end += 2
            else:
                break
        yield place, end
        place = end


def _entity(text: str, tokens: Sequence[Token], start: int, end: int) -> NamedEntity | None:
    first = start
    while first < end and _key(tokens[first]) in _TITLES:
        first += 1
    if first == end:
        return None
    label = "PERSON" if first > start else _label(tokens, first, end)
    left, right = tokens[first].start, tokens[end - 1].end
    return strip_possessive(NamedEntity(text[left:right], left, right, label))


def _label(tokens: Sequence[Token], start: int, end: int) -> str:
    words = [_key(token) for token in tokens[start:end]]
    whole = "_".join(words)
    before = _key(tokens[start - 1]) if start else ""
    if whole in _PEOPLES:
        return "NORP"
    if whole in _PLACES or words[-1] in _PLACE_WORDS or words[0] in _PLACE_WORDS:
        return "GPE"
    if words[-1] in _BUILT_WORDS:
        return "FAC"
    if words[-1] in _BODY_WORDS or (words[0] in _BODY_WORDS and len(words) > 1):
        return "ORG"
    if len(words) > 1 and before and _in_quotes(tokens, start, end):
        return "WORK_OF_ART"
    if len(words) == 1 and before in ("in", "throughout", "near"):
        return "GPE"
    acronym = len(words) == 1 and tokens[start].text.isupper() and len(words[0]) > 1
    return "ORG" if acronym else "PERSON"


def _in_quotes(tokens: Sequence[Token], start: int, end: int) -> bool:
    return tokens[start - 1].tag in _QUOTES and end < len(tokens) and tokens[end].tag in _QUOTES


def _key(token: Token) -> str:
    return token.text.lower().rstrip(".")
