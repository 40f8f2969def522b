"""Times of `check`, and how many of the documents that race are new.

    python benchmarks/check.py [--documents 100000] [--folder DIR] [--store URL] [--checks 200]
    python benchmarks/check.py --race 200 [--processes 8] [--store URL] [--json]

The first builds the store of `benchmarks/load.py`, unless `--folder` has it from an earlier run,
and prints milliseconds of wall and processor time by quantile, of checks in one process: of new
texts (the words of stored ones in random order), of stored ones with one word replaced, and of
copies; first without storing, then with `--store-it`. What it stores is deleted at the end.

The second lets so many pairs race: either text of a pair is checked and stored by another process,
all at once. In a third of the pairs the texts are equal, in a third one word of forty differs, in a
third both are written in capitals or not. Prints how many pairs have two, one and no `new`; exits
with 1 unless each has one, and each other text is a duplicate. Without `--store`, both take a
SQLite file in a temporary folder.
"""

from __future__ import annotations

import argparse
import json
import random
import secrets
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from indexer.indexing.check import check
from indexer.recipe import DEFAULT
from indexer.stores import open_store

TEXT_WORDS = 40
QUANTILES = (0.5, 0.9, 0.99)


def pair_of_texts(number: int) -> tuple[str, str]:
    """Return two near duplicates that resemble those of no other number."""
    chance = random.Random(number)
    words = [f"{chance.getrandbits(32):08x}" for _ in range(TEXT_WORDS)]
    text = " ".join(words)
    if number % 3 == 0:
        return text, text
    if number % 3 == 1:
        return text, " ".join([*words[:-1], "other"])
    return text, text.upper()


def race(url: str, pairs: int, processes: int) -> dict[str, int]:
    """Let pairs race, and return how many pairs have so many new texts and duplicates."""
    with closing(open_store(url)) as store:
        store.prepare(DEFAULT)
    tasks: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for number in range(pairs):
        first = number % processes
        second = (first + 1 + number // processes % (processes - 1)) % processes
        ids = [secrets.token_hex(4) for _ in range(2)]
        for worker, id, text in zip((first, second), ids, pair_of_texts(number), strict=True):
            tasks[worker].append((f"{number}:{id}", text))
    command = [sys.executable, __file__, "--worker", "--store", url]
    pipe = subprocess.PIPE
    workers = [subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) for _ in tasks]
    for worker in workers:
        assert worker.stdout
        worker.stdout.readline()
    for own, worker in zip(tasks.values(), workers, strict=True):
        assert worker.stdin
        worker.stdin.write(json.dumps(own) + "\n")
        worker.stdin.flush()
    verdicts: dict[str, list[str]] = defaultdict(list)
    for worker in workers:
        for id, verdict in json.loads(worker.communicate()[0]):
            verdicts[id.partition(":")[0]].append(verdict)
    return dict(Counter(" and ".join(sorted(found)) for found in verdicts.values()))


def work(url: str) -> None:
    """Check and store the texts of a line of stdin, and print their verdicts."""
    with closing(open_store(url)) as store:
        store.stored_recipe()
        print("ready", flush=True)
        tasks = json.loads(sys.stdin.readline())
        verdicts = [(id, check(store, text, id=id, store_it=True).verdict) for id, text in tasks]
    print(json.dumps(verdicts))


def quantile(values: list[float], share: float) -> float:
    return sorted(values)[min(int(share * len(values)), len(values) - 1)]


def measure(url: str, folder: Path, documents: int, checks: int) -> None:
    """Print how long checks of each kind take."""
    from load import build, sample_texts

    stored = sample_texts(build(url, folder, documents), checks)
    chance = random.Random(3)

    def one_word_replaced() -> Iterator[str]:
        for text in stored:
            words = text.split()
            words[chance.randrange(len(words))] = f"other{chance.getrandbits(30)}"
            yield " ".join(words)

    heads = [f"{kind} p{round(100 * share)}" for kind in ("wall", "CPU") for share in QUANTILES]
    print(f"{'milliseconds':28}" + "".join(f"{head:>10}" for head in heads) + "  verdicts")
    ids: list[str] = []
    with closing(open_store(url)) as store:
        for store_it in (False, True):
            kinds = {
                "new": [" ".join(chance.sample(text.split(), text.count(" "))) for text in stored],
                "one word replaced": list(one_word_replaced()),
                "copy": stored,
            }
            for kind, own in kinds.items():
                times: list[tuple[float, float]] = []
                verdicts: Counter[str] = Counter()
                for text in own:
                    id = secrets.token_hex(16)
                    wall, cpu = time.perf_counter(), time.process_time()
                    result = check(store, text, id=id, store_it=store_it)
                    times.append((time.perf_counter() - wall, time.process_time() - cpu))
                    verdicts[result.verdict] += 1
                    ids += [id] if result.stored else []
                name = f"{kind}{', stored' if store_it else ''}"
                shown = [
                    1000 * quantile([time[place] for time in times], share)
                    for place in (0, 1)
                    for share in QUANTILES
                ]
                print(f"{name:28}" + "".join(f"{value:10.1f}" for value in shown), end="  ")
                print(", ".join(f"{count} {word}" for word, count in verdicts.items()), flush=True)
        store.delete(ids)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--store")
    parser.add_argument("--checks", type=int, default=200)
    parser.add_argument("--race", type=int, metavar="PAIRS")
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.worker:
        work(chosen.store)
        return 0
    with tempfile.TemporaryDirectory() as place:
        if not chosen.race:
            folder = chosen.folder or Path(place)
            url = chosen.store or f"sqlite:///{folder}/load.db"
            measure(url, folder, chosen.documents, chosen.checks)
            return 0
        start = time.perf_counter()
        url = chosen.store or f"sqlite:///{place}/race.db"
        counts = race(url, chosen.race, chosen.processes)
        seconds = time.perf_counter() - start
    if chosen.json:
        print(json.dumps(counts))
    else:
        outcome = ", ".join(f"{count} pairs {words}" for words, count in counts.items())
        print(f"{outcome}; {chosen.processes} processes, {seconds:.1f} s")
    return int(counts != {"duplicate and new": chosen.race})


if __name__ == "__main__":
    sys.exit(main())
