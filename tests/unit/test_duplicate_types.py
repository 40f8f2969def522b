"""Duplicate types: the published pairs, what each type forgives, what turns an obligation,
formulas, and lossless filters.
"""

from collections import Counter

import pytest
from clause_pairs import RENT, REPAIR, kind
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic_language_pairs import CLAUSES, SAME, language_pairs

from indexer.comparing.clauses.clause_terms import read_clause
from indexer.comparing.clauses.duplicates import (
    TYPES,
    duplicate_pairs,
    duplicate_sets,
    language_of,
    may_match,
    signatures,
    term_statistics,
    terminology,
    verdict,
)
from indexer.comparing.clauses.lexicon import default_lexicon, lexicon
from indexer.errors import UsageError

NEAR = (
    "Section 14.06 Successors and Assignors. All covenants and agreements in this Agreement by "
    "the Sponsor shall bind its "
    "successors and assigns, whether so expressed or not.",
    "Section 11.09. Successors and Assignors. All covenants and agreements in this Indenture "
    "by the Issuer shall bind its "
    "successors and assigns, whether so expressed or not.",
)

FUZZY = (
    "3.1 Successors and Assigns. This agreement enures to the benefit of and is binding on the "
    "parties hereto and their "
    "respective successors and assigns.",
    "32. Successors and Assigns. This agreement shall be binding upon, and enure to the "
    "benefit of, the parties, their legal "
    "representatives, successors and assigns.",
)

LEVERAGE = (
    "The Company shall not permit the Leverage Ratio to exceed 3.50 to 1.00 at the end "
    "of any fiscal quarter."
)


def test_the_published_pairs() -> None:
    assert kind(*NEAR) == kind(*NEAR, overlap=0.9) == "near_identical"
    assert kind(*FUZZY) == "fuzzy"
    assert kind(*FUZZY, overlap=0.9) is None
    left, right = (read_clause(text, default_lexicon()) for text in FUZZY)
    assert terminology(left, right) == 0.875
    assert kind(NEAR[0], FUZZY[0]) is None


@pytest.mark.parametrize(
    "right",
    [
        REPAIR.replace("The Tenant", "Tenant").replace("the premises", "such premises"),
        f"7. Repairs. {REPAIR.upper()}",
        REPAIR.replace(" ", "\n", 7).replace("roof and", "roof, and"),
        REPAIR.replace("shall", "hereby shall"),
    ],
)
def test_identical_forgives_what_has_no_substance(right: str) -> None:
    assert kind(REPAIR, right) == "identical"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("$10,000", "Ten Thousand Dollars ($10,000)"),
        ("$10,000", "EUR 1.5 million"),
        ("30 days", "sixty (60) days"),
        ("June 1, 2001", "3 March 2004"),
        ("Boston", "the State of New York"),
        ("Acme Holdings, Inc.", "Bank of Ohio"),
        ("Section 4.2", "Article IX"),
        ("12 Main Street, Springfield, Illinois 62701", "9 High Road, Leeds"),
        ("the Executor", "the Personal Representative"),
        ("promptly", "without delay"),
        ("the lawyer", "the attorney"),
    ],
)
def test_near_identical_forgives_slots_and_synonyms(left: str, right: str) -> None:
    text = (
        "The Company shall deliver to {}, as its guests agreed before, a report on the "
        "state of the warehouse."
    )
    assert kind(text.format(left), text.format(right)) == "near_identical"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("shall repair", "may repair"),
        ("shall repair", "shall not repair"),
        ("after any", "before any"),
        ("repair the roof and the windows", "photograph every tenant and guest"),
        ("any damage", "no damage"),
        ("shall repair", "is entitled to repair"),
        ("or storm.", "or storm. Any other work is prohibited."),
    ],
)
def test_another_obligation_is_no_duplicate(left: str, right: str) -> None:
    assert left in REPAIR
    assert kind(REPAIR, REPAIR.replace(left, right)) is None


@pytest.mark.parametrize("other", ["The Landlord", "The Lessor"])
def test_the_same_obligation_of_the_other_party_is_a_type(other: str) -> None:
    text = REPAIR.replace("The Tenant", other)
    assert kind(REPAIR, text) == "parties_exchanged"
    clauses = [("a", REPAIR), ("b", text)]
    assert duplicate_sets(clauses) == duplicate_pairs(clauses) == ()
    assert [pair.type for pair in duplicate_pairs(clauses, exchanged=True)] == ["parties_exchanged"]


