"""Signing beside its peers: the same texts, the same character 4-grams, 128 slots, one core, from a
list of str to sketches.

    python benchmarks/signing.py [FOLDER] [--documents 1000] [--runs 7] [--kernel OTHER.so]

FOLDER (default: /usr/share/doc) is read for text files, gzip included; each gives one document of
up to 5,000 characters. Peers are handed texts that are normalised already, so that all see the same
features; ours normalises within its time, and also counts words, digests the text and makes the
keys. Runs are interleaved, every run gets fresh strings, and the figures are the least CPU time of
the runs, which other programs disturb least. The last lines are of pieces of 100 characters.
`error` is the root mean square error of the estimated Jaccard similarity over sqrt(J (1 - J) /
128), on changed copies of the documents; `default_v2` signs word pairs, so it has none here. Peers
that are not installed are named at the end.

`--kernel` compares two kernels and nothing else: this one and another `indexer/_kernel.abi3.so`, in
turn on the same texts, on those that are ASCII, on the others, and on pieces of 100 characters.
Exits with 1 where a fingerprint differs.
"""

from __future__ import annotations

import argparse
import dataclasses
import gzip
import importlib.machinery
import importlib.util
import os
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

os.environ.update(
    RAYON_NUM_THREADS="1", OMP_NUM_THREADS="1"
)  # read by the peers' libraries when they are imported

import numpy as np

from indexer.recipe import DEFAULT_V1, DEFAULT_V2, Recipe
from indexer.recipe_names import recipe_named
from indexer.sketch import fingerprint as signing
from indexer.sketch.fingerprint import define, fingerprints, kernel_name
from indexer.sketch.hashing import gram_hashes
from indexer.text.codepoints import encode
from indexer.text.normalise import normalise

WIDTH, SLOTS, CHARS, PAIRS, SECONDS, SHORT = 4, 128, 5000, 1000, 0.3, 100
MINHASH = dataclasses.replace(DEFAULT_V1, simhash=None, bits=None, blocks=None)
KEYED, KEYED_V2 = (
    recipe_named(f"{version}+key:benchmark").with_secret("a secret that everybody may read")
    for version in ("default_v1", "default_v2")
)
Signer = Callable[[Sequence[str]], object]
Slots = Callable[[object], np.ndarray]


@dataclass
class Contender:
    """A library to measure: `sign` is timed; `slots` turns its result into an (n, 128) array, if it
    has slots.
    """

    name: str
    sign: Signer
    slots: Slots | None = None
    ours: bool = False
    documents: int = 0
    seconds: list[float] = field(default_factory=list)
    error: float | None = None


def grams(text: str) -> set[str]:
    return {text[start : start + WIDTH] for start in range(len(text) - WIDTH + 1)}


def ours() -> Iterator[Contender]:
    yield Contender(
        f"nearfold {kernel_name()}: MinHash",
        lambda texts: fingerprints(texts, MINHASH).minhash,
        np.asarray,
        True,
    )
    yield Contender(
        f"nearfold {kernel_name()}: MinHash + SimHash",
        lambda texts: fingerprints(texts, DEFAULT_V1).minhash,
        np.asarray,
        True,
    )
    yield Contender(
        f"nearfold {kernel_name()}: both, secret key",
        lambda texts: fingerprints(texts, KEYED).minhash,
        np.asarray,
        True,
    )
    yield Contender(
        f"nearfold {kernel_name()}: default_v2",
        lambda texts: fingerprints(texts, DEFAULT_V2).minhash,
        ours=True,
    )
    yield Contender(
        f"nearfold {kernel_name()}: default_v2, keys read",
        lambda texts: list(fingerprints(texts, DEFAULT_V2).bands),
        ours=True,
    )
    yield Contender(
        f"nearfold {kernel_name()}: default_v2, secret key",
        lambda texts: fingerprints(texts, KEYED_V2).minhash,
        ours=True,
    )
    yield Contender(
        "nearfold numpy: MinHash", lambda texts: define(texts, MINHASH).minhash, np.asarray, True
    )
    yield Contender(
        "nearfold numpy: MinHash + SimHash",
        lambda texts: define(texts, DEFAULT_V1).minhash,
        np.asarray,
        True,
    )


