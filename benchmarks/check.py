"""Times of `check`, and how many of the documents that race are new.

    python benchmarks/check.py [--documents 100000] [--folder DIR] [--store URL] [--checks 200]
    python benchmarks/check.py --race 200 [--processes 8] [--through WAY] [--store URL] [--json]

The first builds the store of `benchmarks/load.py`, unless `--folder` has it from an earlier run,
and prints milliseconds of wall and processor time by quantile, of checks in one process: of new
texts (the words of stored ones in random order), of stored ones with one word replaced, and of
copies; first without storing, then with `--store-it`. What it stores is deleted at the end.

The second lets so many pairs race: either text of a pair is checked and stored by another process,
all at once. In a third of the pairs the texts are equal, in a third one word of forty differs, in a
third both are written in capitals or not. `--through python` calls the function, `command` runs
`nearfold check` for each text, and `serve` sends them to two running `nearfold serve` in turn.
Prints how many pairs have two, one and no `new`, and which errors; exits with 1 unless each has
one, the other text is a duplicate of that one, and both are stored. Without `--store`, both take a
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
import urllib.request
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, closing
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from harness import arguments, quantile, serve

from indexer.errors import NearfoldError
from indexer.jobs.check import check
from indexer.recipe import DEFAULT
from indexer.stores import open_store
from indexer.stores.abilities import Claiming
from indexer.stores.base import Store

QUANTILES = (0.5, 0.9, 0.99)
Answer = dict[str, Any]
Tasks = list[tuple[str, str]]  # id and text


def pair_of_texts(number: int) -> tuple[str, str]:
    """Return two near duplicates that resemble those of no other number."""
    chance = random.Random(number)
    words = [f"{chance.getrandbits(32):08x}" for _ in range(40)]
    text = " ".join(words)
    return text, (text, " ".join([*words[:-1], "other"]), text.upper())[number % 3]


def race(url: str, pairs: int, processes: int, through: str) -> dict[str, int]:
    """Let pairs race, and return how many pairs have so many new texts and duplicates."""
    with closing(open_store(url)) as store:
        store.prepare(DEFAULT)
    tasks: dict[int, Tasks] = defaultdict(list)
    for number in range(pairs):
        first = number % processes
        second = (first + 1 + number // processes % (processes - 1)) % processes
        for worker, text in zip((first, second), pair_of_texts(number), strict=True):
            tasks[worker].append((f"{number}:{secrets.token_hex(4)}", text))
    answers: dict[str, dict[str, Answer]] = defaultdict(dict)
    with ExitStack() as stack:
        count = 2 if through == "serve" else 0
        sites = [stack.enter_context(serve(url))[0] for _ in range(count)]
        for id, answer in run_workers(list(tasks.values()), [through, *(sites or [url])]):
            answers[id.partition(":")[0]][id] = answer
    with closing(open_store(url)) as store:
        stored = store.get([id for pair in answers.values() for id in pair])
        claims = store.claims.undecided() if isinstance(store, Claiming) else []
    waiting = {claim.id for claim in claims}
    return dict(Counter(outcome(pair, stored.keys() - waiting) for pair in answers.values()))


def outcome(pair: dict[str, Answer], stored: Collection[str]) -> str:
    """Name the verdicts on a pair, and what is wrong with them."""
    words = sorted(str(answer["verdict"]) for answer in pair.values())
    others = dict(zip(pair, reversed(pair), strict=True))
    if any(answer["of"] not in (None, others[id]) for id, answer in pair.items()):
        words.append("of another")
    words += ["not stored" for id in pair if id not in stored]
    return " and ".join(words)


def run_workers(tasks: list[Tasks], words: list[str]) -> Iterator[tuple[str, Answer]]:
    """Start a process for each list of texts, let them begin at once, and yield the answers."""
    command = [sys.executable, __file__, "--worker", *words]
    pipe = subprocess.PIPE
    workers = [subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) for _ in tasks]
    for worker in workers:
        assert worker.stdout
        worker.stdout.readline()
    for own, worker in zip(tasks, workers, strict=True):
        assert worker.stdin
        worker.stdin.write(json.dumps(own) + "\n")
        worker.stdin.flush()
    for worker in workers:
        answers = worker.communicate()[0]
        if worker.returncode:
            raise SystemExit(f"a racing process ended with exit code {worker.returncode}")
        yield from json.loads(answers)


def work(through: str, targets: list[str]) -> None:
    """Check and store the texts of a line of stdin, at each target in turn; print the answers."""
    with ExitStack() as stack:
        checks: list[Callable[[str, str], Answer]]
        if through == "python":
            store = stack.enter_context(closing(open_store(targets[0])))
            store.stored_recipe()
            checks = [partial(check_in_python, store)]
        elif through == "serve":
            checks = [partial(post_check, site, token_of(site)) for site in targets]
        else:
            checks = [partial(run_check, targets[0])]
        print("ready", flush=True)
        tasks = enumerate(json.loads(sys.stdin.readline()))
        answers = [(id, checks[number % len(checks)](id, text)) for number, (id, text) in tasks]
    print(json.dumps(answers))


def check_in_python(store: Store, id: str, text: str) -> Answer:
    """Return the answer of `check`; an error is a verdict, so that a race counts it."""
    try:
        return asdict(check(store, text, id=id, store_it=True))
    except NearfoldError as error:
        return {"verdict": type(error).__name__, "of": None}


def token_of(site: str) -> str:
    with urllib.request.urlopen(f"http://{site}/api/token", timeout=60) as response:
        return str(json.load(response)["token"])


def post_check(site: str, token: str, id: str, text: str) -> Answer:
    """Return the answer of `POST /api/check`."""
    fields = json.dumps({"id": id, "text": text, "store": True}).encode()
    headers = {"X-Nearfold-Token": token, "Content-Type": "application/json"}
    request = urllib.request.Request(f"http://{site}/api/check", fields, headers)
    with urllib.request.urlopen(request, timeout=120) as response:
        return json.load(response)


def run_check(url: str, id: str, text: str) -> Answer:
    """Return the answer of `nearfold check`; a code of its own is a verdict."""
    options = ["--id", id, "--store-it", "--json", "--store", url]
    command = [sys.executable, "-m", "indexer", "check", "-", *options]
    done = subprocess.run(command, check=False, input=text, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        return {"verdict": f"exit code {done.returncode}", "of": None}
    return json.loads(done.stdout)


def measure(url: str, folder: Path, documents: int, checks: int) -> None:
    """Print how long checks of each kind take."""
    from load import build, sample_texts

    stored = sample_texts(build(url, folder, documents), checks)
    chance = random.Random(3)

    def one_word_replaced(text: str) -> str:
        words = text.split()
        words[chance.randrange(len(words))] = f"other{chance.getrandbits(30)}"
        return " ".join(words)

    heads = [f"{kind} p{100 * of:.0f}" for kind in ("wall", "CPU") for of in QUANTILES]
    print(f"{'milliseconds':28}" + "".join(f"{head:>10}" for head in heads) + "  verdicts")
    ids: list[str] = []
    with closing(open_store(url)) as store:
        for store_it in (False, True):
            kinds = {
                "new": [" ".join(chance.sample(text.split(), text.count(" "))) for text in stored],
                "one word replaced": [one_word_replaced(text) for text in stored],
                "copy": stored,
            }
            for kind, texts in kinds.items():
                walls, busy = [], []
                verdicts: Counter[str] = Counter()
                for text in texts:
                    wall, cpu = time.perf_counter(), time.process_time()
                    result = check(store, text, id=secrets.token_hex(16), store_it=store_it)
                    walls.append(1000 * (time.perf_counter() - wall))
                    busy.append(1000 * (time.process_time() - cpu))
                    verdicts[result.verdict] += 1
                    ids += [result.id] if result.stored else []
                shown = [quantile(times, of) for times in (walls, busy) for of in QUANTILES]
                name = f"{kind}{', stored' if store_it else ''}"
                print(f"{name:28}" + "".join(f"{value:10.1f}" for value in shown), end="  ")
                print(", ".join(f"{count} {word}" for word, count in verdicts.items()), flush=True)
        store.delete(ids)


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--store")
    parser.add_argument("--checks", type=int, default=200)
    parser.add_argument("--race", type=int, metavar="PAIRS")
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--through", choices=("python", "command", "serve"), default="python")
    parser.add_argument("--worker", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options.worker[0], options.worker[1:])
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch)
        url = options.store or f"sqlite:///{folder}/{'race' if options.race else 'load'}.db"
        if not options.race:
            measure(url, folder, options.documents, options.checks)
            return 0
        started = time.perf_counter()
        counts = race(url, options.race, options.processes, options.through)
        seconds = time.perf_counter() - started
    if options.json:
        print(json.dumps(counts))
    else:
        shown = ", ".join(f"{count} pairs {words}" for words, count in counts.items())
        print(f"{shown}; {options.processes} processes, {seconds:.1f} s")
    return int(counts != {"duplicate and new": options.race})


if __name__ == "__main__":
    sys.exit(main())
