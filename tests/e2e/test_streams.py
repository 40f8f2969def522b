"""What commands write where: encodings without the characters, standard output as a file."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command import ROOT, outcome, run

A = "Café — naïve 中 agreement between the two parties about the € price of the goods\n"
B = "Café — naïve 中 agreement between the two parties about the € price of some goods\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "texts"
    place.mkdir()
    (place / "a.txt").write_text(A, encoding="utf-8")
    (place / "b.txt").write_text(B, encoding="utf-8")
    return place


def test_the_c_locale_gets_escapes(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("The caf\u00e9 ferry leaves at eight in the morning.", encoding="utf-8")
    store = f"sqlite:///{tmp_path}/x.db"
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    outcome("index", tmp_path, store=store)
    done = outcome("search", "ferry", "--json", store=store, **locale)
    assert (done.returncode, done.stderr) == (0, "")
    (tmp_path / "b.txt").write_text("Our caf\u00e9 ferry leaves at eight in the morning.", "utf-8")
    done = outcome("similar", tmp_path / "b.txt", "--threshold", "0.5", store=store, **locale)
    assert done.returncode == 0 and r"caf\xe9" in done.stdout


def test_the_c_locale_reads_files_whose_names_it_lacks(folder: Path, tmp_path: Path) -> None:
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    store = f"sqlite:///{tmp_path}/x.db"
    named = (folder / "b.txt").rename(folder / "caf\u00e9 \u4e2d.txt")
    run("index", folder / "a.txt", store=store)
    for command in (
        ("compare", folder / "a.txt", named),
        ("hash", named),
        ("similar", named, "--threshold", "0.5"),
    ):
        done = outcome(*command, store=store, **locale)
        assert (done.returncode, done.stderr) == (0, ""), command


def test_compare_and_similar_read_files_whose_names_are_not_utf8(
    folder: Path, tmp_path: Path
) -> None:
    store = f"sqlite:///{tmp_path}/x.db"
    named = (folder / "b.txt").rename(os.fsdecode(os.fsencode(folder) + b"/caf\xe9.txt"))
    run("index", folder / "a.txt", store=store)
    for command in (("compare", folder / "a.txt", named), ("similar", named)):
        assert outcome(*command, store=store).returncode == 0, command


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "ascii"])
def test_compare_prints_escapes_where_the_output_has_no_such_letter(
    folder: Path, encoding: str
) -> None:
    command = [sys.executable, "-m", "indexer", "compare", folder / "a.txt", folder / "b.txt"]
    settings = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": encoding}
    done = subprocess.run(command, capture_output=True, env=settings, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "lcs" in done.stdout.decode(encoding)


def test_a_search_prints_escapes_in_ascii(folder: Path, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/x.db"
    run("index", folder, store=store)
    done = outcome("search", "agreement", store=store, PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert done.stdout.isascii()


def test_an_export_to_a_dash_is_standard_output(folder: Path, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/x.db"
    run("index", folder, store=store)
    run("group", store=store)
    run("export", "--out", tmp_path / "families.csv", store=store)
    done = outcome("export", "--out", "-", store=store)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(list(csv.DictReader(io.StringIO(done.stdout)))) == 2
    assert done.stdout.splitlines() == (tmp_path / "families.csv").read_text("utf-8").splitlines()
    assert not Path("-").exists()
    refused = outcome("export", "--out", "-", "--json", store=store)
    assert refused.returncode == 2
    assert "leave one of them out" in refused.stderr


def test_output_never_replaces_what_is_read(tmp_path: Path) -> None:
    mail = tmp_path / "a.eml"
    mail.write_text("From: ann@x.org\nMessage-ID: <a@x>\n\nThe ferry leaves at eight.\n")
    before = mail.read_bytes()
    for arguments in (
        ("threads", mail, "--format", "csv", "--out", mail),
        ("threads", tmp_path, "--format", "dat", "--out", mail),
        ("compare", mail, mail, "--docx", mail),
        ("compare", mail, mail, "--pdf", mail),
    ):
        done = outcome(*arguments)
        assert done.returncode == 2 and "is among the files that are read" in done.stderr
        assert mail.read_bytes() == before
