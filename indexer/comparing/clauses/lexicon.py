"""Synonyms, opposites and parties of contracts: a list that users extend.

The head of `mappings/legal-words-en.txt`, the list that is always there, explains the file format.
Words are compared by their stems, so one line serves all inflections.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import NamedTuple

from indexer import mappings
from indexer.errors import UsageError

# Closed classes of English words: function words, words of obligation, numerals, company forms.


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ARTICLES = _words(
    "a an the this such said aforesaid that which hereby hereof herein hereto hereunder thereof "
    "therein thereto thereunder respective respectively also"
)
"""Words that are not substantive: a clause with others of these, or without, is the same clause."""

FUNCTION = ARTICLES | _words(
    "i you he she it we they me him her us them my your his its our their mine yours who whom "
    "whose what these those is are was were be been being am has have had having do does did "
    "shall will must may can could should would might and or but nor so if then than as at by for "
    "from in into of off on onto out over to up upon with within without about against among "
    "between through during under until while when where whether because since though although "
    "not no never neither none any all each every either both some other another same own more "
    "most less least very too only hereafter hereinafter thereafter thereupon whereas whereof "
    "wherein hereinbefore hereunto notwithstanding pursuant"
)
"""Words that do not count as terminology."""

VERBS = _words(
    "is are was were be been being am has have had do does did shall will must may can could "
    "should would might"
)
"""Function words that are verbs: with one of them a line is a sentence, not a heading."""

STARTERS = (
    (FUNCTION - VERBS) - _words("he him me us more most own so then very too over")
) | _words("nothing nobody everything everybody everyone anything anybody anyone")
"""Function words that begin a sentence and are no surname: "May shall pay", "He shall pay"."""

HEADING_WORDS = _words(
    "assignors assigns audit care charges claims costs covenants damages data debt default "
    "definitions disputes entire events expenses fees goods interest jury law laws liens "
    "loan notice notices payments powers products records remedies rent repairs reports "
    "returns right rights sale software successors survival tax taxes term terms third title "
    "trial use uses waiver work works"
)
"""Words of headings that are no abbreviation and no name. A heading of other words stays."""

DIVISIONS = _words(
    "section sec article art clause chapter part paragraph para schedule exhibit annex appendix "
    "attachment title subsection subclause subparagraph cl item no rider addendum annexe recital "
    "clausula cláusula clausola klausul ziffer absatz abs paragraaf punkt preamble "
    "annexure division rule covenant condition regulation book volume artikel abschnitt anhang "
    "anlage kapitel teil chapitre titre anexo allegato bijlage bilaga artículo articolo artigo "
    "hoofdstuk capítulo título capitolo titolo"
)
"""Words that announce the number of a clause."""

NUMBER_WORDS = _words(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty first second third fourth fifth sixth seventh "
    "eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth "
    "eighteenth nineteenth twentieth"
)
"""Numbers of clauses that are written out."""

NAMES_ALONE = _words(
    "bond case cash dealer fair flood grant land law major mark marshall park price reliance room "
    "season short standard stock strike wall wait water"
)
"""Stems of words of headings that alone are as often the name of a person or a firm."""

PARTY_ACTS = VERBS | _words(
    "acknowledges agrees appoints assigns authorizes authorises consents covenants delivers grants "
    "guarantees indemnifies leases licenses pays promises purchases releases represents sells "
    "undertakes waives warrants"
)
"""What a party does by a clause."""

_PAIRS = (
    "leichte grobe, leichter grober, leichten groben, lichte grove, légère lourde, légère grave, "
    "lieve grave, leve grave, schriftlich mündlich, schriftlich telefonisch, écrit oralement, "
    "écrit verbalement, schriftelijk mondeling, schriftelijk telefonisch, escrito oralmente, "
    "escrito verbalmente, iscritto oralmente, iscritto verbalmente, vertraulich öffentlich, "
    "confidentielles publiques, vertrouwelijk openbaar, confidencial pública, riservate pubbliche, "
    "forderungen schulden, forderungen verbindlichkeiten, créances dettes, vorderingen schulden, "
    "créditos deudas, créditos dívidas, crediti debiti, minste hoogste"
)
_OPPOSITES = [(a, b) for a, b in map(str.split, _PAIRS.split(","))]
OPPOSITES = frozenset([*_OPPOSITES, *((b, a) for a, b in _OPPOSITES)])
"""Folded words of contracts in other languages that are opposites there, in either order."""

_TITLES = (
    "allgemeine bestimmungen, allgemeines, schlussbestimmungen, definitionen, "
    "begriffsbestimmungen, laufzeit, vertragsdauer, kündigung, beendigung, vertraulichkeit, "
    "geheimhaltung, haftung, haftungsbeschränkung, gewährleistung, gerichtsstand, "
    "anwendbares recht, abtretung, zahlung, zahlungsbedingungen, vergütung, preise, lieferung, "
    "salvatorische klausel, höhere gewalt, datenschutz, mitteilungen, versicherung, "
    "geistiges eigentum, nutzungsrechte, dispositions générales, dispositions finales, "
    "définitions, objet, durée, résiliation, confidentialité, responsabilité, "
    "limitation de responsabilité, garantie, garanties, loi applicable, droit applicable, "
    "juridiction compétente, cession, paiement, prix, livraison, force majeure, assurance, "
    "assurances, notifications, propriété intellectuelle, protection des données, "
    "algemene bepalingen, slotbepalingen, definities, begripsbepalingen, duur, looptijd, "
    "opzegging, beëindiging, geheimhouding, vertrouwelijkheid, aansprakelijkheid, "
    "beperking van aansprakelijkheid, garantie, garanties, toepasselijk recht, bevoegde rechter, "
    "overdracht, betaling, prijzen, levering, overmacht, verzekering, kennisgevingen, "
    "intellectuele eigendom, bescherming van persoonsgegevens, disposiciones generales, "
    "disposiciones finales, definiciones, objeto, duración, vigencia, terminación, resolución, "
    "rescisión, confidencialidad, responsabilidad, limitación de responsabilidad, garantía, "
    "garantías, ley aplicable, legislación aplicable, jurisdicción, cesión, pago, precio, "
    "entrega, fuerza mayor, seguro, seguros, notificaciones, propiedad intelectual, "
    "protección de datos, disposizioni generali, disposizioni finali, definizioni, oggetto, "
    "durata, risoluzione, recesso, riservatezza, responsabilità, limitazione di responsabilità, "
    "garanzia, garanzie, legge applicabile, foro competente, cessione, pagamento, prezzo, "
    "consegna, forza maggiore, assicurazione, comunicazioni, proprietà intellettuale, "
    "protezione dei dati, disposições gerais, disposições finais, definições, objeto, objecto, "
    "duração, vigência, rescisão, resolução, confidencialidade, responsabilidade, "
    "limitação de responsabilidade, garantia, garantias, lei aplicável, legislação aplicável, "
    "foro, jurisdição, cessão, pagamento, preço, entrega, força maior, seguro, seguros, "
    "notificações, propriedade intelectual, proteção de dados, 总则, 一般规定, 一般条款, 附则, "
    "定义, 期限, 终止, 解除, 保密, 责任, 责任限制, 违约责任, 保证, 适用法律, 管辖, 管辖法律, "
    "争议解决, 转让, 付款, 支付, 价格, 交付, 不可抗力, 保险, 通知, 知识产权, 総則, 一般規定, "
    "一般条項, 附則, 定義, 目的, 期間, 契約期間, 終了, 解除, 秘密保持, 守秘義務, 責任, "
    "責任の制限, 保証, 準拠法, 管轄, 合意管轄, 譲渡, 支払, 価格, 引渡し, 不可抗力, 保険, "
    "知的財産権"
)
TITLES = tuple(title.strip() for title in _TITLES.split(","))
"""Headings of clauses in other languages, in lower case."""

# Words of contracts in Chinese and Japanese that mean the same, the first of which stands for all.
_SAME_WORDS = (
    "任何 一切, 这些 此类 该等 该类, 该 此, 获得 取得 收到, 条件 前提, "
    "损害 损失, 声明 陈述, 每次 每一, 合同 协议 契约, 通知 告知, 支付 给付 缴付, 期限 期间, "
    "立即 即刻, 替换 替代 取代 代替, 授予 给予, 如果 倘若 若, 根据 依据 依照 按照, 其他 其它, "
    "此外 另外, 追加 挿入, 同意 承諾, 確認 検証, により生じた に起因する, 書面による 書面での, "
    "場合に限り ことを条件として, および 及び, または 又は, もしくは 若しくは, ならびに 並びに, "
    "すべて 全て, 当該 かかる, につき ごとに, 従い 従って"
)
_FIRST = {
    word: first for first, *others in map(str.split, _SAME_WORDS.split(",")) for word in others
}
_OTHERS = re.compile("|".join(sorted(_FIRST, key=len, reverse=True)))


def with_same_words(text: str) -> str:
    """Return a text in Chinese or Japanese with one word for each of those that mean the same.

    >>> with_same_words("给付一切费用") == with_same_words("支付任何费用")
    True
    """
    return _OTHERS.sub(lambda word: _FIRST[word.group()], text)


DUTY = frozenset(["shall", "will", "must"])
RIGHT = frozenset(["may", "can"])
NEGATIONS = _words("not no never neither none nor cannot without")
SEMI_NEGATIVES = _words("barely hardly rarely scarcely seldom")
"""Adverbs that deny as "not" does: what is rarely available is not what is freely available."""

SILENT = _words(
    "be been being have has had not also only hereby at all times in any event it promptly so do"
)
"""Words that may stand between a modal verb and the verb of the obligation."""

NUMERALS = _words(
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred "
    "thousand million billion"
)
COMPANY_FORMS = _words(
    "inc corp corporation incorporated llc llp lllp lp ltd limited co plc pllc pc na gmbh kg kgaa "
    "ag sa sarl sas srl spa bv nv ab asa oyj pty pte kk l.p l.l.c l.l.p n.a p.c p.l.c s.a s.p.a "
    "s.r.l s.a.r.l b.v n.v k.k c.v a.s a.ş a/s bhd berhad d.d d.o.o e.k e.v ehf hf k.s kft ltda "
    "nyrt oao ohg ojsc ooo oü oy pjsc pvt s.a.a s.a.b s.c.a s.n.c s.r.o sdn se sprl tbk uab v.o.f "
    "vof z.o.o zao zrt"
)
SMALL_FORMS = _words("inc llc ltd plc")
"""Forms that end the name of a company also without a capital."""

NAME_TAILS = COMPANY_FORMS | _words("jr sr esq ii iii iv")
"""Words that belong to the name before them, even after a comma."""

NAME_SUFFIXES = _words(
    "bancorp bancshares biosciences brands capital enterprises financial funding holding holdings "
    "industries international labs motors pharma pharmaceuticals realty technologies therapeutics "
    "ventures worldwide"
)
"""Words that seldom stand alone in a contract, and often at the end of a firm's name."""

