"""SimHash beside MinHash bands: weights of its features, and designs of its block keys.

    python benchmarks/simhash_blocks.py [--unseen | --bytes | --documents 4000]

Texts are manual pages in English and other languages, entries of changelogs and licences; with
`--unseen` other manual pages, docstrings and descriptions of API operations, looked at once the
rule was written down. Copies are edited, misread, without accents, or successive versions.

The first table compares weights of the word-pair features: the share of copies whose bits differ
in at most 3, and the area under the ROC curve of copies against different documents. The second
compares designs of block keys: the share of pairs that are candidates, the share of copies that
only blocks find, those that lie within 3 bits, and candidates among random pairs of documents. The
bands are those of `default_v2`.

With `--bytes` an OpenSearch is started, and the bytes of the bits and keys in an index of pages
are the difference of two indices, as in `engine_bytes.py`.
"""

from __future__ import annotations

import itertools
import secrets
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any
from zlib import crc32

import engine_bytes
import harness
import measure_corpora as material
import numpy as np
from numpy.typing import NDArray

from indexer import fingerprint
from indexer.fingerprinting import keys
from indexer.fingerprinting.hashing import (
    gram_hashes,
    mix64,
    shingle_hashes,
    word_features,
    word_hashes,
)
from indexer.fingerprinting.normalise import (
    normalised_codes,
    normalised_codes_v2,
    word_starts,
)
from indexer.fingerprinting.simhash import sign_bits, simhash, to_units, weighted_sum
from indexer.lab.synthesis.changes import RandomSource, add_ocr_noise, edit_words, word_list
from indexer.recipe import DEFAULT_V2
from indexer.stores import open_store

DISTANCE = 3
DESIGNS = ("4/1", "5/2", "4/1,4/1", "6/3")
LANGUAGES = ("cs", "da", "de", "es", "fi", "fr", "hu", "it", "pl", "pt", "ro", "ru", "sv", "tr")
MANUALS = Path("/usr/share/man")
TEXTS = 300
RANDOM_PAIRS = 200_000
Texts = Mapping[str, str]
Pairs = list[tuple[str, str]]


def occurrences(text: str) -> int:
    """Return the bits of `default_v3`: each occurrence of a word pair counts once."""
    return simhash(word_features(normalised_codes_v2(text)))


def distinct_pairs(text: str) -> int:
    """Return the bits if each distinct pair counts once."""
    return simhash(_pairs(text))


def logarithmic(text: str) -> int:
    """Return the bits if a pair weighs 1 + ln of its frequency."""
    return _weighted(_pairs(text))


def words_alone(text: str) -> int:
    """Return the bits of words, each weighing 1 + ln of its frequency."""
    codes = normalised_codes_v2(text)
    return _weighted(word_hashes(codes, word_starts(codes)))


def six_letters(text: str) -> int:
    """Return the bits of the features of `scans_v1`, each counting once."""
    return simhash(gram_hashes(normalised_codes(text), 6))


WEIGHTS: dict[str, Callable[[str], int]] = {
    "occurrences": cache(occurrences),
    "distinct pairs": cache(distinct_pairs),
    "1 + ln": cache(logarithmic),
    "words, 1 + ln": cache(words_alone),
    "6 letters": cache(six_letters),
}


def _pairs(text: str) -> NDArray[np.uint64]:
    codes = normalised_codes_v2(text)
    return shingle_hashes(word_hashes(codes, word_starts(codes)), 2)


def _weighted(hashes: NDArray[np.uint64]) -> int:
    distinct, times = np.unique(hashes, return_counts=True)
    bits = np.unpackbits(distinct.astype(">u8").view(np.uint8)).reshape(-1, 64)
    return sign_bits(weighted_sum(2 * bits.view(np.int8) - 1, to_units(1 + np.log(times))))


def pages(is_seen: bool) -> dict[str, str]:
    """Return manual pages of sections 2 to 8, divided by a digest of their names."""
    paths = [path for part in "2345678" for path in sorted(MANUALS.glob(f"man{part}/*.gz"))]
    return {
        path.name: material.plain_page(path)
        for path in paths
        if (crc32(path.name.encode()) % 2 == 0) == is_seen
    }


def foreign_pages(is_seen: bool) -> dict[str, str]:
    """Return manual pages in languages with accents, divided in the same way."""
    paths = [path for name in LANGUAGES for path in sorted(MANUALS.glob(f"{name}/man*/*.gz"))]
    return {
        f"{path.parent.parent.name} {path.name}": material.plain_page(path)
        for path in paths
        if (crc32(path.name.encode()) % 2 == 0) == is_seen
    }