def test_words_that_turn_a_sum_or_a_condition() -> None:
    price = (
        "The price is the closing value of the assets {} the capital adjustment, as "
        "determined by the auditor of both."
    )
    assert kind(price.format("plus"), price.format("minus")) is None
    notice = (
        "The Licensee may end this deed upon thirty days notice {} the Licensor fails to "
        "perform its duties hereunder."
    )
    assert kind(notice.format("if"), notice.format("unless")) is None


def test_other_words_of_duty_and_idioms_are_not_identical() -> None:
    assert kind(REPAIR, REPAIR.replace("shall", "is required to")) == "near_identical"
    assert kind(REPAIR, REPAIR.replace("fire", "fire, without limitation,")) == "fuzzy"


def test_parties_that_change_places() -> None:
    text = (
        "{} indemnifies {} against all claims of third persons that arise out of the sale "
        "of the goods."
    )
    assert (
        kind(text.format("Acme Foods", "Orion Bank"), text.format("Orion Bank", "Acme Foods"))
        == "parties_exchanged"
    )
    assert (
        kind(text.format("Acme Foods", "Orion Bank"), text.format("Solway Ltd", "Quill AG"))
        == "near_identical"
    )
    lower = (
        "as a rule the {} insures the {} against all claims of third persons that arise "
        "out of the sale of goods"
    )
    swapped = lower.format("buyer", "seller")
    assert kind(lower.format("seller", "buyer"), swapped) == "parties_exchanged"
    assert (
        kind(lower.format("seller", "buyer"), lower.format("vendor", "purchaser"))
        == "near_identical"
    )


@pytest.mark.parametrize(
    ("text", "left", "right"),
    [
        (LEVERAGE, "3.50 to 1.00", "4.00 to 1.00"),
        (
            "The price to be paid at closing is P = 1.5 x EBITDA / 12, as the auditors of both "
            "parties compute it.",
            "1.5",
            "1.7",
        ),
        (
            "The royalty that the publisher owes is net sales multiplied by 0.12 less returns "
            "granted in good faith.",
            "0.12",
            "0.15",
        ),
        (
            "Sums are translated at the rate of exchange of 1.10 Dollars for one Euro, rounded "
            "to the nearest cent.",
            "1.10",
            "1.12",
        ),
        (
            "The margin depends on the level shown in the certificate:\nLevel I 1.25 "
            "0.50\nLevel II 1.75 0.75",
            "0.75",
            "0.80",
        ),
        (
            "If the quotient A + B > C holds at the end of the year, the buyer pays the seller "
            "a premium in cash.",
            "+",
            "÷",
        ),
        (
            "The Company keeps the ratio of its debt to its equity below three to one at the "
            "end of any year.",
            "three",
            "four",
        ),
        (
            "The present value equals each payment divided by (1 + r)^n on the day named by "
            "the Agent.",
            "^n",
            "^m",
        ),
        (
            "Each Holder receives the sum Base Rent = Area × Rate on the day named by the Agent.",
            "Rate",
            "Factor",
        ),
        (
            "Each Holder receives A = B ÷ C in cash on the day named by the Agent under this deed.",
            "B ÷ C",
            "C ÷ B",
        ),
        (
            "Each Holder receives A = B - C - D in cash on the day named by the Agent under "
            "this deed.",
            "- D",
            "- E",
        ),
    ],
)
def test_one_number_of_a_formula(text: str, left: str, right: str) -> None:
    assert kind(text, f"4.2 {text}") == "identical"
    assert kind(text, text.replace(left, right, 1)) is None


def test_fuzzy_is_bounded_by_length_and_terminology() -> None:
    longer = (
        f"{REPAIR} Notice of such damage comes from the janitor or from the neighbours in the "
        "house next to it."
    )
    assert kind(REPAIR, longer) is None
    reordered = (
        "Promptly after any damage by storm or fire, the Tenant shall repair the "
        "windows and the roof of the premises."
    )
    assert kind(REPAIR, reordered) == "fuzzy"


@pytest.mark.parametrize("text", ["", "   ", "the", "!?", "\ud800"])
def test_nothing_is_a_duplicate_of_nothing(text: str) -> None:
    assert kind(text, text) is None


def test_short_clauses_can_be_identical_only() -> None:
    assert kind("The Company shall pay Boston.", "Company shall pay Boston.") == "identical"
    assert kind("The Company shall pay Boston.", "The Company shall pay Leeds.") is None