FIRM_WORDS = (
    COMPANY_FORMS
    | NAME_SUFFIXES
    | _words("associates foods group media motors partners properties resources solutions systems")
)
"""Words that tell no firm from another at the end of its name."""

ORGANISATIONS = _words(
    "academy association bank bishop brotherhood bureau church city college commonwealth company "
    "confederation council county daughters department diocese district emirate federation "
    "foundation friends hospital institute island islands isle kingdom ministry monastery museum "
    "order province republic school seminary sisters society sons synod temple territory town "
    "trust union university village"
)
"""Bodies in whose names an article may stand: "Bank of the West"."""

CLASSIFIERS = _words(
    "class series tranche schedule exhibit annex appendix attachment type tier grade phase "
    "building tower block option plan lot level vitamin fund"
)
"""Words after which a single capital letter is a letter, not a word."""

SITE_ENDING = r"[.](?:com|net|org|io|ai|app|biz|co|de|dev|eu|fr|tv|uk)\b"
"""A pattern of the last parts of the addresses of sites that stand as names: "booking.com"."""

LEADING_PARTICLES = _words("de du di della von van zu ter ten")
"""Particles with which a name may begin: "de Beers"."""

PARTICLES = _words("of de du des del della di da do dos das von van der den la le")
"""Words that may stand between two capitalised words of a name."""