def corpora(is_seen: bool) -> Iterator[tuple[str, Texts, dict[str, Pairs]]]:
    """Yield name, texts, and pairs of copies by kind; also different ones, as `different`."""
    sample = partial(material.sample, limit=TEXTS)
    plain = {"manual pages": pages(is_seen), "in other languages": foreign_pages(is_seen)}
    plain |= {"changelogs": material.changelog_entries()} if is_seen else {}
    plain |= {} if is_seen else {"docstrings": material.docstrings()}
    for name, texts in plain.items():
        chosen = sample(texts)
        yield name, chosen, copies(chosen)
    labelled = {"commands in tracks": material.command_pages(is_seen)}
    if is_seen:
        labelled["licences"] = material.licences()
    else:
        labelled["API operations"] = material.api_operations()
    for name, pairs in labelled.items():
        by_kind: dict[str, Pairs] = defaultdict(list)
        for pair in pairs:
            if pair.kind in ("release track", "one licence", "version"):
                by_kind[pair.kind].append((pair.a, pair.b))
            elif pair.similar is False:
                by_kind["different"].append((pair.a, pair.b))
        yield name, dict(enumerate_texts(pairs)), dict(by_kind)


def enumerate_texts(pairs: Sequence[Any]) -> Iterator[tuple[str, str]]:
    for number, text in enumerate({text for pair in pairs for text in (pair.a, pair.b)}):
        yield str(number), text


def copies(texts: Texts) -> dict[str, Pairs]:
    """Return copies of each text by kind, and neighbours by name as different documents."""
    donor = word_list(" ".join(list(texts.values())[-50:]))
    made: dict[str, Pairs] = defaultdict(list)
    for name, text in texts.items():
        for percent in (1, 2, 5, 10):
            chance = RandomSource(1, percent, name)
            changed = edit_words(text, percent / 100, donor, chance)
            if changed is not None:
                made[f"{percent} % edited"].append((text, changed))
        made["5 % misread"].append((text, add_ocr_noise(text, 0.05, RandomSource(5, name))))
        bare = without_accents(text)
        if bare != text:
            made["no accents"].append((text, bare))
    names = sorted(texts)
    made["different"] = [(texts[a], texts[b]) for a, b in itertools.pairwise(names)]
    return made


def without_accents(text: str) -> str:
    """Return a text with the combining marks of its letters removed."""
    split = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFC", "".join(c for c in split if not unicodedata.combining(c)))


def apart(bits: Callable[[str], int], pairs: Pairs) -> NDArray[np.int64]:
    return np.array([(bits(a) ^ bits(b)).bit_count() for a, b in pairs])


def area(near: NDArray[np.int64], far: NDArray[np.int64]) -> float:
    """Return the chance that a copy is closer than a different document, ties half."""
    return float(np.mean((near[:, None] < far) + 0.5 * (near[:, None] == far)))


@cache
def masks(design: str) -> tuple[int, ...]:
    return keys.tables(keys.parse_design(64, design))


def shares_block(a: int, b: int, design: str) -> bool:
    return any(not (a ^ b) & mask for mask in masks(design))


@cache
def bands(text: str) -> frozenset[str]:
    return frozenset(fingerprint(text, DEFAULT_V2).bands)


def weights_table(gathered: Sequence[tuple[str, Texts, dict[str, Pairs]]]) -> None:
    print(*harness.head(["copies", "pairs", *WEIGHTS]), sep="\n")
    for name, _, kinds in gathered:
        for kind, pairs in kinds.items():
            if kind == "different":
                continue
            cells = []
            for bits in WEIGHTS.values():
                near, far = apart(bits, pairs), apart(bits, kinds["different"])
                within = harness.thousandths(float(np.mean(near <= DISTANCE)))
                cells.append(f"{within} / {harness.thousandths(area(near, far))}")
            print(harness.row([f"{name}: {kind}", f"{len(pairs):,}", *cells]), flush=True)


def designs_table(gathered: Sequence[tuple[str, Texts, dict[str, Pairs]]], name: str) -> None:
    bits = WEIGHTS[name]
    heads = ["pairs of", "pairs", "2 bands", "within 3 bits", "bands or 3 bits"]
    print(*harness.head([*heads, *(f"block of {design}" for design in DESIGNS)]), sep="\n")
    for corpus, _, kinds in gathered:
        for kind, pairs in kinds.items():
            near = apart(bits, pairs) <= DISTANCE
            banded = np.array([len(bands(a) & bands(b)) >= 2 for a, b in pairs])
            blocked = [
                np.array([shares_block(bits(a), bits(b), design) for a, b in pairs])
                for design in DESIGNS
            ]
            values = [banded, near, banded | near, *blocked]
            cells = [harness.thousandths(float(np.mean(value))) for value in values]
            print(harness.row([f"{corpus}: {kind}", f"{len(pairs):,}", *cells]), flush=True)


