"""External sort: order, distinct codes, memory budgets, and the removal of temporary files."""

import gc
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.errors import UsageError
from indexer.system.external_memory import Column, MemoryBudget, Sorter, SpillFiles

BUDGETS = {
    "memory": MemoryBudget,
    "narrow": lambda: MemoryBudget(1),
    "files": lambda: SpillFiles(0),
    "half": lambda: SpillFiles(1),
}
pieces = st.lists(
    st.lists(st.integers(0, 60) | st.integers(0, 2**64 - 1), max_size=60), max_size=12
)


@pytest.mark.long
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("unique", [False, True])
@given(parts=pieces)
def test_codes_come_back_sorted(parts, budget, unique):
    sorter = Sorter(BUDGETS[budget](), unique)
    for part in parts:
        sorter.add(np.array(part, dtype=np.uint64))
    every = [code for part in parts for code in part]
    assert sorter.sorted().tolist() == sorted(set(every) if unique else every)


@pytest.mark.parametrize("budget", BUDGETS)
@given(parts=st.lists(st.lists(st.floats(0, 1), max_size=40), max_size=12))
def test_values_come_back_in_order(parts, budget):
    column = Column(BUDGETS[budget](), np.float64)
    for part in parts:
        column.add(np.array(part))
    every = [value for part in parts for value in part]
    assert len(column) == len(every) and column.whole().tolist() == every


def test_stretches_of_a_merge_are_short():
    sorter = Sorter(MemoryBudget(8 * 8 * 64))
    random = np.random.default_rng(1)
    for _ in range(40):
        sorter.add(random.integers(0, 2**63, 50).astype(np.uint64))
    longest = max(len(stretch) for stretch in sorter._stretches())
    assert 0 < longest <= 64 * 2


@pytest.mark.long
def test_memory_first_and_files_beyond():
    budget = SpillFiles(1)
    first, second = budget.array(1 << 18, np.uint8), budget.array((1 << 9, 1 << 10), np.uint8)
    assert type(first.base) is type(None) and second.base is not None
    del first
    gc.collect()
    assert budget.array(1 << 19, np.uint8).base is None
    second[:] = 7
    assert int(second.sum()) == 7 << 19


def test_a_full_disk_is_reported_before_anything_is_written(monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(UsageError, match=r"TMPDIR.*--memory"):
        SpillFiles(0).array(10, np.int64)


def test_a_killed_process_leaves_no_file(tmp_path):
    program = (
        "from indexer.system.external_memory import SpillFiles\n"
        "held = SpillFiles(0).array(1 << 24, 'u1')\n"
        "held[:] = 1\nprint('held', flush=True)\ninput()"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        env=environment,
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "held\n"
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL and list(tmp_path.iterdir()) == []
