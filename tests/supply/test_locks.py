"""Lock files: every dependency with hashes, and no download address."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ROOT / "requirements"
if sys.version_info < (3, 11):
    pytest.skip(
        "reads pyproject.toml with Python's own parser, from 3.11 on", allow_module_level=True
    )
import tomllib  # noqa: E402

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def plain(requirement: str) -> str:
    """Return a requirement's name alone, as indices write it."""
    return re.sub(r"[-_.]+", "-", re.match(r"[A-Za-z0-9._-]+", requirement)[0]).lower()


def entries(lock: str) -> list[str]:
    """Return the entries of a lock, each with its hashes."""
    text = (LOCKS / f"{lock}.txt").read_text(encoding="utf-8").replace("\\\n", " ")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def required_names(lock: str) -> set[str]:
    """Return the names that pyproject.toml requires."""
    requirements = {
        "build": PROJECT["build-system"]["requires"],
        "core": PROJECT["project"]["dependencies"],
        "all": [
            *PROJECT["project"]["dependencies"],
            *(
                requirement
                for extra in PROJECT["project"]["optional-dependencies"].values()
                for requirement in extra
            ),
        ],
    }
    for name in ("audit", "cross", "uv"):
        lines = (LOCKS / f"{name}.in").read_text().splitlines()
        requirements[name] = [line for line in lines if not line.startswith("#")]
    requirements["test"] = [*requirements["all"], *PROJECT["dependency-groups"]["dev"]]
    return {plain(requirement) for requirement in requirements[lock]} - {"nearfold"}


@pytest.mark.parametrize("lock", ["build", "core", "all", "test", "audit", "cross", "uv"])
def test_a_lock_names_every_requirement_with_hashes(lock: str) -> None:
    named = entries(lock)
    assert all(
        re.match(r"[a-z0-9.-]+==[^ ]+ .*--hash=sha256:[0-9a-f]{64}", entry) for entry in named
    )
    assert required_names(lock) <= {plain(entry) for entry in named}, "run: python tools/lock.py"
    assert "://" not in (LOCKS / f"{lock}.txt").read_text(encoding="utf-8")


def test_locks_agree_with_each_other() -> None:
    pins = {
        lock: {entry.split(" --hash")[0].strip() for entry in entries(lock)}
        for lock in ("core", "all", "test")
    }
    names = {
        lock: {plain(pin) + "|" + pin.split("==")[1].split()[0] for pin in pins[lock]}
        for lock in pins
    }
    assert names["core"] <= names["all"] <= names["test"]


def test_the_core_stays_small() -> None:
    assert required_names("core") == {
        "numpy",
        "mmh3",
        "iscc-tika",
        "charset-normalizer",
        "psutil",
        "click",
        "rich",
        "snowballstemmer",
        "jinja2",
        "rapidfuzz",
        "olefile",
        "starlette",
        "uvicorn",
        "msgspec",
    }


def test_the_build_asks_for_the_same_everywhere() -> None:
    requirements = [
        line for line in (LOCKS / "build.in").read_text().splitlines() if not line.startswith("#")
    ]
    assert set(PROJECT["build-system"]["requires"]) <= set(requirements)


def test_the_licence_of_every_package_is_listed() -> None:
    page = (ROOT / "docs" / "licences.md").read_text(encoding="utf-8")
    names = set(re.findall(r"^\| ([a-z0-9.-]+) \|", page, re.MULTILINE)) - {"package"}
    assert names == {plain(entry) for entry in entries("all")}, (
        "run: .venv/bin/python tools/licences.py"
    )
    assert "| not told |" not in page
