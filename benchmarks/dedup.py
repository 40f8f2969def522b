"""`dedup` beside text-dedup, datatrove and rensa: seconds, memory, precision and recall.

    python benchmarks/dedup.py --corpus FILE [--made] [--rows N] [--sample 5000] [--seed 1]
        [--peer text-dedup=PYTHON] [--peer datatrove=PYTHON] [--peer rensa=PYTHON]
    python benchmarks/dedup.py --growth 50000,100000,200000 [--seed 1]

PYTHON is the interpreter of an environment that has the peer; several are given by several --peer.
The corpus is made if the file does not exist: the first docstrings of ten words or more of the
packages installed beside numpy, in the order of their files; with `--made`, N rows of 2 kB of
made-up words, one in ten a revision of the one before. All programs read it as JSON Lines and
write what stays, at .8 where they take a threshold, and else as they come, one after the other.

Seconds and processor seconds are those of the whole process with its children, memory is the
largest of them. Precision and recall are on a stretch of the corpus of `--sample` rows, which each
program cleans alone, against the similarity of all its pairs of rows: precision is the fraction of
the removed rows that are at least .8 similar to a row that stays, recall the fraction of the pairs
at .8 of which not both stay. `lcs` are words in order of the longer text, `jaccard` distinct pairs
of neighbouring words; a text without either is similar to its copies alone.

`--growth` prints how much memory each row takes beside `--memory`, of nearfold alone at
`--memory 16` on so many rows of 40 random words.
"""

from __future__ import annotations

import inspect
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from corpora import short_records, word_strings, write_lines
from harness import Usage, arguments, sizes
from numpy.typing import NDArray
from rapidfuzz.distance import LCSseq
from rapidfuzz.process import cdist

from indexer.comparing.measures import ComparedText
from indexer.recipe import DEFAULT

