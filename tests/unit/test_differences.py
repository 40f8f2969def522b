"""Facts that differ: what is found, what is not a difference, and invoices of one template."""

import random
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from invoices import invoices

from indexer.comparing import marks
from indexer.comparing.criteria import Criteria, parse_requirements
from indexer.comparing.differences import differing_facts
from indexer.comparing.facts import FactSource
from indexer.comparing.measures import ComparedText
from indexer.comparing.quantities import quantity
from indexer.comparing.reasons import differences, format_differences, is_rearranged
from indexer.comparing.words import words
from indexer.errors import UnknownMeasure, UsageError
from indexer.recipe import DEFAULT

PARTIES = ["Acme", "Baxter", "Corvin", "Dalton", "Ehlers", "Ferris", "Gomez", "Hobart", "Ibsen"]
FRAGMENTS = (
    "pay 5 $5 -5 (5.00) 1,000 1000 not Anna anna Ben May 6. < mg million EUR five a@x.org "
    "a-b@x.org www.x.org \n"
)
TEXTS = st.lists(st.sampled_from(FRAGMENTS.split(" ")), max_size=12).map(" ".join)


def found(a: str, b: str) -> list[tuple]:
    result = differences(FactSource(a, words(a)), FactSource(b, words(b)))
    return [(difference.kind, difference.a, difference.b) for difference in result]


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("it holds 12 pieces", "it holds 13 pieces", [("number", "12", "13")]),
        ("see INV-0017 here", "see INV-0018 here", [("number", "INV-0017", "INV-0018")]),
        ("due 5 May 2024 here", "due 7 June 2024 here", [("date", "5 May 2024", "7 June 2024")]),
        ("due 7 May, 2024", "due 2 May, 2025", [("date", "7 May, 2024", "2 May, 2025")]),
        ("el 7 de mayo de 2024", "el 2 de mayo", [("date", "7 de mayo de 2024", "2 de mayo")]),
        ("on 2024-05-01 at noon", "on 2024-06-01 at noon", [("date", "2024-05-01", "2024-06-01")]),
        ("he paid €42,000 then", "he paid €45,500 then", [("amount", "42,000", "45,500")]),
        ("he paid 42 euros then", "he paid 45 euros then", [("amount", "42", "45")]),
        ("a rate of 3.5% each year", "a rate of 4% each year", [("amount", "3.5", "4")]),
        ("he paid $7 then", "he paid €7 then", [("amount", "$7", "€7")]),
        ("it is -5 degrees", "it is 5 degrees", [("number", "-5", "5")]),
        ("it is -5 degrees", "it is cold", [("number", "-5", None)]),
        ("it is \u20115 degrees", "it is 5 degrees", [("number", "-5", "5")]),
        ("a loss of (5.00) now", "a loss now", [("number", "(5.00)", None)]),
        ("you shall pay", "you shall not pay", [("negation", None, "not")]),
        ("you must pay", "you mustn't pay", [("negation", None, "mustn't")]),
        ("Sie zahlen keine Gebühr", "Sie zahlen eine Gebühr", [("negation", "keine", None)]),
        ("请不要支付", "请支付", [("negation", "不", None)]),
        ("он не платит", "он платит", [("negation", "не", None)]),
        ("hyran betalas inte", "hyran betalas", [("negation", "inte", None)]),
        ("huren betales ikke", "huren betales", [("negation", "ikke", None)]),
        ("a bérlő nem fizet", "a bérlő fizet", [("negation", "nem", None)]),
        ("δεν πληρώνει", "πληρώνει", [("negation", "δεν", None)]),
        ("הוא לא משלם", "הוא משלם", [("negation", "לא", None)]),
        ("هو لا يدفع", "هو يدفع", [("negation", "لا", None)]),
        ("वह नहीं देता", "वह देता", [("negation", "नहीं", None)]),
        ("không trả tiền", "trả tiền", [("negation", "không", None)]),
        ("by Anna Smith today", "by Ben Jones today", [("name", "Anna Smith", "Ben Jones")]),
        ("Bill to: Acme\nnow", "Bill to: Beta\nnow", [("name", "Acme", "Beta")]),
        ("five pages", "five pages 6", [("number", None, "6")]),
        ("he paid -$7 then", "he paid $7 then", [("amount", "-7", "7")]),
        ("it is \u20135 degrees", "it is 5 degrees", [("number", "-5", "5")]),
        ("a loss of (1,234) then", "a loss of 1,234 then", [("number", "(1,234)", "1,234")]),
        ("a rate of 5 % each", "a rate of 5 ‰ each", [("amount", "5 %", "5 ‰")]),
        ("take 5 mg daily", "take 5 g daily", [("number", "5 mg", "5 g")]),
        ("a 5 mW laser", "a 5 MW laser", [("number", "5 mW", "5 MW")]),
        ("kept at 5 °C there", "kept at 5 °F there", [("number", "5 °C", "5 °F")]),
        ("for 10 days then", "for 10 weeks then", [("number", "10 days", "10 weeks")]),
        ("at 5 PM today", "at 5 AM today", [("number", "5 PM", "5 AM")]),
        ("$5 million here", "$5 billion here", [("amount", "$5 million", "$5 billion")]),
        ("5-7 million here", "5-7 billion here", [("number", "5-7 million", "5-7 billion")]),
        ("pay 5 EUR today", "pay 5 USD today", [("amount", "5 EUR", "5 USD")]),
        ("amounts in EUR only", "amounts in USD only", [("amount", "EUR", "USD")]),
        ("on the 2nd floor", "on the 3rd floor", [("number", "2nd", "3rd")]),
        ("the first party pays", "the second party pays", [("number", "first", "second")]),
        ("in twenty-five days", "in ten days", [("number", "twenty-five days", "ten days")]),
        ("mail a@x.org now", "mail b@x.org now", [("address", "a@x.org", "b@x.org")]),
        ("mail a-b@x.org now", "mail ab@x.org now", [("address", "a-b@x.org", "ab@x.org")]),
        ("see http://x.org/1/a.", "see http://x.org/2/a.", [("link", "http://x.org/1/a", "http://x.org/2/a")]),
        ("keep it if x < 5", "keep it if x > 5", [("sign", "< 5", "> 5")]),
        ("where a <= b holds", "where a >= b holds", [("sign", "≤ b", "≥ b")]),
        ("limit <1.5 here", "limit 1.5 here", [("sign", "< 1.5", None)]),
        ("if (!ready) stop", "if (ready) stop", [("sign", "¬ ready", None)]),
        ("a == b, then", "a != b, then", [("sign", None, "≠ b")]),
    ],
)  # fmt: skip
def test_what_differs(a: str, b: str, expected: list) -> None:
    assert found(a, b) == expected
    assert found(b, a) == [(kind, right, left) for kind, left, right in expected]


