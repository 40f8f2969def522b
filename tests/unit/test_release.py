"""The output of a package without metadata, as in a checkout that was never installed."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from indexer.system.release import UNRELEASED, release

ROOT = Path(__file__).parent.parent.parent
BARE = (
    "import importlib.metadata as found\n"
    "def absent(name): raise found.PackageNotFoundError(name)\n"
    "found.version = absent\n"
    "from indexer.cli.main import run\n"
    "import sys; sys.exit(run(sys.argv[1:]))\n"
)


def bare(folder: Path, *words: str) -> str:
    """Return the output of a command where no package carries metadata."""
    done = subprocess.run(
        [sys.executable, "-c", BARE, *words], cwd=folder,
        env={"PYTHONPATH": str(ROOT), "HOME": str(folder)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
def test_a_bare_checkout_works(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(
        "Ferries leave the harbour at eight in the morning.", encoding="utf-8"
    )
    assert UNRELEASED in bare(tmp_path, "--version")
    bare(tmp_path, "compare", "a.txt", "a.txt", "--html", "page.html")
    assert f"Made by nearfold {UNRELEASED}" in (tmp_path / "page.html").read_text(encoding="utf-8")
    code = BARE.split("from indexer.cli.main", maxsplit=1)[0] + (
        "import indexer.review.serve\nfrom indexer.review.api.openapi import describe_api\n"
        "from indexer.system.release import release\n"
        "print(describe_api(release(), {}, {})['info']['version'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == UNRELEASED


def test_an_unknown_package() -> None:
    assert release("no-such-package-of-ours") == UNRELEASED


@pytest.mark.parametrize("name", ["click", "numpy"])
def test_an_installed_package(name: str) -> None:
    assert release(name)[0].isdigit()


def test_the_digest_of_the_code_is_that_of_this_checkout(tmp_path: Path) -> None:
    copy = tmp_path / "indexer"
    shutil.copytree(ROOT / "indexer", copy, ignore=shutil.ignore_patterns("__pycache__", "html"))
    code = "from indexer.system.release import source_digest; print(source_digest())"
    command = [sys.executable, "-c", code]

    def digest() -> str:
        return subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout

    before = digest()
    (copy / "defaults.py").write_text("MEASURE = 'jaccard'\n", encoding="utf-8")
    assert digest() != before
