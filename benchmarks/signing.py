"""Signing beside its peers: the same texts and features, 128 slots, one core, from a list of str to
sketches.

    python benchmarks/signing.py [FOLDER] [--documents 1000] [--runs 7] [--kernel FILE]

FOLDER (default: /usr/share/doc) is read for text files, gzip included; each gives one document of
up to 5,000 characters. Peers are handed texts that are normalised already, of which they sign
character 4-grams, pairs of words as `default_v2` and `default_v3` do, or words; ours normalises
within its time, and also counts words, digests the text and makes the keys. Runs are interleaved,
every run gets fresh strings, and the figures are the least CPU time of the runs, which other
programs disturb least. The last lines are of pieces of 100 characters, and of longer texts.
`error` is the root mean square error of the estimated Jaccard similarity over sqrt(J (1 - J) /
128), on changed copies of the documents, of those that sign 4-grams. FILE is another compiled
kernel, such as one of `cargo build --features extension,no-avx512`. Peers that are not installed
are named at the end; `benchmarks/peers.py` installs them.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from itertools import pairwise, product
from pathlib import Path
from typing import Any

# read by the peers' libraries when they are imported
os.environ.update(RAYON_NUM_THREADS="1", OMP_NUM_THREADS="1")
if "--kernel" in sys.argv:  # before it is imported
    name, path = "indexer._kernel", sys.argv[sys.argv.index("--kernel") + 1]
    loader = ExtensionFileLoader(name, path)
    sys.modules[name] = module_from_spec(spec_from_file_location(name, path, loader=loader))
    loader.exec_module(sys.modules[name])

import numpy as np
from corpora import files_under, read_text
from harness import arguments

from indexer.fingerprinting.fingerprint import define, fingerprints, kernel_name
from indexer.fingerprinting.hashing import gram_hashes
from indexer.fingerprinting.normalise import encode, normalise, normalise_v2
from indexer.recipe import DEFAULT, DEFAULT_V1, DEFAULT_V2, Recipe, recipe_named

WIDTH, SLOTS, CHARS, PAIRS, SECONDS, SHORT = 4, 128, 5000, 1000, 0.3, 100
LENGTHS = 4_000, 64_000, 256_000, 1_000_000
MINHASH = replace(DEFAULT_V1, simhash=None, bits=None, blocks=None)
KEYED, KEYED_DEFAULT = (
    recipe_named(f"{version}+key:benchmark").with_secret("a secret that everybody may read")
    for version in ("default_v1", "default")
)
Signer = Callable[[Sequence[str]], Any]
Features = Callable[[str], Iterable[str]]


@dataclass
class Contender:
    """A library to measure: `sign` is timed, on texts that are made by `prepare`; `slots` turns its
    result into an (n, 128) array, if it has slots.
    """

    name: str
    sign: Signer
    slots: Callable[[Any], np.ndarray] | None = None
    prepare: Callable[[str], str] = str
    documents: int = 0
    seconds: list[float] = field(default_factory=list)
    error: float | None = None


def grams(text: str) -> set[str]:
    return {text[start : start + WIDTH] for start in range(len(text) - WIDTH + 1)}


def word_pairs(text: str) -> set[str]:
    words = text.split()
    return {f"{first} {second}" for first, second in pairwise(words)}


FEATURES = {"4-grams": grams, "word pairs": word_pairs, "words": str.split}


def hashed_grams(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the hashes of all grams, and where those of each text begin."""
    hashes = [gram_hashes(encode(text), WIDTH) for text in texts]
    return np.concatenate(hashes), np.cumsum([0, *map(len, hashes)], dtype=np.uint64)


def sign(make: Callable[..., Any], recipe: Recipe, texts: Sequence[str]) -> Any:
    return make(texts, recipe).minhash


def sign_and_read_keys(recipe: Recipe, texts: Sequence[str], array: bool = False) -> Any:
    signed = fingerprints(texts, recipe)
    return signed.band_array() if array else list(signed.bands)


def ours() -> Iterator[Contender]:
    kernel = f"nearfold {kernel_name()}"
    for name, recipe in (
        ("MinHash", MINHASH),
        ("MinHash + SimHash", DEFAULT_V1),
        ("both, secret key", KEYED),
        ("default_v2", DEFAULT_V2),
        (DEFAULT.name, DEFAULT),
        (f"{DEFAULT.name}, secret key", KEYED_DEFAULT),
    ):
        slots = None if "default" in name else np.asarray
        yield Contender(f"{kernel}: {name}", partial(sign, fingerprints, recipe), slots)
    for recipe, array in product((DEFAULT_V2, DEFAULT), (False, True)):
        name = f"{kernel}: {recipe.name}, {'array of keys' if array else 'keys read'}"
        yield Contender(name, partial(sign_and_read_keys, recipe, array=array))
    for name, recipe in (("MinHash", MINHASH), ("MinHash + SimHash", DEFAULT_V1)):
        yield Contender(f"nearfold numpy: {name}", partial(sign, define, recipe), np.asarray)