def test_targets_of_links_are_links() -> None:
    assert found("see [us](a.md) now", "see [us](b.md) now") == [("link", "a.md", "b.md")]
    assert found('<a href="a.htm">x', '<a href="b.htm">x') == [("link", "a.htm", "b.htm")]
    assert found("call f[i](first) now", "call f[i](first) now") == []


def test_only_words_that_recur_are_looked_for_in_the_texts() -> None:
    class Text(str):
        def __contains__(self, key: str) -> bool:
            raise AssertionError("a search in the whole text")

    a, b = (Text(" 甲 ".join(text)) for text in ("乙丙丁戊", "己庚辛壬"))
    assert not list(differing_facts(FactSource(a, words(a)), FactSource(b, words(b))))


def test_each_replaced_word_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = []
    monkeypatch.setattr(marks, "_are_forms", lambda *both: looked_at.append(both))
    texts = (" and ".join(f"{word}{i}" for i in range(50)) for word in ("buyer", "seller"))
    assert not marks.have_exchanged_positions(marks.AlignedWords(*map(words, texts)))
    assert len(looked_at) == 50


@pytest.mark.parametrize(
    ("word", "unit"),
    [("5元件", ""), ("5元整", "CNY"), ("3円形", ""), ("3円", "JPY"), ("3周边", ""), ("2周年", ""),
     ("3周内", "week"), ("3週間", "week")],
)  # fmt: skip
def test_units_that_end_within_a_word_of_a_script_without_spaces(word: str, unit: str) -> None:
    assert quantity(word, words(word), 0).unit == unit


RENAMED = "The {0} app shows posts. Open {0} and log in. See www.{1}.com/tos for more."


