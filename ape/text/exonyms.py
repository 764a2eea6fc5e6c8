"""Names that differ between languages: Germany is Saksamaa and Allemagne, James is Jacques and Яков.

Each line holds the lower-case stems of one people, place or given name. A word belongs to the group of its longest
stem. Names that sound alike in all languages are left to `ape.text.phonetics`.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

_GROUPS = """
german deutsch allem tedesc alem saks нем герман neam nemț duits niem tysk teuton
french france franc franz prants франц gaul gall frank
english england britain british briton engl angl ingl brit англ брит suurbrit marea великобр uk
scot schott écoss šot шотл scoț escoc
irish ireland irland iiri ирланд
welsh wales galles waliis уэльс
dutch netherlands holland niederl нидерл голл oland madalmaa
greek greece hellen grec griech kreek греч грек
hungar magyar ungar ungur ungari венг hongr maghiar
finn finland soom фин suom
swed rootsi швед suede suède schwed sued
danish danes denmark taani датск датч dänem dansk danez
norw norra норв noorw norveg
russia rus vene росс русск рос
soviet nõukogu совет
estonia eest estland эст
latvia läti латы lett letto
livon liiv lihav ливон
lithuan leed литв
pole polish poland poola поль польш польск polon
czech bohem tšehh чех чеш ceh böhm boeem
jew judai hebrew israel juut juudi евре жид иуд evre iud juif hebr heebrea ebra
spain spanish span hispaan испан espa
portug португ lusitan
ital италь olasz włoch
venet venic venez venis venedig венец
serb serv сербс сербы sârb
bulgar bulgaar болгар
croat hrvat kroaat хорват
persia pärsia perse перс iran
armen armeen армян
albania albaan албан
asia aasia азиа
swiss switzerland schwei šveits швейц elve suiss
austria öster österr autrich австр
turk turkey ottoman osman otoman türg турец турц turc
egypt egipt египет ägypt
chin hiina китай
japan jaapan япон giapp
indian india инди hind
georgia gruus груз
ukrain украин
roman rome roma rooma rim рим roumania romania român rumeen rumän румын
byzant bütsants визан bizan
moor maur мавр
cossack kasak казак cazac
wallach vlach valah валах muntean
prussia preis preuß preuss прусс prus
bavaria baier bayer бавар
saxon saksi sas saș sași саксон
transylvan ardeal ardel transilvan siebenbürg семигр
boer bur burilor бур
slav славян slaav
arab aarab арап
europe euroop евро
america usa states ameerik амер сша états staat ühendrii
christ jesus saviour savior iisus isus хрис иис krist kreș creș crăciun crǎciun jõulu рожд jeesus mântui
easter pentecost pasch paște pashk pâques ostern пасх троиц rusal lihavõt neliputki
transnistr transdn приднестр
africa aafrika
vienna viin вена wien
danube doonau dunăre дуна donau
rhine rein rhein рейн
riga riia
peking beijing peking
john jaan jean johann hans ioan ion иоанн иван ivan juan giov joão jan ян
george jüri georg юри георг gheorghe jorge giorg yuri
charle karl carol carl carlos карл carlo käroly
william wilhelm guillaume guillermo guglielmo вильгельм willem
henry heinrich henri enrique enrico генри генрих hendrik
lewis louis ludwig luis luigi людовик ludovic
peter pierre petr petru pedro pietro пётр петр peeter
paul pavel pablo paolo павел paavel
james jacob jacques iacob jaime giacomo иаков яков diego jakob
stephen steven ștefan stefan étienne esteban степан стефан tapani
francis françois francisco francesco franc фран franz
elijah elias ilie илья eelija
mary maria marie мари maarja măria
catherine kath katharina caterina ecaterina екатер катер
elizabeth elisabeth elisabet isabel елизавет
michael mihai michel miguel michele михаил mihkel mihhail
matthew matei mathieu matteo матфе матве
luke luca luc лука
mark marcu marc марк
andrew andrei andré andrea андре andres
alexander alexandru alexandre alejandro алекс aleks
nicholas nicolae nicolas николай nikolai niccol
lord domn herr seigneur господ issand
saint sfânt sfân san sankt свят püha heil
"""


# The least share of a word that its stem makes up: Kristallnacht does not belong to Christ.
_MIN_STEM_SHARE = 0.4


@lru_cache(maxsize=1)
def _stems() -> dict[str, int]:
    return {
        _without_accents(stem): line for line, text in enumerate(_GROUPS.strip().splitlines()) for stem in text.split()
    }


def _without_accents(word: str) -> str:
    return "".join(sign for sign in unicodedata.normalize("NFD", word) if not unicodedata.combining(sign))


@lru_cache(maxsize=20_000)
def exonym_group(word: str) -> int:
    """The group of a lower-case word, as a number, or -1."""
    stems = _stems()
    word = _without_accents(word)
    for end in range(len(word), max(1, int(_MIN_STEM_SHARE * len(word)) - 1), -1):
        if word[:end] in stems:
            return stems[word[:end]]
    return -1