def _by_features(
    name: str, sign: Callable[[Features, Sequence[str]], Any], slots: Callable[[Any], np.ndarray]
) -> Iterator[Contender]:
    for kind, of_text in FEATURES.items():
        sign_features = partial(sign, of_text)
        if of_text is grams:
            yield Contender(f"{name}: {kind}", sign_features, slots, normalise)
        else:
            yield Contender(f"{name}: {kind}", sign_features, prepare=normalise_v2)


def datasketch() -> Iterator[Contender]:
    from datasketch import MinHash

    def sign(of_text: Features, texts: Sequence[str]) -> Any:
        features = ([feature.encode() for feature in of_text(text)] for text in texts)
        return MinHash.bulk(features, num_perm=SLOTS)

    def slots(signed: Any) -> np.ndarray:
        return np.array([sketch.hashvalues for sketch in signed])

    yield from _by_features("datasketch bulk", sign, slots)


def rensa() -> Iterator[Contender]:
    from rensa import RMinHash

    def strings(of_text: Features, texts: Sequence[str]) -> Any:
        return RMinHash.digest_matrix_from_token_sets([*map(of_text, texts)], SLOTS, 42)

    def hashed(texts: Sequence[str]) -> Any:
        return RMinHash.digest_matrix_from_flat_token_hashes(*hashed_grams(texts), SLOTS, 42)

    def slots(signed: Any) -> np.ndarray:
        return np.array(signed.to_rows())

    yield from _by_features("rensa", strings, slots)
    yield Contender("rensa, grams hashed by our numpy", hashed, slots, normalise)


def fast_sketch_lsh() -> Iterator[Contender]:
    from FastSketchLSH import FastSimilaritySketch

    sketch = FastSimilaritySketch(SLOTS, 42)

    def strings(of_text: Features, texts: Sequence[str]) -> Any:
        return sketch.batch([list(of_text(text)) for text in texts], num_threads=1)

    def hashed(texts: Sequence[str]) -> Any:
        return sketch.batch_csr(*hashed_grams(texts), prehashed=True)

    yield from _by_features("FastSketchLSH", strings, np.asarray)
    yield Contender("FastSketchLSH, grams hashed by our numpy", hashed, np.asarray, normalise)


PEERS = {"datasketch": datasketch, "rensa": rensa, "FastSketchLSH": fast_sketch_lsh}


def installed(peer: Callable[[], Iterator[Contender]]) -> list[Contender]:
    """Return the contenders of a peer; none where it is not installed."""
    try:
        return list(peer())
    except ImportError:
        return []


def documents(folder: Path, limit: int) -> list[str]:
    """Return up to `limit` texts of 1,000 to 5,000 characters, of as many files."""
    texts = []
    for path in files_under(folder):
        text = (read_text(path) or "")[:CHARS]
        if len(text) >= 1000 and "\0" not in text:
            texts.append(text)
        if len(texts) == limit:
            break
    return texts


def changed_copy(text: str, chance: random.Random) -> str:
    """Return the text with up to a tenth of its words replaced by other words of it."""
    words, fraction = text.split(" "), chance.random() / 10
    return " ".join(chance.choice(words) if chance.random() < fraction else word for word in words)


def measure(contenders: list[Contender], texts: list[str], runs: int) -> None:
    """Fill in documents and seconds: runs are interleaved; slow contenders get an even choice of
    fewer texts.
    """
    prepared = {contender.prepare: list(map(contender.prepare, texts)) for contender in contenders}

    def seconds_for(contender: Contender, count: int) -> float:
        return clock_signing(contender, prepared[contender.prepare], count)

    for contender in contenders:
        seconds = max(seconds_for(contender, 20), 1e-6)
        contender.documents = min(len(texts), max(20, int(20 * SECONDS / seconds)))
    for _ in range(runs):
        for contender in contenders:
            seconds = seconds_for(contender, contender.documents)
            contender.seconds.append(seconds / contender.documents)


