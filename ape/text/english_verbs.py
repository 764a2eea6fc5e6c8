"""English verb forms, by a table of irregular verbs and by endings."""

from __future__ import annotations

from collections import defaultdict

# The base form, then the irregular forms.
_IRREGULAR = """
be am is are was were been being | have has had | do does did done | go goes went gone | say said
arise arose arisen | awake awoke awoken | bear bore borne born | beat beaten | become became
begin began begun | bend bent | bet | bid bade bidden | bind bound | bite bit bitten | bleed bled
blow blew blown | break broke broken | breed bred | bring brought | build built | burn burnt | burst
buy bought | cast | catch caught | choose chose chosen | cling clung | come came | cost | creep crept
cut | deal dealt | dig dug | draw drew drawn | dream dreamt | drink drank drunk | drive drove driven
dwell dwelt | eat ate eaten | fall fell fallen | feed fed | feel felt | fight fought | find found
flee fled | fling flung | fly flew flown | forbid forbade forbidden | forget forgot forgotten
forgive forgave forgiven | forsake forsook forsaken | freeze froze frozen | get got gotten
give gave given | grind ground | grow grew grown | hang hung | hear heard | hide hid hidden | hit
hold held | hurt | keep kept | kneel knelt | know knew known | lay laid | lead led | lean leant
leap leapt | learn learnt | leave left | lend lent | let | lie lay lain lying | light lit | lose lost
make made | mean meant | meet met | mistake mistook mistaken | overcome overcame | pay paid | put | quit
read | rend rent | ride rode ridden | ring rang rung | rise rose risen | run ran | see saw seen
seek sought | sell sold | send sent | set | shake shook shaken | shed | shine shone | shoot shot
show shown | shrink shrank shrunk | shut | sing sang sung | sink sank sunk | sit sat | slay slew slain
sleep slept | slide slid | sling slung | smell smelt | sow sown | speak spoke spoken | speed sped
spend spent | spill spilt | spin spun | spit spat | split | spoil spoilt | spread | spring sprang sprung
stand stood | steal stole stolen | stick stuck | sting stung | stink stank stunk | stride strode stridden
strike struck stricken | strive strove striven | swear swore sworn | sweep swept | swell swollen
swim swam swum | swing swung | take took taken | teach taught | tear tore torn | tell told | think thought
throw threw thrown | thrust | tread trod trodden | undergo underwent undergone | understand understood
undertake undertook undertaken | upset | wake woke woken | wear wore worn | weave wove woven | weep wept
win won | wind wound | withdraw withdrew withdrawn | withstand withstood | wring wrung
write wrote written | will would | shall should | can could | may might
"""
# Verbs that are rarely nouns: only for these is a final -s enough to identify a verb form.
_RARELY_NOUNS = """
be have do go say become begin bring buy choose come eat feel find forget get give grow hear hold keep
know leave let lie lose make mean meet put see seek sell send sing sit speak take teach tell think throw
understand wear write accept add agree allow appear arrive ask avoid believe belong carry consider contain
continue decide deny depend describe destroy die disappear enter exist expect explain fail follow gather
happen imagine improve include intend invite join listen live marry mention obey observe obtain perform
possess prefer prepare pretend prevent produce protect prove realise realize receive recognise recognize
refuse remain remember remove require save seem serve suffer suggest suppose tend thank tremble try want
warn
"""
_VERBS_ONLY = frozenset(_RARELY_NOUNS.split())
_SUBJECTS = frozenset({"i", "you", "he", "she", "it", "we", "they", "who", "which", "to"})
_NOUN_MARKERS = frozenset({"a", "an", "the", "my", "your", "his", "her", "its", "our", "their", "of", "these", "those"})
_VOWELS = frozenset("aeiou")
_ENDINGS = (("ies", "y"), ("ied", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""))


def are_forms_of_one_verb(before: str, after: str, *, word_before: str) -> bool:
    """Whether two different words are forms of one verb.

    A final -s may also mark a plural. Then the word before decides ("he walks", "the walks"), or whether the word is
    rarely a noun.
    """
    if before[:2] == after[:2] and _differ_by_final_s(before, after):
        is_verb = min(before, after, key=len) in _VERBS_ONLY and word_before not in _NOUN_MARKERS
        return is_verb or word_before in _SUBJECTS
    bases, others = _BASES.get(before), _BASES.get(after)
    if bases and others:
        return not bases.isdisjoint(others)
    if before[:2] != after[:2] or not (_is_past_or_ing(before) or _is_past_or_ing(after)):
        return False
    return _stem(before) == _stem(after)


def verb_base(word: str) -> str:
    """A key that all forms of a verb share: its base form if it is in the tables, else its stem."""
    return min(_BASES[word]) if word in _BASES else _stem(word)


def _stem(word: str) -> str:
    """The word without -s, -ed or -ing, and without a final -e or doubled consonant (hoping, stopped)."""
    for ending, replacement in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word[: -len(ending)] + replacement
            break
    word = word.removesuffix("e")
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word


def _differ_by_final_s(before: str, after: str) -> bool:
    short, long = sorted((before, after), key=len)
    return long in (short + "s", short + "es", short[:-1] + "ies")


def _is_past_or_ing(word: str) -> bool:
    return word.endswith(("ed", "ing")) and len(word) > 4


def _regular_forms(verb: str) -> set[str]:
    """The regular forms, both with and without a doubled final consonant."""
    if verb.endswith("e"):
        return {verb, verb + "s", verb + "d", verb[:-1] + "ing", verb + "ing"}
    if verb.endswith("y") and verb[-2] not in _VOWELS:
        return {verb, verb[:-1] + "ies", verb[:-1] + "ied", verb + "ing"}
    forms = {verb, verb + "s", verb + "es", verb + "ed", verb + "ing"}
    return forms | {verb + verb[-1] + "ed", verb + verb[-1] + "ing"}


def _all_forms() -> dict[str, frozenset[str]]:
    """Each form with the verbs it may belong to: "lay" belongs to "lay" and "lie"."""
    bases: defaultdict[str, set[str]] = defaultdict(set)
    verbs = [entry.split() for line in _IRREGULAR.splitlines() for entry in line.split("|") if entry.strip()]
    for first, *others in verbs + [[verb] for verb in _VERBS_ONLY]:
        for form in _regular_forms(first).union(others):
            bases[form].add(first)
    return {form: frozenset(verbs) for form, verbs in bases.items()}


_BASES = _all_forms()
_NOT_PAST = frozenset("am is are be been being has have does do goes go lying".split())
_PAST_MODALS = frozenset({"would", "could", "should", "might"})
_IRREGULAR_PAST = frozenset(
    form for row in _IRREGULAR.replace("\n", " | ").split("|") for form in row.split()[1:] if form not in _NOT_PAST
)


def is_past_form(word: str) -> bool:
    """Whether a word can be the past tense or the past participle of a verb."""
    lower = word.lower()
    return lower in _IRREGULAR_PAST or lower in _PAST_MODALS or (lower.endswith("ed") and len(lower) > 3)
