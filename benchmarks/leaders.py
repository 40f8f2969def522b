"""Which rule lets the original lead its family: the tables of docs/decisions/018-who-leads.md.

    python benchmarks/leaders.py [--unseen] [--originals 40]

Originals are texts that other people wrote (`measure_corpora.py`), of 60 to 1,500 words. A family
is an original with one, two or four copies that were changed here, each at `lcs` .9 or more to it:
mails that quote or forward it, light edits and misreadings, copies that lack the end, copies with a
note at the end, and all of these together. Names are random, so that ties are decided as ids decide
them.

Printed for each kind of family: the share that the original leads, and the documents that are shown
for one family, of which all but one are repetitions; then what `group` makes of a store with all
texts of a corpus. `first` is left out: where times are those of writing it is right by definition,
and where files were copied it is chance.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from measure_corpora import (
    LabelledPair,
    Texts,
    api_operations,
    changelog_entries,
    command_pages,
    docstrings,
    licences,
    sample,
)
from numpy.typing import NDArray
from quality_tables import head, row

from indexer import GroupOptions, IndexOptions, fingerprints, group, index, open_store
from indexer.clustering.principals import Graph, Visit, assign_principals
from indexer.defaults import FOLD, MEASURE
from indexer.joins.slot_bounds import fewest_equal
from indexer.lab.synthesis import changes
from indexer.lab.synthesis.ocr_noise import add_ocr_noise
from indexer.lab.synthesis.random_draws import RandomSource
from indexer.recipe import DEFAULT
from indexer.similarity.lcs import lcs_length
from indexer.text.normal_words import normal_words
from indexer.text.quoted_lines import quoted_words

LEAST_WORDS, MOST_WORDS = 60, 1_500
LEAST_EQUAL = fewest_equal(MEASURE, FOLD, DEFAULT)
COPIES = (1, 2, 4)
EVERY = "all of these"
GROUPED = ("longest", "central", "original")
MOST_ADDED = 0.08  # of the words of a text, by a reply or a note
WIDTH = 72

Change = Callable[[str, str, RandomSource], str | None]  # of a text, with a note at hand

QUOTING = {
    "seen": (
        "{note}\n\nOn Mon, Apr 2, 2012 at 6:26 PM, Bob Xue <bob@example.org> wrote:\n\n{quoted}\n",
        "On 04/02/2012 06:26 PM, bob@example.org wrote:\n{quoted}\n\n{note}\n",
        "Bob Xue wrote:\n\n{quoted}\n{note}\n\n-- \nAnn\n",
    ),
    "unseen": (
        "{note}\n\nAm 02.04.2012 um 18:26 schrieb Bob Xue <bob@example.org>:\n\n{quoted}\n",
        "Le lun. 2 avr. 2012 à 18:26, Bob Xue <bob@example.org> a écrit :\n{quoted}\n\n{note}\n",
        "2012/4/2 Боб Сюэ <bob@example.org>\n\n{quoted}\n\n{note}\n",
        ">>>>> Bob Xue <bob@example.org> writes:\n\n{quoted}\n\n{note}\n",
    ),
}
FORWARDING = {
    "seen": (
        "{note}\n\n-----Original Message-----\nFrom: Bob Xue\nSent: Monday, 2 April 2012 6:26 PM\n"
        "To: Ann\nSubject: Plans\n\n{text}\n",
        "---------- Forwarded message ----------\nFrom: Bob Xue <bob@example.org>\n"
        "Date: Mon, Apr 2, 2012 at 6:26 PM\nSubject: Plans\nTo: Ann\n\n{text}\n",
    ),
    "unseen": (
        "{note}\n\nVon: Bob Xue [mailto:bob@example.org]\nGesendet: Montag, 2. April 2012 18:26\n"
        "An: Ann\nBetreff: Plan\n\n{text}\n",
        "{note}\n\n________________________________\nDe : Bob Xue\nEnvoyé : lundi 2 avril 2012\n"
        "À : Ann\nObjet : Plan\n\n{text}\n",
    ),
}


def quote(style: str, mark: str, text: str, note: str) -> str:
    lines = changes.wrap_lines(text, WIDTH) if max(map(len, text.splitlines())) > 200 else []
    quoted = "\n".join(f"{mark} {line}" for line in lines or text.splitlines())
    return style.format(note=note, quoted=quoted, text=text)


def half_quoted(style: str, text: str) -> str:
    """Return a reply: the second half of the lines above the first half, which it quotes."""
    lines = changes.wrap_lines(text, WIDTH)
    middle = len(lines) // 2
    return quote(style, ">", "\n".join(lines[:middle]), "\n".join(lines[middle:]))


def changes_of(part: str) -> dict[str, list[Change]]:
    """Return how copies are changed, by the kind of family."""

    def in_style(style: str, mark: str = ">") -> Change:
        return lambda text, note, _: quote(style, mark, text, note)

    def edit(share: float) -> Change:
        return lambda text, note, chance: changes.edit_words(text, share, note.split(), chance)

    quoting: list[Change] = [in_style(style) for style in QUOTING[part]]
    if part == "unseen":
        quoting.append(in_style(QUOTING[part][0], " >"))
    return {
        "quoted": quoting,
        "forwarded": [in_style(style) for style in FORWARDING[part]],
        "edited": [edit(0.01), edit(0.03), lambda text, _, chance: misread(text, chance)],
        "quoted in a thread": quoting,
        "cut": [lambda text, _, chance: cut(text, chance)],
        "with a note": [lambda text, note, _: f"{text}\n\n{note}\n"],
    }


def misread(text: str, chance: RandomSource) -> str:
    return add_ocr_noise(text, 0.005, chance)


def cut(text: str, chance: RandomSource) -> str | None:
    """Return a text without its last words, 2 to 8 % of them."""
    found = normal_words(text)
    kept = round(len(found) * (0.92 + 0.06 * chance.share()))
    return text[: int(found.ends[kept - 1])]


def note_of(donor: Sequence[str], text: str, chance: RandomSource) -> str:
    """Return a stretch of another text, of 2 to 8 % of the words of this one."""
    longest = max(2, round(MOST_ADDED * len(text.split())))
    count = chance.between(2, longest)
    start = chance.below(max(1, len(donor) - count))
    return " ".join(donor[start : start + count])


@dataclass(frozen=True)
class Family:
    """An original, the first, and its changed copies; `names` decide ties."""

    texts: Sequence[str]
    names: Sequence[float]

    @cached_property
    def lengths(self) -> list[int]:
        return [len(normal_words(text)) for text in self.texts]

    @cached_property
    def quoted(self) -> list[int]:
        return [quoted_words(text) for text in self.texts]

    @cached_property
    def common(self) -> dict[tuple[int, int], int]:
        """The words in order that each two texts have in common."""
        found = [normal_words(text) for text in self.texts]
        places = combinations(range(len(found)), 2)
        counts = {(a, b): lcs_length(found[a], found[b]) for a, b in places}
        return counts | {(b, a): count for (a, b), count in counts.items()}

    def similarity(self, a: int, b: int) -> float:
        return self.common[a, b] / max(self.lengths[a], self.lengths[b])

    def sum_over_others(self, value: Callable[[int, int], float]) -> list[float]:
        count = len(self.texts)
        return [round(sum(value(a, b) for b in range(count) if b != a), 9) for a in range(count)]

    @cached_property
    def central(self) -> list[float]:
        """The summed similarities to matches."""

        def match(a: int, b: int) -> float:
            value = self.similarity(a, b)
            return value if value >= FOLD else 0.0

        return self.sum_over_others(match)

    @cached_property
    def slots(self) -> NDArray[Any]:
        return fingerprints(list(self.texts), DEFAULT).minhash

    @cached_property
    def equal_slots(self) -> list[float]:
        """The summed equal slots of the pairs that may be near duplicates."""

        def equal(a: int, b: int) -> float:
            count = int((self.slots[a] == self.slots[b]).sum())
            return count if count >= LEAST_EQUAL else 0

        return self.sum_over_others(equal)

    @cached_property
    def contained(self) -> list[float]:
        return self.sum_over_others(lambda a, b: self.common[a, b] / self.lengths[a])

    @cached_property
    def containing(self) -> list[float]:
        return self.sum_over_others(lambda a, b: self.common[a, b] / self.lengths[b])

    def own(self, place: int) -> int:
        """Return the words of a text outside quoted lines."""
        return self.lengths[place] - self.quoted[place]

    def heads(self, rule: Rule) -> dict[int, int]:
        """Return the document that each one is shown under, by the rule's order."""
        places = range(len(self.texts))
        order = sorted(places, key=lambda place: (*rule(self, place), self.names[place]))
        pairs = np.array(list(combinations(places, 2)), dtype=np.int32)
        graph = Graph([(pairs[:, 0], pairs[:, 1])], len(places))

        def similarities(text: int, others: Sequence[int]) -> list[float]:
            return [self.similarity(text, other) for other in others]

        visits = (Visit(place, place) for place in order)
        assigned = assign_principals(visits, graph, len(places), similarities, FOLD)
        return {place: head for place, head, _ in assigned}