def test_words_of_a_user() -> None:
    pair = (
        "The chief engineer shall inspect all pumps of the vessel once in every week of the "
        "voyage.",
        "The head of engineering shall inspect all pumps of the vessel once in every week of "
        "the voyage.",
    )
    assert kind(*pair) == "fuzzy"
    assert kind(*pair, words="chief engineer = head of engineering") == "near_identical"
    text, party = (
        "the charterer shall pay for fuel and water and port dues of the vessel",
        "charterer",
    )
    swapped = text.replace(party, "shipowner")
    assert (
        kind(
            text,
            swapped,
            words="[opposites]\ncharterer <> shipowner\n[parties]\ncharterer, shipowner",
        )
        == "parties_exchanged"
    )


@pytest.mark.parametrize(
    "line", ["alone", "a = ", "[nothing]\na = b", "[opposites]\na = b", "[parties]\n, ,"]
)
def test_lines_that_are_no_entries(line: str) -> None:
    with pytest.raises(UsageError, match="ours, line"):
        lexicon(line, "ours")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        *((form.format("€"), form.format("£")) for form in ("10,000 {}", "10.000,- {}", "{}.50")),
        *((form.format("$"), form.format("¥")) for form in ("[10,000] {}", "per {}", "{}-10,000")),
        ("10,000 ₹", "10,000"),
        ("10,000 %", "10,000"),
        ("5′", "5″"),
        ("5'", '5"'),
        ("5 m²", "5 m2"),
        ("10-20", "10 20"),
        ("(10,000)", "10,000"),
        ("~10,000", "10,000"),
        ("what BBB- pays", "what BBB pays"),
    ],
)
def test_clauses_with_other_signs_are_not_identical(left: str, right: str) -> None:
    assert kind(RENT.format(left), RENT.format(right)) != "identical"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("5:00 p.m.", "6:00 p.m."),
        ("17:00", "18:30"),
        ("9:00 a.m. on June 1", "10:00 a.m. on June 2"),
        ("that of 2020/21", "that of 2021/22"),
        ("$10,000/month", "$12,000/month"),
        ("the caller from +44 20 7946 0000", "the caller from +1 212 555 0199"),
    ],
)
def test_times_of_day_years_and_telephones_are_slots(left: str, right: str) -> None:
    assert kind(RENT.format(left), RENT.format(right)) == "near_identical"


@pytest.mark.parametrize(
    ("left", "right"), [("a ratio of 1:10", "a ratio of 1:20"), ("2:1", "3:1"), ("10/12", "11/12")]
)
def test_ratios_and_quotients_are_no_slots(left: str, right: str) -> None:
    assert kind(RENT.format(left), RENT.format(right)) is None


@pytest.mark.parametrize(
    ("left", "right"),
    [("10–20 days", "10-20 days"), ("“ten”", '"ten"'), ("5 m²", "5 m²")],
)
def test_other_dashes_and_quotation_marks_are_identical(left: str, right: str) -> None:
    assert kind(RENT.format(left), RENT.format(right)) == "identical"


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("Flat 2/1", "Flat 2/2", "near_identical"),
        ("LIBOR + 2.5%", "LIBOR + 3.0%", "near_identical"),
        ("LIBOR + 2.5%", "LIBOR - 2.5%", None),
        ("P = LIBOR + 2.5%", "P = LIBOR + 3.0%", None),
        ("Disney+", "Hulu", "near_identical"),
        ("x² + 1", "x2 + 1", None),
        ("x² + y", "x³ + y", None),
    ],
)
def test_flats_margins_and_powers(left: str, right: str, expected: str | None) -> None:
    assert kind(RENT.format(left), RENT.format(right)) == expected


def test_sets_are_not_transitive() -> None:
    words = [f"item{chr(97 + place)}" for place in range(22)]
    texts = [" ".join(words[start : start + 16]) for start in (0, 3, 6)]
    clauses = [(str(place), text) for place, text in enumerate(texts)]
    assert [(entry.a, entry.b) for entry in duplicate_pairs(clauses)] == [("0", "1"), ("1", "2")]
    [result] = duplicate_sets(clauses)
    assert (result.principal, [entry.id for entry in result.members]) == ("0", ["1"])
    [result] = duplicate_sets([clauses[1], clauses[0], clauses[2]])
    assert (result.principal, [entry.id for entry in result.members]) == ("1", ["0", "2"])