def test_the_name_of_a_product_is_renamed() -> None:
    a, b = RENAMED.format("Twitter", "twitter"), RENAMED.format("Xeet", "xeet")
    assert found(a, b) == [("renamed", "Twitter", "Xeet")]
    sentences = format_differences(differences(FactSource(a, words(a)), FactSource(b, words(b))))
    assert sentences == ["1 name throughout differs: Twitter / Xeet"]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Pay Acme Ltd. The Acme app is new.", "Pay Baxter Ltd. The Baxter app is new."),
        ("Dear Anna, the Anna app is new.", "Dear Berta, the Berta app is new."),
        ("Customer: Acme\nThe Acme app is new.", "Customer: Baxter\nThe Baxter app is new."),
        ("Use Acme, and the Acme app.", "Use Baxter, and the Acme app."),
        ("We like Acme a lot, and Acme us.", "We like Baxter a lot, and Baxter us."),
        ("The Acme app has 5 users.", "The Baxter app has 6 users."),
    ],
)  # fmt: skip
def test_other_names_are_not_renamed(a: str, b: str) -> None:
    assert {kind for kind, _, _ in found(a, b)} & {"name", "renamed"} == {"name"}


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("a total of 1,000 pieces", "a total of 1000 pieces"),
        ("a total of 42.00 today", "a total of 42 today"),
        ("1.000,50 in all", "1,000.50 in all"),
        ("pages 5 - 7 of it", "pages 5 to 7 of it"),
        ("a b c d 17 e f g h i j k", "e f g h i j k a b c d 17"),  # moved
        ("It ends. However it rains.", "It ends. Moreover it rains."),  # no names
        ("The end of the day", "the end of the day"),
        ("you may 5 times", "you may 5 times"),
        ("you do not pay", "you don't pay"),
        ("you cannot pay", "you can not pay"),
        ("it says GROSSE here", "it says große here"),
        ("by Smith-Jones there", "by Smith Jones there"),
        ("pay 5 EUR today", "pay € 5 today"),
        ("pay $5 million today", "pay 5,000,000 dollars today"),
        ("take 5mg daily", "take 5 mg daily"),
        ("a balance of \u2011500 EUR", "a balance of -500 EUR"),
        ("a 10-year lease", "a 10 year lease"),
        ("a 2nd time, on Sep 5", "a second time, on Sept 5"),
        ("see http://x.org/a/ now", "see https://www.x.org/a now"),
        ("where a <= b holds", "where a ≤ b holds"),
        ("> quoted\n> lines", "quoted\nlines"),
        ("a <b class='c d'>bold</b> word", "a bold word"),
        ("by Ann <a@x.org> -> x", "by Ann a@x.org x"),
        ("Alpha x < y beta. Gamma d.", "Gamma d. Alpha x < y beta."),
        ("", "words"),
        ("", ""),
    ],
)
def test_what_is_no_difference(a: str, b: str) -> None:
    assert found(a, b) == []


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Acme sells to Zenith", "Zenith sells to Acme"),
        ("Lender: Acme Ltd\nBorrower: Zenith Inc\n", "Lender: Zenith Inc\nBorrower: Acme Ltd\n"),
        ("Lender: A / Borrower: B", "Lender: B / Borrower: A"),
        ("paid by Anna Smith of London to Ben Jones of Paris today",
         "paid by Ben Jones of Paris to Anna Smith of London today"),
        ("you shall not pay but you shall deliver", "you shall pay but you shall not deliver"),
        ("it holds 12 pieces of oak, and also 13 pieces of ash",
         "it holds 13 pieces of ash, and also 12 pieces of oak"),
        ("Smoker: Yes\nDiabetic: No\n", "Smoker: No\nDiabetic: Yes\n"),
        ("Smoker\nYes\nDiabetic\nNo\n", "Smoker\nNo\nDiabetic\nYes\n"),
        ("Buyer\nAcme\nSeller\nZenith\n", "Buyer\nZenith\nSeller\nAcme\n"),
        ("for Sales a@x.org, for Help b@x.org", "for Sales b@x.org, for Help a@x.org"),
        ("a < 5 and then b > 5", "a > 5 and then b < 5"),
    ],
)  # fmt: skip
def test_facts_that_are_exchanged_differ(a: str, b: str) -> None:
    assert found(a, b) and found(b, a)
    assert not Criteria("distinguish").accepts(ComparedText(a, DEFAULT), ComparedText(b, DEFAULT))


def test_a_fact_in_another_place_is_the_same_on_both_sides() -> None:
    a = "you shall not pay but you shall deliver"
    b = "you shall pay but you shall not deliver"
    assert found(a, b) == [("negation", "not", "not")]
    result = differences(FactSource(a, words(a)), FactSource(b, words(b)))
    assert format_differences(result) == ["1 negation differs: not in another place"]