_ABBREVIATIONS = _words(
    "mr mrs ms messrs dr prof hon rev st ste mt ft no nos art sec cl para bros jr sr esq ave blvd "
    "rd dept vs cf"
)


@lru_cache(maxsize=1 << 16)
def is_numeral(text: str) -> bool:
    """Return whether a word is a number written out ("two", "Twenty-five").

    "one" is as often a pronoun, and is none.
    """
    return text.lower().split("-")[0] in NUMERALS


@lru_cache(maxsize=1 << 16)
def is_abbreviation(text: str) -> bool:
    """Return whether a full stop after a word belongs to it: Inc., Mr., No., J., L.P.

    >>> [is_abbreviation(word) for word in ("Inc", "St", "J", "L.P", "Rent")]
    [True, True, True, True, False]
    """
    word = text.lower()
    initials = all(len(part) == 1 for part in word.rstrip(".").split("."))
    return initials or word in _ABBREVIATIONS or word in COMPANY_FORMS


# Stems of English words by Snowball (Porter 2): the one file that imports it.


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return the stem of a lower-case word; the last 65,536 are cached.

    >>> stem("enures"), stem("binding"), stem("parties")
    ('enur', 'bind', 'parti')
    """
    # imported late: the library reads all its languages, which few commands need
    import snowballstemmer  # type: ignore[import-untyped]

    # a stemmer serves one thread, so each word has its own
    return str(snowballstemmer.stemmer("english").stemWord(word))


DEFAULT = "legal-words-en.txt"
_SEPARATORS = {"synonyms": "=", "opposites": "<>", "parties": ","}
_WORD = re.compile(r"[^\W\d_]+")

Phrase = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Canonical forms by phrase of stems, pairs of opposites, and parties.

    `starts`: phrases by their first stem, longest first. `functional` forms have a function word
    among their synonyms: they are no terminology. Compared and hashed by identity: readings of
    texts are cached by it.
    """

    canonical: Mapping[Phrase, str]
    opposites: frozenset[tuple[str, str]]
    parties: frozenset[str]
    functional: frozenset[str]
    party_words: frozenset[str]
    starts: Mapping[str, tuple[Phrase, ...]] = field(init=False)
    opposable: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        starts: dict[str, list[Phrase]] = {}
        for phrase in sorted(self.canonical, key=lambda phrase: (-len(phrase), phrase)):
            starts.setdefault(phrase[0], []).append(phrase)
        phrases_by_start = {first: tuple(phrases) for first, phrases in starts.items()}
        object.__setattr__(self, "opposable", frozenset(form for form, _ in self.opposites))
        object.__setattr__(self, "starts", phrases_by_start)

    def stem(self, word: str) -> str:
        """Return the stem of a lower-case word, but the singular of a party.

        An employer must not have the stem of an employment.
        """
        return _stem(word, self.party_words)

    def form(self, phrase: Phrase) -> str:
        """Return the canonical form of a whole phrase of stems, or its own words without one."""
        return self.canonical.get(phrase) or "_".join(phrase)

    def are_opposites(self, left: str, right: str) -> bool:
        """Return whether two canonical forms are opposites, in either order."""
        return (left, right) in self.opposites


