"""Pairs of letters in ten languages that one known change distinguishes, with their marks.

    PYTHONPATH=. python tests/synthetic_marks.py

prints precision and recall of each mark on these pairs, and on the real ones that were read
(docs/marks-read.csv, see docs/quality.md).

The lease of each language and what its words are changed to are in `data/marks.txt`; numbers,
names and addresses are the same in all of them. Nothing of `indexer` decides what differs.
"""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from indexer.comparing.alignment import lcs
from indexer.comparing.measures import ComparedText, align
from indexer.comparing.reasons import explain, is_rearranged
from indexer.defaults import REVIEW
from indexer.model import EmbeddedFile, pack_embedded
from indexer.recipe import DEFAULT

DATA = Path(__file__).parent / "data" / "marks.txt"
READ = Path(__file__).parent.parent / "docs" / "marks-read.csv"
REPLACED: tuple[tuple[str, str, str], ...] = (  # kind, what is replaced, by what
    ("amount", "900", "950"),
    ("amount", "1500", "1800"),
    ("amount", "900", "1090"),
    ("number", "4711", "4712"),
    ("number", " 12", " 21"),
    ("number", "< 30", "< 28"),
    ("name", "Anna Berg", "Clara Stein"),
    ("name", "Initech", "Umbra"),
    ("name", "Paul Roth", "Peter Roth"),
    ("version", "2.7", "2.8"),
    ("version", "2.7", "3.0"),
    ("version", "2.7", "2.7.1"),
    ("link", "acme.example/rules", "acme.example/house"),
    ("link", "https://acme", "https://www.initech"),
    ("address", "office@acme", "sales@acme"),
    ("address", "office@acme.example", "office@acme.test"),
    ("renamed", "Fjordnet", "Skylink"),
    ("renamed", "Fjordnet", "Nordhaus"),
    ("symbol", "< 30", "> 30"),
    ("symbol", "< 30", "≥ 30"),
)
FACTS = frozenset(("number", "amount", "date", "name", "version", "deadline", "clause_added"))
ALSO: Mapping[str, frozenset[str]] = {  # marks that a change may have besides its own
    "grown": frozenset(("clause_added", "negated")),
    "version": frozenset(("number",)),
    "rearranged": frozenset(("clause_added", "grown")),
    "form": FACTS,
    "message": FACTS | {"negated"},
    "language": FACTS | {"negated", "link", "address", "symbol", "message"},
}
APPENDIX = " ".join(
    f"--{first}{second} {first.upper()}{number}.cfg"
    for number, first in enumerate("abcdefghij")
    for second in "klmnopqr"
)


@dataclass(frozen=True)
class MarkedPair:
    """Two texts of a language with the mark that their change must have; empty for none.

    `paths`: names of the files; `embedded`: the names of the files in them.
    """

    language: str
    kind: str
    a: str
    b: str
    paths: tuple[str, str] = ("", "")
    embedded: tuple[str, str] = ("", "")

    @property
    def allowed(self) -> frozenset[str]:
        """The marks that are right."""
        return ALSO.get(self.kind, frozenset()) | {self.kind}


class _Lease:
    def __init__(self, lines: list[str]) -> None:
        self.changes: defaultdict[str, list[str]] = defaultdict(list)
        for line in lines:
            key, _, value = line.partition(": ")
            self.changes[key].append(value)
        self.sentences = self.changes.pop("text")
        self.extra = self.changes.pop("extra")
        (self.title,) = self.changes.pop("title")
        self.mails = self.changes.pop("mail")
        (self.disclaimer,) = self.changes.pop("disclaimer")

    def text(self, sentences: list[str] | None = None) -> str:
        return "\n\n".join([self.title, *(sentences or self.sentences)]) + "\n"

    def replaced(self, old: str, new: str) -> str:
        assert old in self.text(), old
        return self.text().replace(old, new)

    def mail(self, number: int, sender: str) -> str:
        return f"{self.mails[number]}\n\n{sender}\n\n" + f"{self.disclaimer} " * 2


def marked_pairs() -> list[MarkedPair]:
    """Return fifty pairs of each language."""
    blocks = DATA.read_text(encoding="utf-8").split("\n[")[1:]
    leases = {block[:2]: _Lease(block.splitlines()[1:]) for block in blocks}
    pairs = []
    for language, lease in leases.items():
        other = leases["en" if language != "en" else "de"]
        pairs += [
            MarkedPair(language, *rest) for rest in (*_replaced(lease), *_whole(lease, other))
        ]
    return pairs


def _replaced(lease: _Lease) -> Iterator[tuple[str, str, str]]:
    """Yield kind and texts of pairs in which words stand for others."""
    text = lease.text()
    changes = [*REPLACED]
    for key, values in lease.changes.items():
        kind = {"exchanged": "parties_exchanged", "synonym": ""}.get(key, key)
        changes += [(kind, *value.split(" | ")) for value in values if value]
    if "accents" not in lease.changes:
        changes.append(("number", "4711", "4171"))
    for kind, old, new in changes:
        yield kind, text, lease.replaced(old, new)


