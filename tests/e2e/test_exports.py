"""The commands of docs/exports.md, and options that are refused."""

from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path

import pytest
from command import run, run_json, shell
from page_blocks import blocks

from indexer.cli import main

_, MAILS, LABELS, *_ = blocks("docs/exports.md")


@pytest.fixture
def store(copy_examples_to: Callable[[Path], str], tmp_path: Path) -> str:
    url = copy_examples_to(tmp_path / "store.db")
    run("group", store=url)
    page = run_json("search", "agreement", "--fold", "none", store=url)
    run("label", page["hits"][0]["id"], "--label", "responsive", store=url)
    return url


def test_labels_of_the_page_come_back(store: str, tmp_path: Path) -> None:
    """The third block: labels of an export of this store."""
    run("export", "--format", "dat", "--out", tmp_path / "coding.dat", store=store)
    run("export", "--out", tmp_path / "coding.csv", store=store)
    printed = shell(LABELS, tmp_path, NEARFOLD_STORE=store)
    assert printed.count("labels of 0 documents") == 3


def test_mails_of_the_page_keep_their_attachments(tmp_path: Path) -> None:
    """The second block: copies of a mail, held by two people."""
    message = EmailMessage()
    message["Message-ID"] = "<ferry@example.org>"
    message.set_content("Please read what is attached about the ferry before noon.")
    message.add_attachment(
        "The harbour ferry leaves at eight and returns at six.", filename="a.txt"
    )
    for name in ("ann", "bo"):
        (tmp_path / "mails" / name).mkdir(parents=True)
        (tmp_path / "mails" / name / "1.eml").write_bytes(bytes(message))
    index_and_export, _, labelling = MAILS.rpartition("nearfold label")
    store = f"sqlite:///{tmp_path}/store.db"
    printed = shell(index_and_export, tmp_path, NEARFOLD_STORE=store)
    assert "2 duplicates left out" in printed
    rows = (tmp_path / "mails.dat").read_text(encoding="utf-8-sig").splitlines()[1:]
    assert len(rows) == 2 and all("þAnn;Boþ" in row for row in rows)
    id = rows[0].split("\x14")[0].strip("þ")
    label = f"nearfold label{labelling}".replace("3f2a...", id)
    assert "labels of 2 documents would change" in shell(label, tmp_path, NEARFOLD_STORE=store)


def test_batches_and_an_audited_report(store: str, tmp_path: Path) -> None:
    batched = run_json(
        "export",
        "--what",
        "batches",
        "--reviewers",
        "Ann, Bo",
        "--out",
        tmp_path / "b.csv",
        store=store,
    )
    assert [load["reviewer"] for load in batched["loads"]] == ["Ann", "Bo"]
    assert sum(load["documents"] for load in batched["loads"]) == batched["records"] == 12
    out = tmp_path / "audited.html"
    audited = [
        "export",
        "--format",
        "html",
        "--audit",
        "30",
        "--threshold",
        "0.9",
        "--out",
        str(out),
        "--store",
        store,
    ]
    assert (main.run(audited), "at 0.9 or above" in out.read_text(encoding="utf-8")) == (0, True)


@pytest.mark.parametrize(
    "words",
    [
        ("--reviewers", "Ann"),
        ("--threshold", "0.9"),
        ("--date", "2024-05-01"),
        ("--review", "responsive"),
        ("--format", "html", "--what", "pairs"),
        ("--format", "html", "--batch-size", "3"),
        ("--format", "html", "--threshold", "0.9"),
    ],
)
def test_options_without_effect_are_refused(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    called = [
        "export",
        *words,
        "--out",
        str(tmp_path / "out"),
        "--store",
        f"sqlite:///{tmp_path}/none.db",
    ]
    assert (main.run(called), "leave" in capsys.readouterr().err) == (2, True)
