"""The work folder of a run: every stage as parquet, so that a run that was cut short goes on after
its last whole stage.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.sql import DataFrame, SparkSession

from indexer.errors import UsageError

# of what stages hold; a version that changes one counts on, so that it finds none of an earlier one
LAYOUT = 1


@dataclass(frozen=True, slots=True)
class Stage:
    """Rows that are written, and what was counted when they were. `digest` names what they were
    made of.
    """

    digest: str
    rows: DataFrame
    facts: Mapping[str, Any] = field(default_factory=dict)


class Work:
    """A folder of stages, on any file system that Spark writes to.

    A stage lies in `NAME-DIGEST`: its rows, and beside them a marker, which is written when the
    rows are whole. The digest is of its settings and of the stages that it is made from: other
    settings or inputs find nothing and make it anew.
    """

    def __init__(self, spark: SparkSession, folder: str) -> None:
        self.spark, self._folder = spark, folder.rstrip("/")
        self.made: list[str] = []
        self.kept: list[str] = []  # from an earlier run

    def check(self) -> None:
        """Raise `UsageError` when nothing can be written there."""
        probe = f"{self._folder}/writable"
        try:
            self.note(probe, "")
            self._files(probe).delete(self._path(probe), False)
        except Py4JJavaError as error:
            told = error.java_exception.getMessage()
            raise UsageError(
                f"cannot write {self._folder} ({told}); give --out another place"
            ) from error

    def stage(
        self,
        name: str,
        settings: Mapping[str, Any],
        sources: Sequence[Stage],
        make: Callable[[], DataFrame],
        count: Callable[[DataFrame], Mapping[str, Any]] = lambda _: {},
    ) -> Stage:
        """The rows that `make` describes, made and written unless they are there; `count` makes
        facts of them, kept too.
        """
        digest = _digest([LAYOUT, name, settings, [source.digest for source in sources]])
        place = f"{self._folder}/{name}-{digest}"
        facts = self._facts(place)
        if facts is None:
            make().write.mode("overwrite").parquet(f"{place}/rows")
            facts = dict(count(self.spark.read.parquet(f"{place}/rows")))
            marker = json.dumps(
                {"stage": name, "settings": settings, "facts": facts}, sort_keys=True
            )
            self.note(f"{place}/done", marker)
            self.made.append(f"{name}-{digest}")
        elif f"{name}-{digest}" not in (*self.made, *self.kept):
            self.kept.append(f"{name}-{digest}")
        return Stage(digest, self.spark.read.parquet(f"{place}/rows"), facts)

    def note(self, place: str, text: str) -> None:
        """Write a small file, whole or not at all."""
        system, path, half = self._files(place), self._path(place), self._path(f"{place}.half")
        stream = system.create(half, True)
        stream.write(bytearray(text.encode()))
        stream.close()
        system.delete(path, False)
        system.rename(half, path)

    def _facts(self, place: str) -> dict[str, Any] | None:
        """What the marker of a whole stage says; None when there is none."""
        system, path = self._files(f"{place}/done"), self._path(f"{place}/done")
        if not system.exists(path):
            return None
        stream = system.open(path)
        told = self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8")
        stream.close()
        return dict(json.loads(told)["facts"])

    @property
    def _jvm(self) -> Any:
        return self.spark.sparkContext._jvm

    def _path(self, place: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(place)

    def _files(self, place: str) -> Any:
        """The file system of a place, as Spark itself reaches it."""
        context: Any = self.spark.sparkContext
        return self._path(place).getFileSystem(context._jsc.hadoopConfiguration())


def _digest(made_of: Any) -> str:
    return hashlib.sha256(json.dumps(made_of, sort_keys=True).encode()).hexdigest()[:12]
