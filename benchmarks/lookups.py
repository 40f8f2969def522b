"""Look-ups and folded searches of a store, beside those of another checkout of nearfold.

    python benchmarks/load.py --documents 100000 --folder DIR --build
    python benchmarks/lookups.py DIR/load.db [--before CHECKOUT] [--runs 100] [--warm 5] [--cold 10]
    python benchmarks/lookups.py DIR/load.db --truth 200
    python benchmarks/load.py --documents 10000 --folder DIR --build --store opensearch://HOST/NAME
    python benchmarks/lookups.py DIR/load.db --store opensearch://HOST/NAME [--before CHECKOUT]

similar by id / text      `similar` of stored documents, of any place in the store
search none / live        `search` for two words of a document, unfolded and folded
cold similar              `nearfold similar FILE` from a new process; modules are compiled, as in
                          an installed package

Both checkouts have a process of their own, asked in turn for the same, after a warm-up of `--warm`
other questions of each kind. Prints quantiles in milliseconds of processor time and of wall time,
the ratio of the sums to the other checkout's, and whether the results are the same. Of a search
engine, which `--store` names and which has the same documents, processor time is that of the
client alone, and a look-up by a new process is not measured. Compare the ratios: processor time
grows, too, where other programs share the machine. A checkout has its own kernel,
`indexer/_kernel.abi3.so`.

`--truth N` compares nothing but the matches of N documents with those by brute force: each text of
the store that has the threshold of `lcs` or more.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
KINDS = ("similar by id", "similar by text", "search none", "search live")


def answer(url: str) -> None:
    """Answer the questions on stdin, one a line, with times and a digest of the result."""
    from indexer.searching.search import search
    from indexer.searching.search_options import SearchOptions
    from indexer.searching.similar import similar
    from indexer.stores import open_store

    store = open_store(url)
    answers: dict[str, Callable[[str], Any]] = {
        "similar by id": lambda name: similar(store, id=name),
        "similar by text": lambda text: similar(store, text),
        "search none": lambda words: search(store, words, SearchOptions(fold="none")),
        "search live": lambda words: search(store, words),
    }
    for line in sys.stdin:
        kind, question = json.loads(line)
        cpu, wall = time.process_time(), time.perf_counter()
        result = answers[kind](question)
        times = time.process_time() - cpu, time.perf_counter() - wall
        # the number of groups may be a lower bound, which another checkout reads other texts for
        shown = getattr(result, "hits", result)
        digest = hashlib.sha256(repr(shown).encode()).hexdigest()
        print(json.dumps([*times, digest]), flush=True)


@contextmanager
def asked(checkout: Path, url: str) -> Iterator[Callable[[str, str], tuple[float, float, str]]]:
    """Give a function that asks a process of a checkout."""
    process = subprocess.Popen(
        [sys.executable, __file__, "--answer", url],
        env={**os.environ, "PYTHONPATH": str(checkout)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin and process.stdout

    def ask(kind: str, question: str) -> tuple[float, float, str]:
        assert process.stdin and process.stdout
        process.stdin.write(json.dumps([kind, question]) + "\n")
        process.stdin.flush()
        cpu, wall, digest = json.loads(process.stdout.readline())
        return cpu, wall, digest

    try:
        yield ask
    finally:
        process.stdin.close()
        process.wait()


def questions(path: str, count: int) -> dict[str, list[str]]:
    """Return `count` questions of each kind, from documents of any place in the store."""
    chance = random.Random(5)
    db = sqlite3.connect(path)
    most = db.execute("SELECT max(number) FROM documents").fetchone()[0]
    numbers = chance.sample(range(1, most + 1), min(count, most))
    select = "SELECT d.id, t.text FROM documents d JOIN texts t USING (number) WHERE number = ?"
    rows = [row for number in numbers if (row := db.execute(select, (number,)).fetchone())]
    db.close()
    words = [" ".join(chance.sample(sorted(set(text.split())), 2)) for _, text in rows]
    ids, texts = [id for id, _ in rows], [text for _, text in rows]
    return dict(zip(KINDS, (ids, texts, words, words), strict=True))


def print_truth(path: str, count: int) -> None:
    """Print how many of the true near duplicates of some documents `similar` finds."""
    from indexer.defaults import REVIEW
    from indexer.searching.similar import SimilarOptions, similar
    from indexer.similarity.words_in_common import lcs_to_each
    from indexer.stores import open_store

    db = sqlite3.connect(path)
    select = "SELECT d.id, t.text FROM documents d JOIN texts t USING (number)"
    ids, texts = zip(*db.execute(select), strict=True)
    db.close()
    store = open_store(f"sqlite:///{Path(path).resolve()}")
    true = found = right = 0
    for id in random.Random(6).sample(ids, count):
        values = lcs_to_each(texts[ids.index(id)], texts, REVIEW)
        near = {other for other, value in zip(ids, values, strict=True) if (value or 0) >= REVIEW}
        matches = similar(store, id=id, options=SimilarOptions(limit=len(ids))).matches
        names = {match.id for match in matches}
        true, found, right = true + len(near - {id}), found + len(names), right + len(names & near)
    store.close()
    print(f"{count} look-ups, {true} near duplicates by lcs {REVIEW}: {found} found, {right} right")


def cold(checkout: Path, url: str, file: str) -> tuple[float, float]:
    """Return processor and wall time of a look-up by a new process, with compiled modules."""
    keeps_bytecode = {**os.environ, "PYTHONPATH": str(checkout)}
    keeps_bytecode.pop("PYTHONDONTWRITEBYTECODE", None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "indexer", "similar", file, "--store", url],
        env=keeps_bytecode,
        cwd=checkout,
        stdout=subprocess.DEVNULL,
        check=True,
    )
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, wall


def print_cold(places: tuple[Path, Path], url: str, text: str, count: int) -> None:
    """Print the times of look-ups of a text by new processes."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(text)
        file.flush()
        runs = [[cold(place, url, file.name) for place in places] for _ in range(count + 1)]
    columns = [list(column) for column in zip(*runs[1:], strict=True)]
    print(line("cold similar, before", columns[0], columns[0]))
    print(line("cold similar", columns[1], columns[0]))


