"""A review by the command line, parallel indexers, and jobs that are killed."""

import os
import random
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from e2e.command import ROOT, outcome, run, run_json
from family_oracle import expected, families_of, violations

from indexer.defaults import FOLD, PRINCIPAL
from indexer.stores import open_store

EXAMPLES = ROOT / "examples"


@pytest.fixture
def store(copy_examples_to: Callable[[Path], str], tmp_path: Path) -> str:
    url = copy_examples_to(tmp_path / "index.db")
    run("group", store=url)
    return url


def test_a_review(store: str) -> None:
    store_on_disk = open_store(store)
    ids = {Path(row.path).name: row.id for row in store_on_disk.scan()}
    store_on_disk.close()
    press = ids["ferry-press-release.txt"]
    planned = run_json(
        "label", press, "--label", "nonresponsive", "--family", "--dry-run", store=store
    )
    assert len(planned["changes"]) == 3 and planned["dry_run"] and planned["job"] is None
    assert run("consistency", "--json", store=store) == ""
    answer = run_json("label", press, "--label", "nonresponsive", "--family", store=store)
    assert answer["changes"] == planned["changes"] and answer["job"] == 1
    assert "+nonresponsive  3 documents" in run("label", "--history", store=store)
    contract = ids["services-agreement-2024.txt"]
    words = ["label", contract, "--label", "responsive", "--family", "--review", "responsive"]
    text = run(*words, store=store)
    assert (
        "1 document changed" in text
        and "2 documents left for review" in text
        and "--undo 2" in text
    )
    family = run_json("consistency", store=store)
    assert (family["labels"], family["unlabelled"], len(family["members"])) == (
        {"responsive": 1},
        2,
        3,
    )
    assert "responsive 1, none 2" in run("consistency", store=store)
    assert (
        run_json("search", "", "--filter", "label_conflict=true", "--fold", "none", store=store)[
            "total"
        ]
        == 3
    )
    carried = run_json(
        "label", "--carrying", "nonresponsive", "--remove", "nonresponsive", store=store
    )
    assert len(carried["changes"]) == 3
    refused = outcome("label", "--undo", "1", store=store)
    assert refused.returncode == 0 and "3 documents have their labels back" in refused.stdout
    run("label", contract, "--label", "later", store=store)
    assert run_json("label", "--undo", "2", store=store, code=1)["changed_since"][0]["labels"] == [
        "responsive",
        "later",
    ]


def test_labels_that_come_back(store: str, tmp_path: Path) -> None:
    """A platform returns the labels of an export, one of them changed."""
    file = tmp_path / "out.dat"
    run("export", "--format", "dat", "--out", file, store=store)
    header, first, *_ = file.read_text(encoding="utf-8-sig").split("\n")
    id = first.split("\x14")[0].strip("þ")
    run("label", id, "--label", "kept", store=store)
    values = [value.replace("þ", "") for value in first.split("\x14")]
    values[header.split("\x14").index("þLabelsþ")] = "privileged"
    coded = "\x14".join(f"þ{value}þ" for value in values)
    file.write_text(f"{header}\n{coded}\n", encoding="utf-8")
    text = run("label", "--from", file, "--dry-run", store=store, code=1)
    assert "kept -> kept, privileged" in text and "1 document with labels not in the file" in text
    assert run_json("label", "--from", file, "--replace", store=store)["conflicts"] == []
    run("label", "--from", file, "--family", store=store, code=2)
    run("label", id, "--label", "x", "--replace", store=store, code=2)
    text = run("label", "--undo", "2", store=store)
    assert "privileged -> kept" in text


def test_mistakes_get_a_sentence(store: str) -> None:
    for words, sentence in (
        (["label"], "give documents"),
        (["label", "a"], "give labels"),
        (["label", "a", "--label", "x", "--undo", "1"], "only one"),
        (["label", "a", "--label", "x", "--review", "y"], "--family"),
        (["label", "--undo", "7"], "no labelling 7"),
        (["label", "a", "--label", "  "], "blank"),
        (["label", "a", "--label", "hot;later"], "semicolon"),
        (["label", "a", "--label", "two\nlines"], "an invisible character"),
        (["label", "a", "--label", "left\u202eright"], "an invisible character"),
        (["index", str(EXAMPLES), "--family-threshold", "0"], "threshold"),
        (["search", "x", "--filter", "label_conflict=perhaps"], "true or false"),
    ):
        process = outcome(*words, store=store)
        assert (process.returncode, sentence in process.stderr, "Traceback" in process.stderr) == (
            2,
            True,
            False,
        ), process.stderr
    assert outcome("label", "nobody", "--label", "x", store=store).returncode == 3


