"""Comparisons without approved passages, held against texts that never had them.

    python benchmarks/leave_out.py FOLDER --from FOLDER [--documents 10000] [--passages 50]
    python benchmarks/leave_out.py --pages FOLDER

The first inserts passages into texts as `passages.py` does, approves what `nearfold passages` lists
for them, and prints how many texts have the words they had before, and the pairs of `match` of the
texts as they were, with the passages, and with these left out: how many are the same, with the same
similarity. A text that had an approved passage before is compared without it there, too.

The second takes pages made from templates, such as those that `defaults.py --work FOLDER` leaves in
`real/manual-pages-of-gcloud`, groups them, approves every passage that is listed, and prints the
families of `lcs` .8 that do not ask for `replaced<=2`, without the list, with it, and after the
pages were signed without its passages; then how fast they are signed.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Sequence

from passages import SEED, draw_passages, insert, passages_of, read_texts, write_store
from quality_tables import head, row

from indexer import group, index, match
from indexer.grouping.group_options import GroupOptions
from indexer.matching.passages import passages
from indexer.operations.reindex import reindex
from indexer.recipe import DEFAULT
from indexer.similarity.approved_passages import ApprovedPassages
from indexer.similarity.criteria import Criteria
from indexer.sketch.fingerprint import fingerprints
from indexer.stores import open_store
from indexer.stores.abilities import FullStore
from indexer.stores.requirements import require_recipe
from indexer.text.normal_words import normal_words

ANY = Criteria(replaced=10**6)  # the default asks for less


def pairs_of(store: FullStore, approved: ApprovedPassages) -> dict[tuple[str, str], float]:
    return {(pair.a, pair.b): pair.similarity for pair in match(store, leave_out=approved)}


def same_words(texts: Sequence[str], others: Sequence[str], approved: ApprovedPassages) -> int:
    """Return how many texts have the words of others, approved passages left out of both."""
    return sum(
        normal_words(approved.remove_from(text)[0]).folded
        == normal_words(approved.remove_from(other)[0]).folded
        for text, other in zip(texts, others, strict=True)
    )


def measure_insertions(folder: str, source: str, documents: int, number: int) -> None:
    draw = random.Random(SEED)
    inserted = draw_passages(source, number, draw)
    before = list(read_texts(folder, documents))
    after = list(before)
    where = insert(after, inserted, draw)
    with tempfile.TemporaryDirectory() as work:
        store = write_store(f"sqlite:///{work}/after.db", after)
        listed = passages_of(list(passages(store)), inserted)
        texts = [passage.text for parts in listed.values() for passage in parts]
        approved = ApprovedPassages(tuple(dict.fromkeys(texts)))
        changed = sum(approved.remove_from(text)[0] is not text for text in before)
        print(
            f"{len(before)} texts, {len(where)} insertions, {len(approved.passages)} approved; "
            f"{changed} texts had one before"
        )
        print(f"same words as before: {same_words(before, after, approved)} of {len(before)}")
        original = write_store(f"sqlite:///{work}/before.db", before)
        truth = pairs_of(original, approved)
        print(*head(["texts", "pairs", "of them as before", "same similarity"]), sep="\n")
        for name, some in (
            ("as they were", truth),
            ("with passages", pairs_of(store, ApprovedPassages())),
            ("left out", pairs_of(store, approved)),
        ):
            common = some.keys() & truth.keys()
            same = sum(some[pair] == truth[pair] for pair in common)
            print(row([name, str(len(some)), str(len(common)), str(same)]))
        for each in (store, original):
            each.close()


def signing_time(texts: Sequence[str], store: FullStore) -> float:
    recipe = require_recipe(store)
    fingerprints(texts[:1], recipe)
    start = time.process_time()
    fingerprints(texts, recipe)
    return time.process_time() - start


def measure_templates(folder: str) -> None:
    with tempfile.TemporaryDirectory() as work:
        store = open_store(f"sqlite:///{work}/x.db")
        index([folder], store)
        group(store)
        approved = ApprovedPassages(tuple(passage.text for passage in passages(store)))
        print(f"{store.counts().documents} pages, {len(approved.passages)} approved passages")
        print(*head(["list", "families", "largest", "pages in families"]), sep="\n")
        options = GroupOptions(0.8, criteria=ANY)
        for name, some in (("none", ApprovedPassages()), ("approved", approved)):
            result = group(store, options, write=False, leave_out=some)
            members = result.documents - result.singletons
            print(row([name, str(result.families), str(result.largest), str(members)]))
            if result.left_out:
                print(result.left_out)
        texts = [text.text for text in store.scan()]
        whole = signing_time(texts, store)
        reindex(store, DEFAULT, leave_out=approved)
        result = group(store, options, write=False)
        members = result.documents - result.singletons
        print(row(["of the index", str(result.families), str(result.largest), str(members)]))
        megabytes = sum(map(len, texts)) / 1e6
        speeds = [f"{megabytes / seconds:.1f}" for seconds in (whole, signing_time(texts, store))]
        print(
            f"signed whole {speeds[0]}, without passages {speeds[1]} MB a second (processor time)"
        )
        store.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--from", dest="source")
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--passages", type=int, default=50)
    parser.add_argument("--pages")
    options = parser.parse_args()
    if options.pages:
        measure_templates(options.pages)
    else:
        measure_insertions(options.folder, options.source, options.documents, options.passages)


if __name__ == "__main__":
    main()