def clock_signing(contender: Contender, texts: list[str], count: int) -> float:
    """Return CPU seconds for `count` of the texts, as fresh strings: a str keeps what was once
    computed of it.
    """
    step = len(texts) / count
    fresh = [texts[int(number * step)].encode().decode() for number in range(count)]
    start = time.process_time()
    contender.sign(fresh)
    return time.process_time() - start


def judge(contenders: list[Contender], texts: list[str]) -> None:
    """Fill in the errors of those that have slots."""
    chance = random.Random(1)
    originals = texts[:: max(1, len(texts) // PAIRS)]
    both = [text for original in originals for text in (original, changed_copy(original, chance))]
    sets = [grams(normalise(text)) for text in both]
    pairs = zip(sets[::2], sets[1::2], strict=True)
    exact = np.array([len(a & b) / len(a | b) for a, b in pairs])
    spread = np.sqrt(exact * (1 - exact) / SLOTS)
    for contender in contenders:
        if contender.slots is not None:
            slots = contender.slots(contender.sign(list(map(contender.prepare, both))))
            off = (slots[::2] == slots[1::2]).mean(axis=1) - exact
            contender.error = float(np.sqrt(np.mean((off[spread > 0] / spread[spread > 0]) ** 2)))


def print_speeds(contenders: list[Contender], texts: list[str]) -> None:
    size = sum(len(text.encode()) for text in texts) / len(texts)
    first = min(contenders[0].seconds)
    print(f"{'':42}{'docs/s':>10}{'MB/s':>9}{'slower by':>11}{'error':>8}")
    for contender in contenders:
        seconds = min(contender.seconds)
        error = "-" if contender.error is None else f"{contender.error:.2f}"
        rates = f"{1 / seconds:10,.0f}{size / seconds / 1e6:9,.1f}{seconds / first:11,.1f}"
        print(f"{contender.name:42}{rates}{error:>8}")


def print_short(contenders: list[Contender], texts: list[str], runs: int) -> None:
    """Print the documents a second of the first ten pieces of 100 characters of each text."""
    pieces = [text[at : at + SHORT] for text in texts for at in range(0, 10 * SHORT, SHORT)]
    pieces = [piece for piece in pieces if len(normalise_v2(piece).split()) > 1]
    print(f"\n{len(pieces)} documents of {SHORT} characters or fewer")
    for contender in contenders:
        prepared = list(map(contender.prepare, pieces))
        seconds = min(clock_signing(contender, prepared, len(pieces)) for _ in range(runs))
        print(f"{contender.name:42}{len(pieces) / seconds:10,.0f}")


def print_lengths(texts: list[str], runs: int) -> None:
    """Print MB/s by length of the default recipes, keys read, on texts joined to that length."""
    whole = "\n".join(texts)
    whole *= 1 + LENGTHS[-1] // len(whole)
    print(f"\n{'MB/s, keys read':42}", *(f"{length:10,}" for length in LENGTHS))
    for recipe in (DEFAULT_V2, DEFAULT):
        contender = Contender(recipe.name, partial(sign_and_read_keys, recipe))
        rates = []
        for length in LENGTHS:
            pieces = [whole[start : start + length] for start in range(0, LENGTHS[-1], length)]
            seconds = min(clock_signing(contender, pieces, len(pieces)) for _ in range(runs))
            rates.append(sum(len(piece.encode()) for piece in pieces) / seconds / 1e6)
        print(f"{recipe.name:42}", *(f"{rate:10.0f}" for rate in rates))


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("/usr/share/doc"))
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--kernel", type=Path)
    options = parser.parse_args()
    texts = documents(options.folder, options.documents)
    if not texts:
        sys.exit(f"no texts of 1,000 characters or more in {options.folder}; name another folder")
    peers = {name: installed(peer) for name, peer in PEERS.items()}
    contenders = [*ours(), *(contender for of_peer in peers.values() for contender in of_peer)]
    measure(contenders, texts, options.runs)
    judge(contenders, texts)
    ascii_share = sum(map(str.isascii, texts)) / len(texts)
    mean = sum(map(len, texts)) / len(texts)
    print(f"{len(texts)} documents, {mean:,.0f} characters each, {ascii_share:.0%} ASCII\n")
    print_speeds(contenders, texts)
    quick = [one for one in contenders if not one.name.startswith("nearfold numpy")]
    print_short(quick, texts, options.runs)
    print_lengths(texts, options.runs)
    if absent := [name for name, of_peer in peers.items() if not of_peer]:
        print(f"\nnot measured, because not installed: {', '.join(absent)}")


if __name__ == "__main__":
    main()