def library(folder: Path, chance: random.Random, files: int) -> None:
    """Rewrite the texts of a few families, each with a few other words."""
    folder.mkdir(exist_ok=True)
    for place in range(files):
        words = [f"word{(place % 7) * 100 + number}" for number in range(80)]
        for _ in range(chance.randint(0, 8)):
            words[chance.randrange(80)] = f"other{chance.randrange(50)}"
        if chance.random() < 0.9:
            (folder / f"{place:03}.txt").write_text(" ".join(words), encoding="utf-8")
        else:
            (folder / f"{place:03}.txt").unlink(missing_ok=True)


def test_a_job_that_is_killed_leaves_families_that_hold(tmp_path: Path) -> None:
    """Files change between jobs that are killed at random times; the result is as without."""
    chance, url, folder = random.Random(7), f"sqlite:///{tmp_path}/index.db", tmp_path / "files"
    command = [
        sys.executable,
        "-m",
        "indexer",
        "index",
        str(folder),
        "--prune",
        "--workers",
        "1",
        "--store",
        url,
    ]
    killed = 0
    for wait in (0.0, 0.03, 0.08, 0.15):
        library(folder, chance, 300)
        job = subprocess.Popen(
            command, env={**os.environ, "PYTHONPATH": str(ROOT)}, stderr=subprocess.DEVNULL
        )
        journal = tmp_path / "index.db.jobs"
        deadline = time.monotonic() + 60
        while not journal.exists() and job.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        time.sleep(wait)
        job.send_signal(signal.SIGKILL)
        killed += job.wait() == -signal.SIGKILL
        store_on_disk = open_store(url)
        if store_on_disk.stored_recipe() is not None:
            assert violations(store_on_disk.scan()) == []
        store_on_disk.close()
    assert killed >= 2
    run("index", folder, "--prune", store=url)
    store_on_disk = open_store(url)
    assert violations(store_on_disk.scan()) == []
    run("group", store=url)
    stored = list(store_on_disk.scan())
    assert len(stored) == len(list(folder.iterdir())) and families_of(store_on_disk) == expected(
        stored, FOLD, PRINCIPAL, 1000
    )
    store_on_disk.close()


@pytest.fixture
def cluster(opensearch_url: str) -> Iterator[str]:
    """The URL of a store that does not exist yet, and is removed afterwards."""
    index = f"nearfold-test-side-{os.getpid()}"
    yield f"{opensearch_url.replace('http', 'opensearch', 1)}/{index}"
    urllib.request.urlopen(
        urllib.request.Request(f"{opensearch_url}/{index}", method="DELETE"), timeout=30
    ).close()


@pytest.mark.slow  # tests/faults/test_two_indexers.py kills one of them, too
def test_two_indexers_fill_one_cluster(cluster: str, tmp_path: Path) -> None:
    url, jobs = cluster, []
    for side in ("left", "right"):
        library(tmp_path / side, random.Random(1), 120)
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "XDG_STATE_HOME": str(tmp_path / f"state-{side}"),
        }
        command = [sys.executable, "-m", "indexer", "index", str(tmp_path / side), "--store", url]
        jobs.append(subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL))
    assert [job.wait(timeout=120) for job in jobs] == [0, 0]
    store_in_cluster = open_store(url)
    store_in_cluster.refresh()
    stored = list(store_in_cluster.scan())
    assert len(stored) == sum(len(list((tmp_path / side).iterdir())) for side in ("left", "right"))
    assert violations(stored) == []
    arrived = len(set(families_of(store_in_cluster).values()))
    again = tmp_path / "again"
    library(again, random.Random(1), 120)
    run("index", again, store=url, XDG_STATE_HOME=str(tmp_path / "state"))
    store_in_cluster.refresh()
    assert (
        len(set(families_of(store_in_cluster).values())) == arrived
    )  # whoever comes later finds them all
    assert violations(store_in_cluster.scan()) == []
    store_in_cluster.close()
