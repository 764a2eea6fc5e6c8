"""English verb forms: whether two words are forms of one verb, by a table of verbs and by their endings."""

from __future__ import annotations

from collections import defaultdict

# The base, then the forms that no rule gives.
_IRREGULAR = """
be am is are was were been being | have has had | do does did done | go goes went gone | say said
arise arose arisen | awake awoke awoken | bear bore borne born | beat beaten | become became | begin began begun
bend bent | bet | bid bade bidden | bind bound | bite bit bitten | bleed bled | blow blew blown | break broke broken
breed bred | bring brought | build built | burn burnt | burst | buy bought | cast | catch caught | choose chose chosen
cling clung | come came | cost | creep crept | cut | deal dealt | dig dug | draw drew drawn | dream dreamt
drink drank drunk | drive drove driven | dwell dwelt | eat ate eaten | fall fell fallen | feed fed | feel felt
fight fought | find found | flee fled | fling flung | fly flew flown | forbid forbade forbidden | forget forgot forgotten
forgive forgave forgiven | forsake forsook forsaken | freeze froze frozen | get got gotten | give gave given
grind ground | grow grew grown | hang hung | hear heard | hide hid hidden | hit | hold held | hurt | keep kept
kneel knelt | know knew known | lay laid | lead led | lean leant | leap leapt | learn learnt | leave left | lend lent
let | lie lay lain lying | light lit | lose lost | make made | mean meant | meet met | mistake mistook mistaken
overcome overcame | pay paid | put | quit | read | rend rent | ride rode ridden | ring rang rung | rise rose risen
run ran | see saw seen | seek sought | sell sold | send sent | set | shake shook shaken | shed | shine shone
shoot shot | show shown | shrink shrank shrunk | shut | sing sang sung | sink sank sunk | sit sat | slay slew slain
sleep slept | slide slid | sling slung | smell smelt | sow sown | speak spoke spoken | speed sped | spend spent
spill spilt | spin spun | spit spat | split | spoil spoilt | spread | spring sprang sprung | stand stood | steal stole stolen
stick stuck | sting stung | stink stank stunk | stride strode stridden | strike struck stricken | strive strove striven
swear swore sworn | sweep swept | swell swollen | swim swam swum | swing swung | take took taken | teach taught
tear tore torn | tell told | think thought | throw threw thrown | thrust | tread trod trodden | undergo underwent undergone
understand understood | undertake undertook undertaken | upset | wake woke woken | wear wore worn | weave wove woven
weep wept | win won | wind wound | withdraw withdrew withdrawn | withstand withstood | wring wrung | write wrote written
will would | shall should | can could | may might
"""
# Verbs that are hardly ever nouns: for these alone a final -s tells a verb form without a look at the context.
_NEVER_NOUNS = frozenset(
    """be have do go say become begin bring buy choose come eat feel find forget get give grow hear hold keep know
    leave let lie lose make mean meet put see seek sell send sing sit speak take teach tell think throw understand
    wear write accept add agree allow appear arrive ask avoid believe belong carry consider contain continue decide
    deny depend describe destroy die disappear enter exist expect explain fail follow gather happen imagine improve
    include intend invite join listen live marry mention obey observe obtain perform possess prefer prepare pretend
    prevent produce protect prove realise realize receive recognise recognize refuse remain remember remove require
    save seem serve suffer suggest suppose tend thank tremble try want warn""".split()
)
# What stands before a verb, and what before a noun.
SUBJECTS = frozenset({"i", "you", "he", "she", "it", "we", "they", "who", "which", "to"})
NOUN_MARKERS = frozenset(
    """a an the my your his her its our their this these those of in on at by with from into for no some any
    all many few several two three four five six seven eight nine ten""".split()
)
_VOWELS = frozenset("aeiou")
_ENDINGS = (("ies", "y"), ("ied", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""))


def are_forms_of_one_verb(before: str, after: str) -> bool:
    """Whether two different words are forms of one verb, as far as the words alone can tell.

    A mere final -s makes a plural as often as a verb form, so it tells only for words that are hardly ever nouns.
    """
    if differ_by_final_s(before, after):
        return min(before, after, key=len) in _NEVER_NOUNS
    if before in _BASES and after in _BASES:
        return not _BASES[before].isdisjoint(_BASES[after])
    return stem(before) == stem(after) and (_is_past_or_ing(before) or _is_past_or_ing(after))


def differ_by_final_s(before: str, after: str) -> bool:
    """Whether one word is the other with -s, -es or -ies at the end."""
    short, long = sorted((before, after), key=len)
    return long in {short + "s", short + "es", short[:-1] + "ies"}


def base(word: str) -> str:
    """A key that the forms of a verb share: the base where we know the verb, the word without its ending else."""
    return min(_BASES[word]) if word in _BASES else stem(word)


def stem(word: str) -> str:
    """The word without -s, -ed or -ing, and without what these change in the spelling ("hoping", "stopped")."""
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word[: -len(ending)] + instead
            break
    word = word.removesuffix("e")
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word


def _is_past_or_ing(word: str) -> bool:
    return word.endswith(("ed", "ing")) and len(word) > 4


def _regular_forms(base: str) -> set[str]:
    """The forms by rule, with a doubled final consonant and without: no harm if one of the two is no word."""
    if base.endswith("e"):
        return {base, base + "s", base + "d", base[:-1] + "ing", base + "ing"}
    if base.endswith("y") and base[-2] not in _VOWELS:
        return {base, base[:-1] + "ies", base[:-1] + "ied", base + "ing"}
    forms = {base, base + "s", base + "es", base + "ed", base + "ing"}
    return forms | {base + base[-1] + "ed", base + base[-1] + "ing"}


def _all_forms() -> dict[str, frozenset[str]]:
    bases: defaultdict[str, set[str]] = defaultdict(set)
    verbs = [entry.split() for line in _IRREGULAR.splitlines() for entry in line.split("|") if entry.strip()]
    for first, *others in verbs + [[verb] for verb in sorted(_NEVER_NOUNS)]:
        for form in _regular_forms(first).union(others):
            bases[form].add(first)
    return {form: frozenset(of) for form, of in bases.items()}


_BASES = _all_forms()