@given(st.permutations(range(8)))
@settings(max_examples=30, deadline=None)
def test_passages_that_move_state_the_same_facts(order: list[int]) -> None:
    passages = [
        f"On {place + 3} May {2010 + place} {seller} sells {place + 40} barrels to {buyer} for EUR "
        f"{place},500. The goods are {'not ' * (place % 2)}insured.\n{buyer} pays {seller}."
        for place, (seller, buyer) in enumerate(pairwise(PARTIES))
    ]
    a, b = ("\n\n".join(passages[place] for place in places) for places in (range(8), order))
    assert found(a, b) == []


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("signed by Smith, Anna today", "signed by Anna Smith today"),
        ("due on May 5, 2024 at noon", "due on 5 May 2024 at noon"),
        ("Ben rows. He saw Anna. Then he left.", "He saw Anna. Then he left. Ben rows."),
    ],
)
def test_another_order_within_a_name_or_a_date_is_no_difference(a: str, b: str) -> None:
    assert found(a, b) == []


def test_swapped_numbers_differ() -> None:
    a = "the first pays 5 and the second pays 10 in the end"
    b = "the first pays 10 and the second pays 5 in the end"
    assert [kind for kind, _, _ in found(a, b)] == ["number", "number"]


@given(TEXTS, TEXTS)
@example("5 $5", "1,000 May")
def test_differences_do_not_depend_on_the_order_of_the_texts(a: str, b: str) -> None:
    forward, back = found(a, b), found(b, a)
    assert sorted(map(str, forward)) == sorted(str((kind, y, x)) for kind, x, y in back)


@given(TEXTS)
def test_a_text_does_not_differ_from_itself(text: str) -> None:
    assert found(text, text) == []


def test_a_sentence_for_each_kind() -> None:
    a = "pay 1 and 2 and 3 and 4 and 5 to Anna"
    b = "pay 6 and 7 and 8 and 9 and 5 to Ben"
    result = differences(FactSource(a, words(a)), FactSource(b, words(b)))
    assert format_differences(result) == [
        "4 numbers differ: 1 / 6, 2 / 7, 3 / 8 and 1 more",
        "1 name differs: Anna / Ben",
    ]


@pytest.mark.long
def test_invoices_that_differ_in_one_fact_are_distinguished() -> None:
    sides = [ComparedText(text, DEFAULT) for text in invoices(1000)]
    distinguish = Criteria("distinguish")
    pairs = [(sides[0], side) for side in sides[1:]]
    random.seed(1)
    pairs += [tuple(random.sample(sides, 2)) for _ in range(1000)]
    assert not any(distinguish.accepts(a, b) for a, b in pairs if a.text != b.text)
    assert all(Criteria().accepts(a, b) for a, b in pairs)


def test_an_invoice_set_otherwise_is_the_same() -> None:
    text = invoices(1)[0]
    other = text.replace("1,250.00", "1250").replace("\n", "  \n").replace("Please pay", "Pay")
    assert Criteria("distinguish").accepts(
        ComparedText(text, DEFAULT), ComparedText(other, DEFAULT)
    )


def test_required_measures_must_all_hold() -> None:
    a, b = (
        ComparedText("one two three four five six", DEFAULT),
        ComparedText("six one two three four five", DEFAULT),
    )
    assert Criteria(require=(("terminology", 1.0),)).accepts(a, b)
    assert not Criteria(require=(("terminology", 1.0), ("lcs", 0.9))).accepts(a, b)


def test_requirements_are_checked() -> None:
    measures = (("lcs", 0.5), ("overlap", 1.0))
    assert parse_requirements(["lcs=0.5", "overlap=1"]) == (measures, {})
    for wrong in ("lcs", "lcs=", "=0.5", "lcs=much", "lcs=nan"):
        with pytest.raises(UsageError, match="MEASURE=VALUE"):
            parse_requirements([wrong])
    with pytest.raises(UsageError, match="from 0 to 1"):
        Criteria(require=(("lcs", 2.0),))
    with pytest.raises(UnknownMeasure):
        Criteria(require=(("cosine", 0.5),))


def test_criteria_are_false_without_a_condition() -> None:
    assert not Criteria()
    assert Criteria("distinguish")
    assert Criteria(require=(("lcs", 0.5),))


def test_rearranged_texts_share_passages_but_not_their_order() -> None:
    assert is_rearranged(0.9, 0.79, 0.8)
    assert not is_rearranged(0.89, 0.79, 0.8)
    assert not is_rearranged(0.95, 0.8, 0.8)
