"""The Spark session of a run, with bounded batches and shuffle files."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from typing import TypeVar

from pyspark.errors import PythonException
from pyspark.sql import SparkSession

from indexer import errors

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

    An error of nearfold that ended a task is raised in place of Spark's.
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