def test_the_strictest_type_wins() -> None:
    clauses = [
        ("fuzzy", FUZZY[1]),
        ("same", FUZZY[0]),
        ("asked", FUZZY[0].replace("the parties hereto", "parties")),
    ]
    assert [(pair.a, pair.b, pair.type) for pair in duplicate_pairs(clauses)] == [
        ("fuzzy", "same", "fuzzy"),
        ("fuzzy", "asked", "fuzzy"),
        ("same", "asked", "identical"),
    ]


def test_what_is_refused() -> None:
    for overlap in (0, -1, 1.1, float("nan")):
        with pytest.raises(UsageError):
            duplicate_sets([], overlap=overlap)
    with pytest.raises(UsageError):
        duplicate_pairs([("a", REPAIR), ("a", REPAIR)])
    assert duplicate_sets([]) == ()


VOCABULARY = [
    f"{one}{two}"
    for one in ("pay", "ren", "goo", "cla", "bond", "cert")
    for two in ("ment", "tal", "ds", "im", "ing", "")
]

ODD = [
    "the",
    "such",
    "Acme",
    "Orion Bank",
    "seller",
    "shall",
    "promptly",
    "without delay",
    "$5",
    "12 days",
    "of",
    "not",
    "x = 3",
    ".",
]

TEXTS = st.lists(st.sampled_from([*VOCABULARY, *ODD]), min_size=8, max_size=90).map(" ".join)

EDITS = st.lists(
    st.tuples(st.integers(0, 89), st.sampled_from([*VOCABULARY, *ODD, ""])), max_size=8
)


def apply_edits(text: str, edits: list[tuple[int, str]]) -> str:
    words = text.split(" ")
    for place, word in edits:
        words[place % len(words)] = word
    return " ".join(words)


@pytest.mark.long
@settings(max_examples=100)
@given(
    TEXTS,
    st.lists(EDITS, min_size=2, max_size=6),
    st.sampled_from([0.5, 0.8, 0.9, 1.0]),
    st.booleans(),
)
def test_filters_lose_no_pair(
    text: str, copies: list[list[tuple[int, str]]], overlap: float, counted: bool
) -> None:
    texts = [apply_edits(text, edits) for edits in copies]
    statistics = term_statistics(texts[::2]) if counted else None
    clauses = [(str(place), content) for place, content in enumerate(texts)]
    pairs = {
        (pair.a, pair.b): pair.type
        for pair in duplicate_pairs(clauses, overlap=overlap, statistics=statistics, exchanged=True)
    }
    words = default_lexicon()
    readings = [read_clause(text, words) for text in texts]
    expected = {
        (str(a), str(b)): match.type
        for b in range(len(texts))
        for a in range(b)
        if (match := verdict(readings[a], readings[b], words, overlap))
    }
    assert pairs == expected


def test_filters_do_spare_comparisons() -> None:
    texts = [*NEAR, *FUZZY, REPAIR, LEVERAGE]
    signed = signatures([read_clause(text, default_lexicon()) for text in texts], 0.8)
    candidates = {
        (a, b)
        for b in range(6)
        for a in range(b)
        if set(signed[a].keys) & set(signed[b].keys) and may_match(signed[a], signed[b], 0.8)
    }
    assert candidates == {(0, 1), (2, 3)}


# A clause, the same with another number, with its parties exchanged, and denied.
OTHER_LANGUAGES = {
    "de": (
        "Der {} hat dem {} die Kosten der Reparatur{} innerhalb von {} Tagen nach Zugang der "
        "Rechnung zu erstatten.",
        *("Mieter", "Vermieter", " nicht"),
    ),
    "fr": (
        "Le {} doit payer au {} les frais de la réparation{} dans les {} jours après la réception "
        "de la facture.",
        *("locataire", "bailleur", " jamais"),
    ),
    "nl": (
        "De {} moet aan de {} de kosten van de reparatie{} binnen {} dagen na ontvangst van de "
        "factuur betalen.",
        *("huurder", "verhuurder", " niet"),
    ),
    "es": (
        "El {} debe pagar al {} los gastos de la reparación{} en los {} días siguientes a la "
        "entrega de la factura.",
        *("arrendatario", "arrendador", " nunca"),
    ),
    "it": (
        "Il {} deve pagare al {} le spese della riparazione{} entro {} giorni dal ricevimento "
        "della fattura.",
        *("conduttore", "locatore", " mai"),
    ),
    "pt": (
        "O {} deve pagar ao {} as despesas da reparação{} no prazo de {} dias após a receção da "
        "fatura.",
        *("locatário", "locador", " nunca"),
    ),
}


