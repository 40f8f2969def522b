"""The wheel: its contents, reproducible builds, and a working core without extras."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILT_FROM = (
    "indexer",
    "nearfold",
    "mappings",
    "pyproject.toml",
    "setup.py",
    "MANIFEST.in",
    "README.md",
    "LICENSE",
    "kernel",
)
UNBUILT = shutil.ignore_patterns("__pycache__", "*.so", "target", "*.egg-info")


def built(folder: Path) -> Path:
    """Build the pure wheel of a copy of the sources in `folder`.

    Rust is hidden, so no kernel is built.
    """
    sources = folder / "sources"
    for name in BUILT_FROM:
        place = ROOT / name
        if place.is_dir():
            shutil.copytree(place, sources / name, ignore=UNBUILT)
        else:
            shutil.copy(place, sources / name)
    environment = {
        key: value for key, value in os.environ.items() if key != "NEARFOLD_REQUIRE_KERNEL"
    }
    environment |= {
        "SOURCE_DATE_EPOCH": "1700000000",
        "PATH": "/usr/bin:/bin",
        "CARGO": "/nonexistent",
    }
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--wheel-dir",
        str(folder),
    ]
    subprocess.run([*command, str(sources)], check=True, env=environment, timeout=300)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("wheel"))


def test_the_wheel_carries_the_package_and_nothing_else(wheel: Path) -> None:
    kinds = {".py", ".pyi", ".typed"}
    package = {
        path
        for folder in ("indexer", "nearfold")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in kinds or path.parent.name in ("static", "templates", "pdfjs")
    }
    ours = {
        str(path.relative_to(ROOT))
        for path in package
        if path.is_file() and "__pycache__" not in path.parts
    }
    mappings = {
        path.relative_to(ROOT / "mappings")
        for path in (ROOT / "mappings").rglob("*")
        if path.is_file()
    }
    ours |= {f"indexer/_mappings/{path}" for path in mappings if "__pycache__" not in path.parts}
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert names == ours


def test_the_wheel_states_its_licence_and_is_pure(wheel: Path) -> None:
    assert wheel.name.endswith("-py3-none-any.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)


@pytest.mark.slow
def test_building_twice_gives_the_same_bytes(wheel: Path, tmp_path: Path) -> None:
    assert built(tmp_path).read_bytes() == wheel.read_bytes()


@pytest.mark.slow
def test_a_new_user_runs_the_wheel(wheel: Path) -> None:
    from release import try_wheel

    assert try_wheel(wheel) == 0


@pytest.mark.slow
def test_the_bare_core_indexes_searches_and_names_what_is_missing(
    wheel: Path, tmp_path: Path
) -> None:
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "bare")], check=True, timeout=300)
    python = tmp_path / "bare" / "bin" / "python"
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run(
        [*pip, "--require-hashes", "-r", str(ROOT / "requirements" / "core.txt")],
        check=True,
        timeout=600,
    )
    subprocess.run([*pip, "--no-deps", "--no-index", str(wheel)], check=True, timeout=300)

    def nearfold(*arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "LANG": "C.UTF-8"}
        command = [str(python.parent / "nearfold"), *arguments]
        return subprocess.run(
            command,
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    assert nearfold("index", str(ROOT / "examples")).returncode == 0
    assert "services-agreement" in nearfold("search", "agreement").stdout
    lacking = nearfold("search", "agreement", "--store", "opensearch://127.0.0.1:9/papers")
    assert lacking.returncode == 2 and "nearfold[opensearch]" in lacking.stderr
    assert nearfold("export", "--format", "html", "--out", "report.html").returncode == 0
    picture = nearfold("plan", "--picture", "plan.svg")
    assert picture.returncode == 2 and "nearfold[figures]" in picture.stderr
    login = nearfold("serve", "--add-login", "anna")
    assert login.returncode == 2 and "--auth FILE" in login.stderr  # the pages were imported
