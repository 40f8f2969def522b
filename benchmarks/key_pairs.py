"""Which pairs of documents share keys of `default_v2`, and which of these look-ups still compare.

    python benchmarks/key_pairs.py FOLDER [--documents N] [--part N]

Of the distinct texts among so many files of a folder, `--part` 0 the first ones by the checksums of
their names, 1 the next: the share of all pairs that have as many keys in common as a look-up asks
for; of those whose numbers of words allow an `lcs` of .8, as the shorter has four fifths of the
words of the longer; and of those that have it. Then the kinds of files that share keys most often.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path

from defaults_corpora import files_under
from quality_tables import head, row

from indexer import fingerprints
from indexer.defaults import REVIEW
from indexer.extraction.base import DEFAULT_LIMITS
from indexer.extraction.gzip_files import unpack
from indexer.extraction.plain import plain_document
from indexer.recipe import DEFAULT
from indexer.similarity.lcs import lcs
from indexer.text.normal_words import normal_words

Pair = tuple[int, int]


def distinct_texts(files: list[Path]) -> dict[str, str]:
    """Return the texts of plain files by path, one of each that has the same words."""
    texts: dict[str, tuple[str, str]] = {}
    for path in files:
        data, _ = unpack(path.read_bytes(), path.name, DEFAULT_LIMITS)
        document = plain_document(data, path.name, DEFAULT_LIMITS)
        if document and document.text:
            words = " ".join(normal_words(document.text).folded)
            texts.setdefault(words, (str(path), document.text))
    return dict(texts.values())


def pairs_that_share_keys(bands: list[tuple[str, ...]]) -> list[Pair]:
    holders: dict[str, list[int]] = defaultdict(list)
    for place, keys in enumerate(bands):
        for key in keys:
            holders[key].append(place)
    counts = Counter(pair for places in holders.values() for pair in combinations(places, 2))
    return [pair for pair, shared in counts.items() if shared >= DEFAULT.shared]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--part", type=int, default=0)
    options = parser.parse_args()
    first = options.part * options.documents
    files = files_under(options.folder, options.folder)[first : first + options.documents]
    texts = distinct_texts(files)
    signed = fingerprints(list(texts.values()), DEFAULT)
    keyed = [place for place, keys in enumerate(signed.bands) if keys]
    names = [Path(list(texts)[place]).name for place in keyed]
    words = [normal_words(list(texts.values())[place]) for place in keyed]
    sharing = pairs_that_share_keys([tuple(signed.bands[place]) for place in keyed])
    of_length = [
        (a, b)
        for a, b in sharing
        if min(len(words[a]), len(words[b])) >= REVIEW * max(len(words[a]), len(words[b]))
    ]
    near = [(a, b) for a, b in of_length if lcs(words[a], words[b], REVIEW) >= REVIEW]
    every = len(keyed) * (len(keyed) - 1) / 2
    shares = (f"{100 * len(pairs) / every:.3f} %" for pairs in (sharing, of_length, near))
    print("\n".join(head(["documents", "share keys", "of such lengths", "near duplicates"])))
    print(row([f"{len(keyed):,}", *shares]))
    kinds = Counter(tuple(sorted((names[a], names[b]))) for a, b in sharing)
    for (a, b), count in kinds.most_common(5):
        print(f"{count / len(sharing):.2f} {a} / {b}")


if __name__ == "__main__":
    main()