@pytest.mark.parametrize(
    ("template", "debtor", "creditor", "no"), OTHER_LANGUAGES.values(), ids=OTHER_LANGUAGES
)
def test_other_languages_know_negations_and_parties_that_change_places(
    template: str, debtor: str, creditor: str, no: str
) -> None:
    clause = template.format(debtor, creditor, "", 14)
    assert kind(clause, template.format(debtor, creditor, "", 30)) is not None
    assert kind(clause, template.format(creditor, debtor, "", 14)) == "parties_exchanged"
    assert kind(clause, template.format(debtor, creditor, no, 14)) is None


PAYMENT_PT = "O licenciado deve devolver todas as cópias do programa {} a rescisão da licença."
KEYS_ES = "El arrendatario {} al arrendador las llaves de la vivienda y del trastero en diez días."
KEYS_PT = "O locatário {} entregar ao locador as chaves da casa e da garagem no fim do contrato."
KEYS_FR = "Le locataire {} remettre au bailleur les clés du logement et de la cave sous dix jours."
KEYS_IT = "Il conduttore {} al locatore le chiavi dell'alloggio e della cantina entro dieci giorni."
KEYS_NL = "De huurder levert de sleutels van de woning en van de berging {} bij de verhuurder in."
RENT_DE = (
    "Der Mieter {} die Miete und die Kosten der Heizung jeden Monat auf das Konto des Vermieters "
    "in Euro und in voller Höhe zu zahlen."
)
PAYMENT_DE = "Die Zahlung ist {} durch den Mieter auf das Konto des Vermieters in Euro zu leisten."


@pytest.mark.parametrize(
    ("clause", "left", "right"),
    [
        (PAYMENT_DE, "vor der Übergabe", "nach der Übergabe"),
        (PAYMENT_DE, "mit der Zustimmung", "ohne der Zustimmung"),
        (PAYMENT_DE, "von mindestens zehn Tagen", "von höchstens zehn Tagen"),
        (PAYMENT_DE.format("") + "{}", "", " Weitere Kürzungen sind untersagt."),
        (
            "Il licenziatario paga {} corrispettivi dovuti per i programmi.",
            "tutti i",
            "nessuno dei",
        ),
        ("O licenciado paga {} valores devidos pelo uso dos programas.", "todos os", "nenhum dos"),
        (PAYMENT_PT, "após", "antes"),
        ("No parágrafo a, insira {} a primeira frase a nova frase a seguir:", "após", "antes"),
        (PAYMENT_DE, "in zwei Raten, die folgen können,", "in zwei Raten, die folgen müssen,"),
        (
            "1.12 使用:{}通过本模型创建任何输出内容，或微调、更新、运行、训练、评估本模型。 “Use” "
            "includes creating any output with, or training, updating or running the model.",
            "包括",
            "不包括",
        ),
        (KEYS_ES, "deberá entregar", "podrá entregar"),
        (KEYS_ES, "entregará", "en ningún caso entregará"),
        (KEYS_PT, "deverá", "poderá"),
        (KEYS_PT, "deverá", "em caso algum deverá"),
        (RENT_DE, "hat", "darf"),
        (RENT_DE, "braucht", "darf"),
        (KEYS_FR, "devra", "pourra"),
        (KEYS_IT, "dovrà consegnare", "potrà consegnare"),
        (KEYS_IT, "consegna", "in nessun caso consegna"),
        (KEYS_NL, "op de laatste dag", "niet eerder dan de laatste dag"),
        (PAYMENT_DE, "einschließlich der Zinsen", "ausgenommen der Zinsen"),
        (PAYMENT_DE, "verpflichtet und", "berechtigt und"),
        (KEYS_IT, "consegna al più tardi", "consegna al più presto"),
        (KEYS_ES, "entregará a más tardar", "entregará lo más pronto"),
        (KEYS_NL, "ook na de huur", "behalve na de huur"),
        (
            "In het geval van {} van de huur mag de verhuurder de kosten van de reparatie van de "
            "woning en van de tuin binnen dertig dagen bij de huurder eisen.",
            "niet tijdige of te lage betaling",
            "tijdige betaling door de ouders",
        ),
    ],
)
def test_words_that_deny_or_are_opposites_in_other_languages(
    clause: str, left: str, right: str
) -> None:
    assert kind(clause.format(left), clause.format(right)) is None