def _whole(lease: _Lease, other: _Lease) -> Iterator[tuple[object, ...]]:
    """Yield kind and texts of other pairs, and their paths and embedded files."""
    text, sentences = lease.text(), lease.sentences
    for position, extra in zip((3, 6, 10), lease.extra, strict=True):
        yield (
            "clause_added",
            text,
            lease.text([*sentences[:position], extra, *sentences[position:]]),
        )
    yield "grown", text, lease.text([*sentences, *lease.extra])
    for cut in (4, 7):
        yield "rearranged", text, lease.text([*sentences[cut:], *sentences[:cut]])
    filled = {"4711": "4805", "Anna Berg": "Clara Stein", "900": "725", "1500": "1300"}
    yield "form", text, _filled(text, filled)
    yield "form", text, _filled(text, {**filled, "Paul Roth": "Emil Haas", " 12": " 31"})
    yield "message", lease.mail(0, "Anna Berg"), lease.mail(1, "Paul Roth")
    yield "message", lease.mail(0, "Anna Berg"), lease.mail(1, "Anna Berg")
    yield (
        "language",
        *(" ".join([*each.sentences[1:3], APPENDIX, *each.extra]) for each in (lease, other)),
    )
    (old, new) = lease.changes["synonym"][0].split(" | ")
    yield "format", text, lease.replaced(old, new), ("lease.docx", "lease.pdf")
    yield "embedded", text, text, ("", ""), ("plan.png", "")
    yield "embedded", text, text, ("", ""), ("plan.png", "photo.png")
    yield "", text, text.upper() if text.upper().lower() == text.lower() else text + "\n"
    yield "", text, text.replace(" ", "\n", 40)


def _filled(text: str, fields: Mapping[str, str]) -> str:
    for old, new in fields.items():
        text = text.replace(old, new)
    return text


def marks_of(pair: MarkedPair) -> list[str]:
    """Return the kinds of marks that nearfold gives a pair, the most serious first."""
    a, b = (ComparedText(text, DEFAULT) for text in (pair.a, pair.b))
    in_order, overlap = lcs(a.words, b.words), align(a.words, b.words).overlap
    files = [[EmbeddedFile("attachment", name, name)] if name else [] for name in pair.embedded]
    found = explain(
        a,
        b,
        paths=pair.paths,
        rearranged=is_rearranged(overlap, in_order, REVIEW),
        embedded=(pack_embedded(files[0]), pack_embedded(files[1])),
    )
    return [mark.kind for mark in found.marks]


def pairs_of_each_kind() -> dict[str, MarkedPair]:
    """Return a pair of each kind of mark, of the languages in turn."""
    by_language: defaultdict[str, dict[str, MarkedPair]] = defaultdict(dict)
    for pair in marked_pairs():
        by_language[pair.kind].setdefault(pair.language, pair)
    chosen = {}
    for number, (kind, pairs) in enumerate(sorted(by_language.items())):
        chosen[kind] = list(pairs.values())[number % len(pairs)]
    return chosen


def by_mark(
    judged: Iterable[tuple[Collection[str], Collection[str], Collection[str]]],
) -> dict[str, tuple[int, int, int]]:
    """Return of each mark how many pairs have it rightly, wrongly, and how many lack it.

    `judged`: of each pair the marks that it must have, those that it may have, and those it has.
    """
    right, wrong, missing = Counter[str](), Counter[str](), Counter[str]()
    for expected, allowed, found in judged:
        right.update(kind for kind in found if kind in expected)
        wrong.update(kind for kind in found if kind not in allowed)
        missing.update(kind for kind in expected if kind not in found)
    kinds = sorted({*right, *wrong, *missing})
    return {kind: (right[kind], wrong[kind], missing[kind]) for kind in kinds}


def rows_of(figures: Mapping[str, tuple[int, int, int]]) -> Iterator[str]:
    """Yield a row of Markdown for each mark, and one for all."""
    totals = [sum(column) for column in zip(*figures.values(), strict=True)]
    for kind, (right, wrong, missing) in [*figures.items(), ("**all**", totals)]:
        precision = f"{right / (right + wrong):.2f}" if right + wrong else "–"
        recall = f"{right / (right + missing):.2f}" if right + missing else "–"
        yield f"| {kind} | {right + missing} | {precision} | {recall} |"


def main() -> None:
    made = [({pair.kind} - {""}, pair.allowed, marks_of(pair)) for pair in marked_pairs()]
    with READ.open(encoding="utf-8", newline="") as file:
        read = list(csv.DictReader(file))
    tables = {"500 synthetic pairs": made}
    for name, column in (("300 real pairs, blind", "blind"), ("looked at again", "again")):
        judged = [({*row[column].split()}, {*row["found"].split()}) for row in read]
        tables[name] = [(truth, truth, found) for truth, found in judged]
    for name, pairs in tables.items():
        print(f"| {name} | pairs | precision | recall |", "| --- | ---: | ---: | ---: |", sep="\n")
        print(*rows_of(by_mark(pairs)), "", sep="\n")


if __name__ == "__main__":
    main()
