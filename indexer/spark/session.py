"""The Spark session of a run, with bounded batches and shuffle files."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.errors import PythonException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from indexer import errors
from indexer.errors import UsageError

Result = TypeVar("Result")

_SETTINGS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "2000",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(64 << 20),
    # What tasks sent each other is removed with the query, for every stage is written.
    "spark.sql.classic.shuffleDependency.fileCleanup.enabled": "true",
}


def session(name: str = "nearfold", **settings: str) -> SparkSession:
    """Return the active session, or a new one.

    Executors on this machine run this Python unless PYSPARK_PYTHON names another.
    """
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(name)
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    for key, value in _SETTINGS.items():
        spark.conf.set(key, value)
    return spark


def in_session(job: Callable[[SparkSession], Result]) -> Result:
    """Return the result of a job in the active session, or a new one, which is stopped after it.

    An error of nearfold that ended a task is raised instead of Spark's.
    """
    spark = session()
    try:
        return job(spark)
    except PythonException as error:
        original = nearfold_error(error)
        if original is None:
            raise
        raise original from error
    finally:
        spark.stop()


def nearfold_error(error: PythonException) -> errors.NearfoldError | None:
    """Return the nearfold error that ended a task, read from its traceback; None for another."""
    matches = re.findall(r"^indexer\.errors\.(\w+): (.*)", str(error), re.MULTILINE)
    kind = getattr(errors, matches[-1][0], None) if matches else None
    if kind is None:
        return None
    original: errors.NearfoldError = kind.__new__(kind, matches[-1][1])
    return original


# The work folder of a run: every stage as parquet.

# Version of the content of stages; a higher number finds no stage of an earlier one.
LAYOUT = 6


@dataclass(frozen=True, slots=True)
class Stage:
    """Rows that are written, and what was counted then; `digest` identifies their inputs."""

    digest: str
    rows: DataFrame
    facts: Mapping[str, Any] = field(default_factory=dict)


class Work:
    """A folder of stages, on any file system that Spark writes to.

    A stage lies in `NAME-DIGEST`: its rows, and next to them a marker that is written when the rows
    are complete. The digest is of its settings and of the stages that it is made from; with other
    settings or inputs the stage is made again.
    """

    def __init__(self, spark: SparkSession, folder: str) -> None:
        self.spark = spark
        self._folder = folder.rstrip("/")
        self.new_stages: list[str] = []
        self.old_stages: list[str] = []  # from an earlier run

    def check(self) -> None:
        """Raise `UsageError` if the folder cannot be written."""
        probe = f"{self._folder}/writable"
        try:
            self.note(probe, "")
            self._files(probe).delete(self._path(probe), False)
        except Py4JJavaError as error:
            reason = error.java_exception.getMessage()
            raise UsageError(
                f"cannot write {self._folder} ({reason}); choose another path for --out"
            ) from error

    def stage(
        self,
        name: str,
        settings: Mapping[str, Any],
        sources: Sequence[Stage],
        make: Callable[[], DataFrame],
        count: Callable[[DataFrame], Mapping[str, Any]] = lambda _: {},
    ) -> Stage:
        """Return the rows of `make`, which are computed and written unless they are there.

        `count` returns facts about them, which are stored too.
        """
        digest = _digest([LAYOUT, name, settings, [source.digest for source in sources]])
        position = f"{self._folder}/{name}-{digest}"
        marker = self._marker(position)
        if marker is None:
            made = make()
            made.write.mode("overwrite").parquet(f"{position}/rows")
            rows = self._read(f"{position}/rows", made.schema)
            marker = {"stage": name, "settings": settings, "facts": dict(count(rows))}
            marker["schema"] = made.schema.jsonValue()
            self.note(f"{position}/done", json.dumps(marker, sort_keys=True))
            self.new_stages.append(f"{name}-{digest}")
        else:
            rows = self._read(f"{position}/rows", StructType.fromJson(marker["schema"]))
            if f"{name}-{digest}" not in (*self.new_stages, *self.old_stages):
                self.old_stages.append(f"{name}-{digest}")
        return Stage(digest, rows, marker["facts"])

    def _read(self, folder: str, schema: StructType) -> DataFrame:
        """Return the rows in a folder, whose schema Spark would need a job to look for."""
        return self.spark.read.schema(schema).parquet(folder)

    def note(self, file: str, text: str) -> None:
        """Write a small file completely or not at all."""
        system = self._files(file)
        path = self._path(file)
        half = self._path(f"{file}.half")
        stream = system.create(half, True)
        stream.write(bytearray(text.encode()))
        stream.close()
        system.delete(path, False)
        system.rename(half, path)

    def _marker(self, folder: str) -> dict[str, Any] | None:
        """Return the marker of a complete stage; None where there is none."""
        system = self._files(f"{folder}/done")
        path = self._path(f"{folder}/done")
        if not system.exists(path):
            return None
        stream = system.open(path)
        marker = self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8")
        stream.close()
        return dict(json.loads(marker))

    @property
    def _jvm(self) -> Any:
        return self.spark.sparkContext._jvm

    def _path(self, path: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(path)

    def _files(self, path: str) -> Any:
        """The file system of a path, as Spark itself reaches it."""
        context: Any = self.spark.sparkContext
        return self._path(path).getFileSystem(context._jsc.hadoopConfiguration())


def _digest(values: Any) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:12]