@pytest.mark.parametrize(
    ("clause", "left", "right"),
    [
        (
            "{} remet {} les clés de la machine sous dix jours.",
            ("Le vendeur", "à l'acheteur"),
            ("L'acheteur", "au vendeur"),
        ),
        (
            "{} abonará {} los intereses del préstamo en la cuenta indicada al vencimiento.",
            ("El Banco", "a la Sociedad"),
            ("La Sociedad", "al Banco"),
        ),
        (
            "{} consegna {} i documenti della macchina e del programma entro dieci giorni.",
            ("Il committente", "all'appaltatore"),
            ("L'appaltatore", "al committente"),
        ),
        (
            "{} pagará {} os juros do empréstimo na conta indicada no fim do prazo.",
            ("O Banco", "à Sociedade"),
            ("A Sociedade", "ao Banco"),
        ),
        (
            "Das Eigentum geht {} auf {} über, sobald der Preis der Maschine und der Ersatzteile "
            "bezahlt worden ist.",
            ("vom Lieferanten", "die Kundin"),
            ("von der Kundin", "den Lieferanten"),
        ),
    ],
)
def test_parties_change_places_with_other_articles(
    clause: str, left: tuple[str, str], right: tuple[str, str]
) -> None:
    assert kind(clause.format(*left), clause.format(*right)) == "parties_exchanged"


def test_a_moved_phrase_beside_other_changes_exchanges_no_parties() -> None:
    clause = (
        "Die Bank prüft {} den Antrag des Kunden auf einen Kredit und teilt {} das {} schriftlich "
        "mit, {} der Kunde alle Unterlagen über sein {}, seine Arbeit, seine Wohnung und seine "
        "Schulden {} hat und die Gebühr für die Prüfung auf dem Konto der Bank steht."
    )
    left = ("am Jahresende", "beim Abschluss", "Ergebnis", "sobald", "Einkommen", "vorgelegt")
    right = ("beim Abschluss", "zum Jahresende", "Urteil", "sofern", "Gehalt", "eingereicht")
    assert kind(clause.format(*left), clause.format(*right)) == "fuzzy"


def test_including_and_except_are_opposites() -> None:
    clause = "The Supplier shall keep the records of the services for five years, {} after the end."
    assert kind(clause.format("including"), clause.format("except")) is None


def test_short_dutch_clauses_are_not_read_as_hungarian() -> None:
    clause = "De koper betaalt de verkoper de koopprijs van {} euro na levering van de machine."
    assert language_of(clause) == "nl"
    assert kind(clause.format("45.000"), clause.format("54.000")) in TYPES


def test_who_grants_and_who_is_granted_change_places() -> None:
    clause = "{} grants {} the right to use the premises during the term of the lease for storage."
    for template in (clause, "{} will promptly pay all charges for the services at {}'s rates."):
        left, right = template.format("IBM", "Licensee"), template.format("Licensee", "IBM")
        assert kind(left, right) == "parties_exchanged"


def test_accents_of_latin_words_in_japanese_are_no_other_words() -> None:
    clause = "本件プログラムは{}の裁判所の管轄に従うものとし、両当事者はこれに同意します。"
    assert kind(clause.format("São Paulo"), clause.format("Sao Paulo")) in TYPES


@pytest.mark.parametrize(
    "sentences",
    [
        "Der Mieter zahlt die Miete am ersten Tag des Monats./Der Vermieter haftet nicht für die "
        "Schäden, die durch Feuer entstehen.",
        "承租人应当在每月第一日支付租金。/出租人对火灾造成的损害不承担责任。",
    ],
)
def test_sentences_in_another_order_stay_duplicates_in_other_languages(sentences: str) -> None:
    first, second = sentences.split("/")
    assert kind(f"{first} {second}", f"{second} {first}") == "fuzzy"


@pytest.mark.parametrize(
    ("clause", "exception"),
    [
        ("Der Verkäufer haftet nicht für die Schäden, die nach der Lieferung der Ware entstehen, "
         "und der Käufer zahlt den Preis{}.", ", außer bei Vorsatz"),
        ("Le vendeur n'est pas responsable des dommages après la livraison de la marchandise et "
         "le client paie le prix{}.", ", sauf en cas de faute"),
        ("De verkoper is niet aansprakelijk voor schade die na de levering van de goederen "
         "ontstaat, en de koper betaalt de prijs{}.", ", behalve bij opzet"),
        ("El vendedor no es responsable de los daños que se produzcan después de la entrega de "
         "la mercancía y el comprador paga el precio{}.", ", salvo en caso de dolo"),
        ("Il venditore non è responsabile dei danni che si verificano dopo la consegna della "
         "merce e il compratore paga il prezzo{}.", ", tranne in caso di dolo"),
        ("O vendedor não é responsável pelos danos que ocorram depois da entrega da mercadoria e "
         "o comprador paga o preço{}.", ", exceto em caso de dolo"),
        ("卖方对货物交付之后发生的损害不承担责任，买方应当支付全部价款{}。", "，但故意造成的除外"),
    ],
)  # fmt: skip
def test_an_exception_of_one_clause_alone_is_no_duplicate(clause: str, exception: str) -> None:
    assert kind(clause.format(""), clause.format(" ")) in TYPES
    assert kind(clause.format(""), clause.format(exception)) is None


