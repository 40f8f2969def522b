"""The project's own virtual environment is brought up to date by what changed."""

from __future__ import annotations

from pathlib import Path

import environment
import pytest


def test_nearfold_is_installed_once_for_its_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[str] = []
    sources = ["old"]
    monkeypatch.setattr(environment, "VENV", tmp_path)
    monkeypatch.setattr(environment, "_state", lambda lock: f"{lock} {sources[-1]}")
    monkeypatch.setattr(
        environment, "_installed", lambda _, _build, lock: lambda *_: commands.append(lock)
    )
    for lock in ("core", "test", "core", "test"):
        environment.prepared(lock)
    assert commands == ["core"]
    sources.append("new")
    environment.prepared("test")
    assert commands == ["core", "test"]
    sources.append("old")
    environment.prepared("core")
    assert commands == ["core", "test", "core"]
