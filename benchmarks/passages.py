"""Repeated passages that are inserted into real texts: found again, and left out of comparisons.

    python benchmarks/passages.py FOLDER --from FOLDER [--documents 10000] [--passages 50]
    python benchmarks/passages.py FOLDER --from FOLDER --leave-out
    python benchmarks/passages.py --pages FOLDER

The passages are stretches of 25 to 80 words of the second folder's files. Each is inserted into 5
to 400 files of the first one, at most one in a file: at the top, in the middle or at the foot,
drawn with a fixed seed. Printed is the fraction of the files in which it is found: they are listed
for passages that hold nine tenths of its words. `more` are files listed for them that it was not
inserted into; they may have had it before.

With `--leave-out`, what `nearfold passages` lists for them is approved. Printed are how many texts
have the words they had before, and the pairs of `match` of the texts as they were, with the
passages, and with these left out: how many are the same, with the same similarity. A text that had
an approved passage before is compared without it there, too.

`--pages` takes pages made from templates, such as those that `defaults.py --work FOLDER` leaves in
`real/manual-pages-of-gcloud`, groups them, approves every passage that is listed, and prints the
families of `lcs` .8 that do not ask for `replaced<=2`, without the list, with it, and after the
pages were signed without its passages; then how fast they are signed.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from argparse import Namespace
from collections import Counter, defaultdict
from collections.abc import Sequence

from corpora import drawn_texts, fill_store
from harness import arguments, head, row

from indexer import group, index, match
from indexer.comparing.alignment import lcs_length
from indexer.comparing.criteria import Criteria
from indexer.comparing.words import normal_words
from indexer.fingerprinting.fingerprint import fingerprints
from indexer.grouping.group_options import GroupOptions
from indexer.grouping.passages import RepeatedPassage, passages
from indexer.jobs.reindex import reindex
from indexer.recipe import DEFAULT
from indexer.stores import open_store
from indexer.stores.abilities import FullStore
from indexer.stores.requirements import require_recipe
from indexer.system.approved_passages import ApprovedPassages

SEED = 20
LENGTHS = (100, 5_000)  # of texts, in words
POSITIONS = ("top", "middle", "foot")
ANY = Criteria(replaced=10**6)  # the default asks for less


def draw_passages(folder: str, count: int, draw: random.Random) -> list[str]:
    """Return stretches of 25 to 80 words of so many files."""
    drawn = []
    for text in drawn_texts([folder], count, LENGTHS, SEED):
        words = text.split()
        size = min(len(words), draw.randint(25, 80))
        start = draw.randrange(len(words) - size + 1)
        drawn.append(" ".join(words[start : start + size]))
    return drawn


def insert(
    texts: list[str], inserted: Sequence[str], draw: random.Random
) -> dict[int, tuple[int, str]]:
    """Insert the passages into texts; return the passage and its position by text."""
    free = list(range(len(texts)))
    draw.shuffle(free)
    where = {}
    for number, passage in enumerate(inserted):
        for _ in range(min(draw.randint(5, 400), len(free))):
            text, position = free.pop(), draw.choice(POSITIONS)
            lines = texts[text].splitlines(keepends=True)
            at = {"top": 0, "middle": len(lines) // 2, "foot": len(lines)}[position]
            texts[text] = "".join([*lines[:at], f"\n{passage}\n", *lines[at:]])
            where[text] = number, position
    return where


def numbered_store(url: str, texts: Sequence[str]) -> FullStore:
    """Return a new store of texts, whose ids are their numbers."""
    return fill_store(url, ((f"{number:06}", text) for number, text in enumerate(texts)))


def passages_of(
    found: Sequence[RepeatedPassage], inserted: Sequence[str]
) -> dict[int, list[RepeatedPassage]]:
    """Return the passages that hold nine tenths of the words of each inserted one."""
    wanted = [normal_words(passage) for passage in inserted]
    of: dict[int, list[RepeatedPassage]] = defaultdict(list)
    for passage in found:
        words = normal_words(passage.text)
        for number, other in enumerate(wanted):
            needed = 0.9 * len(other)
            if len(words) >= needed and lcs_length(words, other) >= needed:
                of[number].append(passage)
    return of


def print_found(
    store: FullStore, inserted: Sequence[str], where: dict[int, tuple[int, str]]
) -> None:
    """Print how many of the insertions are found."""
    started = time.process_time()
    found = list(passages(store))
    seconds = time.process_time() - started
    listed = {
        number: {int(place.id) for passage in parts for place in passage.places}
        for number, parts in passages_of(found, inserted).items()
    }
    totals = Counter(position for _, position in where.values())
    hits = Counter(
        position for text, (number, position) in where.items() if text in listed.get(number, ())
    )
    others = (where.get(text, (-1,))[0] != number for number in listed for text in listed[number])
    print(f"{len(where)} insertions, {len(found)} passages, {seconds:.0f} s")
    print(*head(["inserted", "files", "found"]), sep="\n")
    for position in POSITIONS:
        total = totals[position]
        print(row([position, str(total), f"{hits[position] / max(1, total):.4f}"]))
    print(f"more: {sum(others)}")


def same_words(texts: Sequence[str], others: Sequence[str], approved: ApprovedPassages) -> int:
    """Return how many texts have the words of others, approved passages left out of both."""

    def kept_words(text: str) -> object:
        return normal_words(approved.remove_from(text)[0]).folded

    return sum(kept_words(a) == kept_words(b) for a, b in zip(texts, others, strict=True))


def print_left_out(
    store: FullStore, original: FullStore, inserted: Sequence[str], texts: tuple[list[str], ...]
) -> None:
    """Print what comparisons without the approved passages have in common with those before."""
    before, after = texts
    listed = passages_of(list(passages(store)), inserted)
    found = [passage.text for parts in listed.values() for passage in parts]
    approved = ApprovedPassages(tuple(dict.fromkeys(found)))
    changed = sum(approved.remove_from(text)[0] is not text for text in before)
    print(f"{len(before)} texts, {len(approved.passages)} approved; {changed} had one before")
    print(f"same words as before: {same_words(before, after, approved)} of {len(before)}")
    pairs = {
        name: {(pair.a, pair.b): pair.similarity for pair in match(of, leave_out=left_out)}
        for name, of, left_out in (
            ("as they were", original, approved),
            ("with passages", store, ApprovedPassages()),
            ("left out", store, approved),
        )
    }
    truth = pairs["as they were"]
    print(*head(["texts", "pairs", "of them as before", "same similarity"]), sep="\n")
    for name, some in pairs.items():
        common = some.keys() & truth.keys()
        same = sum(some[pair] == truth[pair] for pair in common)
        print(row([name, str(len(some)), str(len(common)), str(same)]))


def measure_insertions(options: Namespace) -> None:
    draw = random.Random(SEED)
    inserted = draw_passages(options.source, options.passages, draw)
    before = drawn_texts([options.folder], options.documents, LENGTHS, SEED)
    after = list(before)
    where = insert(after, inserted, draw)
    with tempfile.TemporaryDirectory() as scratch:
        store = numbered_store(f"sqlite:///{scratch}/after.db", after)
        if options.leave_out:
            original = numbered_store(f"sqlite:///{scratch}/before.db", before)
            print_left_out(store, original, inserted, (before, after))
            original.close()
        else:
            print_found(store, inserted, where)
        store.close()


def signing_speed(texts: Sequence[str], store: FullStore) -> float:
    """Return megabytes a second of processor time."""
    recipe = require_recipe(store)
    fingerprints(texts[:1], recipe)
    start = time.process_time()
    fingerprints(texts, recipe)
    return sum(map(len, texts)) / 1e6 / (time.process_time() - start)


def measure_templates(folder: str) -> None:
    options = GroupOptions(0.8, criteria=ANY)
    with tempfile.TemporaryDirectory() as scratch:
        store = open_store(f"sqlite:///{scratch}/x.db")
        index([folder], store)
        group(store)
        approved = ApprovedPassages(tuple(passage.text for passage in passages(store)))
        print(f"{store.counts().documents} pages, {len(approved.passages)} approved passages")
        print(*head(["list", "groups", "largest", "pages in groups"]), sep="\n")

        def print_families(name: str, left_out: ApprovedPassages) -> None:
            result = group(store, options, write=False, leave_out=left_out)
            members = result.documents - result.singletons
            print(row([name, str(result.families), str(result.largest), str(members)]))

        print_families("none", ApprovedPassages())
        print_families("approved", approved)
        texts = [stored.text for stored in store.scan()]
        whole = signing_speed(texts, store)
        reindex(store, DEFAULT, leave_out=approved)
        print_families("of the index", ApprovedPassages())
        print(f"signed whole {whole:.1f}, without passages", end=" ")
        print(f"{signing_speed(texts, store):.1f} MB a second (processor time)")
        store.close()


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--from", dest="source")
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--passages", type=int, default=50)
    parser.add_argument("--leave-out", action="store_true")
    parser.add_argument("--pages")
    options = parser.parse_args()
    if options.pages:
        measure_templates(options.pages)
    elif options.folder and options.source:
        measure_insertions(options)
    else:
        sys.exit("give FOLDER and --from FOLDER, or --pages FOLDER")


if __name__ == "__main__":
    main()
