"""Spark beside one machine, and the cost of a standalone cluster by the number of documents.

    python benchmarks/spark.py [--documents 100000] [--threshold 0.8] [--template 0.1]
        [--only families|skewed] [--memory 4g] [--master local[*]]
    python benchmarks/spark.py --growth 10000,100000 [--extrapolate 10000000] [--words 150]
        [--threshold T] [--memory 1g] [--partitions 24] [--folder DIR]

The first runs both over the same synthetic documents. `families`: texts of which half lie in
families of edited copies. `skewed`: a fraction of the texts consists of one template filled in, as
forms do, so that some bands hold them all; every tenth of these is a copy of the form before it
with one more word. Both run `match` and `group` on Spark (in this process, or on the cluster of
`--master`, such as that of `python -m servers run spark` in `tests`; shuffles on disk) and on one
machine (an SQLite file), and print seconds, and how many pairs and families differ. For the
template it prints how many of the copies came into the family of their form.

`--growth` starts a master and three workers, each a process with one core, and runs `sign`, `match`
and `group` over texts whose words are as unequally frequent as in a language (`FrequentWords`). The
table has the processor seconds of all processes together, the seconds on the clock, the bytes that
were shuffled, the largest sum of resident memory of all processes, and the bytes of the cluster's
files at the end of the phase. Then come the stages that take most, what caps and candidates were,
and on how many workers Spark's own event log shows tasks. Extrapolated rows are on the straight
line through the two largest sizes. `--memory` is for each executor and the driver.
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from corpora import FrequentWords, fill_store, random_texts, vocabulary
from harness import arguments, head, row, sizes
from pyspark.sql import DataFrame, SparkSession

from indexer.grouping import group as grouping
from indexer.grouping import match as matching
from indexer.grouping.group_options import GroupOptions
from indexer.grouping.match import MatchOptions
from indexer.recipe import DEFAULT
from indexer.spark.group import group
from indexer.spark.input_documents import Input, documents
from indexer.spark.match import match
from indexer.spark.run import count_families
from indexer.spark.session import Stage, Work, session

Texts = list[tuple[str, str]]
LOCAL = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}
GRAM = 4
COLUMNS = ("documents", "phase", "processor s", "s", "shuffled, MB", "memory, MB", "files, MB", "")

# Spark beside one machine


def family_texts(count: int, words: int, rng: np.random.Generator) -> Texts:
    """Return texts of which half lie in families of edited copies, under ids in another order."""
    texts = random_texts(count, words, rng)
    names = rng.integers(0, 2**63, len(texts)).tolist()
    return [(f"{name:016x}", text) for name, text in zip(names, texts, strict=True)]


def skewed_texts(
    count: int, words: int, fraction: float, rng: np.random.Generator
) -> tuple[Texts, dict[str, str]]:
    """Return forms, three quarters of each one template, and families; and of which form each copy
    was made, by id.
    """
    forms, known = int(count * fraction), vocabulary(rng)
    template = " ".join(rng.choice(known, 3 * words // 4))
    texts: Texts = []
    origins: dict[str, str] = {}
    for number in range(forms):
        name, fields = f"form{number:07}", " ".join(rng.choice(known, words // 4))
        if number % 10 == 9:
            origins[name], last = texts[-1]
            texts.append((name, f"{last} {rng.choice(known)}"))
        else:
            texts.append((name, f"{template} {fields}"))
    return texts + family_texts(count - forms, words, rng), origins


def timed(name: str, run: Callable[[], Any]) -> Any:
    started = time.perf_counter()
    result = run()
    print(f"  {name:28}{time.perf_counter() - started:9.1f} s", flush=True)
    return result


def on_one_machine(texts: Texts, folder: Path, threshold: float) -> tuple[set[Any], dict[str, Any]]:
    """Return pairs and families of an SQLite file."""
    store = timed("one machine: sign, store", lambda: fill_store(f"sqlite:///{folder}/x.db", texts))
    options = MatchOptions(threshold=threshold), GroupOptions(threshold=threshold)
    found = timed("one machine: match", lambda: matching.match(store, options[0]))
    account = timed("one machine: group", lambda: grouping.group(store, options[1]))
    print(f"  frequent bands: {found.capped.keys:,} in match, {account.capped.keys:,} in group")
    families = {
        stored.id: (stored.family, stored.similarity, stored.cluster) for stored in store.scan()
    }
    pairs = {(pair.a, pair.b, pair.similarity, pair.measure) for pair in found}
    store.close()
    return pairs, families


def on_spark(texts: Texts, folder: Path, options: Namespace) -> tuple[set[Any], dict[str, Any]]:
    """Return pairs and families of Spark."""
    source = folder / "texts"
    source.mkdir()
    for part in range(8):
        named = ({"id": name, "text": text, "modified": 0} for name, text in texts[part::8])
        (source / f"{part}.jsonl").write_text("\n".join(map(json.dumps, named)))
    settings = {
        **LOCAL,
        "spark.master": options.master,
        "spark.driver.memory": options.memory or "4g",
        "spark.sql.shuffle.partitions": "16",
        "spark.local.dir": str(folder / "scratch"),
    }
    spark = session("benchmark", **settings)
    work = Work(spark, str(folder / "work"))
    wanted = MatchOptions(threshold=options.threshold), GroupOptions(threshold=options.threshold)
    rows = timed("Spark: sign", lambda: documents(work, Input(str(source), "json"), DEFAULT))
    stage = timed("Spark: match", lambda: match(work, rows, DEFAULT, wanted[0]))
    assigned = timed("Spark: group", lambda: group(work, rows, DEFAULT, wanted[1]))
    columns = ("a", "b", "similarity", "measure")
    pairs = {tuple(found[name] for name in columns) for found in stage.rows.toLocalIterator()}
    families = {
        found["id"]: (found["family"], found["similarity"], found["cluster"])
        for found in assigned.rows.toLocalIterator()
    }
    spark.stop()
    return pairs, families


def compare(name: str, texts: Texts, options: Namespace) -> dict[str, Any]:
    """Print what both take and where they differ; return the families."""
    print(f"\n{name}: {len(texts):,} documents at {options.threshold:g}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        pairs, families = on_one_machine(texts, Path(folder), options.threshold)
        spark_pairs, spark_families = on_spark(texts, Path(folder), options)
    counts = np.unique([family for family, *_ in spark_families.values()], return_counts=True)[1]
    differing = sum(families[id] != value for id, value in spark_families.items())
    print(f"  pairs: {len(spark_pairs):,} on Spark, {len(pairs):,} on one machine,", end=" ")
    print(f"{len(spark_pairs ^ pairs):,} differ")
    print(
        f"  families: {np.count_nonzero(counts > 1):,}, the largest of {counts.max():,};", end=" "
    )
    print(f"documents that differ: {differing:,}")
    return spark_families


def compare_sets(options: Namespace) -> None:
    options.threshold = 0.8 if options.threshold is None else options.threshold
    words = options.words or 100
    if options.only != "skewed":
        compare(
            "families", family_texts(options.documents, words, np.random.default_rng(9)), options
        )
    if options.only != "families":
        rng = np.random.default_rng(10)
        texts, origins = skewed_texts(options.documents, words, options.template, rng)
        families = compare("skewed", texts, options)
        together = sum(families[copy][0] == families[origin][0] for copy, origin in origins.items())
        forms = {family for id, (family, *_) in families.items() if id.startswith("form")}
        print(
            f"  of {len(origins):,} copied forms {together:,} share a family with their form;",
            end=" ",
        )
        print(f"families of forms: {len(forms):,}")


# The cost by the number of documents


@dataclass(frozen=True)
class Cost:
    """The cost of a phase; `shuffled`, `memory` and `files` in bytes."""

    busy: float
    seconds: float
    shuffled: float
    memory: float
    files: float

    def cells(self) -> list[str]:
        """Return the cells of a row, without the documents."""
        megabytes = [f"{value / 1e6:,.0f}" for value in (self.shuffled, self.memory, self.files)]
        return [f"{self.busy:,.0f}", f"{self.seconds:,.0f}", *megabytes]


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
        for process in self._processes():
            with suppress(psutil.Error):
                times = process.cpu_times()
                self._seconds[process] = times.user + times.system
        return sum(list(self._seconds.values()))

    def _sample(self) -> None:
        while not self._stop.wait(0.5):
            self.busy()
            resident = 0
            for process in self._processes():
                with suppress(psutil.Error):
                    resident += process.memory_info().rss
            self.largest = max(self.largest, resident)

    def _processes(self) -> Iterator[psutil.Process]:
        own = psutil.Process()
        yield from [own, *own.children(recursive=True)]


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
    total = 0
    for path in (path for folder in folders for path in folder.rglob("*")):
        with suppress(OSError):
            total += path.stat().st_size if path.is_file() else 0
    return total


def measure(cluster: Any, texts: Path, folder: Path, options: Namespace) -> Growth:
    """Run the three phases over texts on the cluster."""
    events = folder / "events"
    events.mkdir()
    settings = {
        **LOCAL,
        "spark.master": cluster.url,
        "spark.driver.memory": options.memory,
        "spark.executor.memory": options.memory,
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": events.as_uri(),
        "spark.sql.shuffle.partitions": str(options.partitions),
    }
    spark = session("growth", **settings)
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

    given = {} if options.threshold is None else {"threshold": options.threshold}
    wanted = MatchOptions(**given), GroupOptions(**given)
    rows = phase("sign", lambda: documents(work, Input(str(texts), "json"), DEFAULT))
    pairs = phase("match", lambda: match(work, rows, DEFAULT, wanted[0]))
    groups = phase("group", lambda: group(work, rows, DEFAULT, wanted[1]))
    spark.sparkContext.setJobGroup("count families", "")
    families = count_families(rows.rows, groups.rows)
    counts = {"match": pairs.facts, "group": groups.facts, "families": families}
    spark.stop()
    meter.close()
    shuffled, workers = read_events(events)
    costs = {name: replace(cost, shuffled=shuffled[name]) for name, cost in costs.items()}
    return Growth(rows.facts["documents"], costs, work.busy, counts, workers)


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
                address = event["Executor Info"]["Log Urls"]["stdout"].split("/")[2]
                executors[event["Executor ID"]] = address
            elif event["Event"] == "SparkListenerTaskEnd":
                workers.add(executors[event["Task Info"]["Executor ID"]])
                metrics = event.get("Task Metrics") or {}
                written = metrics.get("Shuffle Write Metrics", {})
                shuffled[phases[event["Stage ID"]]] += written.get("Shuffle Bytes Written", 0)
    return shuffled, len(workers)


def extrapolate(before: Growth, last: Growth, size: int) -> dict[str, Cost]:
    """Return the costs of another size on the straight line through two measured ones: each job has
    a fixed cost, beside which small sizes take little. The memory is what the settings allow.
    """
    ratio = (size - last.documents) / (last.documents - before.documents)
    costs = {}
    for name, cost in last.costs.items():
        pairs = zip(astuple(before.costs[name]), astuple(cost), strict=True)
        line = Cost(*(b + ratio * (b - a) for a, b in pairs))
        costs[name] = replace(line, memory=cost.memory)
    return costs


def print_growth(growths: Sequence[Growth], larger: Sequence[int]) -> None:
    """Print the table, and what belongs to each measured size."""
    print("\n".join(head(COLUMNS)))
    rows = [(growth.documents, growth.costs, "measured") for growth in growths]
    if len(growths) > 1:
        beyond = [size for size in larger if size > growths[-1].documents]
        rows += [(size, extrapolate(*growths[-2:], size), "extrapolated") for size in beyond]
    for size, costs, origin in rows:
        for name, cost in costs.items():
            print(row([f"{size:,}", name, *cost.cells(), origin]))
    for growth in growths:
        longest = ", ".join(f"{name} {busy:,.0f} s" for name, busy in growth.stages.most_common(6))
        print(f"\n{growth.documents:,} documents: tasks on {growth.workers} workers; {longest}")
        for name, counts in growth.counts.items():
            shown = (f"{key} {value:,}" for key, value in counts.items() if type(value) is int)
            print(f"  {name}: {', '.join(shown)}", flush=True)


def measure_growth(options: Namespace) -> None:
    from servers.spark import SparkCluster

    options.memory = options.memory or "1g"
    tempfile.tempdir = str(options.folder) if options.folder else None
    corpus = FrequentWords(options.words or 150)
    common = corpus.common_grams(GRAM)
    print(f"unrelated texts have {common:.1%} of their {GRAM}-grams in common (median)", flush=True)
    growths = []
    for size in options.growth:
        with tempfile.TemporaryDirectory() as scratch:
            texts = Path(scratch, "texts")
            corpus.write(texts, size)
            print(f"{size:,} documents of {folder_bytes(texts) / 1e6:,.0f} MB", file=sys.stderr)
            with closing(SparkCluster(memory=options.memory)) as cluster:
                cluster.start()
                growths.append(measure(cluster, texts, Path(scratch), options))
        print_growth(growths, options.extrapolate)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--words", type=int, help="of a text")
    parser.add_argument("--threshold", type=float)
    parser.add_argument("--template", type=float, default=0.1, help="fraction that carries one")
    parser.add_argument("--only", choices=["families", "skewed"])
    parser.add_argument("--memory", help="of the JVM")
    parser.add_argument("--master", default="local[*]")
    parser.add_argument("--growth", type=sizes, help="numbers of documents")
    parser.add_argument("--extrapolate", type=sizes, default="10000000")
    parser.add_argument("--partitions", type=int, default=24)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    if options.growth:
        measure_growth(options)
    else:
        compare_sets(options)


if __name__ == "__main__":
    main()
