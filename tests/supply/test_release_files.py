"""What a release consists of: its version, its changelog, the image and the workflows."""

from __future__ import annotations

import datetime
import json
import re
import shlex
import shutil
from pathlib import Path

import pytest
import yaml
from release import BUILT_FROM, set_version

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
DAY = datetime.date(2027, 1, 31)
NEWS = "\n### Added\n\n- A thing.\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a copy of the files that carry a version, with one unreleased change."""
    (tmp_path / "kernel").mkdir()
    for name in ("pyproject.toml", "kernel/Cargo.toml", "kernel/Cargo.lock"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "CHANGELOG.md").write_text(
        f"# Changelog\n\n## [Unreleased]\n{NEWS}\n## [0.2.0] - 2026-11-22\n\nThe first.\n"
    )
    return tmp_path


def test_a_version_is_set_everywhere(project: Path) -> None:
    before = (project / "kernel" / "Cargo.lock").read_text().splitlines()
    set_version(project, "9.8.7", DAY)
    assert (
        "## [Unreleased]\n\n## [9.8.7] - 2027-01-31\n" + NEWS
        in (project / "CHANGELOG.md").read_text()
    )
    for name in ("pyproject.toml", "kernel/Cargo.toml"):
        versions = re.findall(r'^version = "(.*)"', (project / name).read_text(), re.MULTILINE)
        assert versions == ["9.8.7"]
    after = (project / "kernel" / "Cargo.lock").read_text().splitlines()
    changed = [
        place for place, pair in enumerate(zip(before, after, strict=True)) if len({*pair}) > 1
    ]
    assert [after[place - 1 : place + 1] for place in changed] == [
        ['name = "nearfold-kernel"', 'version = "9.8.7"']
    ]


@pytest.mark.parametrize("version", ["1.2", "v1.2.3", "0.2.0"])
def test_a_wrong_version_changes_nothing(project: Path, version: str) -> None:
    before = {path: path.read_bytes() for path in project.rglob("*.*")}
    with pytest.raises(ValueError, match=re.escape(version)):
        set_version(project, version, DAY)
    assert before == {path: path.read_bytes() for path in project.rglob("*.*")}


def test_nothing_new_is_no_release(project: Path) -> None:
    changelog = project / "CHANGELOG.md"
    changelog.write_text(changelog.read_text().replace(NEWS, ""))
    with pytest.raises(ValueError, match="nothing to release"):
        set_version(project, "9.8.7", DAY)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_call_commands_that_exist(path: Path) -> None:
    jobs = yaml.safe_load(path.read_text())["jobs"].values()
    commands = [step["run"] for job in jobs for step in job["steps"] if "run" in step]
    commands += [
        command
        for job in jobs
        for command in job.get("strategy", {}).get("matrix", {}).get("command", [])
    ]
    files = [
        word
        for command in commands
        for word in shlex.split(command)
        if word.startswith(("tools/", "tests/", ".ci/"))
    ]
    assert files
    assert [name for name in files if not (ROOT / name).exists()] == []


def test_both_packages_are_in_the_sources_of_a_release_and_of_the_image() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text()
    context = (ROOT / ".dockerignore").read_text().splitlines()
    for package in ("indexer", "nearfold"):
        assert package in BUILT_FROM
        assert f"\nCOPY {package}/ {package}/\n" in dockerfile
        assert f"!{package}" in context


def test_the_image_has_a_user_without_rights_and_checks_its_health() -> None:
    text = re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text())
    last_stage = text.split("\nFROM ")[-1]
    steps = dict(re.findall(r"^([A-Z]+) (.*)$", last_stage, re.MULTILINE))
    assert int(steps["USER"]) > 0
    assert "HEALTHCHECK" in steps
    assert json.loads(steps["ENTRYPOINT"]) == ["nearfold"]
    copied = re.findall(r"^COPY (?!--from)(.*) \S+$", text, re.MULTILINE)
    names = [name for line in copied for name in line.split()]
    assert [name for name in names if not (ROOT / name).exists()] == []
