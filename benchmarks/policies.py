"""What each policy of folding hides: precision and recall by corpus, and templates that stay.

    python benchmarks/policies.py [--work FOLDER] [--only seen|unseen|messages|templates]
        [--peer datasketch=PYTHON] [--peer rensa=PYTHON] [--peer text-dedup=PYTHON]

Pairs are those of measure_corpora.py, whose truth is known by construction, with invoices, letters
and mails of one template each. Of the pairs that reach .9 of the words in order: those of
duplicates that a policy folds (recall), and the fraction of what it folds that are duplicates
(precision); `dedup` is `standard` with `--numbers changed`; of `messages` in many languages also by
the first mark of a pair. The last table has how many of 100 documents of one template `dedupe`
keeps, beside other programs at .8, each by the Python of an environment that has it. Figures:
docs/quality.md, docs/lab/032-policies.md and docs/lab/033-rows-that-state-other-facts.md.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from random import Random

from dedup import PEERS, run
from harness import arguments, head, row
from invoices import invoices
from measure_corpora import LabelledPair, messages, seen_corpora, unseen_corpora

import nearfold
from indexer.comparing.criteria import Criteria, for_folding
from indexer.comparing.measures import ComparedText
from indexer.comparing.reasons import explain
from indexer.defaults import FOLD, POLICY_NAMES
from indexer.grouping.words_in_common import lcs_to_each
from indexer.jobs.dedup import DedupOptions
from indexer.recipe import DEFAULT

WORDS = (
    "Anna Ben Clara David Emil Fatima Georg Hanna Ivan Julia Karim Lena Marco Nadia",
    "Okafor Baker Lindqvist Moretti Kowalski Dubois Novak Haddad Petrov Larsen Rossi",
    "bolts panels paper wire lamps hoses valves sheets rollers bulbs pumps tiles bags",
)
PEOPLE, NAMES, GOODS = (words.split() for words in WORDS)
TERMS = (
    "Payment is due within thirty days of the date of this invoice. Interest of eight per cent a "
    "year above the base rate is charged on late payments. Goods remain our property until they "
    "are paid in full. Complaints about visible defects must be made in writing within eight days "
    "of delivery. Please quote the invoice number with every payment and in all letters. Returns "
    "need our consent beforehand and are sent carriage paid to our warehouse. "
)
DISCLAIMER = (
    "This message and any files transmitted with it are confidential and intended solely for the "
    "use of the individual or entity to whom they are addressed. If you have received it in error "
    "please notify the sender at once and delete it from your system. You should not disseminate, "
    "distribute or copy it. The recipient should check it for the presence of viruses; the company "
    "accepts no liability for any damage caused by any virus transmitted by it. Personal data is "
    "processed in accordance with our privacy notice, which explains what we collect and why. "
)
SENTENCES = (
    "Could you send the {0} before the {1} goes out?",
    "I have read the {0}, and the {1} is fine.",
    "We had to cancel the order of {0} because the {1} came late.",
    "Please bring {0} and {1} to the meeting on Thursday.",
    "The warehouse is out of {0}; they offer {1} instead.",
    "Nobody answers the telephone about the {0} and the {1}.",
)


CONDITIONS: Mapping[str, Criteria] = {
    **{policy: Criteria(policy=policy) for policy in POLICY_NAMES},
    "`dedup`": Criteria("changed", policy="standard"),
    "`replaced<=2` alone": Criteria(policy="loose", replaced=2),
}


def invoice(random: Random) -> str:
    return (
        f"Northern Supplies Ltd\nInvoice {random.randint(10_000, 99_999)} of "
        f"{random.randint(1, 28)} May 2024\nCustomer: {person(random)}\n"
        f"{random.randint(2, 90)} {random.choice(GOODS)}: {random.randint(10, 9_999)}.50 EUR\n\n"
        + TERMS
        * 2
    )


def letter(random: Random) -> str:
    return (
        f"Dear {person(random)}, we enclose statement {random.randint(1_000, 9_999)} of "
        f"${random.randint(10, 9_999)}.20 under agreement A-{random.randint(100, 999)}. {TERMS * 2}"
    )


def mail(random: Random) -> str:
    chosen = random.sample(SENTENCES, 2)
    body = " ".join(text.format(*random.sample(GOODS, 2)) for text in chosen)
    return f"Hi {random.choice(PEOPLE)},\n\n{body}\n\nRegards\n{person(random)}\n\n{DISCLAIMER * 2}"


def person(random: Random) -> str:
    return f"{random.choice(PEOPLE)} {random.choice(NAMES)}"


TEMPLATES: Mapping[str, Callable[[Random], str]] = {
    "invoices": invoice,
    "letters": letter,
    "mails under one disclaimer": mail,
}


def folded(a: str, b: str) -> dict[str, bool]:
    """Return whether each condition folds two texts that are similar enough."""
    texts = ComparedText(a, DEFAULT), ComparedText(b, DEFAULT)
    return {
        name: for_folding(criteria, "lcs").accepts(*texts) for name, criteria in CONDITIONS.items()
    }


def similar(pairs: Iterable[LabelledPair]) -> Iterable[LabelledPair]:
    """Yield the pairs that are judged and have `FOLD` of their words in order."""
    for pair in pairs:
        (value,) = lcs_to_each(pair.a, [pair.b], FOLD)
        if pair.similar is not None and (value or 0) >= FOLD:
            yield pair


def corpus_row(corpus: str, pairs: Iterable[LabelledPair]) -> list[str]:
    truths = Counter[bool]()
    counts: dict[str, Counter[bool]] = defaultdict(Counter)
    for pair in similar(pairs):
        assert pair.similar is not None
        truths[pair.similar] += 1
        for policy, is_folded in folded(pair.a, pair.b).items():
            counts[policy][pair.similar] += is_folded
    cells = [f"{truths[True]} / {truths[False]}"]
    for policy in CONDITIONS:
        of = counts[policy]
        precision = of[True] / of.total() if of.total() else 1.0
        cells.append(f"{precision:.3f} / {of[True] / max(1, truths[True]):.3f}")
    return [corpus, *cells]


def mark_rows(pairs: Iterable[LabelledPair]) -> Iterable[list[str]]:
    """Yield how many pairs of duplicates and of others have each mark as their first one, and how
    many of these `standard` folds.
    """
    counts: dict[str, Counter[tuple[bool, bool]]] = defaultdict(Counter)
    for pair in pairs:
        marks = explain(ComparedText(pair.a, DEFAULT), ComparedText(pair.b, DEFAULT)).marks
        kind = marks[0].kind if marks else "no mark"
        counts[kind][bool(pair.similar), folded(pair.a, pair.b)["standard"]] += 1
    for kind, of in sorted(counts.items()):
        others, same = (of[truth, False] + of[truth, True] for truth in (False, True))
        yield [kind, str(same), str(of[True, True]), str(others), str(of[False, True])]


def templates() -> Mapping[str, list[str]]:
    """Return 100 documents of each template."""
    filled = {}
    for name, make in TEMPLATES.items():
        random = Random(f"policies {name}")
        filled[name] = [make(random) for _ in range(100)]
    return {**filled, "invoices that differ in one fact": invoices(100)}


def kept_row(name: str, texts: list[str], peers: Mapping[str, str]) -> list[str]:
    with_resent = [*texts, *("DUPLICATE\n" + text for text in texts[:10])]
    cells = []
    for options in (DedupOptions(), *(DedupOptions(policy=policy) for policy in POLICY_NAMES)):
        kept = len(nearfold.dedupe(texts, options=options).kept)
        again = len(nearfold.dedupe(with_resent, options=options).removed) - (100 - kept)
        cells.append(f"{kept} / {again}")
    for peer, python in peers.items():
        command = [python, str(PEERS), peer]
        kept = len(run(command, texts).kept)
        cells.append(f"{kept} / {110 - len(run(command, with_resent).kept) - (100 - kept)}")
    return [name, *cells]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--work", type=Path, default=Path("/tmp/nearfold-policies"))
    parser.add_argument(
        "--only", choices=["seen", "unseen", "messages", "templates"], default="seen"
    )
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PYTHON")
    values = parser.parse_args()
    peers = dict(peer.split("=", 1) for peer in values.peer)
    corpora: Mapping[str, list[LabelledPair]] = {}
    if values.only == "messages":
        corpora = messages()
    elif values.only != "templates":
        corpora = unseen_corpora() if values.only == "unseen" else seen_corpora(values.work)
    print(*head(["corpus", "duplicates / others", *CONDITIONS]), sep="\n")
    for corpus, pairs in corpora.items():
        print(row(corpus_row(corpus, pairs)), flush=True)
    print()
    if values.only == "messages":
        every = [pair for pairs in corpora.values() for pair in pairs]
        print(row(corpus_row("all", every)), "", sep="\n")
        print(*head(["first mark", "duplicates", "folded", "others", "folded"]), sep="\n")
        print(*map(row, mark_rows(every)), sep="\n")
        return
    titles = ["100 of a template: kept / of 10 sent again removed", "`dedup`", *POLICY_NAMES]
    print(*head([*titles, *peers]), sep="\n")
    for name, texts in templates().items():
        print(row(kept_row(name, texts, peers)), flush=True)


if __name__ == "__main__":
    main()
