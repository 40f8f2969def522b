"""Numbers as they are written: the value, the sign, and what it is a number of.

"$5 million", "5,000,000 USD" and "5.000.000 dollars" are one quantity, "5 mg" and "5 g" are two.
Units are looked for in the two words after a number and the one before. And the words of facts by
language, with those that deny others.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from indexer.comparing.words import Words

# Names of products are next to the first, names of parties and people next to the second.
_PRODUCTS = """
account accounts api app apps browser client device devices driver library package platform plugin
product products program server service services site software tool user users version website
konto plattform produkt programm software compte logiciel produit programme cuenta producto programa
"""
_BEFORE_PRODUCTS = """
logiciel produit programme plateforme application aplicación aplicativo programa producto produto
plataforma prodotto programma applicazione piattaforma
"""
_PARTIES = """
mr mrs ms miss dr prof sir dear herr herrn frau liebe lieber madame monsieur mme m señor señora
between among zwischen entre tra plaintiff defendant lessor lessee tenant landlord licensor
licensee buyer seller supplier customer employer employee shall hereby agrees undertakes represents
warrants signed
inc ltd llc llp gmbh ag kg corp corporation company co limited plc bv nv sa sas sarl srl spa oy ab
oyj as aps kft pty
"""
# Words that state facts, folded: months, negations, numbers, scales, currencies and units.

_MONTHS = """
jan january januar januari janvier enero gennaio janeiro
jan январь января январе січень січня styczeń stycznia leden ledna ocak يناير जनवरी
feb february februar februari février febrero febbraio fevereiro
feb февраль февраля феврале лютий лютого luty lutego únor února şubat فبراير फरवरी फ़रवरी
mar march märz maart mars marzo março
mar март марта марте березень березня marzec marca březen března mart مارس मार्च
apr april avril abril aprile
apr апрель апреля апреле квітень квітня kwiecień kwietnia duben dubna nisan أبريل ابريل अप्रैल
may mai mei mayo maggio maio
may май мая мае травень травня maj maja květen května mayıs مايو मई
jun june juni juin junio giugno junho
jun июнь июня июне червень червня czerwiec czerwca červen června haziran 유월 يونيو जून
jul july juli juillet julio luglio julho
jul июль июля июле липень липня lipiec lipca červenec července temmuz يوليو जुलाई
aug august augustus août agosto
aug август августа августе серпень серпня sierpień sierpnia srpen srpna ağustos أغسطس अगस्त
sep sept september septembre septiembre settembre setembro
sep сентябрь сентября сентябре вересень вересня wrzesień września září eylül سبتمبر सितंबर सितम्बर
oct okt october oktober octobre octubre ottobre outubro
oct октябрь октября октябре жовтень жовтня październik października říjen října ekim 시월
oct أكتوبر अक्टूबर
nov november novembre noviembre novembro
nov ноябрь ноября ноябре листопад листопада listopad listopada listopadu kasım نوفمبر नवंबर नवम्बर
dec dez december dezember décembre diciembre dicembre dezembro
dec декабрь декабря декабре грудень грудня grudzień grudnia prosinec prosince aralık ديسمبر दिसंबर
dec दिसम्बर
"""
_NEGATIONS = """
not no never none nor neither cannot without nothing nobody nowhere
nein nicht kein keine keinen keinem keiner keines nie niemals ohne nichts niemand
nee niet geen nooit zonder niets niemand
ne pas jamais sans aucun aucune rien
nunca sin ningún ninguno ninguna nada jamás
non senza nessun nessuno nessuna niente
não sem nenhum nenhuma
не нет ни никогда никто ничего без нельзя ні немає
nej nei inte ingen inget inga aldrig ikke intet ingenting aldri uden uten
není nejsou nikdy bez nem nincs soha
δεν μην όχι χωρίς ποτέ
לא אין בלי
لا ليس ليست لم لن بدون
नहीं không chẳng chưa
nikt değil yok asla hiç tidak bukan jangan tanpa fără niciodată nimeni ilman
eivät emme ette älä älkää älköön eikä eivätkä
غير دون 안 못 없다 없습니다 없는 없음 없이 않는다 않습니다 않는 않은 않고 아니다 아닙니다 아닌
不 没 沒 未 無 无 非
nici nuk ekki nije nisam nisu neće nema nemaju nemá nemám nemají nemajú nesmí nelze nėra nav
אינו אינה אינם אינן שאינו שאינה שאינם שאינן ולא שלא ללא
няма нямат ولا فلا ولم ولن وليس وليست نیست نیستند نباید ندارد ندارند نہیں
না নয় নেই নি નથી નહીં ਨਹੀਂ नाही नाहीत नको არ ვერ ნუ არა ոչ չի չեն இல்லை அல்ல లేదు కాదు
ಇಲ್ಲ ಅಲ್ಲ ഇല്ല അല്ല නැත නොවේ አይደለም የለም mitte
"""
# what words state, and the words. English, French and German by ISO/IEC Directives, Part 2, and
# DIN 820-2 (verbal forms for requirements, recommendations and permissions); the others translate
# these. "will" is none: it stands for "shall" in revisions of style.
_MODALS = """
must must shall muss müssen musst müsst moet moeten doit doivent debe deben deve devono devem musi
must deberá deberán deverá deverão devra devront dovrà dovranno dient dienen obligado obligada
must obligados obligadas obrigado obrigada obrigados obrigadas tenu tenue tenus tenues obligé
must obligée obligés obligées tenuto tenuta tenuti tenute obbligato obbligata obbligati obbligate
must verpflichtet verplicht muszą musí musejí måste skal skall ska должен должна должны должно
must обязан обязана обязаны повинен повинна повинні мусить täytyy trebuie πρέπει οφείλει οφείλουν
must wajib harus يجب חייב חייבת חייבים 必 须 須 kötelesek köteles zorunda zorundadır braucht
must brauchen; may may might
may can could darf dürfen kann können könnte könnten mag mogen kan kunnen peut peuvent puede pueden
may podrá podrán può possono potrà potranno pode podem poderá poderão pourra pourront berechtigt
may gerechtigd bevoegd autorisé autorisée autorisés autorisées autorizzato autorizzata autorizzati
may autorizzate autorizado autorizada autorizados autorizadas facultado facultada facultados
may facultadas może mogą může mohou får voi voivat saa saavat может могут вправе можно може можуть
may poate pot μπορεί μπορούν boleh dapat يجوز يمكن רשאי רשאית רשאים יכול יכולה יכולים सकता सकती
may सकते 可 能 lehet; should should ought sollte sollten soll sollen devrait devraient debería
should deberían dovrebbe dovrebbero deveria deveriam powinien powinna powinno powinni powinny
should следует слід bör bør burde pitäisi tulisi kellene sebaiknya seharusnya चाहिए 应 應
"""
_WEEKDAYS = """
mon monday montag maandag lundi lunes lunedì segundafeira понедельник понедельника понеділок
mon pondělí poniedziałek poniedziałku måndag mandag maanantai hétfő luni pazartesi δευτέρα senin
mon الاثنين सोमवार; tue tuesday dienstag dinsdag mardi martes martedì terçafeira вторник вторника
tue вівторок wtorek wtorku úterý tisdag tirsdag tiistai kedd marți salı τρίτη selasa الثلاثاء
tue मंगलवार; wed wednesday mittwoch woensdag mercredi miércoles mercoledì quartafeira среда среду
wed среды середа środa środę środy středa středu onsdag keskiviikko szerda miercuri çarşamba
wed τετάρτη rabu الأربعاء बुधवार; thu thursday donnerstag donderdag jeudi jueves giovedì
thu quintafeira четверг четверга четвер czwartek czwartku čtvrtek torsdag torstai csütörtök joi
thu perşembe πέμπτη kamis الخميس गुरुवार; fri friday freitag vrijdag vendredi viernes venerdì
fri sextafeira пятница пятницу пятницы п'ятниця piątek piątku pátek fredag perjantai péntek vineri
fri cuma παρασκευή jumat الجمعة शुक्रवार; sat saturday samstag sonnabend zaterdag samedi sábado
sat sabato суббота субботу субботы субота sobota sobotę soboty sobotu lördag lørdag lauantai
sat szombat sâmbătă cumartesi σάββατο sabtu السبت शनिवार; sun sunday sonntag zondag dimanche
sun domingo domenica воскресенье воскресенья неділя niedziela niedzielę niedzieli neděle neděli
sun söndag søndag sunnuntai vasárnap duminică pazar κυριακή minggu الأحد रविवार
"""
# words of months that are other words as well, or short for them
_AMBIGUOUS = "may mar marca mars mart march mai mei maj mayo август set sept listopad"
_ANSWERS = "yes true false ja oui sí sì sim да"
# what words are counted as, and the words
_NUMBERS = """
1 first erste ersten erster erstes eerste première primero primera один одна одно одного одной
1 одному jeden jedna jedno واحد واحدة एक 한 하나; 2 two zwei twee deux dos dois duas second zweite
2 zweiten zweiter tweede deuxième segundo segunda два две двух двум двое дві dwa dwie dwóch dva dvě
2 två kaksi două iki δύο dua اثنان اثنين اثنتين दो 두 둘 שתיים שניים שני שתי; 3 three drei drie
3 trois tres tre três third dritte dritten dritter derde troisième tercero tercera три трех трёх
3 трем трое trzy trzech tři tří kolme három trei üç τρία τρεις tiga ثلاثة ثلاث तीन 세 셋 שלוש שלושה
4 four vier quatre cuatro quattro quatro fourth vierte vierten vierde quatrième cuarto quarto
4 четыре четырех четырёх чотири cztery czterech čtyři čtyř fyra neljä négy patru dört τέσσερα
4 τέσσερις empat أربعة أربع चार 네 넷 ארבע ארבעה; 5 five fünf vijf cinq cinco cinque fifth fünfte
5 fünften vijfde cinquième quinto quinta пять пяти п'ять pięć pięciu pět pěti viisi öt cinci beş
5 πέντε خمسة خمس पाँच पांच 다섯 חמש חמישה; 6 six sechs zes seis sixth sechste sechsten zesde
6 sixième шесть шести шість sześć sześciu šest šesti seks kuusi șase altı έξι enam ستة ست छह छः
6 여섯 שש שישה; 7 seven sieben zeven siete sette sete seventh siebte siebten zevende septième семь
7 семи сім siedem siedmiu sedm sedmi sju syv seitsemän șapte yedi επτά εφτά tujuh سبعة سبع सात 일곱
7 שבע שבעה; 8 eight huit ocho otto oito eighth achte achten achtste huitième восемь восьми вісім
8 osiem ośmiu osm osmi åtta otte åtte kahdeksan nyolc sekiz οκτώ οχτώ delapan ثمانية ثماني आठ 여덟
8 שמונה; 9 nine neun negen nueve nove ninth neunte neunten negende neuvième девять девяти дев'ять
9 dziewięć dziewięciu devět devíti nio yhdeksän kilenc dokuz εννέα εννιά sembilan تسعة تسع नौ 아홉
9 תשע תשעה; 10 ten zehn tien dix diez dieci dez tenth zehnte zehnten tiende dixième десять десяти
10 dziesięć dziesięciu deset deseti tio kymmenen tíz zece δέκα sepuluh عشرة عشر दस 열 עשר עשרה
11 eleven elf onze undici eleventh одиннадцать jedenaście jedenáct elva yksitoista onbir ग्यारह
12 twelve zwölf twaalf douze doce dodici doze twelfth двенадцать dwanaście dvanáct tolv kaksitoista
12 बारह; 13 thirteen dreizehn; 14 fourteen vierzehn; 15 fifteen fünfzehn quinze quince quindici
15 пятнадцать piętnaście patnáct femton पंद्रह; 16 sixteen sechzehn; 17 seventeen siebzehn
18 eighteen achtzehn; 19 nineteen neunzehn; 20 twenty zwanzig twintig vingt veinte venti vinte
20 двадцать двадцати dwadzieścia dvacet tjugo tyve kaksikymmentä húsz douăzeci yirmi είκοσι عشرون
20 عشرين बीस 스물; 30 thirty dreissig dertig trente treinta trenta trinta тридцать тридцати
30 trzydzieści třicet trettio tredive otuz τριάντα ثلاثون ثلاثين तीस 서른; 40 forty vierzig veertig
40 quarante cuarenta quaranta quarenta сорок czterdzieści čtyřicet fyrtio kırk أربعون أربعين चालीस
50 fifty fünfzig vijftig cinquante cincuenta cinquanta cinquenta пятьдесят pięćdziesiąt padesát
50 femtio elli πενήντα خمسون خمسين पचास; 60 sixty sechzig zestig soixante sesenta sessanta sessenta
60 шестьдесят sześćdziesiąt šedesát sextio altmış ستون ستين साठ; 70 seventy siebzig zeventig
70 setenta семьдесят siedemdziesiąt sedmdesát sjuttio yetmiş سبعون سبعين सत्तर; 80 eighty achtzig
80 tachtig ochenta ottanta oitenta восемьдесят osiemdziesiąt osmdesát åttio seksen ثمانون ثمانين
80 अस्सी; 90 ninety neunzig negentig noventa novanta девяносто dziewięćdziesiąt devadesát nittio
90 doksan تسعون تسعين नब्बे; 100 hundred hundert honderd сто hundra hundrede sata száz yüz εκατό
100 مائة مئة सौ; 200 двести dwieście; 300 триста trzysta; 400 четыреста czterysta; 500 пятьсот
500 pięćset; 600 шестьсот sześćset; 700 семьсот siedemset; 800 восемьсот osiemset; 900 девятьсот
900 dziewięćset
"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_DIGITS = """
two three four five six seven eight nine first second third fourth fifth sixth seventh eighth ninth
"""
_SCALES = """
1000 thousand tausend duizend тысяча тысячи тысяч тисяча тисячі тисяч tysiąc tysiące tysięcy tisíc
1000 tisíce tusen tusind tuhat tuhatta ezer χίλια χιλιάδες ribu ألف آلاف हजार हज़ार אלף אלפים
100000 lakh लाख; 10000000 crore करोड़; 1000000 миллион миллиона миллионов млн мільйон мільйонів
1000000 milion miliony milionów milionů miljon miljoner milyon juta مليون ملايين מיליון million
1000000 millions mio mn millionen miljoen millón millones milione milioni milhão milhões
1000000000 billion billions bn mrd milliarde milliarden miljard milliard milliards miliardo
1000000000 miliardi; 1000000000000 trillion trillions tn billionen biljoen
"""
_CURRENCIES = """
€ eur euro euros евро; $ usd dollar dollars доллар доллара долларов; RUB rub руб рубль рубля рублей
£ gbp pound pounds; ¥ jpy yen; ₹ inr rupee rupees rupien; CHF chf; CNY cny rmb; SEK sek; NOK nok
DKK dkk; PLN pln zł złoty złote złotych; CZK czk kč kc korun
"""
_UNITS = """
% percent percents prozent procent pct; mg milligram milligrams milligramm; μg mcg ug microgram
μg micrograms mikrogramm; g gram grams gramm grammes; kg kilo kilos kilogram kilograms kilogramm
t tonne tonnes tonnen; ton tons; oz ounce ounces; ml milliliter milliliters millilitre millilitres
l liter liters litre litres; mm millimeter millimeters millimetre millimetres; cm centimeter
cm centimeters centimetre centimetres; m meter meters metre metres; km kilometer kilometers
km kilometre kilometres; inch inches; ft foot feet; yd yard yards; mile miles; s sec secs second
s seconds sekunde sekunden; min mins minute minutes minuten minuto minutos minuti minut минута
min минуты минут; h hr hrs hour hours stunde stunden uur heure heures hora horas ora ore godzina
h godziny godzin час часа часов timme timmar hodina hodiny hodin saat; day days tag tage tagen dag
day dagen jour jours día días dia dias giorno giorni dzień dni день дня дней dagar dage dny dnů dní
day gün 天; week weeks woche wochen weken semaine semaines semana semanas settimana settimane
week tydzień tygodnie tygodni неделя недели недель vecka veckor uge uger týden týdny týdnů hafta
month months monat monate monaten maanden mois mes meses mês mese mesi miesiąc miesiące miesięcy
month месяц месяца месяцев månad månader måned måneder měsíc měsíce měsíců; year years jahr jahre
year jahren jaar ans año años anno anni ano anos лет; byte bytes; bit bits; v volt volts; w watt
w watts
"""
_SYMBOLS = """
ng lb lbs cl dl μl μm nm ms ns hz khz mhz ghz kv mv ma kw mw gw kwh mwh kj mj cal kcal pa hpa kpa
mpa bar mbar psi kb mb gb tb kib mib gib mol mmol iu rpm dpi bp bps ha acre acres
"""
HALVES = {"am": "am", "a.m": "am", "pm": "pm", "p.m": "pm"}  # of the day


def _by_word(lines: str) -> dict[str, str]:
    """Return what each word is counted as, from lines and groups `VALUE WORD ...`."""
    rows = map(str.split, lines.strip().replace("\n", ";").split(";"))
    return {word: row[0] for row in rows for word in row[1:]}


def _compounds(numbers: dict[str, str]) -> dict[str, str]:
    """Return English numbers such as `twentyfive`, without the hyphen, as words are folded."""
    return {
        ten + unit: str(int(numbers[ten]) + int(numbers[unit]))
        for ten in _TENS.split()
        for unit in _DIGITS.split()
    }


MONTHS = {word: line.split()[0] for line in _MONTHS.split("\n") for word in line.split()}
WEEKDAYS = _by_word(_WEEKDAYS)
MODALS = _by_word(_MODALS)
# words that name a date alone, without a number
DATES = WEEKDAYS | {
    word: month
    for word, month in MONTHS.items()
    if word not in _AMBIGUOUS.split() and (len(word) > len(month) or not word.isascii())
}
PARTY_WORDS, _AFTER_PRODUCT = frozenset(_PARTIES.split()), frozenset(_PRODUCTS.split())
_BEFORE_PRODUCT = frozenset(_BEFORE_PRODUCTS.split())
ANSWERS = frozenset(_ANSWERS.split())
NEGATIONS = ANSWERS.union(_NEGATIONS.split())
# negations of one language that are other words of others, and those that are endings of words;
# in Japanese each character is a word
OF_LANGUAGES = {
    "it": frozenset(("mai",)),
    "fi": frozenset(("ei", "en", "et")),
    "et": frozenset(("ei",)),
    "ro": frozenset(("nu",)),
    "fa": frozenset(("نه",)),
}
OF_ENDINGS = {
    "tr": re.compile(
        r"\w\w+m(?:[ae]z(?:l[ae]r|s[ae]|d[ıi]\w*)?|[ıiuü]yor\w*|[ae]y(?:[ae]ca|[ae]n)\w*"
        r"|[ae]d[ıi](?:[mnk]|l[ae]r|ğ\w*)?|[ae]m[ıi]ş\w*|[ae]m[ae]l[ıi]\w*|[ae]s[ıi]n\w*)"
    )
}
OTHER_WORDS = frozenset((("no", "pt"),))  # that are negations of other languages alone
IN_CHARACTERS = ("ja", "km", "lo", "my", "th")  # languages whose negations are several of them
INFLECTED = frozenset((*IN_CHARACTERS, *OF_LANGUAGES, *OF_ENDINGS))  # of these negations
WITHIN_CHARACTERS = re.compile(
    r"ない|なく|なか(?:っ|\Z)|なけれ|せん|ずに|ไม่|ห้าม|มิ(?:ได้|ให้)|ปฏิเสธ|ปราศจาก|อนุญาต"
    "|ບໍ່|ຫ້າມ|មិន|ហាម|ဘူး|မဟုတ်"
)
# "em caso algum": after these nouns "some" means none, in Portuguese and Spanish
AFTER_NOUNS = frozenset(("algum", "alguma", "alguno", "alguna"))
DENIED_NOUNS = frozenset(("caso", "modo", "forma", "maneira", "manera", "tipo", "momento"))
DUTY = re.compile(r"(?:なければ|なくては|ねば)(?:な[らり]|いけ)")  # "must", by two negations
JAPANESE_DUTY = re.compile(rf"{DUTY.pattern}(?:な[いくか]|ません)")
SCALES = _by_word(_SCALES)
# each is a word of its own; some, such as "一", are parts of other words, too
NUMERALS = {
    **{char: str(value) for value, char in enumerate("〇一二三四五六七八九十")},
    **{"零": "0", "两": "2", "兩": "2", "百": "100", "千": "1000", "万": "10000", "萬": "10000"},
    **{"亿": "100000000", "億": "100000000"},
}
BEFORE_NUMERAL = frozenset("第周週期拜")
AFTER_NUMERAL = frozenset(
    "年月日号號元円圆圓块塊个個名人次天小时時分秒条條章项項页頁岁歳件份倍点點度米斤吨位室层層台本枚冊回番"
)
BEFORE_DAY = frozenset("月火水木金土日")  # of Japanese weekdays, before 曜
SINO_KOREAN = re.compile(  # numbers of two characters or more, with a unit and a particle
    r"(?=..)([일이삼사오육륙칠팔구십백천만억]+)"
    r"(?:(?:월|년|원|시|분|명|개월|일)(?:에|은|는|이|가|을|를|의|부터|까지|로|으로)?)?"
)
NUMBERS = _by_word(_NUMBERS) | _compounds(_by_word(_NUMBERS)) | SCALES | NUMERALS
CURRENCIES = _by_word(_CURRENCIES)
OF_TIME = {"s", "min", "h", "day", "week", "month", "year"}
TIME_UNITS = frozenset(word for word, unit in _by_word(_UNITS).items() if unit in OF_TIME)
UNITS = _by_word(_UNITS) | {unit: unit for unit in (*_by_word(_UNITS).values(), *_SYMBOLS.split())}
STATING = frozenset[str]().union(
    NUMBERS, MONTHS, DATES, CURRENCIES, NEGATIONS, AFTER_NOUNS, *OF_LANGUAGES.values()
)


def is_product_noun(before: str, after: str) -> bool:
    """Return whether a folded word before or after a name shows that it is one of a product.

    >>> is_product_noun("the", "app"), is_product_noun("logiciel", "est")
    (True, True)
    """
    return after in _AFTER_PRODUCT or before in _BEFORE_PRODUCT


REACH = 6  # characters before a number, and beyond the words after it, that are looked at
# words that belong to a number, with those after a degree sign
BESIDE = frozenset((*SCALES, *CURRENCIES, *UNITS, *HALVES, "c", "f"))
BLANKS = " \u00a0\u202f"
_CURRENCY = rf"(?:[^\w\s(-][{BLANKS}]?)?"
_MINUSES = "\u2010\u2011\u2212\u2013\ufe63\uff0d-"
_MINUS = re.compile(  # before a number: no hyphen or dash within something, no option
    rf"(?:\A|[^\w)\]}}%.\"'\u2019\u201d\u2014{_MINUSES}])[{_MINUSES}]{_CURRENCY}\Z"
)
_BRACKET = re.compile(rf"\({_CURRENCY}\Z")
_GROUPED = re.compile(r"(\d{1,3}(?:([.,'])\d{3})(?:\2\d{3})*)(?:[.,](\d+))?\Z")
_DECIMAL = re.compile(r"(\d+)[.,](\d+)\Z")
_IN_BOOKS = re.compile(r"[\d.,']*[.,'](?:\d{3}|\d\d)\Z")  # as accounts write an amount
_SUFFIX = re.compile(r"(\d[\d.,':]*?)-?([^\W\d][^\W\d]*(?:\.m)?)\Z")
_ORDINAL = re.compile(r"(?:st|nd|rd|th|er|ère|ème|ste)\Z")
_CLOCK = re.compile(r"\d{1,2}(?:[:.]\d\d)?\Z")
_PLAIN = re.compile(r"\d+(?:\.\d+)?\Z")
_ALONE = re.compile(
    r"(?:[\s\S]?[a-zA-Z0-9]|[a-zA-Z0-9][,.;:])[ \n][0-9]+(?:[ \n][a-zA-Z0-9]|[,.;:]\s)"
)
_ADJACENT = re.compile(r"[^\S\r\n]*(?:\r\n?|\n)?[^\S\r\n]*|-")
_COUNTED = re.compile(  # of several words in scripts without spaces, or other words alone
    r"[ \u00a0]?(?:(?P<h>小时|小時|時間)|(?P<min>分钟|分鐘|分間)"
    r"|(?P<week>[周週](?![年边邊期围圍岁歲转轉刊长長目間])|週間|星期)"
    r"|(?P<day>日間|日内)|(?P<month>个月|個月|[ヶか]月)|(?P<CNY>元(?![件素器组組年月旦数數]))"
    r"|(?P<JPY>円(?![形周柱盤板筒錐弧環卓陣])))"
)
_MEGA = re.compile(r"m[WVAHJP]")  # milliwatts, not megawatts; elsewhere case tells no units apart


_DATE = re.compile(
    r"(?:\d{1,4}([-/])\d{1,2}\1\d{1,4}|\d{1,2}\.\d{1,2}\.(?:\d{4}|\d\d)|\d{4}\.\d{1,2}\.\d{1,2})\Z"
)
_OF_MONTH = ("de", "of")  # between a number and the name of a month
JOINED_TO_NUMBERS = frozenset((*BESIDE, *MONTHS, *_OF_MONTH))


def stands_alone(text: str, start: int, end: int) -> bool:
    """Return whether ASCII digits [start, end) have words on both sides, and no sign next to them.

    >>> [stands_alone(text, 4, 5) for text in ("for 5 days", "or -5 days", "- ; 5 days")]
    [True, False, False]
    """
    return _ALONE.fullmatch(text, max(0, start - 3), end + 2) is not None


def is_month(two_before: str, before: str, after: str) -> bool:
    """Return whether the name of a month has a number next to it, or before "of" or "de".

    >>> is_month("third", "of", ""), is_month("", "5", "be"), is_month("will", "only", "pay")
    (True, True, False)
    """
    if _has_digit(after) or _has_digit(before):
        return True
    return before in _OF_MONTH and (two_before in NUMBERS or _has_digit(two_before))


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


def is_of_date(number: str, two_before: str, before: str, after: str, two_after: str) -> bool:
    """Return whether a number is a date or a part of one, by the folded words next to it.

    >>> is_of_date("1.5.24", *[""] * 4), is_of_date("2.7.1", *[""] * 4)
    (True, False)
    >>> is_of_date("5", "el", "día", "de", "mayo"), is_of_date("3", "", "", "年", "以")
    (True, False)
    """
    if _DATE.match(number) or before in MONTHS or after in MONTHS:
        return True
    if before in _OF_MONTH or after in _OF_MONTH:
        return (before in _OF_MONTH and two_before in MONTHS) or two_after in MONTHS
    if after == "年":
        return len(number) == len("2024") and number.isdecimal()
    return after == "月" or (before == "月" and after in "日号號" and after != "")


def date_span(text: str, start: int, end: int) -> tuple[int, int]:
    """Return where the date is that has the characters [start, end) of a text; these alone where
    no month is next to them.

    >>> texts = "on 7 May 2024, noon", "am 7. Mai 2024.", "el 7 de mayo de 2024", "于2024年5月7日前"
    >>> [text[slice(*date_span(text, at, at + 1))] for text in texts for at in [text.index("7")]]
    ['7 May 2024', '7. Mai 2024', '7 de mayo de 2024', '2024年5月7日']
    """
    first = max(0, start - _AROUND)
    for found in _whole_date().finditer(text, first, end + _AROUND):
        if found.start() <= start and end <= found.end():
            return found.span()
    return start, end


_AROUND = 24  # characters of a date before and after a word of it


@cache
def _whole_date() -> re.Pattern[str]:
    months = "|".join(sorted(map(re.escape, MONTHS), key=len, reverse=True))
    number, joint = r"\d{1,4}(?:st|nd|rd|th|er|º|ª)?", r"[ \t\u00a0]*[.,]?[ \t\u00a0]*"
    of = rf"{joint}(?:(?:{'|'.join(_OF_MONTH)})[ \t\u00a0]+)?"
    with_name = rf"\b(?:{number}{of})?(?:{months})\b(?:{of}{number}){{0,2}}(?!\w)"
    spaced = r"\b\d{1,2}\.[ \u00a0]\d{1,2}\.[ \u00a0]?\d{4}\b"
    with_signs = r"\d{1,4}年(?:\d{1,2}月(?:\d{1,2}[日号號]?)?)?|\d{1,2}月\d{1,2}[日号號]?"
    return re.compile(f"{with_name}|{with_signs}|{spaced}", re.IGNORECASE)


class Quantity(NamedTuple):
    """A number with its sign and its unit.

    `number` is written as in the text, with its sign. [`start`, `end`) are the offsets of all of it
    but the sign, in characters.
    """

    sign: str
    value: str
    unit: str
    number: str
    start: int
    end: int

    @property
    def key(self) -> str:
        """The text that equal quantities have in common."""
        return f"{self.sign}{self.value} {self.unit}".rstrip()

    def written(self, text: str) -> str:
        """Return all of it as the text has it, with its sign."""
        whole = text[self.start : self.end]
        if not self.sign:
            return whole
        return f"({whole})" if self.number.startswith("(") else f"-{whole}"

    @property
    def is_amount(self) -> bool:
        """Return whether it is one of money, or a fraction."""
        return not {*CURRENCIES.values(), "%", "‰", "JPY"}.isdisjoint(self.unit.split())


def quantity(text: str, words: Words, position: int) -> Quantity:
    """Return the quantity whose number is a word of a text."""
    return _Reader(text, words).quantity(position)


def number_value(word: str) -> str:
    """Return a number in digits, without grouping signs, with a point and no fraction of zeros.

    >>> [number_value(word) for word in ("1,000", "1.000,00", "3,50", "2024-05-01", "five", "2nd")]
    ['1000', '1000', '3.50', '2024-05-01', '5', '2']
    """
    return _split(word)[0]


class _Reader(NamedTuple):
    text: str
    words: Words

    def quantity(self, position: int) -> Quantity:
        value, suffix = _split(self.folded(position))
        start, end = int(self.words.starts[position]), int(self.words.ends[position])
        number = self.text[start:end]
        last = position
        if scale := SCALES.get(suffix):
            suffix = ""
        elif not suffix and (scale := SCALES.get(self.next_to(position, 1))):
            last += 1
            end = int(self.words.ends[last])
        if scale:
            is_plain = _PLAIN.match(value)
            value = f"{Decimal(value) * int(scale):f}" if is_plain else f"{value} × {scale}"
            value = _plain(value)
        before = self._currency_before(position)
        after = (_unit(suffix, value), end) if suffix else self._unit_after(last, value)
        start = before[1] if before else start
        end = after[1] if after else end
        units = dict.fromkeys(unit for unit, _ in filter(None, (before, after)))
        if self._has_minus(position):
            return Quantity("-", value, " ".join(units), f"-{number}", start, end)
        if self._is_in_brackets(position, end):
            return Quantity("-", value, " ".join(units), f"({number})", start, end)
        return Quantity("", value, " ".join(units), number, start, end)

    def folded(self, position: int) -> str:
        return self.words.vocabulary[int(self.words.numbers[position])]

    def next_to(self, position: int, step: int) -> str:
        """Return the word after (1) or before (-1) a number that belongs to it, if it is such a
        word, and nothing but a blank is between.
        """
        neighbour = position + step
        if not 0 <= neighbour < len(self.words) or self.folded(neighbour) not in BESIDE:
            return ""
        left, right = sorted((position, neighbour))
        between = self.text[int(self.words.ends[left]) : int(self.words.starts[right])]
        return self.folded(neighbour) if _ADJACENT.fullmatch(between) else ""

    def _currency_before(self, position: int) -> tuple[str, int] | None:
        start = int(self.words.starts[position])
        before = self.text[max(0, start - 3) : start].rstrip(_MINUSES + BLANKS + "(")
        is_within = before[-2:-1].islower() or before[-2:-1].isdigit()  # of ".idata$2"
        if before and unicodedata.category(before[-1]) == "Sc" and not is_within:
            return _currency(before[-1]), max(0, start - 3) + len(before) - 1
        if code := CURRENCIES.get(self.next_to(position, -1)):
            return code, int(self.words.starts[position - 1])
        return None

    def _unit_after(self, position: int, value: str) -> tuple[str, int] | None:
        end = int(self.words.ends[position])
        rest = self.text[end : end + 2]
        symbol = rest.lstrip(BLANKS)[:1]
        stop = end + rest.index(symbol) + 1
        is_format = symbol == "$" and self.text[stop : stop + 1].islower()  # as "%1$s" is
        if symbol and _is_unit_symbol(symbol) and not is_format:
            end = stop
            scale = self.folded(position + 1) if position + 1 < len(self.words) else ""
            if symbol == "°" and scale in ("c", "f") and self.text[end : end + 1].lower() == scale:
                return f"°{scale}", end + 1
            return _currency(symbol), end
        if counted := _COUNTED.match(self.text, end):
            return str(counted.lastgroup), counted.end()
        after = self.next_to(position, 1)
        if not after:
            return None
        stop = int(self.words.ends[position + 1])
        spelling = self.text[int(self.words.starts[position + 1]) : stop]
        unit = CURRENCIES.get(after) or _unit(after, value, spelling)
        return (unit, stop) if unit else None

    def _has_minus(self, position: int) -> bool:
        start = int(self.words.starts[position])
        return bool(_MINUS.search(self.text, max(0, start - REACH), start))

    def _is_in_brackets(self, position: int, end: int) -> bool:
        """Return whether a number is in brackets, as account books write one below zero."""
        start = int(self.words.starts[position])
        opening = _BRACKET.search(self.text, max(0, start - 3), start)
        if not opening or self.text[end : end + 1] != ")":
            return False
        before = self.text[max(0, opening.start() - 2) : opening.start()].rstrip(BLANKS)[-1:]
        is_amount = any(map(_is_unit_symbol, before + opening.group()))
        return is_amount or bool(_IN_BOOKS.match(self.text[start : int(self.words.ends[position])]))


def _split(word: str) -> tuple[str, str]:
    """Return the value of a number, and the unit or scale at its end."""
    if word in NUMBERS:
        return NUMBERS[word], ""
    if numerals := SINO_KOREAN.fullmatch(word):
        return numerals[1], ""
    parts = _SUFFIX.match(word)
    if parts:
        number, suffix = parts.groups()
        if _ORDINAL.match(suffix):
            return _plain(number), ""
        if suffix in SCALES or suffix in CURRENCIES or _unit(suffix, number):
            return _plain(number), suffix
    return _plain(word), ""


def _plain(word: str) -> str:
    grouped = _GROUPED.match(word)
    if grouped:
        whole, _, fraction = grouped.groups()
        whole = re.sub(r"\D", "", whole)
    else:
        decimal = _DECIMAL.match(word)
        if not decimal:
            return word
        whole, fraction = decimal.groups()
    return f"{whole}.{fraction}" if fraction and fraction.strip("0") else whole


def _unit(word: str, value: str, spelling: str = "") -> str:
    """Return what a word after a number is counted as; empty if it is no unit."""
    if word in HALVES:
        return HALVES[word] if _CLOCK.match(value) else ""
    unit = UNITS.get(word, "")
    return f"milli {unit}" if _MEGA.match(spelling) else unit


def _currency(symbol: str) -> str:
    return CURRENCIES.get(symbol, symbol)


def _is_unit_symbol(char: str) -> bool:
    return char in "%‰°" or unicodedata.category(char) == "Sc"


# Negations and opposites.

# words, or with a star their beginnings, before a stroke are the opposites of those after it
_OPPOSITES = """
approv* accept* adopt* grant* allow* permit* authori* / reject* refus* declin* deny* denie* denial*
disapprov* disallow* prohibit* forbid* withh* dismiss*; uphold* upheld affirm* / overturn* revers*
quash*; agree* / disagree*; enabl* / disabl*; pass passed passes / fail*; for / against; before /
after; least / most; above / below; more / less fewer; valid* valab* / invalid* nul nulle nullo
nulla nulo nula; legal* / illegal*; includ* / exclud*; increas* rais* / decreas* reduc* lower*;
genehmig* zugelassen* zulass* bewillig* angenommen* annehm* akzeptier* stattgegeben erlaub*
gestatt* zugestimmt zustimm* / abgelehn* ablehn* verweiger* verboten* verbiet* untersag* versag*
abgewiesen* zurückgewiesen*; erhöh* / gesenk* senk* verringer* verminder* ermässig*; dafür /
dagegen; vor / nach; mindestens / höchstens; frühestens / spätestens; weniger / mehr; maximal /
minimal; inklusive einschliesslich eingeschlossen* auch / exklusive ausschliesslich ausgenommen
ausgeschlossen* ausser; ausgeschlossen / unbeschränkt; approuv* accept* accord* agréé* autoris*
permis* permet* admis* / rejet* refus* interdi* défend* prohib*; avant / après; tous toutes / aucun
aucune; moins / plus; tôt / tard; pour / contre; maximum / minimum; inclu* compris* même / exclu*
sauf excepté hormis; augment* hauss* / diminu* baiss* rédui* réduct*; aprob* aprueb* acept* conced*
admit* permit* autoriz* / rechaz* denega* denegó deniega* prohíb* prohib* desestim* recus* rejeit*
indefer* proib*; antes / después depois após tras; menos / más mais; máximo / mínimo; inclu*
también mesmo / exclu* salvo excepto exceto; aument* increment* / dismin* reduc* reduz* diminu*;
aprov* aceit* deferi* / rejeit* recus* indeferi* negou negad*; todos todas / nenhum nenhuma; tardar
/ pronto cedo; approv* accett* accord* conce* permess* permett* consent* autorizz* accol* / respin*
rifiut* nega* vieta* proibi* rigett*; prima / dopo; tutti tutte ogni / nessuno nessuna nessun; meno
/ più; massimo / minimo; inclus* includ* compre* anche / esclu* salvo tranne eccetto; tardi /
presto; aument* / riduz* ridott* diminu*; goedgekeur* goedkeur* aanvaard* toegewezen toewij*
toegestaan* toestaan accept* verleen* / afgekeur* afkeur* afwij* afgewezen geweiger* weiger*
verbod* verbied* verworpen; voor / na tegen; minstens / hoogstens; minder / meer; maximaal /
minimaal; inclusief inbegrepen ook / exclusief behalve uitgezonderd uitgesloten; verhoog* verhog* /
verlaag* verlag* verminder*; godkän* biföll bifall* godkend* godkjen* godtog* tillåt* tilladt
tillad* tillatt* bevilg* bevilj* accepter* / ogilla* avslog* avslag* avslå* avvis* afvis* afslå*
afslog* förbj* förbud* forbud* forbyd* neka*; före / efter; før / etter efter; öka* øge* øke* /
minsk* reducer* reduser*; minst mindst / högst højst høyst; zatwierdz* przyj* dozwol* zezw*
uwzględn* / odrzuc* odmów* odmaw* zabron* zakaz* oddal*; zwiększ* podwyższ* / zmniejsz* obniż*;
schvál* vyhov* povol* dovol* přij* prija* / zamít* zamiet* odmít* odmiet* zakáz*; zvýš* / sníž*
zníž*; odobr* prihva* dozvol* dopušt* / odbi* odbac* zabran*; před przed / po; prije / nakon
poslije; утвер* одобр* принят* разреш* удовлетвор* схвал* затверд* дозвол* прийнят* задовольн* /
отклон* отказ* запре* отверг* отвер* відхил* відмов* заборон*; увелич* повыш* збільш* / уменьш*
сниж* зменш*; до / после після; включ* / исключ* виключ*; hyväksy* salli* myön* / hylk* hylä* kiel*
evä*; onayl* kabul* serbest* izin* / reddet* reddedil* yasak*; önce / sonra; jóváhagy* elfogad*
engedély* / elutasít* tilos* tilt* megtilt*; aprob* accept* permis* / respin* refuz* interzi*;
ενέκρ* εγκρ* εγκεκρ* αποδέχ* επιτρέπ* / απέρριψ* απορρίπτ* αρνή* απαγορε*; 批 准 允 许 許 同 承 認
可 诺 諾 支 / 否 拒 禁 驳 駁; 前 / 后 後; 上 / 下; 增 増 升 / 减 減 降; 多 / 少; 승인* 허용* 허가*
수락* 찬성* 가결* / 거부* 거절* 금지* 반대* 부결* 기각*; 증가* 인상* / 감소* 인하*; 이상* / 이하*
미만*; 이전* / 이후*; وافق قبل سمح يسمح مسموح منح / رفض يرفض يمنع ممنوع يحظر محظور; قبل / بعد;
स्वीकृत स्वीकार मंजूर मंज़ूर अनुमति* / अस्वीकृत अस्वीकार नामंजूर नामंज़ूर निषिद्ध; पहले / बाद;
menyetujui disetujui menerima diterima mengizinkan diizinkan / menolak ditolak melarang dilarang;
sebelum / setelah sesudah; chấp phép / từ chối cấm; trước / sau; if including also / unless except
excluding; only / also; during / after before; begin* start* commenc* / end ends ended expir*
terminat*; required requires mandator* compulsor* obligator* binding / optional* voluntar*
advisory; guilty / innocent acquit*; nur / auch; beginn* / endet enden ende endete; schriftlich* /
mündlich*; verpflichtend* pflicht* / freiwillig*; commence* débute* / expire* termine* cesse*;
obligatoire* / facultati*; gratuit* / payant* onéreu* oneros*; pendant durante während / après
después tras depois dopo nach; empieza* comienza* inicia* começa* inizia* decorre* / termina*
finaliza* expira* scade* cessa*; obligatori* obrigatóri* obbligatori* / opciona* voluntari*
facultativ* facoltativ*; begint beginnen / eindigt eindigen; verplicht* / vrijwillig* facultatie*;
начина* почина* / заканчив* истека* закінчу*; обязательн* обов'язков* / добровольн* добровільн*;
zaczyna* rozpoczyna* / kończy*; obowiązkow* povinn* / dobrowoln* dobrovoln*; začín* / končí*;
börja* begynder begynner / slutar upphör* slutter ophører opphører; obligatorisk* / frivillig*;
omfatter / undtager; înainte / după; începe / încetează; לפני / אחרי לאחר; πριν / μετά; преди /
след; ennen enne / jälkeen pärast; prieš pirms / po pēc; előtt / után; 始 / 终 終 止; 含 / 除
"""


def _opposites() -> dict[str, frozenset[str]]:
    """Return the words after the stroke by each word before it, with their stars."""
    found: dict[str, frozenset[str]] = {}
    for pair in _OPPOSITES.split(";"):
        affirming, denying = map(str.split, pair.split("/"))
        found |= {word: found.get(word, frozenset()).union(denying) for word in affirming}
    return found


def _any_of(words: Iterable[str]) -> str:
    """Return the pattern of words and, with a star, of beginnings of words; those with one first
    letter are tried together.
    """
    rests: dict[str, list[str]] = {}
    for word in sorted(words):
        pattern = word[:-1] if word[-1] == "*" else rf"{word}\Z"
        rests.setdefault(pattern[0], []).append(pattern[1:])
    return "|".join(f"{first}(?:{'|'.join(each)})" for first, each in rests.items())


_OPPOSITES_BY_WORD = _opposites()
_DENYING = frozenset[str]().union(*_OPPOSITES_BY_WORD.values())
_MAX_BEGINNING = 16  # characters
_LATIN = (  # beginnings of words that "in" and "im" negate: "form", "press" and "prove" are none
    r"[aeiouáàéèíóú]|balan|cap[aá]|cert|co(?:h|mp|n(?!tr)|rr)|cr[eé]d|cump[lr]|cura|d[eé](?!nt)"
    r"|di[rsv]|f(?:am|ertil|id|init|le[kx]|orm[aeáé]l|r[eé]q|und|ond)|grat|[dj]ust|m(?!ates?\Z)"
    r"|n[eé]ces|p(?:a[gy]|ar[ct]|a[ct]i|erf|erm[eiéí]|erso|laus|oss|osib|ote|ra[ct]"
    r"|r[eé](?:[cv]|scr)|ro[bcdp]|rud|un)|s(?:[aá][lt]|[eé][cg]u|icur|ens|[eé]par|ignif|inc|ol[uv])"
    r"|s(?:uf|upp|ust|tab)|t(?:ol|ang|ran)|v(?:[aá]l|ar|is[ií]|ol[uo]n|uln)"
)
_PREFIXES = (
    r"(?:un(?!less\Z|ion)|non|nicht|niet|icke|ikke)(?=\w{4})|i[nm](?=\w{5})"
    rf"(?={_LATIN})|не(?=\w{{3}})|չ(?=\w{{2}})|ن(?=می|باید|دار|شو|شد|کن|کرد|خواه)"
)
_NE, _ON = r"ne(?=\w{3})|nie(?=\w{4})|", r"on(?!line|board|shore|site|going|coming)(?=\w{4})|"
_WITH_NE = dict.fromkeys(("cs", "hr", "lt", "lv", "pl", "ro", "sk", "sl"), _NE)
_BY_LANGUAGE = {"": _NE + _ON, "nl": _ON, **_WITH_NE}
_PREFIX = {language: re.compile(own + _PREFIXES) for language, own in _BY_LANGUAGE.items()}
_OTHER_PREFIX = re.compile(_PREFIXES)  # in languages other than these
DENYING = re.compile(rf"{_PREFIX[''].pattern}|{_any_of(_DENYING)}")


class Denial(NamedTuple):
    """A word of each text by its position, of which one denies the other: that of text `by`."""

    a: int
    b: int
    by: int


def denials(a: Sequence[str], b: Sequence[str], language: str = "") -> list[Denial]:
    """Return the folded words of which one is the other with a negating prefix of the language of
    their texts, which is empty where it is unknown, or its opposite; none where no word matches
    `DENYING`.

    >>> denials(["nemůže"], ["může"]), denials(["nebo"], ["bo"]), denials(["grants"], ["denied"])
    ([Denial(a=0, b=0, by=0)], [], [Denial(a=0, b=0, by=1)])
    """
    found: list[Denial] = []
    pattern = _PREFIX.get(language, _OTHER_PREFIX)
    for by, words, others in ((0, a, b), (1, b, a)):
        denied: dict[str, int] = {}
        for position, word in enumerate(words):
            if DENYING.match(word):
                denied |= dict.fromkeys(_forms(word) & _DENYING, position)
                if prefix := pattern.match(word):
                    denied[word[prefix.end() :]] = position
        for position, other in enumerate(others) if denied else ():
            affirming = _forms(other) & _OPPOSITES_BY_WORD.keys()
            opposites = {other}.union(*map(_OPPOSITES_BY_WORD.__getitem__, affirming))
            if known := opposites & denied.keys():
                denying = denied[min(known)]
                found.append(Denial(*((position, denying) if by else (denying, position)), by))
    return found


def _forms(word: str) -> set[str]:
    """Return a word and its beginnings, as lists of opposites have them."""
    ends = range(1, min(len(word), _MAX_BEGINNING) + 1)
    return {word, *(f"{word[:end]}*" for end in ends)}


def negation_value(word: str) -> str:
    """Return "not" for a word with that meaning, else the word.

    >>> negation_value("don't"), negation_value("cannot"), negation_value("never")
    ('not', 'not', 'never')
    """
    return "not" if word.endswith("n't") or word == "cannot" else word
