"""Killed executors, killed drivers and retried tasks: the same result, every document once."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pyarrow.parquet
import pytest
from pyspark import TaskContext
from pyspark.sql import SparkSession
from sample_library import edited, rows, sentence
from servers.spark import SparkCluster
from synthetic_library import as_json, library, store_of

import indexer.spark.__main__ as job_file
from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.grouping.match import MatchOptions, match
from indexer.recipe import DEFAULT
from indexer.spark import run
from indexer.spark.arrow_rows import Mapper, ddl
from indexer.spark.group import group as group_on_spark
from indexer.spark.input_documents import Input, documents
from indexer.spark.session import Stage, Work
from indexer.stores import open_store
from indexer.stores.base import Store

pytestmark = pytest.mark.spark
ROLES = ("executor", "worker", "driver")
MAX_RUNS = 60
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "512m",
    "spark.executor.memory": "512m",
    "spark.executor.cores": "1",
    "spark.sql.shuffle.partitions": "3",
    "spark.sql.codegen.wholeStage": "false",
    "spark.eventLog.enabled": "true",
    "spark.eventLog.compress": "false",
    "spark.log.level": "ERROR",
}


class Submission:
    """`spark-submit` of the job on a cluster, as docs/spark.md describes it, and all its kills."""

    def __init__(
        self, java: dict[str, str], cluster: SparkCluster, arguments: list[str], folder: Path
    ) -> None:
        places = [str(Path(java["PYSPARK_PYTHON"]).parent), os.environ["PATH"]]
        program = shutil.which("spark-submit", path=os.pathsep.join(places))
        events = folder / "events"
        events.mkdir(exist_ok=True)
        settings = {**SETTINGS, "spark.eventLog.dir": events.as_uri()}
        options = [part for item in settings.items() for part in ("--conf", "=".join(item))]
        command = [str(program), "--master", cluster.url, *options, str(job_file.__file__)]
        environment = {**os.environ, **java, "PYSPARK_DRIVER_PYTHON": java["PYSPARK_PYTHON"]}
        self._cluster = cluster
        self.output, self.errors = folder / "output.json", folder / "errors.txt"
        with self.output.open("wb") as output, self.errors.open("wb") as errors:
            self.process = subprocess.Popen(
                [*command, *arguments], env=environment, stdout=output, stderr=errors
            )

    def kill_executor(self) -> bool:
        """Kill an executor; return False when none runs yet."""
        for process in self._cluster.processes():
            if "CoarseGrainedExecutorBackend" in command_line(process):
                kill(process)
                return True
        return False

    def kill_worker(self) -> bool:
        """Kill the worker that was killed longest ago, and start it again."""
        self._cluster.restart_worker()
        return True

    def kill_driver(self) -> bool:
        """Kill the driver with all processes that it started."""
        root = psutil.Process(self.process.pid)
        for process in (*root.children(recursive=True), root):
            kill(process)
        self.process.wait()
        return True


def kill(process: psutil.Process) -> None:
    # psutil compares the start time, so it never kills another process with the same id.
    with contextlib.suppress(psutil.NoSuchProcess):
        process.kill()


def command_line(process: psutil.Process) -> str:
    """Return the command line of a process; empty when it has ended."""
    with contextlib.suppress(psutil.Error):
        return " ".join(process.cmdline())
    return ""


def tables_being_written(out: Path) -> dict[str, Path]:
    """Return the folders of unfinished tasks, by the stage or the table that they write."""
    tables = {folder.parent.name: folder for folder in out.glob("*/_temporary")}
    stages = out.glob("work/*/rows/_temporary")
    return tables | {folder.parts[-3].rpartition("-")[0]: folder for folder in stages}


def disturb(job: Submission, out: Path, kills: dict[str, set[str]]) -> None:
    """Kill what no run killed yet in each stage, until the job has ended."""
    while job.process.poll() is None:
        for name, folder in tables_being_written(out).items():
            for role in ROLES:
                if role in kills.setdefault(name, set()):
                    continue
                if getattr(job, f"kill_{role}")() and folder.exists():
                    kills[name].add(role)
                break
        time.sleep(0.005)


def workers_with_tasks(events: Path) -> set[str]:
    """Return the pages of the workers whose executors completed tasks, by Spark's event logs."""
    pages: dict[tuple[Path, str], str] = {}
    workers = set()
    for log in events.rglob("events_*"):
        for line in log.read_text(encoding="utf-8").splitlines():
            with contextlib.suppress(json.JSONDecodeError):  # the last line of a killed driver
                event = json.loads(line)
                if event["Event"] == "SparkListenerExecutorAdded":
                    address = event["Executor Info"]["Log Urls"]["stdout"]
                    pages[log, event["Executor ID"]] = address.split("/")[2]
                elif event["Event"] == "SparkListenerTaskEnd":
                    workers.add(pages[log, event["Task Info"]["Executor ID"]])
    return workers


@pytest.fixture
def cluster(java: dict[str, str]) -> Iterator[SparkCluster]:
    """Yield a standalone cluster of three workers, which ends with the test."""
    cluster = SparkCluster()
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.close()


