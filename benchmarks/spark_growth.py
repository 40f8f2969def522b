"""`sign`, `match` and `group` on a standalone Spark cluster, by the number of documents.

    python benchmarks/spark_growth.py [--documents 10000,100000] [--extrapolate 10000000]
        [--words 150] [--threshold T] [--memory 1g] [--partitions 24] [--folder DIR]

Starts a master and three workers, each a process with one core, and runs the three over synthetic
texts as JSON Lines. Words are as unequally frequent as in a language, so unrelated texts are alike:
the median share of 4-grams of characters that two of them have in common is printed. One document
in 100 is a copy of one text with two other words, one in 20 is a form of which half is a template,
and half of the others are in families of edited copies.

The table has the processor seconds of all processes together, the seconds on the clock, the bytes
that were shuffled, the largest sum of resident memory of all processes, and the bytes of the
cluster's files at the end of the phase. Then come the stages that take most, what caps and
candidates were, and on how many workers Spark's own event log shows tasks. Extrapolated rows are on
the straight line through the two largest sizes. `--threshold` is of `match` and `group`, which have
their own otherwise. `--memory` is for each executor and the driver.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, suppress
from dataclasses import astuple, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession
from quality_tables import head, row

from indexer.grouping.group import GroupOptions
from indexer.matching.match import MatchOptions
from indexer.recipe import DEFAULT
from indexer.spark.group_job import group
from indexer.spark.input_documents import Input, documents
from indexer.spark.match_job import match
from indexer.spark.run import count_families
from indexer.spark.session import session
from indexer.spark.work_folder import Stage, Work

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from servers.spark import SparkCluster

PART = 10_000  # documents of a file
VOCABULARY = 1500
EXPONENT = 1.15  # of Zipf's law
GRAM = 4
SAMPLE = 200
COLUMNS = ("documents", "phase", "processor s", "s", "shuffled, MB", "memory, MB", "files, MB", "")


@dataclass(frozen=True)
class Cost:
    """The cost of a phase or a stage; `files` and `memory` in bytes, as `shuffled`."""

    busy: float
    seconds: float
    shuffled: float
    memory: float
    files: float

    def cells(self) -> list[str]:
        """Return the cells of a row, without the documents."""
        sizes = (f"{value / 1e6:,.0f}" for value in (self.shuffled, self.memory, self.files))
        return [f"{self.busy:,.0f}", f"{self.seconds:,.0f}", *sizes]


class Corpus:
    """Texts that are alike as those of a language are, with families, a template and one text of
    which every hundredth document is a copy.
    """

    def __init__(self, words: int, seed: int = 1) -> None:
        random = np.random.default_rng(seed)
        self.seed, self.words = seed, words
        self.vocabulary = np.array(_syllables(random, VOCABULARY))
        shares = 1 / np.arange(1, VOCABULARY + 1) ** EXPONENT
        self.shares = shares / shares.sum()
        self.copied = self._draw(random, words)
        self.template = self._draw(random, words // 2)

    def write(self, folder: Path, count: int) -> None:
        """Write so many documents as JSON Lines, `PART` in each file."""
        folder.mkdir()
        starts = range(0, count, PART)
        with ProcessPoolExecutor(os.cpu_count()) as pool:
            for _ in pool.map(partial(self._write_part, folder, count), starts):
                pass

    def _write_part(self, folder: Path, count: int, start: int) -> None:
        random = np.random.default_rng([self.seed, start])
        with (folder / f"{start:09}.jsonl").open("w", encoding="utf-8") as file:
            for _, words in list(self.part(random, min(PART, count - start))):
                name = f"{random.integers(2**63):016x}"
                line = {"id": name, "text": self._text(words), "modified": 0}
                print(json.dumps(line), file=file)

    def part(
        self, random: np.random.Generator, count: int
    ) -> Iterator[tuple[str, NDArray[np.int64]]]:
        """Yield a kind of document and its words, by number, so many times."""
        copies, forms = count // 100, count // 20
        for _ in range(copies):
            yield "copy", self._edited(random, self.copied, 2 / self.words)
        for _ in range(forms):
            fields = self._draw(random, self.words - len(self.template))
            yield "form", np.concatenate([self.template, fields])
        left = count - copies - forms
        while left > 0:
            original = self._draw(random, self.words)
            size = 1 if random.random() < 0.8 else int(min(20, 2 + random.pareto(1.5)))
            for place in range(min(size, left)):
                share = random.uniform(0, 0.15) if place else 0.0
                yield f"family {left}", self._edited(random, original, share)
            left -= size

    def alikeness(self) -> float:
        """Return the median share of 4-grams that two unrelated texts have in common."""
        random = np.random.default_rng([self.seed, 0])
        texts = dict(self.part(random, PART))
        unrelated = [self._text(words) for kind, words in texts.items() if kind[:6] == "family"]
        grams = [_grams(text) for text in unrelated[:SAMPLE]]
        pairs = ((a, b) for place, a in enumerate(grams) for b in grams[:place])
        return float(np.median([len(a & b) / len(a | b) for a, b in pairs]))

    def _draw(self, random: np.random.Generator, count: int) -> NDArray[np.int64]:
        return random.choice(VOCABULARY, count, p=self.shares)

    def _edited(
        self, random: np.random.Generator, words: NDArray[np.int64], share: float
    ) -> NDArray[np.int64]:
        is_other = random.random(len(words)) < share
        return np.where(is_other, self._draw(random, len(words)), words)

    def _text(self, words: NDArray[np.int64]) -> str:
        return " ".join(self.vocabulary[words])


def _syllables(random: np.random.Generator, count: int) -> list[str]:
    """Return so many made-up words of one to three syllables, shorter ones first."""
    syllables = [a + b for a in "tnsrldmcpb" for b in "eaoiu"]
    known: dict[str, None] = {}
    while len(known) < count:
        length = 1 + int(len(known) >= 40) + int(len(known) >= count // 2)
        known["".join(random.choice(syllables, length))] = None
    return list(known)


def _grams(text: str) -> set[str]:
    return {text[start : start + GRAM] for start in range(len(text) - GRAM + 1)}


class Meter:
    """Processor time and memory of this process and of all that it started, with the cluster.

    Both are read twice a second: Spark's Python processes end without handing on their time.
    """

    def __init__(self) -> None:
        self.largest = 0
        self._seconds: dict[psutil.Process, float] = {}
        self._stop = threading.Event()
        self._watch = threading.Thread(target=self._sample, daemon=True)
        self._watch.start()

    def close(self) -> None:
        self._stop.set()
        self._watch.join()

    def busy(self) -> float:
        """Return the processor seconds until now, with those of processes that have ended."""
        for process in _family():
            with suppress(psutil.Error):
                times = process.cpu_times()
                self._seconds[process] = times.user + times.system
        return sum(list(self._seconds.values()))

    def _sample(self) -> None:
        while not self._stop.wait(0.5):
            self.busy()
            resident = 0
            for process in _family():
                with suppress(psutil.Error):
                    resident += process.memory_info().rss
            self.largest = max(self.largest, resident)


def _family() -> list[psutil.Process]:
    own = psutil.Process()
    return [own, *own.children(recursive=True)]


class MeteredWork(Work):
    """A work folder that notes what each stage takes, and names its jobs in the event log."""

    def __init__(self, spark: SparkSession, folder: str, meter: Meter) -> None:
        super().__init__(spark, folder)
        self.busy: Counter[str] = Counter()
        self.phase = ""
        self._meter = meter

    def stage(
        self,
        name: str,
        settings: Mapping[str, Any],
        sources: Sequence[Stage],
        make: Callable[[], DataFrame],
        count: Callable[[DataFrame], Mapping[str, Any]] = lambda _: {},
    ) -> Stage:
        """Return the rows of a stage, as `Work` does."""
        self.spark.sparkContext.setJobGroup(f"{self.phase} {name}", name)
        before = self._meter.busy()
        stage = super().stage(name, settings, sources, make, count)
        self.busy[f"{self.phase} {name}"] += self._meter.busy() - before
        return stage


@dataclass(frozen=True)
class Growth:
    """The costs of one number of documents by phase, stages by processor time, and the counts."""

    documents: int
    costs: dict[str, Cost]
    stages: Counter[str]
    counts: dict[str, Any]
    workers: int


def folder_bytes(*folders: Path) -> int:
    """Return the bytes of the files below folders."""
    sizes = 0
    for folder in folders:
        for path in folder.rglob("*"):
            with suppress(OSError):
                sizes += path.stat().st_size if path.is_file() else 0
    return sizes


def measure(
    cluster: SparkCluster, texts: Path, folder: Path, options: argparse.Namespace
) -> Growth:
    """Run the three phases over texts on the cluster."""
    events = folder / "events"
    events.mkdir()
    spark = cluster_session(cluster, events, options)
    meter = Meter()
    work = MeteredWork(spark, str(folder / "work"), meter)
    costs: dict[str, Cost] = {}

    def phase(name: str, run: Callable[[], Stage]) -> Stage:
        work.phase, meter.largest = name, 0
        busy, start = meter.busy(), time.monotonic()
        stage = run()
        busy, seconds = meter.busy() - busy, time.monotonic() - start
        files = folder_bytes(folder, *(worker.folder for worker in cluster.workers))
        costs[name] = Cost(busy, seconds, 0, meter.largest, files)
        print(f"  {name}: {seconds:,.0f} s, {busy:,.0f} s busy", file=sys.stderr, flush=True)
        return stage

    matching, grouping = MatchOptions(), GroupOptions()
    if options.threshold is not None:
        matching = MatchOptions(threshold=options.threshold)
        grouping = GroupOptions(threshold=options.threshold)
    rows = phase("sign", lambda: documents(work, Input(str(texts), "json"), DEFAULT))
    pairs = phase("match", lambda: match(work, rows, DEFAULT, matching))
    groups = phase("group", lambda: group(work, rows, DEFAULT, grouping))
    spark.sparkContext.setJobGroup("count families", "")
    families = count_families(rows.rows, groups.rows)
    counts = {"match": pairs.facts, "group": groups.facts, "families": families}
    spark.stop()
    meter.close()
    shuffled, workers = read_events(events)
    for name, cost in costs.items():
        costs[name] = replace(cost, shuffled=shuffled[name])
    return Growth(rows.facts["documents"], costs, work.busy, counts, workers)


def cluster_session(
    cluster: SparkCluster, events: Path, options: argparse.Namespace
) -> SparkSession:
    """Return a session on the cluster that writes its event log."""
    settings = {
        "spark.master": cluster.url,
        "spark.driver.memory": options.memory,
        "spark.executor.memory": options.memory,
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": events.as_uri(),
        "spark.sql.shuffle.partitions": str(options.partitions),
    }
    return session("growth", **settings)


def read_events(events: Path) -> tuple[Counter[str], int]:
    """Return the bytes that each phase shuffled, and the number of workers that completed tasks."""
    phases: dict[int, str] = {}
    executors: dict[str, str] = {}
    shuffled: Counter[str] = Counter()
    workers = set()
    for log in events.rglob("events_*"):
        for event in map(json.loads, log.read_text(encoding="utf-8").splitlines()):
            if event["Event"] == "SparkListenerJobStart":
                name = event["Properties"].get("spark.jobGroup.id", " ").split(" ")[0]
                phases |= dict.fromkeys(event["Stage IDs"], name)
            elif event["Event"] == "SparkListenerExecutorAdded":
                page = event["Executor Info"]["Log Urls"]["stdout"].split("/")[2]
                executors[event["Executor ID"]] = page
            elif event["Event"] == "SparkListenerTaskEnd":
                workers.add(executors[event["Task Info"]["Executor ID"]])
                metrics = event.get("Task Metrics") or {}
                written = metrics.get("Shuffle Write Metrics", {})
                shuffled[phases[event["Stage ID"]]] += written.get("Shuffle Bytes Written", 0)
    return shuffled, len(workers)


def extrapolate(before: Growth, last: Growth, documents: int) -> dict[str, Cost]:
    """Return the costs of another size on the straight line through two measured ones: each job has
    a fixed cost, beside which small sizes take little. The memory is what the settings allow.
    """
    ratio = (documents - last.documents) / (last.documents - before.documents)
    costs = {}
    for name, cost in last.costs.items():
        pairs = zip(astuple(before.costs[name]), astuple(cost), strict=True)
        line = Cost(*(b + ratio * (b - a) for a, b in pairs))
        costs[name] = replace(line, memory=cost.memory)
    return costs


def print_growth(growths: Sequence[Growth], sizes: Sequence[int]) -> None:
    """Print the table, and what belongs to each measured size."""
    print("\n".join(head(list(COLUMNS))))
    rows = [(growth.documents, growth.costs, "measured") for growth in growths]
    if len(growths) > 1:
        larger = [size for size in sizes if size > growths[-1].documents]
        rows += [(size, extrapolate(*growths[-2:], size), "extrapolated") for size in larger]
    for size, costs, origin in rows:
        for name, cost in costs.items():
            print(row([f"{size:,}", name, *cost.cells(), origin]))
    for growth in growths:
        most = ", ".join(f"{name} {busy:,.0f} s" for name, busy in growth.stages.most_common(6))
        print(f"\n{growth.documents:,} documents: tasks on {growth.workers} workers; {most}")
        for name, counts in growth.counts.items():
            shown = (f"{key} {value:,}" for key, value in counts.items() if type(value) is int)
            print(f"  {name}: {', '.join(shown)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", default="10000,100000")
    parser.add_argument("--extrapolate", default="10000000")
    parser.add_argument("--words", type=int, default=150)
    parser.add_argument("--threshold", type=float)
    parser.add_argument("--memory", default="1g", help="of each executor and of the driver")
    parser.add_argument("--partitions", type=int, default=24)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    root = str(Path(__file__).parent.parent)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    tempfile.tempdir = str(options.folder) if options.folder else None
    corpus = Corpus(options.words)
    alike = corpus.alikeness()
    print(f"unrelated texts have {alike:.1%} of their {GRAM}-grams in common (median)", flush=True)
    growths = []
    for size in map(int, options.documents.split(",")):
        with tempfile.TemporaryDirectory() as place:
            texts = Path(place, "texts")
            corpus.write(texts, size)
            print(f"{size:,} documents of {folder_bytes(texts) / 1e6:,.0f} MB", file=sys.stderr)
            with closing(SparkCluster(memory=options.memory)) as cluster:
                cluster.start()
                growths.append(measure(cluster, texts, Path(place), options))
        print_growth(growths, [int(size) for size in options.extrapolate.split(",")])


if __name__ == "__main__":
    main()