def datasketch() -> Iterator[Contender]:
    from datasketch import MinHash

    def sign(texts: Sequence[str]) -> object:
        return MinHash.bulk(
            ([gram.encode() for gram in grams(text)] for text in texts), num_perm=SLOTS
        )

    yield Contender(
        "datasketch bulk, sha1",
        sign,
        lambda signed: np.array([sketch.hashvalues for sketch in signed]),
    )


def rensa() -> Iterator[Contender]:
    from rensa import RMinHash

    def hashed(texts: Sequence[str]) -> object:
        hashes = [gram_hashes(encode(text), WIDTH) for text in texts]
        offsets = np.cumsum([0, *map(len, hashes)], dtype=np.uint64)
        return RMinHash.digest_matrix_from_flat_token_hashes(
            np.concatenate(hashes), offsets, SLOTS, 42
        )

    def rows(signed: object) -> np.ndarray:
        return np.array(signed.to_rows())

    yield Contender(
        "rensa, strings",
        lambda texts: RMinHash.digest_matrix_from_token_sets([*map(grams, texts)], SLOTS, 42),
        rows,
    )
    yield Contender("rensa, grams hashed by our numpy", hashed, rows)


def fast_sketch_lsh() -> Iterator[Contender]:
    from FastSketchLSH import FastSimilaritySketch

    sketch = FastSimilaritySketch(SLOTS, 42)

    def hashed(texts: Sequence[str]) -> object:
        hashes = [gram_hashes(encode(text), WIDTH) for text in texts]
        offsets = np.cumsum([0, *map(len, hashes)], dtype=np.uint64)
        return sketch.batch_csr(np.concatenate(hashes), offsets, prehashed=True)

    yield Contender(
        "FastSketchLSH, strings",
        lambda texts: sketch.batch([list(grams(text)) for text in texts], num_threads=1),
        np.asarray,
    )
    yield Contender("FastSketchLSH, grams hashed by our numpy", hashed, np.asarray)


def gaoya() -> Iterator[Contender]:
    from gaoya.minhash import MinHashStringIndex
    from gaoya.simhash import SimHashStringIndex

    def fill(index: object, texts: Sequence[str]) -> object:
        for place, text in enumerate(texts):
            index.insert_document(place, text)
        return index

    def minhash(texts: Sequence[str]) -> object:
        return fill(MinHashStringIndex(32, 0.8, 16, 8, None, "char", False, (WIDTH, WIDTH)), texts)

    def simhash(texts: Sequence[str]) -> object:
        return fill(SimHashStringIndex(analyzer="char", ngram_range=(WIDTH, WIDTH)), texts)

    yield Contender("gaoya MinHash, into its index", minhash)
    yield Contender("gaoya SimHash, into its index", simhash)


def simhash() -> Iterator[Contender]:
    from simhash import Simhash

    yield Contender(
        "simhash, md5 (SimHash alone)",
        lambda texts: [Simhash(list(grams(text))).value for text in texts],
    )


def text_dedup() -> Iterator[Contender]:
    from text_dedup.minhash import embed_func, xxh3_32hash

    rng = np.random.RandomState(42)
    prime, largest = np.uint64((1 << 61) - 1), np.uint32((1 << 32) - 1)
    settings = {
        "num_perm": SLOTS,
        "ngram_size": 5,
        "min_length": 5,
        "hashranges": [(0, SLOTS)],
        "hash_func": xxh3_32hash,
        "permutations": (
            rng.randint(1, prime, SLOTS, dtype=np.uint64),
            rng.randint(0, prime, SLOTS, dtype=np.uint64),
        ),
        "dtype": np.uint64,
        "max_hash": largest,
        "modulo_prime": prime,
    }
    yield Contender(
        "text-dedup, 5 words (its features)",
        lambda texts: [embed_func(text, 0, **settings) for text in texts],
    )


