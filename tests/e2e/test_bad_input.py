"""Bad input: each file has one outcome with a clear reason, the rest is indexed, and memory stays
under its cap.
"""

import json
import os
import re
import secrets
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
import samples
from e2e.command import ROOT

CAP_MEGABYTES = 1024
WITHOUT_PRIVILEGE = (
    ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
)
GOOD = (
    "A document like any other, with words enough to make a fingerprint of it, "
    "and nothing wrong with it at all."
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("bad")
    root.chmod(0o755)
    (root / "good.txt").write_text(GOOD)
    (root / "good.docx").write_bytes(samples.docx())
    (root / "empty.txt").touch()
    (root / "random.bin").write_bytes(secrets.token_bytes(5000))
    (root / "encrypted.pdf").write_bytes(samples.pdf(password="unguessable"))
    (root / "truncated.docx").write_bytes(samples.docx()[:-2000])
    (root / "bomb.zip").write_bytes(
        samples.zip_bomb("ten-gigabytes.txt", b"all work and no play " * 50_000, 10_000)
    )
    Path(os.fsdecode(os.fsencode(root) + b"/invalid-\xff\xfe-name.txt")).write_text(GOOD)
    os.mkfifo(root / "pipe.txt")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(root / "socket.txt"))
    listener.close()
    with (root / "sparse.bin").open("wb") as file:
        file.truncate(1 << 40)
    (root / "secret.txt").write_text("nobody may read this")
    (root / "secret.txt").chmod(0)
    locked = root / "locked"
    locked.mkdir(mode=0)
    return root


@pytest.fixture(scope="module")
def run_result(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The account of a run by a user whom permissions bind, and the most resident memory of the
    largest of its processes in MB.
    """
    place = tmp_path_factory.mktemp("store")
    words = [
        "index",
        str(folder),
        "--store",
        f"sqlite:///{place}/x.db",
        "--memory",
        str(CAP_MEGABYTES),
        "--json",
    ]
    command = [*WITHOUT_PRIVILEGE, sys.executable, "-m", "indexer", *words]
    settings = {**os.environ, "PYTHONPATH": str(ROOT)}
    started = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=settings
    )
    most = 0
    while started.poll() is None:
        most = max(most, resident(started.pid))
        time.sleep(0.05)
    out, problems = started.communicate()
    assert started.returncode == 1, problems
    return json.loads(out), most


def resident(pid: int) -> int:
    """Return the resident megabytes of the largest process among a process and its children."""
    try:
        process = psutil.Process(pid)
        return (
            max(file.memory_info().rss for file in [process, *process.children(recursive=True)])
            >> 20
        )
    except psutil.NoSuchProcess:
        return 0


def test_account_adds_up(run_result: Any) -> None:
    account, _ = run_result
    assert account["seen"] == account["indexed"] + sum(account["skipped"].values()) + len(
        account["failed"]
    )
    assert account["skipped"] == {"special_file": 2}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("encrypted.pdf", "encrypted"),
        ("random.bin", "no text can be read|damaged"),
        ("sparse.bin", "larger|too large|bytes"),
        ("secret.txt", "[Pp]ermission"),
        ("locked", "[Pp]ermission"),
    ],
)
def test_what_failed_says_why(name: str, reason: str, run_result: Any) -> None:
    failed = {Path(file["path"]).name: file["error"] for file in run_result[0]["failed"]}
    assert re.search(reason, failed[name])


def test_everything_else_is_indexed(run_result: Any, folder: Path) -> None:
    """A truncated docx and a bomb may be indexed or fail; every other file with text is indexed."""
    failed = {Path(file["path"]).name for file in run_result[0]["failed"]}
    either = {"truncated.docx", "bomb.zip"}
    assert failed - either == {"encrypted.pdf", "random.bin", "sparse.bin", "secret.txt", "locked"}
    assert run_result[0]["indexed"] == len(
        {"good.txt", "good.docx", "empty.txt", "invalid-name.txt"}
    ) + len(either - failed)


def test_memory_stays_under_its_cap(run_result: Any) -> None:
    assert run_result[1] <= CAP_MEGABYTES + 256
