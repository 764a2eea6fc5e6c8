"""Function words by class (pronouns, connectives, auxiliaries, numerals), as readable tables.

There are tables for en fr de es it pt ru zh ja; other languages have empty ones. In a table, `_` represents a space
within an expression of several words.
"""

from __future__ import annotations

# A sure word determines the class of an edit alone ("her" -> "the" is a pronoun edit). A doubtful word ("that", "so",
# "one") has other uses too, and counts only if the other side is of the same class.
SURE_PRONOUNS = {
    "en": """i me my mine myself you your yours yourself yourselves he him his himself she her hers
             herself it its itself we us our ours ourselves they them their theirs themselves who whom
             whose someone somebody everyone everybody anyone anybody nobody no_one each_other one_another""",
    "fr": """je j' me m' moi tu te t' toi il elle lui se s' soi nous vous ils elles eux leur leurs mon ma
             mes ton ta tes son sa ses notre nos votre vos qui dont celui celle ceux celles""",
    "de": """ich mich mir mein meine meinen meinem meiner du dich dir dein deine deinen deinem deiner er
             ihn ihm sein seine seinen seinem seiner sie ihr ihre ihren ihrem ihrer es sich wir uns unser
             unsere unseren euch euer eure ihnen man""",
    "es": """yo me mí mi mis tú te ti tu tus él ella ello le les lo se sí su sus nosotros nosotras nos
             vosotros os ellos ellas usted ustedes quien quienes cuyo cuya nuestro nuestra nuestros
             nuestras""",
    "it": """io me mi mio mia miei mie tu te ti tuo tua tuoi tue egli lui lei ella esso essa gli si suo
             sua suoi sue noi ci nostro nostra voi vi vostro vostra loro essi esse""",
    "pt": """eu me mim meu minha meus minhas tu te ti teu tua ele ela lhe lhes se si seu sua seus suas nós
             nos nosso nossa vós vos eles elas você vocês dele dela deles delas""",
    "ru": """я меня мне мной мой моя моё мои ты тебя тебе тобой твой твоя твоё твои он его ему им нём него
             нему она её ей ею ней неё оно мы нас нам нами наш наша наше наши вы вас вам вами ваш ваша
             ваше ваши они их ими них ним себя себе собой свой своя своё свои своего своей своих""",
    "zh": "我 你 您 他 她 它 我们 咱们 你们 他们 她们 它们 自己 他自己 她自己 大家 人家",
    "ja": """私 僕 俺 わたし あなた 君 彼 彼女 彼ら 彼女ら 彼女たち 私たち 僕たち 我々 自分 あいつ こいつ
             お前""",
}
DOUBTFUL_PRONOUNS = {
    "en": "that this these those which what one ones something anything everything nothing all both each",
    "fr": "le la les l' que qu' on ce c' cela ça en y",
    "de": "der die das den dem deren dessen dieser diese dieses jener jene welcher welche welches",
    "es": "la los las que esto eso este esta ese esa aquel aquella",
    "it": "lo la li le l' ne che chi cui questo questa quello quella",
    "pt": "o a os as que quem isto isso este esta esse essa aquele aquela",
    "ru": "это этот эта эти тот та те то который которая которое которые кто что",
    "zh": "这 那 这个 那个 这些 那些 们 谁 其 之 此",
    "ja": "これ それ あれ この その あの 誰 方",
}
SURE_CONNECTIVES = {
    "en": """and but or nor however therefore because although though moreover furthermore nevertheless
             nonetheless thus hence whereas meanwhile otherwise besides instead consequently unless
             afterwards thereupon as_well_as even_though even_if as_if as_though as_soon_as so_that
             in_fact after_all of_course in_addition as_a_result for_example for_instance on_the_contrary
             on_the_other_hand in_order_to because_of thanks_to due_to owing_to despite in_spite_of
             at_last in_the_end at_the_same_time""",
    "fr": """et mais ou donc or ni car parce_que puisque cependant pourtant toutefois néanmoins quoique
             ainsi puis ensuite alors lorsque tandis_que afin_que bien_que en_effet""",
    "de": """und aber oder denn sondern doch jedoch weil obwohl deshalb deswegen daher trotzdem dennoch
             außerdem während nachdem bevor sodass damit also allerdings""",
    "es": """y e pero o sino porque aunque sin_embargo además entonces luego mientras pues así_que
             por_lo_tanto no_obstante ya_que""",
    "it": """e ed ma o oppure però perché poiché sebbene benché tuttavia dunque quindi inoltre allora
             mentre infatti anzi""",
    "pt": """e mas ou porém porque embora contudo todavia portanto então enquanto pois além_disso
             no_entanto""",
    "ru": """и но а или однако потому_что поэтому хотя зато также тоже затем потом если чтобы так_как пока
             когда ведь""",
    "zh": """但 但是 可是 不过 然而 而且 并且 或者 因为 所以 因此 于是 虽然 尽管 如果 要是 即使 然后 接着
             并 而 和 与 以及 同时 否则 除非 既然 只要 只有 此外 另外""",
    "ja": """しかし だが けれど けれども でも そして また だから したがって なぜなら ところが それで
             それから そこで すると さらに ただし つまり なので のに ながら もし""",
}
DOUBTFUL_CONNECTIVES = {
    "en": """so then as for since while when whenever if that before after until till once yet still also
             only either neither too rather now finally eventually than indeed""",
    "fr": "comme quand si que qu' après avant aussi enfin",
    "de": "als wenn da dass ob auch nun so bis",
    "es": "como cuando si que después antes también",
    "it": "come quando se che dopo prima anche poi",
    "pt": "como quando se que depois antes também",
    "ru": "что как то же ли да",
    "zh": "就 才 便 又 也 还 则 却",
    "ja": "が と ので から し て",
}
AUXILIARIES = {
    "en": """be am is are was were been being have has had having do does did done will would shall should
             can could may might must ought 'm 're 've 'll 'd""",
    "fr": """est es suis sont sommes êtes était étais étaient été être fut furent sera serait soit ai as a
             avons avez ont avait avais avaient avoir eut eu aura aurait ait""",
    "de": """bin bist ist sind seid war waren warst gewesen sein wäre wären habe hast hat haben habt hatte
             hatten gehabt hätte hätten werde wirst wird werden wurde wurden worden würde würden""",
    "es": """soy eres es somos son era eran fue fueron ser sido sea será sería estoy está están estaba
             estaban estuvo he ha han había habían haber hubo habrá habría""",
    "it": """sono sei è siamo siete era erano fu furono stato stata essere sarà sarebbe sia ho hai ha
             abbiamo hanno aveva avevano ebbe avere avrà avrebbe abbia""",
    "pt": """sou és é somos são era eram foi foram ser sido seja será seria estou está estão estava
             estavam tenho tem têm tinha tinham ter havia houve há""",
    "ru": "был была было были быть будет будут буду будем есть",
}
ARTICLES = {
    "en": "a an the",
    "fr": "le la les l' un une des du de d'",
    "de": "der die das den dem des ein eine einen einem einer eines",
    "es": "el la los las un una unos unas",
    "it": "il lo la i gli le l' un uno una un'",
    "pt": "o a os as um uma uns umas",
}
FUNCTION_WORDS = {
    "en": """of to in on at by with from into onto upon about over under above below between among through
             during against within without toward towards across behind beside beyond near off out up down
             back there here not n't no 's s t very""",
    "fr": "à au aux en dans par pour sur sous avec sans chez vers ne n' pas plus",
    "de": """in im an am auf aus bei beim mit nach von vom zu zum zur vor für über unter um nicht kein
             keine""",
    "es": "de del a al en con por para sin sobre entre hasta desde no",
    "it": "di del della dei delle a al alla in nel nella da dal con su per tra fra non",
    "pt": "além de do da dos das em no na nos nas por para com sem sobre ao à não",
    "ru": "в во на с со к ко у о об от из за по под над для при без до не ни бы же ли",
    "zh": "的 了 是 在 不 就 也 都 着 过 地 得 吗 呢 吧 啊 这 那 有 把 被 给 对 从 到 上 下 里 中 一 个",
    "ja": "は が を に で と も の へ か よ ね や た て し い る な れ",
}
SURE_NUMBERS = {
    "en": """two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
             seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred
             hundreds thousand thousands million millions billion dozen twice""",
    "fr": """deux trois quatre cinq six sept huit neuf dix onze douze treize quinze vingt trente quarante
             cinquante soixante cent cents mille million""",
    "de": """zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig dreißig vierzig fünfzig
             sechzig hundert tausend million""",
    "es": """dos tres cuatro cinco seis siete ocho nueve diez once doce veinte treinta cuarenta cincuenta
             cien mil""",
    "it": """due tre quattro cinque sei sette otto nove dieci undici dodici venti trenta quaranta
             cinquanta cento mille""",
    "pt": """dois duas três quatro cinco seis sete oito nove dez onze doze vinte trinta quarenta cinquenta
             cem mil""",
    "ru": """два две три четыре пять шесть семь восемь девять десять двенадцать двадцать тридцать сорок
             пятьдесят сто тысяча тысячи тысяч""",
}
DOUBTFUL_NUMBERS = {
    "en": "one first second third fourth fifth sixth seventh eighth ninth tenth half once zero several",
    "fr": "premier première second seconde",
    "de": "eins erste ersten zweite zweiten dritte dritten",
    "es": "uno primero segundo tercero",
    "it": "primo secondo terzo",
    "pt": "primeiro segundo terceiro",
    "ru": "первый второй третий",
    "zh": "〇 零 一 二 两 三 四 五 六 七 八 九 十 百 千 万 亿 几",
    "ja": "零 一 二 三 四 五 六 七 八 九 十 百 千 万 億",
}
# Words that often begin a sentence, and so are capitalised without being names.
ORDINARY = {
    "en": """yes no oh ah well please perhaps maybe never always often sometimes soon later today tomorrow
             yesterday suddenly again once even just such some any many much more most few several another
             other others every nothing something everything how why where whether whatever wherever like
             unlike long good great big large small little old young new next last first second people men
             women children man woman boy girl life time love death god god's night day morning evening
             let come go look listen take give get make tell say wait stop stand sit think keep sir madam
             father mother brother sister dear thanks thank poor nobody everybody away far deep high low
             half none nearly almost quite rather too inside outside"""
}
