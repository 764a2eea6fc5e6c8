"""The gender and number that the words of a mention show: pronouns, titles, kinship, occupations, first names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

MentionGender: TypeAlias = Literal["masculine", "feminine", "neuter", "plural", "unknown"]
GENDERS: tuple[MentionGender, ...] = ("masculine", "feminine", "neuter", "plural")

PRONOUN_TYPES = ("I", "we", "you", "he", "she", "it", "they", "other")
_PRONOUNS = {
    "I": "i me my mine myself",
    "we": "we us our ours ourselves",
    "you": "you your yours yourself yourselves thou thee thy thine ye thyself",
    "he": "he him his himself",
    "she": "she her hers herself",
    "it": "it its itself",
    "they": "they them their theirs themselves",
}
_TYPE = {word: kind for kind, words in _PRONOUNS.items() for word in words.split()}
GENDER_OF_TYPE: Mapping[str, MentionGender] = {
    "he": "masculine",
    "she": "feminine",
    "it": "neuter",
    "they": "plural",
    "we": "plural",
}
REFLEXIVES = frozenset("myself ourselves yourself yourselves himself herself itself themselves thyself".split())
POSSESSIVES = frozenset("my our your thy his her its their".split())

_MASCULINE = frozenset(
    """mr mister sir lord king prince duke count baron emperor squire monsieur herr signor master father dad daddy papa
    pa man men boy boys gentleman gentlemen husband son brother uncle grandfather grandpa nephew fellow lad bridegroom
    groom widower bachelor monk priest bishop abbot pope king's knight waiter actor god hero wizard schoolboy
    stepfather godfather fiancé sailor soldier captain footman butler coachman boatswain chap guy bloke
    headmaster policeman
    john william james george charles henry thomas robert edward richard joseph david peter paul michael frank fred
    frederick arthur walter albert harry jack tom jim bill bob sam samuel daniel stephen philip andrew mark martin
    hugh ralph roger simon oliver edgar edwin ernest francis alexander alfred anthony antony archibald augustus
    benjamin bertram christopher clarence cyril donald douglas duncan edmund eustace felix gilbert godfrey gregory
    harold herbert horace hubert isaac jacob jasper jeremiah jerome jonathan joshua julian laurence lawrence leonard
    leopold lewis louis matthew maurice nathaniel ned neil nicholas nick noah norman oscar patrick percy philip pip
    raymond reginald rupert sebastian sidney silas stanley theodore timothy tony victor vincent wilfred dick joe ben
    adam abraham alan basil bernard brian carl colin dennis denis eric gerald gordon ivan jean karl kenneth luke
    marcus max miles nathan pierre roderick rodney roy stuart tobias ulysses huck tarzan""".split()
)
_FEMININE = frozenset(
    """mrs ms miss madam ma'am lady queen princess duchess countess baroness empress madame mademoiselle signora frau
    mistress mother mom mama mamma mum mummy ma woman women girl girls wife daughter sister aunt auntie grandmother
    grandma niece bride widow spinster nun abbess waitress actress goddess heroine witch maid maiden housemaid
    schoolgirl stepmother godmother fiancée governess housekeeper hostess landlady nurse lass damsel milkmaid
    mary anne ann anna jane elizabeth emma emily sarah margaret alice catherine katherine kate kitty charlotte
    caroline eleanor ellen helen harriet fanny frances louisa lucy maria martha nancy rebecca rachel rose ruth sophia
    susan victoria amelia agnes ada beatrice bertha bessie betsy betty bridget cecilia clara constance cora daisy
    diana dora dorothea dorothy edith eliza ellie elsie esther ethel eva eve evelyn flora florence georgiana gertrude
    grace gwendolen hannah henrietta hester hilda ida irene isabel isabella janet jean jenny jessie joan josephine
    judith julia juliet laura lena lily linda lizzie lottie lydia mabel madeline maggie marianne marian marie marion
    maud matilda may mildred minnie miriam molly muriel myra nell nellie nora olive olivia pamela patty peggy penelope
    phoebe polly priscilla rosa rosalie rosamond sally selina sophy stella sylvia teresa theresa una ursula viola
    violet virginia winifred""".split()
)
_PLURAL_WORDS = frozenset("people men women children folk folks gentlemen ladies police persons both couple".split())


def pronoun_type(word: str) -> str | None:
    """One of PRONOUN_TYPES but "other"; None if it is no personal pronoun."""
    return _TYPE.get(word.lower())


def gender_of_words(words: Sequence[str], tags: Sequence[str], *, kind: str, head: int) -> MentionGender:
    """The gender of a mention by its words; `head` is the place of its head noun."""
    if kind == "pronoun":
        return GENDER_OF_TYPE.get(pronoun_type(words[0]) or "", "unknown")
    low = [word.lower().rstrip(".") for word in words[: head + 1]]
    if kind == "common" and (tags[head] in ("NNS", "NNPS") or low[head] in _PLURAL_WORDS):
        return "plural"
    if "and" in low and kind == "name":
        return "plural"
    for word in low if kind == "name" else [low[head], *low[:head]][:1]:
        if word in _MASCULINE:
            return "masculine"
        if word in _FEMININE:
            return "feminine"
    return "unknown"
