"""Pages have the same layout whatever fonts the machine has."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from browser_fonts import browser_environment
from playwright.sync_api import Page

MEASURE = """families => families.map(family => {
  const text = document.createElement("span");
  text.style.cssText = `position: absolute; font: 32px ${family}`;
  text.textContent = "The quick brown fox jumps over the lazy dog, 0123456789";
  document.body.append(text);
  const { width } = text.getBoundingClientRect();
  text.remove();
  return Math.round(width);
})"""


def widths(page: Page, *families: str) -> list[int]:
    return page.evaluate(MEASURE, list(families))


def test_the_browser_finds_the_fonts_of_the_tests_only(page: Page) -> None:
    page.goto("/")
    serif, sans, mono = widths(page, "serif", "sans-serif", "monospace")
    assert widths(page, "'DejaVu Serif'", "'DejaVu Sans'", "'DejaVu Sans Mono'") == [
        serif,
        sans,
        mono,
    ]
    assert len({serif, sans, mono}) == 3
    absent = ("'Liberation Serif', monospace", "'Noto Serif', monospace", "Georgia, monospace")
    assert widths(page, *absent) == [mono] * 3


def test_fontconfig_lists_one_folder(tmp_path: Path) -> None:
    try:
        listing = subprocess.run(
            ["fc-list", "--format=%{file}\n"],
            env=browser_environment(tmp_path),
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    except FileNotFoundError:
        pytest.skip("no fc-list")
    paths = [Path(line) for line in listing.splitlines()]
    assert {path.parent for path in paths} == {tmp_path / "fonts"}
    assert any("Thai" in path.name for path in paths)
