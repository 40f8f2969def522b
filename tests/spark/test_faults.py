"""Killed executors, killed drivers and retried tasks: the same result, every document once."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import signal
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pyarrow.parquet
import pytest
from pyspark import TaskContext
from pyspark.sql import SparkSession
from synthetic_library import as_json, library, store_of

import indexer.spark.__main__ as job_file
from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.matching.match import MatchOptions, match
from indexer.recipe import DEFAULT
from indexer.spark import store_writes
from indexer.spark.arrow_rows import Mapper, ddl
from indexer.spark.group_job import group as group_on_spark
from indexer.spark.input_documents import Input, documents
from indexer.spark.work_folder import Work
from indexer.stores import open_store

pytestmark = pytest.mark.spark
PATIENCE = 300.0


def submit(java: dict[str, str], master: str, *arguments: str) -> subprocess.Popen[str]:
    """Start `spark-submit` of the job, as docs/spark.md describes it."""
    program = shutil.which(
        "spark-submit",
        path=os.pathsep.join([str(Path(java["PYSPARK_PYTHON"]).parent), os.environ["PATH"]]),
    )
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.codegen.wholeStage": "false",
        "spark.log.level": "ERROR",
    }
    options = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    command = [str(program), "--master", master, *options, str(job_file.__file__), *arguments]
    environment = {**os.environ, **java, "PYSPARK_DRIVER_PYTHON": java["PYSPARK_PYTHON"]}
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.fixture
def family() -> Iterator[Callable[[subprocess.Popen[str]], list[psutil.Process]]]:
    """Yield a function that lists all processes a process started; they end with the test."""
    started_processes: dict[int, psutil.Process] = {}

    def processes(started: subprocess.Popen[str]) -> list[psutil.Process]:
        if started.poll() is None:
            root = psutil.Process(started.pid)
            for process in (root, *root.children(recursive=True)):
                started_processes[process.pid] = process
        return [process for process in started_processes.values() if process.is_running()]

    yield processes
    for process in started_processes.values():
        kill(process)


def kill(process: psutil.Process) -> None:
    # psutil compares the start time, so it never kills another process with the same id.
    with contextlib.suppress(psutil.NoSuchProcess):
        process.send_signal(signal.SIGKILL)


def wait_for(condition: Callable[[], Any], what: str, process: subprocess.Popen[str]) -> Any:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        if process.poll() is not None:
            pytest.fail(f"the job ended before {what}: {process.communicate()}")
        time.sleep(0.02)
    return pytest.fail(f"{what} did not come")


def executors(processes: list[psutil.Process]) -> list[psutil.Process]:
    name = "CoarseGrainedExecutorBackend"
    return [process for process in processes if name in command_line(process)]


def command_line(process: psutil.Process) -> str:
    """Return the command line of a process; empty when it has ended."""
    with contextlib.suppress(psutil.Error):
        return " ".join(process.cmdline())
    return ""


@pytest.mark.slow
def test_job_survives_a_killed_executor_and_a_killed_driver(
    java: dict[str, str], tmp_path: Path, family: Any
) -> None:
    records = library(seed=21, size=2000)
    source = as_json(records, tmp_path / "in", 6)
    out = tmp_path / "out"
    store = f"sqlite:///{tmp_path}/there.db"
    arguments = (
        str(source),
        "--format",
        "json",
        "--out",
        str(out),
        "--threshold",
        "0.7",
        "--store",
        store,
        "--writers",
        "1",
    )

    job = submit(java, "local-cluster[2,1,1024]", *arguments)
    wait_for(lambda: list(out.glob("work/signed-*/rows/_temporary/0/*")), "the first stage", job)
    victim = wait_for(lambda: executors(family(job)), "an executor", job)[0]
    kill(victim)
    assert not list(out.glob("work/signed-*/done")), (
        "the stage was complete before an executor was killed"
    )
    wait_for(
        lambda: list(out.glob("work/sharing-*/done")), "the stage after the killed executor's", job
    )
    for process in family(job):
        kill(process)
    job.communicate()
    assert not list(out.glob("account.json"))

    again = submit(java, "local[2]", *arguments)
    family(again)
    output, errors = again.communicate(timeout=PATIENCE)
    assert again.returncode == 0, errors
    account = json.loads(output)
    kept_stages = {name.rpartition("-")[0] for name in account["stages"]["kept"]}
    assert {"signed", "texts", "members", "hot", "candidates", "sharing"} <= kept_stages

    embedded = store_of(records, "sqlite://:memory:")
    expected = [
        (pair.a, pair.b, pair.similarity, pair.measure, pair.low, pair.high, pair.as_read)
        for pair in match(embedded, MatchOptions(threshold=0.7))
    ]
    assert sorted(table(out / "pairs")) == expected
    group(embedded, GroupOptions(threshold=0.7))
    rows = list(embedded.scan())
    assert sorted(table(out / "families")) == [
        (row.id, row.family, row.principal, row.similarity) for row in rows
    ]
    assert sorted(table(out / "clusters")) == [(row.id, row.cluster) for row in rows if row.cluster]
    fields = (
        "id",
        "status",
        "modified",
        "labels",
        "blocks",
        "simhash",
        "family",
        "cluster",
        "provisional",
    )
    assert [[getattr(row, name) for name in fields] for row in open_store(store).scan()] == [
        [getattr(row, name) for name in fields] for row in rows
    ]
    assert account["documents"] == len(records)
    assert json.loads((out / "account.json").read_text()) == account


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
        refused = store_writes.write(rows.rows, assigned.rows, store.url, DEFAULT, tasks=2)
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