def random_table(gathered: Sequence[tuple[str, Texts, dict[str, Pairs]]], name: str) -> None:
    """Print candidates among random pairs of documents of a corpus, per million."""
    bits = WEIGHTS[name]
    heads = ["random pairs of", "pairs", "2 bands", "within 3 bits"]
    print(*harness.head([*heads, *(f"block of {design}" for design in DESIGNS)]), sep="\n")
    for corpus, texts, _ in gathered:
        every = np.array([bits(text) for text in texts.values()], dtype=np.uint64)
        found = [bands(text) for text in texts.values()]
        left, right = np.triu_indices(len(every), 1)
        if len(left) > RANDOM_PAIRS:
            chosen = np.random.default_rng(1).choice(len(left), RANDOM_PAIRS, replace=False)
            left, right = left[chosen], right[chosen]
        differ = every[left] ^ every[right]
        shared = [
            len(found[a] & found[b]) >= 2
            for a, b in zip(left.tolist(), right.tolist(), strict=True)
        ]
        fractions = [np.mean(shared), np.mean(np.bitwise_count(differ) <= DISTANCE)]
        for design in DESIGNS:
            hit = np.zeros(len(differ), dtype=bool)
            for mask in masks(design):
                hit |= differ & np.uint64(mask) == 0
            fractions.append(np.mean(hit))
        cells = [f"{1e6 * float(fraction):,.0f}" for fraction in fractions]
        print(harness.row([corpus, f"{len(left):,}", *cells]), flush=True)


def written_keys(bits: int, design: str, digits: int) -> tuple[str, ...]:
    """Return block keys of `digits` base-32 digits, or the table's number and hexadecimal bits."""
    if not digits:
        return keys.table_keys(bits, masks(design))
    return tuple(
        short_key(bits & mask, number, digits) for number, mask in enumerate(masks(design))
    )


def short_key(masked: int, number: int, digits: int) -> str:
    value = mix64(masked ^ number)
    letters = "0123456789abcdefghijklmnopqrstuv"
    return "".join(letters[value >> 5 * place & 31] for place in reversed(range(digits)))


def bytes_table(documents: int) -> None:
    """Print the bytes that bits and keys take a document in an index of OpenSearch."""
    texts = [text for text in pages(True).values() if len(text) > 500]
    texts += [text for text in pages(False).values() if len(text) > 500]
    texts = [text[:5_000] for text in texts[:documents]]
    layouts: dict[str, Callable[[int], dict[str, Any]]] = {"nothing": lambda _: {}}
    layouts["bits"] = lambda bits: {"near_simhash": keys.signed64(bits)}
    for design, digits in (("4/1", 0), ("5/2", 5), ("5/2", 6), ("5/2", 0), ("4/1,4/1", 6)):
        label = f"bits and {design}, {digits or 'hexadecimal'} digits"
        layouts[label] = lambda bits, design=design, digits=digits: {
            "near_simhash": keys.signed64(bits),
            "near_blocks": list(written_keys(bits, design, digits)),
        }
    columns = ["_source", "columns", "index", "all"]
    with harness.engine(None, "opensearch") as url:
        name = f"near-{secrets.token_hex(4)}"
        store: Any = open_store(f"opensearch://{url.partition('://')[2]}/{name}?replicas=0")
        store.prepare(DEFAULT_V2)
        lab = engine_bytes.Lab(store, name, [], "default")
        print(*harness.head(["layout", *columns]), sep="\n")
        base: list[float] = []
        for label, fields in layouts.items():
            lab.documents.clear()
            for number, text in enumerate(texts):
                own = fingerprint(text, DEFAULT_V2)
                document = {
                    "near_recipe": DEFAULT_V2.id,
                    "near_status": own.status,
                    "near_bands": list(own.bands),
                    **fields(occurrences(text)),
                    "text": text,
                }
                lab.documents.append((f"{number:032x}", document))
            sizes = lab.measure(lambda _: False)
            base = base or sizes
            cells = [f"{size - less:.1f}" for size, less in zip(sizes, base, strict=True)]
            print(harness.row([label, *cells]), flush=True)
        store.close()


def main() -> None:
    parser = harness.arguments(__doc__)
    parser.add_argument("--unseen", action="store_true")
    parser.add_argument("--bytes", action="store_true")
    parser.add_argument("--documents", type=int, default=4_000)
    options = parser.parse_args()
    if options.bytes:
        bytes_table(options.documents)
        return
    gathered = list(corpora(not options.unseen))
    weights_table(gathered)
    designs_table(gathered, "occurrences")
    random_table(gathered, "occurrences")


if __name__ == "__main__":
    main()
