"""English words that may be capitalised in titles, institutions and forms of address without being names.

The list holds common nouns, adjectives and verbs in their base forms, and all function words. Words that are also given
names or surnames (Rose, Mark, Miller) are left out.
"""

from __future__ import annotations

from functools import lru_cache

# Endings and their replacements, which turn a form into the listed base form.
_ENDINGS = tuple(
    pair.split(">")
    for pair in (
        "s> es> ies>y men>man ed> ed>e bed>b ged>g led>l med>m ned>n ped>p red>r ted>t ing> ing>e ning>n ping>p"
        " ting>t ly> ness> al> al>e ial> ical> ical>y ic> ic>y ment> ion> ion>e ation> ation>e ional>ion ary> ory>"
        " ory>e ist> ist>y ism> ful> less> ship> hood> able> able>e ous> ive> ive>e y> ors>or ers>er"
    ).split()
)
_PLURALS = frozenset(("s", "es", "ies", "ed", "ing"))
_SHORTEST_BASE = 3
_SHORTEST_DERIVED = 5

_COMMON_WORDS = frozenset(
    """
a abbess abbey abbot abbé ability able about above absence absolute abstract academic academy accident accord
account accuse achieve achievement acid across act acting action active activity actor actress actually adjust
administer administration admiral admire admit adopt adult advance advantage adventure advice adviser affair
affairs affection after afternoon afterwards again against age agency agent ages agree agreement agriculture
ah aha aid aim air airport alarm alas album alien all alley alliance allied ally almost alone along alphabet
already also altar alternate although always am amateur amazing ambassador ambition amid among an ancient and
angel angels anger angle angry animal anniversary announce annual another answer ant anthem anti antique
anxiety any anybody anyone anything apartment apostle apostles apparatus apparently appeal appear appearance
appendix apple apply appoint apprentice approach approve aquarium arc arch archbishop archduke architect
archive archives are area arena argue arise arm armada armor armour army around arrest arrival arrow art
article artificial artillery artist as ash ask asleep aspect assault assemble assembly assign assist associate
association astronomy asylum at athlete atlas atmosphere atom atomic attack attempt attend attention attic
attitude attorney attract auction audience aunt author authority autumn avenue average award aware away awful
axe axis baby bachelor back bad badge bag bake balance balcony bald ball ballad ballet balloon ballot bamboo
banana band bandit bank banker bankrupt banner banquet baptism bar barbarian barber bare barely bark barn
baron baroness baroque barrack barracks barrel barricade barrier basalt base basic basilica basin basis basket
basketball bastard bastion bat bath battalion battery battle bay bazaar be beach bead beam bean bear beard
beast beat beauty beaver because become bed bee beef been beer beetle before beggar begin behave being belief
believe bell belly belong beloved below belt bench bend beneath benefit beside besides best betray better
between bible bicycle big billion bind biography biology bird birds birth birthday biscuit bishop bit bite
bitter black blackbird blacksmith blade blame blanket blast blaze bless blessing blind block blockade blood
bloody blossom blow blown blue board boat body boil bold bolt bomb bone book boot border born borough bosom
boss both bottle bottom bought boulevard boundary bow bowl box boy brain branch brand brass brave bread break
breakfast breast breath breed bribe brick bride bridge brief brigade bright bring broad broadcast broken
bronze brother brotherhood brothers brought brown brush bubble bucket budget buffalo build building built bull
bullet bureau burial burn burning bus bush business busy but butcher butter butterfly button buy by cabin
cabinet cable cadet cafe café cage cake calendar calf caliph call came camel camera camp campaign can canal
canary cancel cancer candidate candle candy cannon canon canteen canto canyon cap capable cape capital captain
capture car caravan card cardinal care career cargo carnival carpenter carpet carriage carry cart cartoon
carve case cash casket cast castle casual cat catalogue catastrophe catch category cathedral cattle caught
cause cavalry cave cease cedar ceiling celebrate celestial cell cellar cemetery census cent center central
centre century ceremony certain certainly certificate chain chair chairman chairwoman chalk challenge chamber
champion championship chance chancellor change channel chapel chapter character charge chariot charity charm
chart charter chase chasm cheap check checker cheek cheer cheese chef chemical chemist chemistry cherry chess
chest chestnut chick chief child children chimney chin chocolate choice choir choose chorus chosen chronicle
church cigar cinema circle circuit circus citadel citizen city civic civil civilian claim clan class classic
classical classroom claw clean clear clearly clergy clerk clever client cliff climate climb clinic clock close
closed cloth clothes cloud clown club clue co coach coal coalition coast coat cobra cock code coffee coffin
coin cold collaborate collapse collar colleague collect college colonel colonial colony color colossus colour
column comb combat combine combined come comedy comet comfort comic command commander comment commerce
commission commit committee common commonwealth commune communicate communism communist community companion
company compare compass compete competition complain complete complex composer compound comprehensive
compromise computer comrade conceal concept concern concert conclude concrete condemn condition conductor
confederate confederation conference confess confidence confirm conflict confusion congregation congress
connect conquer conqueror conquest conscience conservative consider constable constellation constitution
consul consult contact contain contemporary content contest continent continental continue contract contrary
contrast control convent convention conversation convert convict cook cool copper copy coral cord core corn
corner coronation corporal corporate corporation corps corpse correct correspond corridor corrupt cosmic
cosmos cost costume cottage cotton couch cough could council counsel count counter countess counties country
countryside county coup couple courage course court courtesy courtyard cousin cover cow coward cowboy crab
cradle craft crane crash crater crazy cream create creation creator creature credit creed creek crescent crew
cricket crime criminal crimson crisis critic critique crocodile crop cross crossing crossroad crow crowd crown
crucial crucifix crucifixion crude cruel cruise crusade crush cry cube cuckoo cult cultural culture cup
cupboard cure curious currency current curse curtain curve custom customer cut cycle czar dad daily dairy dam
damage dance danger dare dark darkness darling dash data date daughter day days deacon dead deadly deaf deal
dean dear death debate debt decade decide decision deck declaration declare decline decorate decree deep deer
defeat defence defend defense define degree deity delay delegate delicate delight deliver delta demand
democracy democrat democratic demon demons denial dense dentist deny depart department depend depot depress
depression depth deputy descend descent desert deserve design desire desk despair desperate despite destiny
destroy destruction detail detect detective determine develop development devil devote diagram dialect
dialogue diamond diary dictator dictionary did die diet differ difficult dig digital dignity dinner diocese
diploma diplomat direct direction director dirt disaster disciple discipline discover discuss disease disguise
dish dismiss disorder display dispute distance distant district divide divine division divorce do dock doctor
doctrine document does dog doing doll dollar dolphin domain dome domestic dominion done donkey doom door
double doubt dove down dozen draft dragon dragoon drama draw drawn dream dress drill drink drive drop drown
drug drum dry duchess duchy duck due duel duke dull during dust duty dwarf dwell dynamic dynasty each eager
eagle ear earl earlier early earn earth earthquake ease east eastern easy eat ebony echo eclipse ecology
economic economics economy ecstasy eden edge edict edit edition educate education eel effect effort egg eight
eighth either elbow elder elect election electric electronic elegy element elephant elevator eleven elf elite
embassy emblem embrace emerald emergency emotion emperor emperors empire employ empress empty enable encounter
encyclopedia end enemy energy engage engine engineer enjoy enlightenment enormous enough ensemble enter
enterprise entertain enthusiasm entire entity entrance entry envelope environment envoy envy epic epidemic
epilogue episode epoch epochs equal equator era erase errand error escape escort essay essence establish
estate eternal ethic ethnic evacuate evaluate eve even evening event eventual eventually ever every everybody
everyone everything everywhere evidence evil evolution ex exact examine example excellent except exchange
excite excuse execute executioner executive exercise exhibit exhibition exile exist exit exodus exotic expand
expect expedition expense experience experiment expert explain explode exploit explore explosion export
exposition express extend external extinct extra extraordinary extreme eye eyes fable fabric face factor
factory faculty fade fail faint fair fairy faith falcon fall falls false fame family famine famous fan fancy
fantasy far farewell farm fascism fascist fashion fast fat fatal fate father fatherland fault favor favorite
favour fear feast feather feature federal federation fee feed feel fell fellow felt female fence fern ferry
fertile festival feud feudal fever few fewer fiction field fields fierce fifteen fifth fight figure file film
filter final finally finance find fine finger finish fir fire fireplace firm first fish fist fit five fix flag
flame flash flat flavor fleet flesh flight float flock flood floor flora flour flow flower flowers flown flute
fly fog fold folk follow food fool foot football for force forces forecast foreign forest forever forge forget
forgive fork form formal former formula fort fortress fortune forty forum forward fossil fought found
foundation fountain four fourth fox fraction fragment frame franchise free freedom freeze freight frequent
fresh friar friend frog from front frontier frost frozen fruit fuel fugitive full fun function fund funeral
funny fur furious furnace furniture furthermore fury future galaxy gallery gallows game games gang gap garage
garden gardens garlic garment garrison gas gate gates gather gave gazette gear gem gender general generation
generous genesis genius genre gentle gentleman genuine geography geology get ghost ghosts giant gift girl give
given glacier glad glass gleam global globe gloom glory glove glow go goal goat god goddess gods gold golden
golf gone good goodbye goods goose gorge gospel gossip got gothic govern government governor grade gradual
grain grammar grand grandfather grandma grandmother grandpa grandson grant grape graph grass grateful grave
gravity gray great greater greed green greet grenade grey grief grim grin groove ground group grove grow grown
growth guarantee guard guardian guards guerrilla guess guest guide guild guilt guitar gulf gun guy gypsy habit
had hail hair half hall halls hammer hand handbook handle hands hang happen happy harbor harbour hard hardly
harm harmony harp harvest has hat hate have haven having hawk hay he head headline headquarters heal health
heap hear heart heat heathen heaven heavy hedge height heir held helicopter hell hello helmet help hen hence
her herald herb herd here heritage hermit hero heroes hers herself hesitate hey hi hidden hide hierarchy high
highland highness highway hill hills him himself hint hip hire his historic historical history hit hobby hold
hole holiday hollow holocaust holy homage home homeland honest honey honor honour hood hook hope horizon horn
horror horse horseman horses hospice hospital host hostage hostel hostile hot hotel hound hour house household
houses housing how however human humanity humble humor hunchback hundred hunger hungry hunt hurricane hurt
husband hush hut hymn i ice idea ideal identity ideology idiot idle idol if illness illusion image imagine
imam immediate immense immigrant immortal impact imperial import important impossible impress improve impulse
in inch incident income increase indeed independence independent index indicate individual industrial industry
infant infantry inferno infinite influence inform inhabit inherit initial injury ink inn inner innocent
inquiry inquisition inquisitor insect inside inspect inspector inspire install instant instead instinct
institute instruct instrument insult insurance integral intellect intelligence intend intense intent inter
interest interim interior internal international interpret interval interview interwar intimate into
introduction invade invasion invent invest investigate invisible invite iron irony is island islands isle
isolate issue it item its itself ivory jacket jail jar jaw jazz jealous jelly jet jewel job join joint joke
journal journey jubilee judge judgment juice jump junction jungle junior jurist jury just justice keen keep
kennel kept kettle key kick kid kidnap kill kin kind king kingdom kings kiss kitchen kite kitten knee knew
knife knight knights knock knot know knowledge known label labor laboratory labour labyrinth lack ladder lady
laid lake lamb lamp lance land landlord landscape lane language lantern large lark laser last late later laugh
launch laundry law lawn laws lawyer layer layout lazy lead leader leaf league leap learn lease least leather
leave lecture led left leg legacy legal legate legend legion legislature leisure lemon lend length lens lent
leopard less lesser lesson let letter letters level lever liar liberal liberate liberation liberty library
license lie lieutenant life lifetime lift light lighthouse lightning like limb lime limit line linen link lion
lip liquid list listen literal literary literature litter little live liver living load loan lobby local lock
lodge log logic lonely long look loop loose lord lords lose loss lost lot lotus loud lounge love low lower
loyal luck lullaby lumber lunar lunch lung lust lute luxury lyric machine mad madam madame made madman
magazine magic magician magistrate magnet magnificent maid mail main maintain majesty major make male malice
mall mama mammal man manage manager mandate manifesto manner manor mansion manual manufacture manuscript many
map maple marathon marble marchioness margin margrave marine maritime market marquess marquis marquise
marriage marry marsh marshal martial martyr marvel mask mass massacre massive mast master masterpiece match
mate material mathematics matrix matter mature mausoleum maybe mayor maze me meadow meal mean meant meanwhile
measure meat mechanic mechanical medal media medical medicine medieval meet melody melt member memoir memoirs
memorial memory men menace mention menu merchant mercy mere merge merit mermaid merry message messenger
messiah metal meteor method metro metropolis metropolitan middle midnight might mighty migrate mile military
militia milk mill millennium million mind mine miner mineral minister ministry minor minority minstrel mint
minute miracle mirror misery miss missile mission missionary mist mistake mistress mix mob mobile mock model
moderate modern modest mom moment monarch monastery money monitor monk monkey monopoly monster month monument
mood moon moral more moreover morning mortal mosaic mosque most mother motion motive motor motorway mount
mountain mountains mourn mouse mouth move movement movie mrs ms much mud mule multiple mum mummy municipal
municipality murder muscle muse museum mushroom music musician musket must mustang mutiny mutual my myself
mystery myth mythology nail naked name narrow nasty nation national nationalist nations native natural nature
naughty naval navigate navy near nearly neat necessary neck necklace need needle negative neighbor neighbour
neither neo nephew nerve nest net network neutral never nevertheless new news newspaper next nice niece night
nightingale nightmare nine ninth no nobel noble nobody noise nomad non none nonetheless noon nor normal north
northeast northern northwest nose not note nothing notice notion novel novice now nowhere nuclear number
numerous nun nurse nut nymph oak oar oath obey object obligations oblige obscure observatory observe obvious
obviously occasion occupy ocean odd ode of off offend offer office officer official often oh oil ok okay old
olympic olympics omen on once one oneself onion only onto oops open opera operate operation opinion opponent
opportunity oppose opposite optional or oracle oral orange orbit orchard orchestra order ordinary ore organ
organic organisation organization organize orient origin orphan other otherwise ought our ours ourselves out
outer outlaw outside oven over overseas owe owl own owner ox oxygen pace pacific pack pact paddle pagan page
paid pain paint pair palace pale palm pan panel panic panther papa papacy papal paper parade paradise
paragraph parallel pardon parent parish park parliament parliamentary part partial participate particle
partisan partner party pass passage passenger passion passport past pasta pastor path patience patient
patriarch patriot patriotic patrol patron pattern pause pave pavilion pay peace peach peacock peak peasant pen
penalty pencil peninsula pension pensioner people peoples pepper per percent perch perfect perform perhaps
peril period permanent permit perpetual persecution person personal persuade phantom pharaoh phase phenomenon
philosopher philosophy phoenix phone phoney photo photograph phrase physic physical physician physics piano
pick picnic picture piece pier pig pigeon pile pilgrim pillar pilot pine pink pioneer pipe pirate pistol pit
pitch pity place plague plain plains plan plane planet plant plantation plaster plate plateau platform play
player playground plaza pleasant please pleasure pledge plenty plot plow plum plunge pneumonia pocket poem
poems poet poetry point poison polar pole police policy polite political politician politics poll pond pony
pool poor pop pope popular population porcelain porch port portal portrait position positive possess possible
possibly post postal pot potato pottery pound poverty powder power practical practice praise pray prayer pre
preach precious predator preface prefect prefecture prefer pregnant prelude premier premise prepare
prescription presence present preserve presidency president press pressure pretend pretty prevent previous
prey price pride priest primary prime primitive prince princess principal principality principle print prior
priority prison privacy private privilege prize pro probable probably problem proceed process proclaim
proclamation produce product profession professor profile profit program programme progress project prologue
promise promote proof propaganda proper property prophecy prophet proposal propose prose prosecutor prospect
protect protest protocol proud prove proverb provide province provision provost psalm psalms psychology public
publication publish publisher publishing pull pulse pump punish pupil puppet pure purgatory purple purpose
pursue push put puzzle pyramid quality quantity quarrel quarry quarter queen quest question quick quiet quilt
quite quote rabbi rabbit race racing rack radar radiation radical radio raft rage raid rail railroad railway
rain rainbow raise rally ram ran ranch range rank ransom rapid rare rarely rat rate rather rational raven raw
reach react read ready real reality really realm reason rebel rebellion recall receive recent reception
recession recipe record recover recreation recruit rectangle rector red redemption reduce reef refer
referendum reflect reform reformation refuge refugee refuse regain regard regent regime regiment region
register registry regret regular regulation reich reign reject relate relation relax release relic relief
religion religious reluctant rely remain remark remedy remember remote remove renaissance rent repair repeat
replace reply report represent reptile republic republican reputation request rescue research reserve
reservoir residence resist resistance resolution resort resource respect respond rest restaurant restoration
restore result resurrection retail retire retreat return reunion reveal revenge revenue reverse review revise
revival revive revolt revolution revolutionary reward rhyme rhythm ribbon rice rich riddle ride rider ridge
rifle right ring riot ripe rise risk rite ritual rival river rivers road roar rob robe robot rock rocket rod
rogue role roll romance romantic roof room root rope rough round route row royal rugby ruin rule ruler rules
rumor run rural rush rust sabre sack sacred sacrifice sad saddle safe safety saga sage said sail sailor saint
sake salad salary sale salmon salon saloon salt salvation same sample samurai sanctuary sand sandy sapphire
sat satellite satire satisfy sauce savage save savior saviour saw saxophone say scale scandal scar scarcely
scarlet scatter scene schedule scheme scholar school science scientific scientist scissors scorpion scout
scream screen script scripture sculptor sculpture sea seal seaman search seas season seat second secret
secretariat secretary section sector secular secure security sedition see seed seek seen segment seize seldom
select self sell senate senator senior sense sensible sent sentence sentinel separate sequence serf sergeant
serial series serious sermon serpent servant serve service session set settle settlement seven seventh several
severe sexual shadow shah shake shall shallow shame shape share shark sharp she shed sheep sheet shelf shell
shelter shepherd sheriff shield shift shine ship shipyard shirt shock shoe shoot shop shore short shot should
shoulder shout show shower shown shrine shrink shut shy sick side siege sight sign signal silence silent silk
silly silver similar simple sin since sing singer single sink sir siren sister sisterhood site situation six
sixth skeleton sketch ski skill skin skirt skull sky skyscraper slain slaughter slave sleep slender slept
slide slip slope sloth slow small smart smell smile smoke smooth snail snake snow so soap soccer social
socialism socialist society sociology soft soil solar soldier sole solid solitude solo solution solve some
somebody someone something sometimes son sonata song songs sonnet soon sorcerer sorrow sorry sort sought soul
sound soup source south southeast southern southwest sovereign space spade spare spark sparrow speak speaker
spear special species speech speed spell spend spent sphere sphinx spice spider spirit spirits spiritual spite
splendid split spoil spoon sport spot spread spring springs spy squad squadron square squire squirrel stable
stadium staff stage stair stake stall stamp stand standard staple star stare stars start state statement
states station statistics statue status stay steady steal steam steel steep stellar stem step steppe stick
still sting stock stomach stone stood stop store stories stork storm story stove straight strait strange
stranger strategy straw stream street strength stress stretch strict strike string strip stroke strong
structure struggle stubborn student studio study stuff stupid style sub subject submarine substance suburb
subway succeed success succession such sudden suddenly suffer sugar suggest suicide suit sultan sultanate sum
summer summit sun sunrise sunset super superior supernatural supervisor supervisory supper supply support
supreme sure surely surface surgeon surgery surprise surrender surround survey survive suspect swallow swamp
swan swear sweat sweet swept swift swim swing sword sworn symbol sympathy symphony syndrome synod system table
tactic tail tailor take tale talent tales talk tall tank tap tape target tariff task taste taught tavern tax
taxi tea teach teacher team tear technical technique technology telegram telegraph telephone telescope
television tell temper temperature template temple temporary temptation ten tenant tender tennis tension tent
tenth term terminal terrace terrible territory terror terrorism terrorist test testament text textbook textile
than thank thanks that the theater theatre theft their theirs them theme themselves then theology theory there
therefore thermal these thesis they thick thief thin thing think third thirst thirty this thorn those though
thought thousand thread threat three threshold throat throne through throughout thrown thunder thus ticket
tide tie tiger tight timber time times tin tiny tired title to toast tobacco today toe together toilet token
told tomato tomb tomorrow tone tongue tonight too took tool tooth top topic torch torn tornado torpedo torture
total touch tough tour tourism tourist tournament toward towards tower towers town toy trace track traction
tractor trade tradition traffic tragedy trail train traitor tram trans transfer transfiguration transform
transit translate transport trap traumatic travel treason treasure treasury treat treaty tree trees tremble
trend trial triangle tribe tribunal tribune tribute trick trinity trip triumph troop troops trophy tropical
trouble trousers truck true trumpet trust truth try tsar tsarina tube tulip tunnel turkey turn turtle tutor
twelve twenty twice twilight twin twist two type tyrant ugly ultimate umbrella uncle under underground
underworld unicorn unified uniform union unions unique unit united unity universal universe university unknown
unless unlike until up upon upper uprising urban urge us use usual usually utopia vacation vagabond valley
valuable value vampire van vanguard vanish vanity variety various vassal vast vault vegetable vehicle veil
vein velvet vengeance verb verdict verse very vessel veteran via vicar vice viceroy victim victory video view
vigil villa village villain vine vineyard violence violent violin viper virgin virtual virtue virus viscount
visible vision visit visual vital vizier vocal voice volcano volleyball volume volunteer vote voyage vulture
wage wagon waist wait wake walk wall walls walnut waltz want war ward warden warehouse warm warn warning
warrior wars was wash waste watch water waterfall wave wax way we weak wealth weapon wear weather wedding week
weekend weep weigh weight welcome welfare well went wept were west western wet whale what wheat wheel when
whenever where whereas wherever whether which while whip whisper whistle white who whole whom whose why wide
widow wife wild wilderness will willow win wind window wine wing winner winter wire wisdom wise wish wit witch
with within without witness wizard wolf woman women wonder wood wooden woods wool word words work worker
workers works workshop world worm worn worry worse worship worst worth would wound wrath wreath wreck wrestle
wrist write writer writing wrong yacht yard year years yellow yes yesterday yet yield yoga you young your
yours yourself youth zeal zealot zero zodiac zone zoo
""".split()
)


@lru_cache(maxsize=20_000)
def is_common_word(word: str) -> bool:
    """Whether a lower-case English word is in the list or is a form of a word in it."""
    return word in _COMMON_WORDS or _is_derived(word) or (word.endswith("s") and _is_derived(word[:-1]))


def _is_derived(word: str) -> bool:
    return any(
        word.endswith(ending)
        and len(word) - len(ending) >= (_SHORTEST_BASE if ending in _PLURALS else _SHORTEST_DERIVED)
        and word[: len(word) - len(ending)] + replacement in _COMMON_WORDS
        for ending, replacement in _ENDINGS
    )