PEERS = {
    "datasketch": datasketch,
    "rensa": rensa,
    "FastSketchLSH": fast_sketch_lsh,
    "gaoya": gaoya,
    "simhash": simhash,
    "text-dedup": text_dedup,
}


def installed_contenders(peer: Callable[[], Iterator[Contender]]) -> list[Contender]:
    """Return the contenders of a peer; none where it is not installed."""
    try:
        return list(peer())
    except ImportError:
        return []


def documents(folder: Path, limit: int) -> list[str]:
    """Return up to `limit` texts of 1,000 to 5,000 characters, of as many files, evenly chosen."""
    texts = []
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
                start = file.read(4 * CHARS)
            text = start.decode("utf-8", "ignore")[:CHARS]
            if len(text) >= 1000 and "\0" not in text:
                texts.append(text)
    return texts[:: max(1, len(texts) // limit)][:limit]


def pieces(texts: list[str]) -> list[str]:
    """The first ten pieces of 100 characters of each text."""
    return [text[start:][:SHORT] for text in texts for start in range(0, 10 * SHORT, SHORT)]


def changed_copy(text: str, rng: random.Random) -> str:
    """The text with up to a tenth of its words replaced by other words of it."""
    words, share = text.split(" "), rng.random() / 10
    return " ".join(rng.choice(words) if rng.random() < share else word for word in words)


def measure(contenders: list[Contender], texts: list[str], plain: list[str], runs: int) -> None:
    """Fill in documents and seconds: runs are interleaved; slow contenders get an even choice of
    fewer texts.
    """
    for contender in contenders:
        seconds = max(clock_signing(contender, texts if contender.ours else plain, 20), 1e-6)
        contender.documents = min(len(texts), max(20, int(20 * SECONDS / seconds)))
    for _ in range(runs):
        for contender in contenders:
            contender.seconds.append(
                clock_signing(contender, texts if contender.ours else plain, contender.documents)
                / contender.documents
            )


def clock_signing(contender: Contender, texts: list[str], count: int) -> float:
    """CPU seconds for `count` of the texts, as fresh strings: a str keeps what was once computed of
    it.
    """
    step = len(texts) / count
    fresh = [texts[int(place * step)].encode().decode() for place in range(count)]
    start = time.process_time()
    contender.sign(fresh)
    return time.process_time() - start


def compare_kernels(path: str, texts: list[str], runs: int) -> bool:
    """Print times of this kernel and another; return whether every fingerprint is the same."""
    loader = importlib.machinery.ExtensionFileLoader("_kernel", path)
    spec = importlib.util.spec_from_loader("_kernel", loader)
    assert spec
    other = importlib.util.module_from_spec(spec)
    loader.exec_module(other)
    kernels = (other, signing._kernel)
    kinds = {
        "all": texts,
        "ASCII": [text for text in texts if text.isascii()],
        "not ASCII": [text for text in texts if not text.isascii()],
        "short": pieces(texts),
    }
    recipes = {"MinHash": MINHASH, "MinHash + SimHash": DEFAULT_V1, "default_v2": DEFAULT_V2}
    print("| texts | recipe | MB/s, other kernel | this one | documents/s | this one | ratio |")
    print("|---|---|---|---|---|---|---|")
    is_equal = True
    for kind, chosen in kinds.items():
        size = sum(len(text.encode()) for text in chosen)
        for name, recipe in recipes.items():
            both = [clock_kernels(kernels, chosen, recipe) for _ in range(runs)]
            is_equal &= all(equal for *_, equal in both)
            before, now = (min(times) for times in list(zip(*both, strict=True))[:2])
            rates = [size / seconds / 1e6 for seconds in (before, now)]
            counts = [len(chosen) / seconds for seconds in (before, now)]
            cells = [f"{rate:,.0f}" for rate in (*rates, *counts)]
            print(f"| {kind} | {name} | {' | '.join(cells)} | {now / before:.2f} |", flush=True)
    print("every fingerprint is the same" if is_equal else "fingerprints differ")
    return is_equal


def clock_kernels(
    kernels: tuple[object, object], texts: list[str], recipe: Recipe
) -> tuple[float, float, bool]:
    """CPU seconds of two kernels for fresh copies of the texts, and whether they agree."""
    seconds, digests = [], []
    for kernel in kernels:
        signing._kernel = kernel
        fresh = [text.encode().decode() for text in texts]
        start = time.process_time()
        signed = fingerprints(fresh, recipe)
        seconds.append(time.process_time() - start)
        arrays = (signed.minhash, signed.simhash, signed.words, signed.chars)
        keys = (list(signed.bands), list(signed.blocks), signed.status, signed.exact)
        digests.append((*(array.tobytes() for array in arrays), *keys))
    return seconds[0], seconds[1], digests[0] == digests[1]


def judge(contenders: list[Contender], texts: list[str]) -> None:
    """Fill in the errors of those that have slots."""
    rng = random.Random(1)
    pairs = [(text, changed_copy(text, rng)) for text in texts[:: max(1, len(texts) // PAIRS)]]
    plain = [normalise(text) for pair in pairs for text in pair]
    gram_sets = [grams(text) for text in plain]
    exact = np.array(
        [len(a & b) / len(a | b) for a, b in zip(gram_sets[::2], gram_sets[1::2], strict=True)]
    )
    spread = np.sqrt(exact * (1 - exact) / SLOTS)
    for contender in contenders:
        if contender.slots is not None:
            slots = contender.slots(
                contender.sign(
                    [text for pair in pairs for text in pair] if contender.ours else plain
                )
            )
            off = (slots[::2] == slots[1::2]).mean(axis=1) - exact
            contender.error = float(np.sqrt(np.mean((off[spread > 0] / spread[spread > 0]) ** 2)))


def show(contenders: list[Contender], texts: list[str]) -> None:
    size = sum(len(text.encode()) for text in texts) / len(texts)
    first = min(contenders[0].seconds)
    print(f"{'':42}{'docs/s':>10}{'MB/s':>9}{'slower by':>11}{'error':>8}")
    for contender in contenders:
        seconds = min(contender.seconds)
        error = "-" if contender.error is None else f"{contender.error:.2f}"
        print(
            f"{contender.name:42}{1 / seconds:10,.0f}{size / seconds / 1e6:9,.1f}"
            f"{seconds / first:11,.1f}{error:>8}"
        )


def show_short(contenders: list[Contender], texts: list[str], runs: int) -> None:
    """Print the documents a second of short texts."""
    print(f"\n{len(texts)} documents of {SHORT} characters or fewer")
    for contender in contenders:
        seconds = min(clock_signing(contender, texts, len(texts)) for _ in range(runs))
        print(f"{contender.name:42}{len(texts) / seconds:10,.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, default=Path("/usr/share/doc"))
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument(
        "--kernel", help="another kernel to compare this one with, and nothing else"
    )
    options = parser.parse_args()
    texts = documents(options.folder, options.documents)
    if not texts:
        sys.exit(
            f"no text files of 1,000 characters or more in {options.folder}; name another folder"
        )
    if options.kernel:
        sys.exit(0 if compare_kernels(options.kernel, texts, options.runs) else 1)
    peers = {name: installed_contenders(peer) for name, peer in PEERS.items()}
    contenders = [
        *ours(),
        *(contender for contenders_of_peer in peers.values() for contender in contenders_of_peer),
    ]
    measure(contenders, texts, [normalise(text) for text in texts], options.runs)
    judge(contenders, texts)
    ascii_share = sum(map(str.isascii, texts)) / len(texts)
    print(
        f"{len(texts)} documents, {sum(map(len, texts)) / len(texts):,.0f} characters each, "
        f"{ascii_share:.0%} ASCII\n"
    )
    show(contenders, texts)
    show_short(list(ours()), pieces(texts), options.runs)
    if absent := [name for name, contenders_of_peer in peers.items() if not contenders_of_peer]:
        print(f"\nnot measured, because not installed: {', '.join(absent)}")


if __name__ == "__main__":
    main()