@pytest.mark.slow
def test_a_job_survives_killed_executors_workers_and_drivers(
    java: dict[str, str], cluster: SparkCluster, tmp_path: Path, record_property: Any
) -> None:
    records = library(seed=21, size=2000)
    source = as_json(records, tmp_path / "in", 6)
    out = tmp_path / "out"
    store = f"sqlite:///{tmp_path}/there.db"
    arguments = f"{source} --format json --out {out} --threshold 0.7 --store {store} --writers 1"
    kills: dict[str, set[str]] = {}
    for _ in range(MAX_RUNS):
        job = Submission(java, cluster, arguments.split(), tmp_path)
        try:
            disturb(job, out, kills)
        finally:
            if job.process.poll() is None:
                job.kill_driver()
        if job.process.returncode == 0:
            break
    assert job.process.returncode == 0, job.errors.read_text(encoding="utf-8")
    account = json.loads(job.output.read_bytes())
    assert len(workers_with_tasks(tmp_path / "events")) == len(cluster.workers)
    for role in ROLES:
        assert sum(role in roles for roles in kills.values()) > 2, kills
    record_property("kills", json.dumps({name: sorted(kills[name]) for name in kills}))

    embedded = store_of(records, "sqlite://:memory:")
    pairs = match(embedded, MatchOptions(threshold=0.7))
    group(embedded, GroupOptions(threshold=0.7))
    rows = list(embedded.scan())
    assert json_lines(table(out / "pairs")) == json_lines(
        (pair.a, pair.b, pair.similarity, pair.measure, pair.low, pair.high, pair.as_read)
        for pair in pairs
    )
    assert json_lines(table(out / "families")) == json_lines(
        (row.id, row.family, row.principal, row.similarity) for row in rows
    )
    assert json_lines(table(out / "clusters")) == json_lines(
        (row.id, row.cluster) for row in rows if row.cluster
    )
    with contextlib.closing(open_store(store)) as written:
        assert json_lines(stored_fields(written)) == json_lines(stored_fields(embedded))
    assert account["documents"] == len(records)
    assert json.loads((out / "account.json").read_text()) == account


def json_lines(rows: Iterable[tuple[Any, ...]]) -> bytes:
    """Return the rows as sorted JSON Lines, to compare byte for byte."""
    return "\n".join(sorted(json.dumps(row) for row in rows)).encode()


def stored_fields(store: Store) -> Iterator[tuple[Any, ...]]:
    """Yield what each row of a store keeps of signing and grouping."""
    for row in store.scan():
        yield row.id, row.status, row.modified, row.labels, row.blocks, row.simhash
        yield row.id, row.family, row.principal, row.similarity, row.cluster, row.provisional


def table(folder: Path) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in pyarrow.parquet.read_table(folder).to_pylist()]


def failing_mapper() -> Mapper:
    """Return a mapper that fails the first attempt of each task, after its work was done."""

    # Not at module level: executors cannot import this module.
    def fail_first_attempt(parts: Iterator[Any]) -> Iterator[Any]:
        batches = list(parts)
        context = TaskContext.get()
        if context is not None and context.attemptNumber() == 0:
            raise RuntimeError("lost after it had written")
        yield from batches

    return fail_first_attempt


@pytest.fixture
def index(opensearch_url: str) -> Iterator[str]:
    """Yield the URL of a new index, which is deleted after the test."""
    url = f"{opensearch_url}/nearfold-test-{secrets.token_hex(6)}"
    yield url
    ask("DELETE", url)


def ask(method: str, url: str) -> Any:
    with urllib.request.urlopen(urllib.request.Request(url, method=method)) as answer:
        return json.load(answer)


def times_written(index: str) -> set[int]:
    """Return how often each document of an index was written."""
    answer = ask("GET", f"{index}/_search?version=true&size=1000&_source=false")
    return {hit["_version"] for hit in answer["hits"]["hits"]}


@pytest.mark.slow
def test_tasks_that_fail_after_writing_leave_each_document_once(
    spark: SparkSession, tmp_path: Path, index: str
) -> None:
    records = library(seed=31, size=120)
    work = Work(spark, str(tmp_path / "work"))
    rows = documents(work, Input(str(as_json(records, tmp_path / "in", 2)), "json"), DEFAULT)
    assigned = group_on_spark(work, rows, DEFAULT, GroupOptions(threshold=0.7))
    with contextlib.closing(open_store(index.replace("http://", "opensearch://"))) as store:
        refused = run.write(rows.rows, assigned.rows, store.url, DEFAULT, tasks=2)
        assert (
            refused.mapInArrow(failing_mapper(), ddl({"id": "string", "error": "string"})).collect()
            == []
        )
        store.refresh()
        assert store.counts().documents == len(records)
        assert times_written(index) == {2}
        embedded = store_of(records, "sqlite://:memory:")
        group(embedded, GroupOptions(threshold=0.7))
        fields = (
            "id",
            "text",
            "bands",
            "minhash",
            "family",
            "principal",
            "similarity",
            "cluster",
            "provisional",
        )
        assert [[getattr(row, name) for name in fields] for row in store.scan()] == [
            [getattr(row, name) for name in fields] for row in embedded.scan()
        ]


@pytest.mark.slow
def test_a_text_that_a_client_changed_since_it_was_read_gets_no_group(
    spark: SparkSession, tmp_path: Path, index: str
) -> None:
    texts = {"a": sentence(1), "b": edited(sentence(1), 1), "c": sentence(2), "d": sentence(2)}
    families = [("a", "a"), ("b", "a"), ("c", "c"), ("d", "c")]
    with contextlib.closing(open_store(index.replace("http://", "opensearch://"))) as store:
        store.prepare(DEFAULT)
        store.write(rows(texts))
        store.refresh()
        work = Work(spark, str(tmp_path / "work"))
        read = documents(work, Input(store.url, "store"), DEFAULT)
        fields = [(id, family, id == family, None, None) for id, family in families]
        names = "id string, family string, principal boolean, similarity double, cluster string"
        assigned = Stage("assigned", spark.createDataFrame(fields, names))
        store.write(rows({"b": texts["c"], "c": texts["a"]}))
        left = run.assign(work, read, assigned, store.url, tasks=2)
        assert left == {"left_alone": 0, "outdated": 3}
        store.refresh()
        assert not {(row.id, row.family) for row in store.scan()} & {("b", "a"), ("d", "c")}
