"""Passages that a reviewer approves, and comparisons without them, on the command line."""

import csv
import json
import random
from pathlib import Path

import pytest
from command import outcome, run

NOTICE = "This message is confidential. " + " ".join(
    f"n{random.Random(number).randrange(99)}" for number in range(40)
)


def body(number: int) -> str:
    draw = random.Random(number)
    return " ".join(f"w{draw.randrange(10**6)}" for _ in range(30))


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, Path]:
    """Return a store of mails with one notice, and the inventory in which it is approved."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "mails"
    folder.mkdir()
    for number in range(6):
        (folder / f"{number}.txt").write_text(f"{body(number)}\n\n{NOTICE}\nPage {number} of 9\n")
    (folder / "draft.txt").write_text(body(0))
    store = f"sqlite:///{tmp_path}/x.db"
    run("index", folder, store=store)
    out = tmp_path / "passages.jsonl"
    run("passages", "--out", out, store=store)
    [line] = out.read_text().splitlines()
    entry = json.loads(line)
    assert entry["approved"] is False and len(entry["places"]) == 6
    pattern = {"pattern": r"^Page \d+ of \d+$", "approved": True}
    out.write_text("\n".join(map(json.dumps, [{**entry, "approved": True}, pattern])))
    return store, out


def test_a_match_says_what_was_left_out(library: tuple[str, Path]) -> None:
    store, out = library
    assert run("match", "--threshold", "0.5", store=store).count("\n") == 15
    process = outcome("match", "--threshold", "0.5", "--leave-out", out, store=store)
    [line] = process.stdout.splitlines()
    assert line.startswith("1.000") and line.endswith("2 approved passages (48 words) left out")
    assert "2 approved passages (288 words) left out of 6 documents, by list " in process.stderr
    command = ("match", "--leave-out", out, "--format")
    [pair] = map(json.loads, run(*command, "jsonl", store=store).splitlines())
    assert pair["left_out"] == {"passages": 2, "words": 48}
    [record] = csv.DictReader(run(*command, "csv", store=store).splitlines())
    assert record["left_out"] == "48"


def test_families_name_the_list(library: tuple[str, Path]) -> None:
    store, out = library
    answer = json.loads(run("group", "--leave-out", out, "--json", store=store))
    assert (answer["families"], answer["left_out"]["documents"]) == (1, 6)
    assert answer["manifest"]["counts"]["left_out"] == answer["left_out"]
    option = f"--leave-out {answer['left_out']['id']}"
    assert option in run("status", "--jobs", store=store)
    assert option in run("search", "confidential", "--fold", "family", store=store)
    assert "left_out" not in json.loads(run("group", "--json", store=store))


def test_a_new_inventory_keeps_what_is_approved(library: tuple[str, Path]) -> None:
    store, out = library
    with out.open("a") as file:
        file.write('\n{"text": "All rights reserved", "approved": true}')
    run("passages", "--out", out, store=store)
    entries = list(map(json.loads, out.read_text().splitlines()))
    assert [entry["approved"] for entry in entries] == [True, True, True]
    assert [entry.get("text") for entry in entries[1:]] == ["All rights reserved", None]


def test_lists_that_are_refused(library: tuple[str, Path], tmp_path: Path) -> None:
    store, _ = library
    none = tmp_path / "none.jsonl"
    none.write_text('{"text": "All rights reserved", "approved": false}')
    process = outcome("match", "--leave-out", none, store=store)
    assert process.returncode == 2 and "no passage is approved" in process.stderr
    process = outcome("passages", "--json", "--out", none, store=store)
    assert process.returncode == 2 and "leave one of them out" in process.stderr


@pytest.mark.parametrize(
    ("content", "reason"), [(b"\xff", "is not UTF-8 at byte 0"), (b"{", "line 1 of the approved")]
)
def test_an_inventory_that_cannot_be_read_is_named_and_stays(
    library: tuple[str, Path], content: bytes, reason: str
) -> None:
    store, out = library
    out.write_bytes(content)
    process = outcome("passages", "--out", out, store=store)
    assert process.returncode == 2
    assert out.name in process.stderr and reason in process.stderr
    assert out.read_bytes() == content


def test_an_index_is_signed_without_them(library: tuple[str, Path], tmp_path: Path) -> None:
    _, approved = library
    store = f"sqlite:///{tmp_path}/signed.db"
    run("index", tmp_path / "mails", "--leave-out", approved, store=store)
    status = json.loads(run("status", "--json", store=store))
    list_id = status["recipe"]["left_out"]
    said = f"without the approved passages of list {list_id}"
    assert said in " ".join(run("status", store=store).split())
    assert "2 approved passages (48 words) left out" in run("match", store=store)
    again = run("reindex", "--recipe", "default_v3", store=store)
    assert "texts are fingerprinted and compared as they are again" in again
    assert "left_out" not in json.loads(run("status", "--json", store=store))["recipe"]
    assert said in run("reindex", "--recipe", "default_v3", "--leave-out", approved, store=store)
