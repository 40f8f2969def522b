"""Words that state facts, folded: months, negations, numbers, scales, currencies and units.

English, German, Dutch, French, Spanish, Italian and Portuguese, and negations of a dozen more
languages. A word that is also an ordinary one of these languages is left out (`due`, `sei`, `an`).
"""

from __future__ import annotations

_MONTHS = """
jan january januar januari janvier enero gennaio janeiro
feb february februar februari février febrero febbraio fevereiro
mar march märz maart mars marzo março
apr april avril abril aprile
may mai mei mayo maggio maio
jun june juni juin junio giugno junho
jul july juli juillet julio luglio julho
aug august augustus août agosto
sep sept september septembre septiembre settembre setembro
oct okt october oktober octobre octubre ottobre outubro
nov november novembre noviembre novembro
dec dez december dezember décembre diciembre dicembre dezembro
"""
_NEGATIONS = """
not no never none nor neither cannot without nothing nobody nowhere
nein nicht kein keine keinen keinem keiner keines nie niemals ohne nichts niemand
nee niet geen nooit zonder niets niemand
ne pas jamais sans aucun aucune rien
nunca sin ningún ninguno ninguna nada jamás
non mai senza nessun nessuno nessuna niente
não sem nenhum nenhuma
не нет ни никогда никто ничего без нельзя ні немає
nej nei inte ingen inget inga aldrig ikke intet ingenting aldri uden uten
není nejsou nikdy bez nem nincs soha
δεν μην όχι χωρίς ποτέ
לא אין בלי
لا ليس ليست لم لن بدون
नहीं không chẳng chưa
不 没 沒 未 無 无 非
"""
_ANSWERS = "yes true false ja oui sí sì sim да"
# each line: what its words are counted as, and the words
_NUMBERS = """
1 first erste ersten erster erstes eerste première primero primera
2 two zwei twee deux dos dois duas second zweite zweiten zweiter tweede deuxième segundo segunda
3 three drei drie trois tres tre três third dritte dritten dritter derde troisième tercero tercera
4 four vier quatre cuatro quattro quatro fourth vierte vierten vierde quatrième cuarto quarto
5 five fünf vijf cinq cinco cinque fifth fünfte fünften vijfde cinquième quinto quinta
6 six sechs zes seis sixth sechste sechsten zesde sixième
7 seven sieben zeven siete sette sete seventh siebte siebten zevende septième
8 eight huit ocho otto oito eighth achte achten achtste huitième
9 nine neun negen nueve nove ninth neunte neunten negende neuvième
10 ten zehn tien dix diez dieci dez tenth zehnte zehnten tiende dixième
11 eleven elf onze undici eleventh
12 twelve zwölf twaalf douze doce dodici doze twelfth
13 thirteen dreizehn
14 fourteen vierzehn
15 fifteen fünfzehn quinze quince quindici
16 sixteen sechzehn
17 seventeen siebzehn
18 eighteen achtzehn
19 nineteen neunzehn
20 twenty zwanzig twintig vingt veinte venti vinte
30 thirty dreissig dertig trente treinta trenta trinta
40 forty vierzig veertig quarante cuarenta quaranta quarenta
50 fifty fünfzig vijftig cinquante cincuenta cinquanta cinquenta
60 sixty sechzig zestig soixante sesenta sessanta sessenta
70 seventy siebzig zeventig setenta
80 eighty achtzig tachtig ochenta ottanta oitenta
90 ninety neunzig negentig noventa novanta
100 hundred hundert honderd
"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_DIGITS = """
two three four five six seven eight nine first second third fourth fifth sixth seventh eighth ninth
"""
_SCALES = """
1000 thousand tausend duizend
1000000 million millions mio mn millionen miljoen millón millones milione milioni milhão milhões
1000000000 billion billions bn mrd milliarde milliarden miljard milliard milliards miliardo miliardi
1000000000000 trillion trillions tn billionen biljoen
"""
_CURRENCIES = """
€ eur euro euros
$ usd dollar dollars
£ gbp pound pounds
¥ jpy yen
₹ inr rupee rupees rupien
CHF chf
CNY cny rmb
SEK sek
NOK nok
DKK dkk
PLN pln
CZK czk
"""
_UNITS = """
% percent percents prozent procent pct
mg milligram milligrams milligramm
μg mcg ug microgram micrograms mikrogramm
g gram grams gramm grammes
kg kilo kilos kilogram kilograms kilogramm
t tonne tonnes tonnen
ton tons
oz ounce ounces
ml milliliter milliliters millilitre millilitres
l liter liters litre litres
mm millimeter millimeters millimetre millimetres
cm centimeter centimeters centimetre centimetres
m meter meters metre metres
km kilometer kilometers kilometre kilometres
inch inches
ft foot feet
yd yard yards
mile miles
s sec secs second seconds sekunde sekunden
min mins minute minutes minuten
h hr hrs hour hours stunde stunden uur heure heures hora horas
day days tag tage tagen dag dagen jour jours día días
week weeks woche wochen weken semaine semaines semana semanas
month months monat monate monaten maanden mois mes meses
year years jahr jahre jahren jaar ans año años anno anni ano anos
byte bytes
bit bits
v volt volts
w watt watts
"""
_SYMBOLS = """
ng lb lbs cl dl μl μm nm ms ns hz khz mhz ghz kv mv ma kw mw gw kwh mwh kj mj cal kcal pa hpa kpa
mpa bar mbar psi kb mb gb tb kib mib gib mol mmol iu rpm dpi bp bps ha acre acres
"""
HALVES = {"am": "am", "a.m": "am", "pm": "pm", "p.m": "pm"}  # of the day


def _by_word(lines: str) -> dict[str, str]:
    """Return what each word of lines is counted as."""
    rows = (line.split() for line in lines.split("\n") if line)
    return {word: row[0] for row in rows for word in row[1:]}


def _compounds(numbers: dict[str, str]) -> dict[str, str]:
    """Return English numbers such as `twentyfive`, without the hyphen, as words are folded."""
    return {
        ten + unit: str(int(numbers[ten]) + int(numbers[unit]))
        for ten in _TENS.split()
        for unit in _DIGITS.split()
    }


MONTHS = {word: line.split()[0] for line in _MONTHS.split("\n") for word in line.split()}
NEGATIONS = frozenset((_NEGATIONS + _ANSWERS).split())
SCALES = _by_word(_SCALES)
NUMBERS = _by_word(_NUMBERS) | _compounds(_by_word(_NUMBERS)) | SCALES
CURRENCIES = _by_word(_CURRENCIES)
_FIRST = {line.split()[0] for line in _UNITS.split("\n") if line}
UNITS = _by_word(_UNITS) | {unit: unit for unit in (*_FIRST, *_SYMBOLS.split())}
