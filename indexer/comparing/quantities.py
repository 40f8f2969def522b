"""Numbers as they are written: the value, the sign, and what it is a number of.

"$5 million", "5,000,000 USD" and "5.000.000 dollars" are one quantity, "5 mg" and "5 g" are two.
Units are looked for in the two words after a number and the one before.
"""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from indexer.comparing.words import Words


# Words that state facts, folded: months, negations, numbers, scales, currencies and units.

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
ANSWERS = frozenset(_ANSWERS.split())
NEGATIONS = ANSWERS.union(_NEGATIONS.split())
SCALES = _by_word(_SCALES)
NUMBERS = _by_word(_NUMBERS) | _compounds(_by_word(_NUMBERS)) | SCALES
CURRENCIES = _by_word(_CURRENCIES)
_FIRST = {line.split()[0] for line in _UNITS.split("\n") if line}
_OF_TIME = {"s", "min", "h", "day", "week", "month", "year"}
TIME_UNITS = frozenset(word for word, unit in _by_word(_UNITS).items() if unit in _OF_TIME)
UNITS = _by_word(_UNITS) | {unit: unit for unit in (*_FIRST, *_SYMBOLS.split())}


REACH = 6  # characters before a number, and beyond the words after it, that are looked at
# words that belong to a number, with those after a degree sign
BESIDE = frozenset((*SCALES, *CURRENCIES, *UNITS, *HALVES, "c", "f"))
_BLANKS = " \u00a0\u202f"
_CURRENCY = rf"(?:[^\w\s(-][{_BLANKS}]?)?"
_MINUS = re.compile(  # before a number: no hyphen or dash within something, no option
    rf"(?:\A|[^\w)\]}}%.\"'\u2019\u201d\-\u2212\u2013\u2014])[-\u2212\u2013]{_CURRENCY}\Z"
)
_BRACKET = re.compile(rf"\({_CURRENCY}\Z")
_GROUPED = re.compile(r"(\d{1,3}(?:([.,'])\d{3})(?:\2\d{3})*)(?:[.,](\d+))?\Z")
_DECIMAL = re.compile(r"(\d+)[.,](\d+)\Z")
_IN_BOOKS = re.compile(r"[\d.,']*[.,'](?:\d{3}|\d\d)\Z")  # as accounts write an amount
_SUFFIX = re.compile(r"(\d[\d.,':]*?)-?([^\W\d][^\W\d]*(?:\.m)?)\Z")
_ORDINAL = re.compile(r"(?:st|nd|rd|th|er|ère|ème|ste)\Z")
_CLOCK = re.compile(r"\d{1,2}(?:[:.]\d\d)?\Z")
_PLAIN = re.compile(r"\d+(?:\.\d+)?\Z")
_ADJACENT = re.compile(r"[^\S\r\n]*(?:\r\n?|\n)?[^\S\r\n]*|-")
_MEGA = re.compile(r"m[WVAHJP]")  # milliwatts, not megawatts; elsewhere case tells no units apart


class Quantity(NamedTuple):
    """A number with its sign and its unit.

    `number`: as it is written, with its sign. [`start`, `end`): where all of it but the sign is, in
    characters.
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
        return not {*CURRENCIES.values(), "%", "‰"}.isdisjoint(self.unit.split())


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
        before = self.text[max(0, start - 3) : start].rstrip("-\u2212\u2013" + _BLANKS + "(")
        if before and unicodedata.category(before[-1]) == "Sc":
            return _currency(before[-1]), max(0, start - 3) + len(before) - 1
        if code := CURRENCIES.get(self.next_to(position, -1)):
            return code, int(self.words.starts[position - 1])
        return None

    def _unit_after(self, position: int, value: str) -> tuple[str, int] | None:
        end = int(self.words.ends[position])
        rest = self.text[end : end + 2]
        symbol = rest.lstrip(_BLANKS)[:1]
        if symbol and _is_unit_symbol(symbol):
            end += rest.index(symbol) + 1
            scale = self.folded(position + 1) if position + 1 < len(self.words) else ""
            if symbol == "°" and scale in ("c", "f") and self.text[end : end + 1].lower() == scale:
                return f"°{scale}", end + 1
            return _currency(symbol), end
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
        before = self.text[max(0, opening.start() - 2) : opening.start()].rstrip(_BLANKS)[-1:]
        is_amount = any(map(_is_unit_symbol, before + opening.group()))
        return is_amount or bool(_IN_BOOKS.match(self.text[start : int(self.words.ends[position])]))


def _split(word: str) -> tuple[str, str]:
    """Return the value of a number, and the unit or scale at its end."""
    if word in NUMBERS:
        return NUMBERS[word], ""
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
