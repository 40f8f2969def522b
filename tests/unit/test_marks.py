"""Marks of what differs, and the policies of folding by them."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from invoices import invoices
from sample_library import library, rows
from synthetic_marks import marked_pairs, marks_of

import nearfold
from indexer.comparing.criteria import Criteria, for_folding
from indexer.comparing.marks import Comparison, negated, separates, states_other_facts
from indexer.comparing.measures import ComparedText
from indexer.comparing.reasons import explain
from indexer.defaults import POLICIES, POLICY_NAMES
from indexer.errors import UsageError
from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.jobs.dedup import DedupOptions
from indexer.recipe import DEFAULT
from indexer.searching.search import SearchOptions, search
from indexer.wording import format_marks

LEASE = (
    "The tenant may assign this lease to an affiliate within 14 days of the notice, and the "
    "landlord consents to it in writing. The rent of 900 euros is paid on the first day of each "
    "month. Nothing else in this lease is changed by this letter, which both parties sign before "
    "Acme Ltd takes over. Each party bears its own costs, and keeps the terms of the agreement to "
    "itself and its advisers."
)


def text(of: str) -> ComparedText:
    return ComparedText(of, DEFAULT)


def kinds(a: str, b: str, **options) -> list[str]:
    return [mark.kind for mark in explain(text(a), text(b), **options).marks]


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("may assign", "may not assign", "negated"),
        ("consents", "never consents", "negated"),
        ("14 days", "24 hours", "deadline"),
        ("14 days", "30 days", "deadline"),
        ("Nothing else", "The rent is paid by the tenant alone. Nothing else", "clause_added"),
        ("900 euros", "950 euros", "amount"),
        ("Acme Ltd", "Initech Ltd", "name"),
        ("The rent of 900 euros is paid on the first day of each month. ", "", "clause_added"),
        ("Each party", "Complaints are made in writing. Each party", "clause_added"),
    ],
)
def test_a_change_has_its_mark(old: str, new: str, kind: str) -> None:
    assert kind in kinds(LEASE, LEASE.replace(old, new))
    assert kind in kinds(LEASE.replace(old, new), LEASE)


@pytest.mark.parametrize(
    ("old", "new", "mark"),
    [
        ("48 500 €", "84 500 €", "amount: 48 500 € / 84 500 €"),
        ("48\u202f500 EUR", "48\u202f700 EUR", "amount: 48\u202f500 EUR / 48\u202f700 EUR"),
        ("3. 2. 2024", "3. 5. 2024", "date: 3. 2. 2024 / 3. 5. 2024"),
        ("48 500 €", "49 600 €", "amount: 48 500 € / 49 600 €"),
        ("48500元", "84500元", "amount: 48500 / 84500"),
        ("14天", "30天", "deadline: 14天 / 30天"),
        ("14天", "24小时", "deadline: 14天 / 24小时"),
        ("Version 2", "Version 3", "version: 2 / 3"),
    ],
)
def test_marks_of_amounts_dates_and_versions(old: str, new: str, mark: str) -> None:
    a = f"{old}\nThe rent by 48 stays as it is, and the parties sign it."
    first = explain(text(a), text(a.replace(old, new))).marks[0]
    assert f"{first.kind}: {first.a} / {first.b}" == mark
    assert first.count == 1


@pytest.mark.parametrize(
    ("old", "new"), [("2024年3月2日", "2024年2月6日"), ("3. 2. 2024", "2. 6. 2024")]
)
def test_a_date_is_one_fact_however_its_words_are_aligned(old: str, new: str) -> None:
    a = f"Smlouva platí od {old} a řídí se právem sídla dodavatele."
    assert states_other_facts(Comparison(text(a), text(a.replace(old, new))))
    assert not states_other_facts(Comparison(text(a), text(a.replace("platí", "trvá"))))


@pytest.mark.parametrize(
    ("word", "plain"), [("résumé", "resume"), ("pêche", "péché"), ("clé5", "cle5")]
)
def test_other_accents_have_a_mark_and_are_not_folded_by_strict(word: str, plain: str) -> None:
    a, b = (f"{LEASE} The tenant reads the {each} to both of them." for each in (word, plain))
    [mark] = explain(text(a), text(b)).marks
    assert (mark.kind, mark.a, mark.b) == ("accents", word, plain)
    assert format_marks([mark]) == f"accents differ: {word} / {plain}"
    for policy in POLICIES:
        assert Criteria(policy=policy).accepts(text(a), text(b)) == (policy != "strict")
    composed = a.replace("é", "e\u0301").replace("ê", "e\u0302")
    assert kinds(a, composed) == [] and Criteria(policy="strict").accepts(text(a), text(composed))


@pytest.mark.parametrize(
    ("a", "b", "kind"),
    [
        ("Das ist am 5. Mai 2024 von der Firma zu tun", "am 5. Juni 2024", "date"),
        ("Se firma el 5 de mayo de 2024 en la ciudad", "el 5 de mayo de 2025", "date"),
        ("Version 2.7 of it", "2.7.1", "version"),
        ("此合同自2024年5月5日起生效", "6月5日", "date"),
        ("Срок составляет 14 дней с этой даты", "30 дней", "deadline"),
    ],
)
def test_marks_of_other_languages(a: str, b: str, kind: str) -> None:
    old = {"2.7.1": "2.7", "6月5日": "5月5日", "30 дней": "14 дней"}.get(b, b)
    old = old.replace("Juni", "Mai").replace("2025", "2024")
    assert kinds(f"{a}.\n{LEASE}", f"{a.replace(old, b)}.\n{LEASE}")[0] == kind


@pytest.mark.long
def test_synthetic_changes_have_their_marks() -> None:
    """Figures by mark: `python benchmarks/policies.py --only marks`."""
    pairs = marked_pairs()
    right = wrong = 0
    for pair in pairs:
        found = set(marks_of(pair))
        right += not pair.kind or pair.kind in found
        wrong += len(found - pair.allowed)
    assert len(pairs) == 500 and right >= 490 and wrong <= 20


def test_marks_come_most_serious_first_and_each_once() -> None:
    changed = LEASE.replace("may assign", "may not assign").replace("14 days", "24 hours")
    assert kinds(LEASE, changed)[:2] == ["negated", "deadline"]
    assert kinds(LEASE, LEASE) == []


@pytest.mark.parametrize(
    ("a", "b"),
    [("Use 1/2 cup.", "Use 1.2 cup."), ("a gain of 500", "a gain of -500"), ("in C.", "in C++.")],
)
def test_signs_that_words_do_not_have_separate_rows(a: str, b: str) -> None:
    for texts in ((a, b), (f"{a} {LEASE}", f"{b} {LEASE}"), (f"{LEASE} {a}", f"{LEASE} {b}")):
        assert len(nearfold.dedupe(list(texts)).kept) == 2
        assert not {"number", "symbol"}.isdisjoint(kinds(*texts))


EXCHANGED = [
    ("Paid: 100. Due: 200.", "Paid: 200. Due: 100."),
    ("Paid: 100 EUR, due: 200 USD.", "Paid: 200 USD, due: 100 EUR."),
    ("Paid:\n100\nDue:\n200\n", "Paid:\n200\nDue:\n100\n"),
    ("The ferry goes from Oslo to Bergen.", "The ferry goes from Bergen to Oslo."),
    ("It runs from 1 May 2024 to 5 June 2025.", "It runs from 5 June 2025 to 1 May 2024."),
    ("Alpha 10 20\nBeta 30 40\n", "Alpha 20 10\nBeta 30 40\n"),
    ("Alpha 1, Beta 2, Gamma 3.", "Alpha 2, Beta 3, Gamma 1."),
    ("We sold 5 apples and 7 pears.", "We sold 7 apples and 5 pears."),
    ("Ann Lee wrote to Bob Roe.", "Bob Roe wrote to Ann Lee."),
    ("| Seller | Buyer |\n| Acme Ltd | Umbra |\n", "| Seller | Buyer |\n| Umbra | Acme Ltd |\n"),
    ("Seller\tAcme Ltd\nBuyer\tUmbra\n", "Seller\tUmbra\nBuyer\tAcme Ltd\n"),
    ("Seller\nAcme Ltd\nBuyer\nUmbra\n", "Seller\nUmbra\nBuyer\nAcme Ltd\n"),
    ("Lessor\nLessee\npays heat\npays oil\n", "Lessor\nLessee\npays oil\npays heat\n"),
    ("Heating\ttenant\nWater\tlandlord\n", "Heating\tlandlord\nWater\ttenant\n"),
]
REARRANGED = [
    ("Paid: 100. Due: 200.", "Due: 200. Paid: 100."),
    ("Paid 100 EUR, due 200 EUR.", "Due 200 EUR, paid 100 EUR."),
    ("See pages 3, 5 and 7.", "See pages 7, 5 and 3."),
    ("Copies to Ann, Bob and Carl.", "Copies to Carl, Ann and Bob."),
    ("Alpha 1\nBeta 2\nGamma 3\n", "Gamma 3\nBeta 2\nAlpha 1\n"),
    ("Seller | Buyer\nAcme | Umbra\n", "Buyer | Seller\nUmbra | Acme\n"),
    ("Seller\tAcme\nBuyer\tUmbra\n", "Buyer\tUmbra\nSeller\tAcme\n"),
    ("Seller\nAcme\nBuyer\nUmbra\n", "Buyer\nUmbra\nSeller\nAcme\n"),
    ("Seals\nApples\nPears\nPlums\n", "Seals\nPears\nApples\nPlums\n"),
]


@pytest.mark.parametrize(("a", "b"), EXCHANGED)
def test_facts_in_the_positions_of_each_other_separate(a: str, b: str) -> None:
    assert "parties_exchanged" in kinds(f"{a}\n{LEASE}", f"{b}\n{LEASE}")
    assert "parties_exchanged" in kinds(f"{LEASE}\n{b}", f"{LEASE}\n{a}")
    pair = text(f"{LEASE}\n{a}\n{LEASE}"), text(f"{LEASE}\n{b}\n{LEASE}")
    for criteria in (
        Criteria(policy="strict"),
        Criteria(policy="standard"),
        Criteria("changed", policy="standard"),
    ):
        assert not for_folding(criteria, "lcs").accepts(*pair)
    assert Criteria(policy="loose").accepts(*pair)


@pytest.mark.parametrize(("a", "b"), REARRANGED)
def test_what_moves_with_its_words_exchanges_nothing(a: str, b: str) -> None:
    assert "parties_exchanged" not in kinds(f"{a}\n{LEASE}", f"{b}\n{LEASE}")


def test_parties_that_are_exchanged() -> None:
    changed = LEASE.replace("tenant", "X").replace("landlord", "tenant").replace("X", "landlord")
    (mark,) = [
        m for m in explain(text(LEASE), text(changed)).marks if m.kind == "parties_exchanged"
    ]
    assert {mark.a, mark.b} == {"tenant", "landlord"}


DISCLAIMER = "\n" + "The recipient of this message checks it for viruses and keeps it secret. " * 8
MAIL = (
    "Hi Hanna,\nThe warehouse is out of 40 bolts; they offer pumps instead. Nobody answers the "
    "telephone about the valves and the hoses.\nRegards\nBen Okafor\n"
)


@pytest.mark.parametrize(
    ("exchanged", "is_other"),
    [
        ({"pumps": "lamps", "valves": "wire", "Okafor": "Larsen"}, True),
        ({"pumps": "lamps", "Okafor": "Larsen"}, False),
        ({"pumps": "lamps", "Ben Okafor": "Mia Larsen"}, True),
        ({"pumps": "lamps", "valves": "wire"}, False),
        ({"Hanna": "Ivan", "Okafor": "Larsen"}, True),
        ({"40": "35", "pumps": "lamps"}, True),
        ({"40": "35", "pumps": "purnps"}, False),
        ({"40": "35"}, False),
    ],
)
def test_another_message_under_one_disclaimer(exchanged: dict[str, str], is_other: bool) -> None:
    changed = MAIL
    for old, new in exchanged.items():
        changed = changed.replace(old, new)
    assert ("message" in kinds(MAIL + DISCLAIMER, changed + DISCLAIMER)) == is_other
    long = "Our terms of delivery follow. " + LEASE + "\n" + LEASE.lower() + "\n"
    edited = kinds(long + MAIL + DISCLAIMER * 3, long + changed + DISCLAIMER * 3)
    assert ("message" in edited) == ("Hanna" in exchanged)


def test_pages_of_one_template_are_no_other_messages() -> None:
    page = "Stops {} now. Use it for {} only. No {} is shown by {} again. See {}." + 2 * DISCLAIMER
    first = page.format("pumps", "pumps", "pumps", "Hanna", "pumps")
    others = page.format("wires", "hoses", "tins", "Ivan", "bolts")
    assert "message" in kinds(first, others)
    assert "message" not in kinds(first, page.format("wires", "wires", "wires", "Ivan", "wires"))


def test_versions_growth_and_formats() -> None:
    assert "version" in kinds(f"Licence 2.7\n\n{LEASE}", f"Licence 2.8\n\n{LEASE}")
    assert "grown" in kinds(LEASE, f"{LEASE} " + "Seals and stamps are left out here. " * 4)
    assert "format" in kinds(LEASE, f"Menu {LEASE}", paths=("/a/lease.md", "/b/lease.html"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("consents", "agrees"),
        ("in writing", "in writlng"),
        ("and keeps", "and never gives away"),
        ("Nothing else", "Nothirg else"),
    ],
)
def test_edits_and_misread_words_are_folded_by_the_standard(old: str, new: str) -> None:
    changed = LEASE.replace(old, new)
    assert not separates("standard", Comparison(text(LEASE), text(changed))) or "never" in new


@pytest.mark.parametrize(
    ("a", "b", "shown"),
    [
        (
            "The tenant may not sublet the room but may assign the lease.",
            "The tenant may sublet the room but may not assign the lease.",
            ("not sublet", "not assign"),
        ),
        (
            "It is safe for adults but not for children.",
            "It is not safe for adults but for children.",
            ("not for", "not safe"),
        ),
        ("He does not run and never walks.", "He never runs and does not walk.", None),
        ("It was not opened by him today.", "He did not open it today.", None),
        ("Er hat ein Recht zum Rücktritt.", "Er hat kein Recht zum Rücktritt.", ("", "kein")),
        ("Hij geeft een licentie af.", "Hij geeft geen licentie af.", ("", "geen")),
        ("Они когда платят за аренду.", "Они никогда платят за аренду.", ("", "никогда")),
        ("He may not run. She may walk.", "He may run. She may not walk.", ("not", "")),
    ],
)
def test_a_negation_of_another_word(a: str, b: str, shown: tuple[str, str] | None) -> None:
    pair = Comparison(text(a), text(b))
    assert negated(pair) == shown
    assert separates("standard", pair) == (shown is not None)


@pytest.mark.parametrize(
    ("old", "new", "is_negated"),
    [
        ("consents", "does not consent", True),
        ("may assign", "may not transfer", True),
        ("may assign this lease", "may not transfer any lease", False),
        ("in writing", "without delay at once", False),
    ],
)
def test_another_word_or_two_next_to_a_negation(old: str, new: str, is_negated: bool) -> None:
    assert (
        separates("standard", Comparison(text(LEASE), text(LEASE.replace(old, new)))) == is_negated
    )


def test_an_inserted_sentence_is_no_negation() -> None:
    assert negated(Comparison(text(f"No way. {LEASE}"), text(LEASE))) is None


@pytest.mark.parametrize(("policy", "shown"), [("strict", 3), ("standard", 2), ("loose", 1)])
def test_search_and_group_fold_by_the_policy(policy, shown) -> None:
    texts = {
        "a": LEASE,
        "b": LEASE.replace("may assign", "may not assign"),
        "c": LEASE.replace("14 days", "24 hours"),
        "d": LEASE.replace("consents", "agrees"),
    }
    store = library(rows(texts))
    page = search(store, "lease", SearchOptions(criteria=Criteria(policy=policy)))
    assert (len(page.hits), page.policy) == (shown, policy)
    group(store, GroupOptions(criteria=Criteria(policy=policy)))
    assert len({row.family for row in store.get(list(texts)).values()}) == shown
    for hit in page.hits:
        for folded in hit.folded:
            assert bool(folded.marks) == (folded.id in "bc")


def test_the_standard_keeps_filled_in_forms_and_removes_what_is_sent_again() -> None:
    form = "Invoice {} of {} May 2024 for {}: {}.50 EUR for bolts. " + LEASE
    names = ["Anna Okafor", "Ben Baker", "Clara Dubois", "David Novak", "Emil Rossi"]
    forms = [
        form.format(4711 + 7 * i, 1 + i % 28, names[i % 5] + f" {'ABCDEFGH'[i % 8]}", 17 * i + 10)
        for i in range(40)
    ]
    again = [f"DUPLICATE\n{text}" for text in forms[:10]]
    result = nearfold.dedupe(forms + again)
    assert len(result.kept) == 40 and {text.kept - text.id for text in result.removed} <= {40}
    assert len(nearfold.dedupe(forms, options=DedupOptions(policy="loose")).kept) < 5


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("14 days", "30 days"),
        ("14 days", "14 weeks"),
        ("first day", "second day"),
        ("900 euros", "-900 euros"),
        ("Acme Ltd", "Initech Ltd"),
    ],
)
@pytest.mark.parametrize("reworded", [[], ["consents to"], ["consents to", "signs", "keeps"]])
def test_other_facts_in_the_same_places(old: str, new: str, reworded: list[str]) -> None:
    changed = LEASE.replace(old, new)
    for words in reworded:
        changed = changed.replace(words, "agrees with")
    is_name_among_edits = old == "Acme Ltd" and bool(reworded)
    pair = Comparison(text(LEASE), text(changed))
    assert states_other_facts(pair) != is_name_among_edits


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("consents to", "agrees with"),
        ("14 days", "fourteen days"),
        ("14 days", "l4 days"),
        ("within 14 days of the notice", "after the notice"),
        ("The rent", "DUPLICATE of 7 May 2024. The rent"),
    ],
)
def test_the_same_facts_or_none(old: str, new: str) -> None:
    notice = "Copyright 2020 Acme Ltd. See https://acme.org/v1/lease for more.\n"
    changed = notice.replace("2020", "2024").replace("v1", "v2") + LEASE.replace(old, new)
    assert not states_other_facts(Comparison(text(notice + LEASE), text(changed)))


@pytest.mark.long
def test_dedupe_keeps_records_that_differ_in_one_fact() -> None:
    records = invoices(100)
    again = [f"DUPLICATE\n{record}" for record in records[:10]]
    result = nearfold.dedupe(records + again)
    assert len(result.kept) == 100 and {text.kept - text.id for text in result.removed} == {100}
    assert len(nearfold.dedupe(records, options=DedupOptions(policy="loose")).kept) == 1


def test_a_policy_sets_the_threshold_unless_one_is_given() -> None:
    assert DedupOptions(policy="loose").threshold == 0.8
    assert DedupOptions(policy="loose", threshold=0.95).threshold == 0.95
    assert GroupOptions(criteria=Criteria(policy="loose")).threshold == 0.8
    assert GroupOptions().threshold == 0.9


def test_criteria_keep_their_policy_in_settings_and_refuse_others() -> None:
    criteria = Criteria(policy="strict")
    assert Criteria.from_settings(criteria.settings()) == criteria
    assert for_folding(Criteria(), "lcs").policy == "standard"
    assert for_folding(Criteria(), "jaccard").policy is None
    with pytest.raises(UsageError, match="strict, standard, loose"):
        Criteria(policy="lenient")


words = st.sampled_from(
    [
        "the",
        "tenant",
        "may",
        "not",
        "pay",
        "Acme",
        "14",
        "days",
        "900",
        "euros",
        "and",
        "no",
        "rent",
    ]
)
sentences = st.lists(words, max_size=30).map(" ".join)


@given(sentences, sentences)
def test_either_order_gives_the_same_kinds_and_decisions(a: str, b: str) -> None:
    assert set(kinds(a, b)) == set(kinds(b, a))
    there, back = Comparison(text(a), text(b)), Comparison(text(b), text(a))
    for policy in POLICIES:
        assert separates(policy, there) == separates(policy, back)
    assert states_other_facts(there) == states_other_facts(back)


@given(sentences)
def test_equal_texts_have_no_marks(a: str) -> None:
    assert kinds(a, a) == []
    assert not any(separates(p, Comparison(text(a), text(a))) for p in POLICIES)


def test_a_stricter_policy_folds_less() -> None:
    texts = [LEASE, LEASE.replace("14", "15"), LEASE.replace("may", "may not"), LEASE + " Amen."]
    for a, b in itertools.combinations(texts, 2):
        folds = [
            for_folding(Criteria(policy=policy), "lcs").accepts(text(a), text(b))
            for policy in ("strict", "standard", "loose")
        ]
        assert folds == sorted(folds)


def test_the_names_of_options_are_the_policies() -> None:
    assert tuple(POLICIES) == POLICY_NAMES


def test_a_page_that_names_the_other_release_exchanges_no_parties() -> None:
    page = "{0} gcloud lists zones. Run gcloud {0} zones. {0} may change. Stop {0}. See also {1}."
    alpha, beta = text(page.format("alpha", "beta")), text(page.format("beta", "alpha"))
    assert "parties_exchanged" not in {mark.kind for mark in explain(alpha, beta).marks}


def test_a_symbol_of_a_word_that_differs_is_no_difference_of_its_own() -> None:
    marks = explain(text("Set the flags of GTK+ here."), text("Set the flags of GDK here.")).marks
    assert [mark.kind for mark in marks] == ["name"]