Rule = Callable[[Family, int], tuple[float, ...]]
RULES: Mapping[str, Rule] = {
    "longest": lambda family, place: (-family.lengths[place],),
    "shortest": lambda family, place: (family.lengths[place],),
    "most words outside quotes": lambda family, place: (-family.own(place), -family.lengths[place]),
    "most contained in the others": lambda family, place: (-family.contained[place],),
    "containing most of the others": lambda family, place: (-family.containing[place],),
    "central": lambda family, place: (-family.central[place],),
    "central, longest": lambda family, place: (-family.central[place], -family.lengths[place]),
    "fewest quoted words, longest": lambda family, place: (
        family.quoted[place],
        -family.lengths[place],
    ),
    "fewest quoted words, central, longest": lambda family, place: (
        family.quoted[place],
        -family.central[place],
        -family.lengths[place],
    ),
    "fewest quoted words, most equal slots, longest (`original`)": lambda family, place: (
        family.quoted[place],
        -family.equal_slots[place],
        -family.lengths[place],
    ),
}


def families(texts: Texts, part: str, originals: int) -> Iterator[tuple[str, str, int, Family]]:
    """Yield families with the name of the original, their kind and number of copies."""
    kinds = changes_of(part)
    kinds[EVERY] = [change for several in kinds.values() for change in several]
    usual = {
        name: text
        for name, text in texts.items()
        if LEAST_WORDS <= len(normal_words(text)) <= MOST_WORDS
    }
    names = list(usual)[:originals]
    donor = " ".join(texts[name] for name in list(texts)[-20:]).split()
    for name in names:
        reply = half_quoted(QUOTING[part][0], usual[name])
        for kind, several in kinds.items():
            text = reply if kind == "quoted in a thread" else usual[name]
            for copies in COPIES:
                chance = RandomSource(1, part, kind, copies, name)
                family = make_family(text, several, copies, donor, chance)
                if family is not None:
                    yield name, kind, copies, family