THRESHOLD = 0.8
WORDS = 300  # of a made-up row
# A small process that starts a program, since the peak of a process counts that of the one it came
# from. It takes over and waits for what outlives the program, such as a server of its forks.
WATCHER = """
import contextlib, ctypes, json, os, resource, subprocess, sys
PR_SET_CHILD_SUBREAPER = 36
ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
code = subprocess.call(sys.argv[1:])
with contextlib.suppress(ChildProcessError):
    while True:
        os.wait()
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
with open("usage", "w") as file:
    json.dump([usage.ru_utime + usage.ru_stime, usage.ru_maxrss], file)
sys.exit(code)
"""
PEERS = Path(__file__).with_name("peers.py")
DOCSTRING = re.compile(r'^[ ]*r?"""(.*?)"""', re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Outcome(Usage):
    """A run of a program: its cost, and the rows that stay."""

    kept: set[int]


def docstrings() -> Iterator[str]:
    """Yield the docstrings of the packages installed beside numpy."""
    for path in sorted(Path(np.__file__).parent.parent.rglob("*.py")):
        for text in DOCSTRING.findall(path.read_text(encoding="utf-8", errors="replace")):
            if len(text.split()) >= 10:
                yield inspect.cleandoc(text)


def run(command: list[str], rows: list[str]) -> Outcome:
    """Run a program that writes the rows that stay into `kept.jsonl` of its folder."""
    environment = {**os.environ, "PYTHONWARNINGS": "ignore", "TOKENIZERS_PARALLELISM": "false"}
    wrapped = [sys.executable, "-S", "-c", WATCHER, *command, "rows.jsonl"]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write_lines(folder / "rows.jsonl", rows)
        start = time.perf_counter()
        with (folder / "log").open("wb") as log:
            code = subprocess.call(wrapped, cwd=folder, stdout=log, stderr=log, env=environment)
        seconds = time.perf_counter() - start
        if code:
            raise SystemExit(f"{command[:3]} failed:\n{(folder / 'log').read_text()[-2000:]}")
        busy, kilobytes = json.loads((folder / "usage").read_text())
        lines = (folder / "kept.jsonl").read_text().splitlines()
    return Outcome(seconds, busy, kilobytes / 1024, {json.loads(line)["id"] for line in lines})


def programs(peers: dict[str, str]) -> dict[str, list[str]]:
    """Return the command of each program, without the input file at its end."""
    own = [sys.executable, "-m", "indexer", "dedup", "--out", "kept.jsonl", "--keep", "first"]
    own += ["--policy", "loose"]  # by similarity alone, as the others
    commands = {
        "nearfold": own,
        "nearfold jaccard": [*own, "--measure", "jaccard"],
        "nearfold 64 MB": [*own, "--memory", "64"],
    }
    return commands | {name: [python, str(PEERS), name] for name, python in peers.items()}


def lcs_matrix(texts: list[str]) -> NDArray[np.float32]:
    """Return the words in order of all pairs, as fractions of the longer text."""
    strings = word_strings(texts)
    counts = np.array([len(string) for string in strings], np.float32)
    common = cdist(strings, strings, scorer=LCSseq.similarity, dtype=np.uint16, workers=-1)
    return common / np.maximum(np.maximum.outer(counts, counts), 1)


def jaccard_matrix(texts: list[str]) -> NDArray[np.float32]:
    """Return the features in common of all pairs, as fractions of those of both."""
    features = [ComparedText(text, DEFAULT).features.hashes for text in texts]
    counts = np.array([len(own) for own in features])
    all_features = np.concatenate(features)
    order = np.argsort(all_features, kind="stable")
    ordered, owners = all_features[order], np.repeat(np.arange(len(texts)), counts)[order]
    values = np.zeros((len(texts), len(texts)), np.float32)
    for number, own in enumerate(features):
        starts = np.searchsorted(ordered, own)
        ends = np.searchsorted(ordered, own, side="right")
        shared = [owners[a:b] for a, b in zip(starts, ends, strict=True)]
        common = np.bincount(np.concatenate([*shared, owners[:0]]), minlength=len(texts))
        values[number] = common / np.maximum(counts[number] + counts - common, 1)
    return values


def with_copies(values: NDArray[np.float32], texts: list[str]) -> NDArray[np.float32]:
    """Return the similarities, 1 for rows of one text."""
    numbers: dict[str, int] = {}
    own = np.array([numbers.setdefault(text, len(numbers)) for text in texts])
    values[np.equal.outer(own, own)] = 1
    return values


def agreement(values: NDArray[np.float32], kept: set[int]) -> tuple[float, float]:
    """Return precision and recall of removing the rows that are not kept."""
    stays = np.zeros(len(values), bool)
    stays[list(kept)] = True
    near = values >= THRESHOLD
    np.fill_diagonal(near, False)
    precision = near[~stays][:, stays].any(axis=1).mean() if not stays.all() else 1.0
    both = near[stays][:, stays].sum()
    return float(precision), float(1 - both / max(1, near.sum()))


def print_growth(documents: list[int], seed: int) -> None:
    """Print seconds and memory by the number of rows, and the bytes of a row between two runs."""
    chance = random.Random(seed)
    words = [f"{chance.getrandbits(40):010x}" for _ in range(20_000)]
    print(f"{'rows':>10}{'CPU s':>10}{'MB':>10}{'bytes a row':>15}")
    before = None
    for size in documents:
        rows = [" ".join(chance.choices(words, k=40)) for _ in range(size)]
        outcome = run([*programs({})["nearfold"], "--memory", "16"], rows)
        growth = ""
        if before is not None:
            added = (outcome.megabytes - before[1]) * 2**20 / (size - before[0])
            growth = f"{added:,.0f}"
        print(f"{size:10,}{outcome.busy:10.1f}{outcome.megabytes:10.1f}{growth:>15}", flush=True)
        before = size, outcome.megabytes


def print_programs(texts: list[str], sample: list[str], peers: dict[str, str]) -> None:
    """Print cost, precision and recall of each program."""
    matrices = [with_copies(make(sample), sample) for make in (lcs_matrix, jaccard_matrix)]
    pairs = [int(np.triu(values >= THRESHOLD, 1).sum()) for values in matrices]
    print(f"{len(texts):,} rows of {sum(map(len, texts)) / 1e6:,.0f} million characters;", end=" ")
    print(f"{len(sample):,} of them have {pairs[0]:,} pairs at .8 by lcs,", end=" ")
    print(f"{pairs[1]:,} by jaccard\n")
    print(f"{'':18}{'all rows':>30}{'':7}{'sample':>10}{'lcs':>16}{'jaccard':>16}")
    names = "seconds", "CPU s", "MB", "removed", "removed", *("precision", "recall") * 2
    print(f"{'':18}", *(f"{name:>8}" for name in names), flush=True)
    for name, command in programs(peers).items():
        whole = part = run(command, texts)
        if len(sample) < len(texts):
            part = run(command, sample)
        cost = whole.seconds, whole.busy, whole.megabytes
        removed = len(texts) - len(whole.kept), len(sample) - len(part.kept)
        rates = [rate for values in matrices for rate in agreement(values, part.kept)]
        cells = [f"{value:8.1f}" for value in cost] + [f"{count:8,}" for count in removed]
        print(f"{name:18}", *cells, *(f"{rate:8.2%} " for rate in rates), flush=True)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--made", action="store_true")
    parser.add_argument("--growth", type=sizes)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--sample", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PYTHON")
    options = parser.parse_args()
    if options.growth:
        print_growth(options.growth, options.seed)
        return
    if not options.corpus:
        parser.error("give --corpus FILE or --growth ROWS")
    if not options.corpus.exists():
        made = short_records(options.rows, WORDS) if options.made else docstrings()
        write_lines(options.corpus, islice(made, options.rows))
    with options.corpus.open() as file:
        texts = [json.loads(line)["text"] for line in islice(file, options.rows)]
    start = random.Random(options.seed).randrange(max(1, len(texts) - options.sample))
    sample = texts[start : start + options.sample]
    print_programs(texts, sample, dict(peer.split("=", 1) for peer in options.peer))


if __name__ == "__main__":
    main()
