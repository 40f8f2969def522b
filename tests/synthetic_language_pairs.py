"""Pairs of clauses in nine languages, whose relation is known by construction: three clauses for
three pairs of parties, each with other numbers, a phrase more, its parties exchanged, denied, and
with an opposite word; and pairs of different clauses.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

PAIRS = 300  # in each language
DAYS = (14, 30, 45, 60, 90)
SAME = ("number", "phrase")  # kinds of duplicates; the other kinds are none


class Clause(NamedTuple):
    """A clause with {A} and {B} as parties and {n} days, and what is replaced by what."""

    text: str
    denied: tuple[str, str]
    opposite: tuple[str, str]
    phrase: tuple[str, str]


PARTIES = {
    "en": ("tenant landlord", "buyer seller", "licensee licensor"),
    "de": ("Mieter Vermieter", "Käufer Verkäufer", "Lizenznehmer Lizenzgeber"),
    "fr": ("preneur bailleur", "client fournisseur", "licencié concédant"),
    "nl": ("huurder verhuurder", "koper verkoper", "opdrachtgever opdrachtnemer"),
    "es": ("arrendatario arrendador", "comprador vendedor", "licenciatario licenciante"),
    "it": ("conduttore locatore", "compratore venditore", "licenziatario licenziante"),
    "pt": ("locatário locador", "comprador vendedor", "licenciado licenciante"),
    "zh": ("承租人 出租人", "买方 卖方", "被许可人 许可人"),
    "ja": ("賃借人 賃貸人", "買主 売主", "実施権者 許諾者"),
}
CLAUSES = {
    "en": (
        Clause(
            "The {A} shall pay to the {B} the costs of the repair within {n} days after receipt of "
            "the invoice to the account that is named in it.",
            ("shall pay", "shall not pay"),
            ("after receipt", "before receipt"),
            ("the repair", "the repair and of the transport"),
        ),
        Clause(
            "The {A} may terminate this contract by written notice to the {B} of at least {n} days "
            "at the end of any calendar month of the term.",
            ("may terminate", "may not terminate"),
            ("at least", "at most"),
            ("written notice", "written and signed notice"),
        ),
        Clause(
            "The {A} must return all documents of the {B} with their copies within {n} days after "
            "the end of the contract at its own expense.",
            ("must return", "must not return"),
            ("with their", "without their"),
            ("own expense", "own expense and risk"),
        ),
    ),
    "de": (
        Clause(
            "Der {A} hat dem {B} die Kosten der Reparatur innerhalb von {n} Tagen nach Zugang der "
            "Rechnung auf das darin genannte Konto zu zahlen.",
            ("zu zahlen", "nicht zu zahlen"),
            ("nach Zugang", "vor Zugang"),
            ("der Reparatur", "der Reparatur und des Transports"),
        ),
        Clause(
            "Der {A} darf diesen Vertrag gegenüber dem {B} mit einer Frist von mindestens {n} "
            "Tagen zum Ende eines Kalendermonats schriftlich kündigen.",
            ("schriftlich kündigen", "nicht schriftlich kündigen"),
            ("mindestens", "höchstens"),
            ("schriftlich kündigen", "schriftlich und begründet kündigen"),
        ),
        Clause(
            "Der {A} muss alle Unterlagen des {B}s mit ihren Kopien innerhalb von {n} Tagen nach "
            "dem Ende des Vertrags auf eigene Kosten zurückgeben.",
            ("auf eigene", "nicht auf eigene"),
            ("mit ihren", "ohne ihre"),
            ("eigene Kosten", "eigene Kosten und Gefahr"),
        ),
    ),
    "fr": (
        Clause(
            "Le {A} doit payer au {B} les frais de la réparation dans les {n} jours après la "
            "réception de la facture sur le compte qui y est indiqué.",
            ("doit payer", "ne doit pas payer"),
            ("après la", "avant la"),
            ("la réparation", "la réparation et du transport"),
        ),
        Clause(
            "Le {A} peut résilier le présent contrat par lettre adressée au {B} avec un préavis "
            "d'au moins {n} jours pour la fin de chaque mois civil.",
            ("peut résilier", "ne peut pas résilier"),
            ("au moins", "au plus"),
            ("par lettre", "par lettre datée et signée"),
        ),
        Clause(
            "Le {A} doit rendre tous les documents du {B} avec leurs copies dans les {n} jours "
            "après la fin du contrat et à ses propres frais.",
            ("doit rendre", "ne doit pas rendre"),
            ("avec leurs", "sans leurs"),
            ("propres frais", "propres frais et risques"),
        ),
    ),
    "nl": (
        Clause(
            "De {A} moet aan de {B} de kosten van de reparatie binnen {n} dagen na ontvangst van "
            "de factuur op de daarin genoemde rekening betalen.",
            ("rekening betalen", "rekening niet betalen"),
            ("na ontvangst", "voor ontvangst"),
            ("de reparatie", "de reparatie en van het vervoer"),
        ),
        Clause(
            "De {A} mag deze overeenkomst door een brief aan de {B} met een termijn van minstens "
            "{n} dagen tegen het einde van elke maand opzeggen.",
            ("maand opzeggen", "maand niet opzeggen"),
            ("minstens", "hoogstens"),
            ("een brief", "een getekende brief"),
        ),
        Clause(
            "De {A} moet alle documenten van de {B} met hun kopieën binnen {n} dagen na het einde "
            "van de overeenkomst op eigen kosten teruggeven.",
            ("kosten teruggeven", "kosten niet teruggeven"),
            ("met hun", "zonder hun"),
            ("eigen kosten", "eigen kosten en risico"),
        ),
    ),
    "es": (
        Clause(
            "El {A} debe pagar al {B} los gastos de la reparación en los {n} días después de la "
            "entrega de la factura en la cuenta que allí se indica.",
            ("debe pagar", "no debe pagar"),
            ("después de", "antes de"),
            ("la reparación", "la reparación y del transporte"),
        ),
        Clause(
            "El {A} puede terminar este contrato por carta al {B} con un preaviso de más de {n} "
            "días para el final de cada mes natural del plazo.",
            ("puede terminar", "no puede terminar"),
            ("más de", "menos de"),
            ("por carta", "por carta fechada y firmada"),
        ),
        Clause(
            "El {A} debe devolver todos los documentos del {B} con sus copias en los {n} días "
            "después del final del contrato y a su propia costa.",
            ("debe devolver", "no debe devolver"),
            ("con sus", "sin sus"),
            ("propia costa", "propia costa y riesgo"),
        ),
    ),
    "it": (
        Clause(
            "Il {A} deve pagare al {B} le spese della riparazione entro {n} giorni dopo il "
            "ricevimento della fattura sul conto che vi è indicato.",
            ("deve pagare", "non deve pagare"),
            ("dopo il", "prima del"),
            ("della riparazione", "della riparazione e del trasporto"),
        ),
        Clause(
            "Il {A} può recedere da questo contratto con lettera al {B} con un preavviso di più di "
            "{n} giorni per la fine di ogni mese di calendario.",
            ("può recedere", "non può recedere"),
            ("più di", "meno di"),
            ("con lettera", "con lettera datata e firmata"),
        ),
        Clause(
            "Il {A} deve restituire tutti i documenti del {B} con le loro copie entro {n} giorni "
            "dalla fine del contratto e a proprie spese.",
            ("deve restituire", "non deve restituire"),
            ("con le", "senza le"),
            ("proprie spese", "proprie spese e rischio"),
        ),
    ),
    "pt": (
        Clause(
            "O {A} deve pagar ao {B} as despesas da reparação no prazo de {n} dias depois da "
            "entrega da fatura na conta que nela se indica.",
            ("deve pagar", "não deve pagar"),
            ("depois da", "antes da"),
            ("da reparação", "da reparação e do transporte"),
        ),
        Clause(
            "O {A} pode terminar este contrato por carta ao {B} com um aviso prévio de mais de {n} "
            "dias para o fim de cada mês do prazo.",
            ("pode terminar", "não pode terminar"),
            ("mais de", "menos de"),
            ("por carta", "por carta datada e assinada"),
        ),
        Clause(
            "O {A} deve devolver todos os documentos do {B} com as suas cópias no prazo de {n} "
            "dias depois do fim do contrato e à sua custa.",
            ("deve devolver", "não deve devolver"),
            ("com as", "sem as"),
            ("sua custa", "sua custa e risco"),
        ),
    ),
    "zh": (
        Clause(
            "{A}应在收到发票后{n}天内向{B}支付修理费用，并汇入发票所载的账户。",
            ("应在", "不应在"),
            ("发票后", "发票前"),
            ("修理费用", "修理费用和运输费用"),
        ),
        Clause(
            "{A}可以提前至少{n}天书面通知{B}，在任何一个日历月的月底终止本合同。",
            ("可以提前", "不可以提前"),
            ("至少", "至多"),
            ("书面通知", "书面并签字通知"),
        ),
        Clause(
            "{A}应在合同终止后{n}天内自费归还{B}的全部文件，包括其复印件。",
            ("应在", "不应在"),
            ("包括", "不包括"),
            ("自费", "自费并自担风险"),
        ),
    ),
    "ja": (
        Clause(
            "{A}は、請求書の受領後{n}日以内に、{B}に対して修理の費用を請求書に記載の口座に支払わなけ"
            "ればならない。",
            ("支払わなければならない", "支払ってはならない"),
            ("受領後", "受領前"),
            ("修理の費用", "修理および運送の費用"),
        ),
        Clause(
            "{A}は、{B}に対する書面により、少なくとも{n}日前に通知して、各月の末日に本契約を解約することができる。",
            ("ことができる", "ことができない"),
            ("少なくとも", "多くとも"),
            ("書面により", "署名した書面により"),
        ),
        Clause(
            "{A}は、契約終了後{n}日以内に、{B}のすべての書類をその写しとともに自己の費用で返還しなけれ"
            "ばならない。",
            ("返還しなければならない", "返還してはならない"),
            ("写しとともに", "写しを除いて"),
            ("自己の費用", "自己の費用と危険"),
        ),
    ),
}


# Clauses that were written after the rules.
UNSEEN = {
    "en": Clause(
        "The {A} shall inform the {B} in writing of every damage to the goods that is found within "
        "{n} days of delivery, if it exceeds a tenth of the price.",
        ("shall inform", "shall not inform"),
        ("if it", "unless it"),
        ("every damage", "every damage and loss"),
    ),
    "de": Clause(
        "Der {A} unterrichtet den {B} innerhalb von {n} Tagen über jeden Schaden an der Ware, "
        "sofern er mehr als ein Zehntel des Preises ausmacht.",
        ("sofern er", "sofern er nicht"),
        ("mehr als", "weniger als"),
        ("jeden Schaden", "jeden Schaden und Verlust"),
    ),
    "fr": Clause(
        "Le {A} informe le {B} dans les {n} jours de tout dommage subi par la marchandise, si "
        "celui-ci dépasse plus d'un dixième du prix.",
        ("celui-ci dépasse", "celui-ci ne dépasse pas"),
        ("plus d'un", "moins d'un"),
        ("tout dommage", "tout dommage et perte"),
    ),
    "nl": Clause(
        "De {A} stelt de {B} binnen {n} dagen in kennis van elke schade aan de goederen, als deze "
        "meer dan een tiende van de prijs bedraagt.",
        ("prijs bedraagt", "prijs niet bedraagt"),
        ("meer dan", "minder dan"),
        ("elke schade", "elke schade en elk verlies"),
    ),
    "es": Clause(
        "El {A} informa al {B} en los {n} días siguientes de todo daño a las mercancías, si este "
        "supera en más de un décimo el precio pagado.",
        ("este supera", "este no supera"),
        ("más de", "menos de"),
        ("todo daño", "todo daño y pérdida"),
    ),
    "it": Clause(
        "Il {A} informa il {B} entro {n} giorni di ogni danno alle merci, se questo supera di più "
        "di un decimo il prezzo pagato per esse.",
        ("questo supera", "questo non supera"),
        ("di più di", "di meno di"),
        ("ogni danno", "ogni danno e perdita"),
    ),
    "pt": Clause(
        "O {A} informa o {B} no prazo de {n} dias de todo o dano às mercadorias, se este exceder "
        "em mais de um décimo o preço pago por elas.",
        ("este exceder", "este não exceder"),
        ("mais de", "menos de"),
        ("todo o dano", "todo o dano e perda"),
    ),
    "zh": Clause(
        "如果货物的损坏超过价款的十分之一，{A}应在{n}天内将其通知{B}，并说明损坏的原因。",
        ("应在", "无须在"),
        ("超过", "低于"),
        ("原因", "原因和程度"),
    ),
    "ja": Clause(
        "{A}は、商品の損害が代金の一割を超える場合、{n}日以内に{B}に対してその原因を書面で通知しなけれ"
        "ばならない。",
        ("しなければならない", "する必要はない"),
        ("超える", "下回る"),
        ("原因を", "原因および程度を"),
    ),
}


def language_pairs(language: str, *, unseen: bool = False) -> list[tuple[str, str, str]]:
    """Return pairs of clauses in a language, 300 of them or all unseen: their kind, and both
    texts.
    """
    chosen = (UNSEEN[language],) if unseen else CLAUSES[language]
    clauses = [(clause, parties.split()) for clause in chosen for parties in PARTIES[language]]
    pairs = [pair for clause, parties in clauses for pair in _related(clause, *parties)]
    others = (
        ("unrelated", _format(a, *of_a, n), _format(b, *of_b, n))
        for n in DAYS
        for (a, of_a), (b, of_b) in combinations(clauses, 2)
        if a is not b
    )
    return [*pairs, *others][:PAIRS]


def _format(clause: Clause, a: str, b: str, days: int) -> str:
    return clause.text.format(A=a, B=b, n=days)


def _related(clause: Clause, a: str, b: str) -> Iterator[tuple[str, str, str]]:
    texts = [_format(clause, a, b, days) for days in DAYS]
    yield from (("number", left, right) for left, right in combinations(texts, 2))
    for days, text in zip(DAYS[:4], texts, strict=False):
        yield "phrase", text, text.replace(*clause.phrase, 1)
        yield "exchanged", text, _format(clause, b, a, days)
        yield "denied", text, text.replace(*clause.denied, 1)
        yield "opposite", text, text.replace(*clause.opposite, 1)