def make_family(
    text: str, several: Sequence[Change], copies: int, donor: Sequence[str], chance: RandomSource
) -> Family | None:
    """Return a family of a text; None where so many copies near enough cannot be made."""
    made = {" ".join(normal_words(text).folded): text}
    original = normal_words(text)
    for _ in range(8 * copies):
        changed = chance.choice(several)(text, note_of(donor, text, chance), chance)
        if changed is None:
            continue
        found = normal_words(changed)
        if lcs_length(original, found) >= FOLD * max(len(original), len(found)):
            made.setdefault(" ".join(found.folded), changed)
        if len(made) > copies:
            return Family(list(made.values()), [chance.share() for _ in made])
    return None


def corpora(part: str) -> dict[str, Texts]:
    if part == "seen":
        return {
            "changelog entries": sample(changelog_entries()),
            "manual pages": documents_of(command_pages(is_seen=True)),
            "licences": documents_of(licences()),
        }
    return {
        "docstrings": sample(docstrings()),
        "other manual pages": documents_of(command_pages(is_seen=False)),
        "API operations": documents_of(api_operations()),
    }


def documents_of(pairs: Sequence[LabelledPair]) -> dict[str, str]:
    """Return the texts of the different pairs by name."""
    return {
        name: text
        for pair in pairs
        if pair.similar is False
        for name, text in zip(pair.names, (pair.a, pair.b), strict=True)
    }