@cache
def default_lexicon() -> Lexicon:
    """Return the shipped list."""
    return lexicon("")


def lexicon(added: str, source: str = "the list") -> Lexicon:
    """Return the shipped list and the lines of another; `source` names it in messages.

    A form that the shipped list has, too, joins both meanings. Raises `UsageError` for a line that
    is no entry and for an unknown heading.

    >>> added = lexicon("chief officer = managing director")
    >>> added.form((stem("chief"), stem("officer"))) == "chief_offic"
    True
    """
    lines = [*_lines(mappings.read(DEFAULT), DEFAULT), *_lines(added, source)]
    party_words = frozenset(_party_words(lines))
    entries = [_Entry(kind, _forms(text, kind, where, party_words)) for kind, text, where in lines]
    canonical = _canonical([entry.forms for entry in entries if entry.kind == "synonyms"])
    names: dict[Phrase, str] = {}
    opposites: set[tuple[str, str]] = set()
    parties: set[str] = set()
    for kind, forms in entries:
        names.update((form, canonical.get(form) or "_".join(form)) for form in forms)
        if kind == "parties":
            parties.update(names[form] for form in forms)
        elif kind == "opposites":
            first, *others = (names[form] for form in forms)
            opposites.update((first, other) for other in others)
            opposites.update((other, first) for other in others)
    canonical = {**names, **canonical}
    functional = frozenset(
        name for phrase, name in canonical.items() if len(phrase) == 1 and phrase[0] in FUNCTION
    )
    return Lexicon(canonical, frozenset(opposites), frozenset(parties), functional, party_words)