@pytest.mark.parametrize(
    ("clause", "words"),
    [
        ("The liability of the buyer for damage caused by {} negligence is limited to the price "
         "of the goods.", "slight/gross"),
        ("L'acheteur annonce {} au vendeur tout défaut de la marchandise dans les dix jours de "
         "la livraison.", "par écrit/oralement"),
        ("De koper behandelt de gegevens van de verkoper als {} en gebruikt deze voor de "
         "uitvoering van de overeenkomst.", "vertrouwelijk/openbaar"),
        ("Si el comprador no avisa, la mercancía se considera {} el décimo día después de la "
         "entrega.", "aceptada/rechazada"),
    ],
)  # fmt: skip
def test_words_that_are_opposites_in_contracts_alone_are_no_duplicates(
    clause: str, words: str
) -> None:
    left, right = map(clause.format, words.split("/"))
    assert kind(left, right) is None


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("O comprador pagará o preço no prazo de dez dias após a entrega da mercadoria em Faro.",
         "O comprador pagará o preço dentro de dez dias após a entrega da mercadoria em Faro."),
        ("El comprador paga el precio; no obstante, el vendedor podrá ceder el crédito al banco.",
         "El comprador paga el precio; sin embargo, el vendedor podrá ceder el crédito al banco."),
    ],
)  # fmt: skip
def test_words_that_deny_in_english_alone_or_not_in_a_phrase_are_no_negations(
    left: str, right: str
) -> None:
    assert kind(left, right) == "fuzzy"


def test_parties_with_names_of_few_letters_change_places() -> None:
    left = "Il Licenziatario può usare i programmi di IBM in ogni sede per la durata del contratto."
    right = "IBM può usare i programmi del Licenziatario in ogni sede per la durata del contratto."
    assert kind(left, right) == "parties_exchanged"


def test_a_dash_between_words_makes_no_formula() -> None:
    clause = "This agreement consists of Part {} - General Terms, and of the order of the Customer."
    assert kind(clause.format(1), clause.format(4)) == "near_identical"
    clause = "The rent is the index of the year {}- 4 and is due on the first day of each month."
    assert kind(clause.format(""), clause.format("+ 7 ")) is None


def test_letters_of_sections_are_slots_in_japanese() -> None:
    clause = "{}項の規定について、以下の文を当該規定の末尾に追加します。"
    assert kind(clause.format("b"), clause.format("d")) in TYPES


@pytest.mark.parametrize(
    ("clause", "sentence"),
    [
        ("The licensee shall return all copies of the documents to the licensor within thirty "
         "days after the end of the agreement, in good condition and at its own expense.",
         "The licensor may inspect every office once."),
        ("Le client doit renvoyer toutes les copies des documents au fournisseur dans les trente "
         "jours qui suivent la fin du contrat, en bon état et à ses propres frais.",
         "Le fournisseur visite chaque bureau deux fois."),
        ("被许可方应当在协议终止之后三十天内将全部文件的副本退还给许可方，并承担由此产生的运输费用。",
         "许可方每年检查账簿。"),
    ],
)  # fmt: skip
def test_a_sentence_more_states_something_else(clause: str, sentence: str) -> None:
    assert kind(clause, f"{clause} {sentence}") is None
    assert kind(f"{clause} {sentence}", f"{sentence} {clause}") in TYPES