Cells = dict[tuple[str, str, int], list[float]]  # by rule, kind of family and copies


def measure(part: str, originals: int) -> tuple[Cells, Cells]:
    """Return for each family whether the original leads it, and the documents shown."""
    led: Cells = {}
    shown: Cells = {}
    for texts in corpora(part).values():
        for _, kind, copies, family in families(texts, part, originals):
            for rule, key in RULES.items():
                heads = list(family.heads(key).values())
                largest = max(set(heads), key=heads.count)
                led.setdefault((rule, kind, copies), []).append(heads[0] == 0 == largest)
                shown.setdefault((rule, kind, copies), []).append(len(set(heads)))
    return led, shown


def print_table(title: str, cells: Cells) -> None:
    kinds = list(dict.fromkeys(kind for _, kind, _ in cells))
    print(f"\n### {title}, of 1 / 2 / 4 copies\n")
    print("\n".join(head(["rule", *kinds])))
    for rule in RULES:
        several = ([np.mean(cells[rule, kind, copies]) for copies in COPIES] for kind in kinds)
        print(row([rule, *(" / ".join(f"{value:.2f}" for value in values) for values in several)]))


def print_stores(part: str, originals: int) -> None:
    """Print what `group` makes of a store of each corpus, where some texts have changed copies."""
    print("\n### `group` of a store: families that the original leads (seconds, as a ratio)\n")
    print("\n".join(head(["corpus", *GROUPED])))
    for corpus, texts in corpora(part).items():
        with TemporaryDirectory() as folder:
            copy_names = write_files(Path(folder), texts, part, originals)
            store = open_store("sqlite://:memory:")
            index(folder, store, IndexOptions(family_threshold=None))
            cells, usual = [], 0.0
            for principal in GROUPED:
                start = time.process_time()
                group(store, GroupOptions(principal=principal))
                seconds = time.process_time() - start
                usual = usual or seconds
                heads = {Path(stored.path).name: stored for stored in store.scan()}
                led = sum(heads[name].family == heads[name].id for name in copy_names)
                cells.append(f"{led} of {len(copy_names)} ({seconds / usual:.2f})")
            print(row([f"{corpus}, {len(heads):,} documents", *cells]), flush=True)


def write_files(folder: Path, texts: Texts, part: str, originals: int) -> list[str]:
    """Write the texts, and two copies of some; return the names of those."""
    for place, text in enumerate(texts.values()):
        (folder / f"{place}.txt").write_text(text, encoding="utf-8")
    copy_names = []
    texts_of = {name: str(place) for place, name in enumerate(texts)}
    for name, kind, copies, family in families(texts, part, originals):
        if kind == EVERY and copies == 2:
            copy_names.append(f"{texts_of[name]}.txt")
            for place, text in enumerate(family.texts[1:]):
                path = folder / f"{texts_of[name]}-{place}.txt"
                path.write_text(text, encoding="utf-8")
    return copy_names


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--originals", type=int, default=40, help="texts of a corpus")
    parser.add_argument("--unseen", action="store_true")
    options = parser.parse_args()
    part = "unseen" if options.unseen else "seen"
    led, shown = measure(part, options.originals)
    print_table("Share of families that the original leads", led)
    print_table("Documents shown for one family", shown)
    print_stores(part, options.originals)


if __name__ == "__main__":
    main()
