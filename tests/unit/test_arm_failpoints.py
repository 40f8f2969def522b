"""Failpoints: settings, the hit at which each acts, and no effect without a setting."""

import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from e2e.command import ROOT, outcome

from indexer.errors import UsageError
from indexer.system.failpoints import POINTS, arm, reached


@pytest.fixture(autouse=True)
def disarmed() -> Iterator[None]:
    yield
    arm("")


def test_an_error_is_raised_once_at_the_requested_hit() -> None:
    arm("after_read:3=error")
    for _ in range(2):
        reached("after_read")
        reached("before_read")
    with pytest.raises(OSError, match="failpoint after_read"):
        reached("after_read")
    reached("after_read")


def test_the_error_is_of_the_kind_that_the_place_can_meet() -> None:
    arm("before_commit=error")
    with pytest.raises(sqlite3.OperationalError, match="disk I/O error"):
        reached("before_commit", sqlite3.OperationalError)


def test_a_delay_passes_time_and_a_kill_ends_the_process() -> None:
    arm("after_send=delay:0.05, after_write:2=delay:9")
    before = time.monotonic()
    reached("after_send")
    reached("after_write")
    assert 0.05 <= time.monotonic() - before < 5
    code = (
        "from indexer.system.failpoints import arm, reached; arm('before_read=kill'); "
        "reached('before_read'); print('alive')"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (-9, b"")


WRONG = ["x=kill", "after_read=die", "after_read", "after_read:0=kill", "after_read=delay", "=kill"]


@pytest.mark.parametrize("setting", WRONG)
def test_a_setting_that_would_inject_no_fault_is_refused(setting: str) -> None:
    arm("after_read=error")
    with pytest.raises(UsageError, match=r"NAME:HIT=ACTION.*before_checkpoint"):
        arm(setting)
    with pytest.raises(OSError):
        reached("after_read")


def test_the_command_line_does_what_the_environment_says() -> None:
    assert outcome("plan", NEARFOLD_FAILPOINTS="nowhere=kill").returncode == 2
    assert outcome("plan").returncode == 0


def test_every_point_is_reached_somewhere_and_no_other() -> None:
    sources = "\n".join(
        path.read_text()
        for path in Path(ROOT, "indexer").rglob("*.py")
        if path.name != "failpoints.py"
    )
    assert set(re.findall(r'\breached\("(\w+)"', sources)) == set(POINTS)
