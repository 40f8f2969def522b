"""The Spark session of a run: whatever Spark is given on its command line, with batches of bounded
size.
"""

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
    """The session that there is, or a new one; executors on this machine run this Python unless
    PYSPARK_PYTHON says other.
    """
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(name)
    for key, value in settings.items():
        builder = builder.config(key, value)
    made = builder.getOrCreate()
    for key, value in _SETTINGS.items():
        made.conf.set(key, value)
    return made


def ours(error: PythonException) -> errors.NearfoldError | None:
    """The error of ours that ended a task, as far as its traceback tells; None for any other."""
    found = re.findall(r"^indexer\.errors\.(\w+): (.*)", str(error), re.MULTILINE)
    kind = getattr(errors, found[-1][0], None) if found else None
    if kind is None:
        return None
    made: errors.NearfoldError = kind.__new__(kind, found[-1][1])
    return made