@pytest.mark.parametrize(
    ("heading", "clause"),
    [
        ("§ 9 HAFTUNG.", "Der Mieter zahlt dem Vermieter die Miete am ersten Tag jedes Monats."),
        ("3) Dispositions générales.", "Le preneur paie le loyer au bailleur chaque mois."),
        ("Artikel 4 Aansprakelijkheid:", "De huurder betaalt de huur aan de verhuurder elk jaar."),
        ("Confidencialidad.", "El arrendatario pagará la renta al arrendador cada mes del año."),
        ("Riservatezza —", "Il conduttore paga il canone al locatore il primo giorno del mese."),
        ("Cláusula 5\nDuração\n", "O locatário pagará a renda ao locador todos os meses do ano."),
        ("第四条 保密：", "承租人应当在每月第一日之前向出租人支付租金。"),
        ("12. 一般規定：", "賃借人は、毎月末日までに賃貸人に賃料を支払うものとします。"),
    ],
)  # fmt: skip
def test_headings_of_eight_languages_are_no_part_of_their_clauses(
    heading: str, clause: str
) -> None:
    assert kind(f"{heading} {clause}", clause) == "identical"


def test_apostrophes_and_ligatures_are_identical_in_french() -> None:
    clause = "L'auteur cède au client l'usage de l'oeuvre pour la durée du contrat et d'un an."
    assert kind(clause, clause.replace("'", "\u2019").replace("oe", "\u0153")) == "identical"


@pytest.mark.parametrize(
    ("clause", "words"),
    [
        ("承租人应当向出租人赔偿因延迟付款而造成的{}，并在三十日内以书面形式通知。", "损害/损失"),
        ("未经出租人同意，承租人不得将租赁物转租给{}或其他第三方使用。", "北风公司/IBM"),
        ("賃借人は、賃貸人の書面による{}なしに賃借権を第三者に譲渡してはならない。", "同意/承諾"),
        ("売主は、買主に対して{}が製造した商品を引き渡し、代金を受領する。", "株式会社北風/IBM"),
    ],
)  # fmt: skip
def test_synonyms_and_names_are_slots_in_chinese_and_japanese(clause: str, words: str) -> None:
    left, right = map(clause.format, words.split("/"))
    assert kind(left, right) in TYPES


@pytest.mark.parametrize(
    ("clause", "words"),
    [
        ("承租人应当在每月第一日之前向出租人支付{}，并承担由此产生的银行手续费。", "租金/押金"),
        ("承租人应当{0}支付租金，{0}检查房屋，并且{0}以书面形式提交报告。", "每月/每年"),
        ("承租人应当在第一日之前支付{0}，承担{0}的逾期利息，{0}不予退还给任何人。", "租金/押金"),
        ("賃借人は{0}を月末までに支払い、{0}の損害金を負担し、{0}は返還されない。", "敷金/家賃"),
        ("许可方授予被许可方在境内使用本软件的{}许可，被许可方应当支付相应的费用。",
         "exclusive/perpetual"),
        ("被许可方应当在收到通知之后 {} 内支付全部许可费用，并承担手续费。", "30 days/30 months"),
        ("供应商应当向客户提供 {} 的存储空间，并承担由此产生的全部费用和税款。", "500 GB/500 TB"),
        ("供应商应当与{}签订书面合同，并承担由此产生的全部费用和税款。", "银行/子公司"),
        ("本协议终止后，承租人应当将{}设备退还给出租人并承担运输费用。", "甲方所有的/甲方全部的"),
        ("双方确认，{}款项应当在三十日内通知另一方并记账。", "甲方获支付的/甲方被支付的"),
    ],
)  # fmt: skip
def test_other_words_in_chinese_and_japanese_are_no_synonyms(clause: str, words: str) -> None:
    left, right = map(clause.format, words.split("/"))
    assert kind(left, right) is None


def test_german_clauses_that_differ_in_their_titles_are_identical() -> None:
    clause = (
        "{}: 500 EUR sind von dem Mieter an den Vermieter am ersten Tag jedes Jahres zu zahlen."
    )
    assert kind(clause.format("Preise"), clause.format("Versicherung")) == "identical"


def test_languages_without_types_have_identical_clauses_alone() -> None:
    clause = "Hyresgästen ska betala kostnaderna för reparationen inom {} dagar efter att fakturan "
    clause += "har mottagits av hyresgästen och det är bindande för båda parter."
    assert kind(clause.format("fjorton"), clause.format("fjorton").upper()) == "identical"
    assert kind(clause.format("fjorton"), clause.format("trettio")) is None


@pytest.mark.long
@pytest.mark.parametrize("unseen", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_pairs_of_nine_languages_are_what_they_were_made(unseen: bool) -> None:
    found = Counter()
    for language in CLAUSES:
        for relation, left, right in language_pairs(language, unseen=unseen):
            type = kind(left, right)
            if relation == "exchanged":
                found[language] += type != "parties_exchanged"
            else:
                found[language] += (relation in SAME) != (type in TYPES)
    assert +found == {}