def line(kind: str, times: list[tuple[float, float]], others: list[tuple[float, float]]) -> str:
    """Return the line of a table."""

    def quantile(place: int, share: float) -> str:
        ordered = sorted(time[place] for time in times)
        return f"{1000 * ordered[min(int(share * len(ordered)), len(ordered) - 1)]:.1f}"

    cells = [quantile(place, share) for place in (0, 1) for share in (0.5, 0.9, 0.99)]
    cells += [f"{sum(t[p] for t in times) / sum(t[p] for t in others):.2f}" for p in (0, 1)]
    return f"| {kind} | {len(times)} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("store", help="a SQLite file")
    parser.add_argument("--store", dest="url", help="a search engine's index that is asked instead")
    parser.add_argument("--before", type=Path, default=ROOT, help="another checkout")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--warm", type=int, default=5)
    parser.add_argument("--cold", type=int, default=10)
    parser.add_argument("--truth", type=int)
    parser.add_argument("--answer", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.answer:
        answer(options.store)
        return
    if options.truth:
        print_truth(options.store, options.truth)
        return
    url = options.url or f"sqlite:///{Path(options.store).resolve()}"
    places = (options.before.resolve(), ROOT)
    print("| question | runs | cpu p50 | p90 | p99 | wall p50 | p90 | p99 | cpu ratio | wall |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    different = 0
    by_kind = questions(options.store, options.runs + options.warm)
    with asked(places[0], url) as before, asked(places[1], url) as after:
        for kind in KINDS:
            times: tuple[list[tuple[float, float]], ...] = ([], [])
            for number, question in enumerate(by_kind[kind]):
                results = [before(kind, question), after(kind, question)]
                different += results[0][2] != results[1][2]
                if number >= options.warm:
                    for seconds, result in zip(times, results, strict=True):
                        seconds.append(result[:2])
            print(line(f"{kind}, before", times[0], times[0]))
            print(line(kind, times[1], times[0]), flush=True)
    if not options.url and options.cold:
        print_cold(places, url, by_kind["similar by text"][0], options.cold)
    print(f"\n{different} results differ; load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
