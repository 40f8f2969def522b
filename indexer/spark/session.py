"""The Spark session of a run, with batches of bounded size."""

from __future__ import annotations

import os
import re
import sys

from pyspark.errors import PythonException
from pyspark.sql import SparkSession

from indexer import errors

_SETTINGS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "2000",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(64 << 20),
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


def nearfold_error(error: PythonException) -> errors.NearfoldError | None:
    """Return the nearfold error that ended a task, read from its traceback; None for another."""
    matches = re.findall(r"^indexer\.errors\.(\w+): (.*)", str(error), re.MULTILINE)
    kind = getattr(errors, matches[-1][0], None) if matches else None
    if kind is None:
        return None
    original: errors.NearfoldError = kind.__new__(kind, matches[-1][1])
    return original