class _Entry(NamedTuple):
    kind: str
    forms: list[Phrase]


class _Line(NamedTuple):
    """One entry as written: its kind, its words, and its position in the file."""

    kind: str
    entry: str
    where: str


def _lines(text: str, source: str) -> Iterator[_Line]:
    """Yield the entries of a list."""
    kind = "synonyms"
    for number, line in enumerate(text.splitlines(), 1):
        where = f"{source}, line {number}"
        entry = line.partition("#")[0].strip()
        if entry.startswith("["):
            kind = entry.strip("[] ").casefold()
            if kind not in _SEPARATORS:
                kinds = ", ".join(f"[{name}]" for name in _SEPARATORS)
                raise UsageError(f"{where}: {entry} is no heading; there are {kinds}")
        elif entry:
            yield _Line(kind, entry, where)


def _party_words(lines: Iterable[_Line]) -> Iterator[str]:
    """Yield the parties that are one word."""
    for line in lines:
        if line.kind == "parties":
            for form in line.entry.casefold().split(","):
                words = form.split()
                if len(words) == 1:
                    yield words[0]


def _forms(entry: str, kind: str, where: str, party_words: frozenset[str]) -> list[Phrase]:
    separator = _SEPARATORS[kind]
    forms = []
    for form in entry.split(separator):
        words = _WORD.findall(form.casefold())
        forms.append(tuple(_stem(word, party_words) for word in words))
    if not all(forms) or len(forms) < (1 if kind == "parties" else 2):
        raise UsageError(
            f"{where}: {entry!r} is no entry of [{kind}]; write one {separator} another"
        )
    return forms


@lru_cache(maxsize=1 << 16)
def _stem(word: str, party_words: frozenset[str]) -> str:
    singular = word[:-1] if word.endswith("s") and word[:-1] in party_words else word
    return singular if singular in party_words else stem(word)


def _canonical(groups: list[list[Phrase]]) -> dict[Phrase, str]:
    """Return every form by the canonical one.

    Groups that share a form are one; the first of them gives its canonical form.
    """
    canonical: dict[Phrase, str] = {}
    for forms in groups:
        known = [canonical[form] for form in forms if form in canonical]
        term = known[0] if known else "_".join(forms[0])
        for phrase, name in list(canonical.items()):
            if name in known:
                canonical[phrase] = term
        canonical.update(dict.fromkeys(forms, term))
    return canonical
