"""A Spark session in this process.

Without a JDK its tests are skipped on a laptop, and fail where engines are required.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from servers import choosing

from indexer.spark.session import session

ROOT = Path(__file__).parent.parent.parent
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # more does not pay for such short runs
LOCAL = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.codegen.wholeStage": "false",  # compiling takes longer than such small tables
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.log.level": "ERROR",
}


@pytest.fixture(scope="session")
def java() -> dict[str, str]:
    """Return the environment of Spark: a JDK, and this Python with nearfold on the executors."""
    home = os.environ.get("JAVA_HOME")
    if not (shutil.which("java") or (home and Path(home, "bin", "java").exists())):
        choosing.leave_out("no JDK 17 or newer: install one, or set JAVA_HOME")
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return {
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": path,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "JAVA_TOOL_OPTIONS": QUICK,
    }


@pytest.fixture(scope="session")
def spark(java: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session with two tasks at a time, each tried four times."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in java.items():
            patch.setenv(name, value)
        scratch = str(tmp_path_factory.mktemp("spark"))
        places = {"spark.master": "local[2,4]", "spark.local.dir": scratch}
        spark = session("nearfold tests", **LOCAL, **places)
        yield spark
        spark.stop()
