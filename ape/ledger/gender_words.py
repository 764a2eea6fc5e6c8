"""Words that tell a gender: forms of address, kinship and pronouns of the source, and English nouns for people."""

from __future__ import annotations

from ape.ledger.entity import Gender

# Directly after a Chinese or Japanese name.
TITLES_AFTER = {
    "zh": {
        Gender.FEMALE: "小姐 夫人 太太 女士 姑娘 公主 娘娘 阿姨 姐姐 妹妹 大姐 大嫂 奶奶 婆婆 "
        "妈妈 王妃 女王 皇后 师姐 师妹 仙子 大妈 大娘 老太 老太太 老太君 老夫人 伯母 婶婶 嫂子 姑姑",
        Gender.MALE: "先生 公子 少爷 王子 叔叔 伯伯 哥哥 弟弟 爷爷 大爷 大叔 老爷 老爷子 师兄 师弟 皇帝 国王 大哥 兄弟 "
        "伯父 舅舅 老头 老头子",
    },
    "ja": {Gender.FEMALE: "ちゃん 嬢 夫人 姫", Gender.MALE: "君 くん"},
}
# Directly before a name.
TITLES_BEFORE = {
    "fr": {Gender.FEMALE: "madame mademoiselle mme mlle sœur comtesse baronne", Gender.MALE: "monsieur m. frère baron"},
    "de": {Gender.FEMALE: "frau fräulein gräfin baronin", Gender.MALE: "herr herrn graf baron"},
    "ru": {Gender.FEMALE: "госпожа мадам княгиня графиня", Gender.MALE: "господин князь граф"},
    "es": {Gender.FEMALE: "señora señorita doña", Gender.MALE: "señor don"},
    "it": {Gender.FEMALE: "signora signorina donna", Gender.MALE: "signor don"},
    "pt": {Gender.FEMALE: "senhora dona", Gender.MALE: "senhor dom"},
}
# What a person is said to be in the clause that begins with the name: 是老葛的孙女.
KINSHIP = {
    "zh": {
        Gender.FEMALE: "孙女 女儿 妻子 母亲 妈妈 姐姐 妹妹 奶奶 外婆 寡妇 女孩 姑娘 女人 少女",
        Gender.MALE: "孙子 儿子 丈夫 父亲 爸爸 哥哥 弟弟 爷爷 外公 男孩 小伙子 男人 少年",
    }
}
PRONOUNS = {
    "zh": {Gender.FEMALE: "她", Gender.MALE: "他"},
    "ja": {Gender.FEMALE: "彼女", Gender.MALE: "彼"},
    "fr": {Gender.FEMALE: "elle", Gender.MALE: "il"},
    "de": {Gender.FEMALE: "sie", Gender.MALE: "er"},
    "ru": {Gender.FEMALE: "она", Gender.MALE: "он"},
    "es": {Gender.FEMALE: "ella", Gender.MALE: "él"},
    "it": {Gender.FEMALE: "lei ella", Gender.MALE: "lui egli"},
    "pt": {Gender.FEMALE: "ela", Gender.MALE: "ele"},
}
# Forms of a pronoun in the source that may refer to a person of this gender, besides the subject form.
OTHER_PRONOUNS = {
    "fr": {Gender.FEMALE: "celle-ci celle-là", Gender.MALE: "celui-ci celui-là"},
    "de": {Gender.FEMALE: "ihr ihre ihren ihrem ihrer", Gender.MALE: "ihn ihm sein seine seinen seinem seiner"},
    "ru": {Gender.FEMALE: "её ее ей ею ней неё нее", Gender.MALE: "его ему им нём нем него нему ним"},
}
# People without a name: a pronoun in their paragraph may be theirs.
UNNAMED = {
    "zh": "少女 女子 女人 女孩 姑娘 妇人 老妇 丫头 男子 男人 男孩 少年 青年 老头 老者 老人 中年人 小孩 孩子 "
    "对方 那人 此人 儿子 女儿 母亲 父亲 妈妈 爸爸 妈咪 爹地 妻子 丈夫 女仆 师妹 师姐 师兄 师弟 妹妹 姐姐 哥哥 弟弟"
}
# English nouns for people, by the pronoun that can refer to them; others may be either.
MEN = frozenset(
    "man men boy boys father dad daddy papa brother brothers son sons husband uncle grandfather grandpa grandson king "
    "prince lord sir gentleman gentlemen mister emperor duke baron count monk priest abbot guy guys fellow lad nephew "
    "bridegroom widower hero wizard".split()
)
WOMEN = frozenset(
    "woman women girl girls mother mom mum mommy mama sister sisters daughter daughters wife aunt grandmother grandma "
    "granddaughter queen princess lady ladies madam maid empress duchess baroness nun witch niece bride widow heroine "
    "miss".split()
)
PEOPLE = frozenset(
    "person people child children baby kid kids friend friends doctor teacher student students soldier soldiers "
    "captain general colonel officer guard guards master servant servants chief boss leader assistant enemy enemies "
    "someone somebody anyone everyone one other others another stranger neighbour neighbor cousin partner lover twin "
    "driver owner merchant notary technician engineer elder elders grandparent parent parents disciple disciples "
    "advisor adviser secretary manager director president patient guest visitor killer thief host figure opponent "
    "orphan heir bodyguard sniper pilot commander villager villagers dog cat horse wolf dragon beast monster creature "
    "demon ghost spirit animal bird".split()
)
