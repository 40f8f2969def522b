"""`nearfold serve` as a process of its own, windows of a real browser, and what their pages did
that they must not do.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Dialog, Page, Request

ROOT = Path(__file__).parent.parent.parent


@contextlib.contextmanager
def served(store_url: str, *options: str) -> Iterator[str]:
    """The address of the pages of a store, without the slash at its end."""
    command = [
        sys.executable,
        "-m",
        "indexer",
        "serve",
        "--port",
        "0",
        "--store",
        store_url,
        *options,
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        try:
            yield line.split(" at ")[1].split()[0].rstrip("/")
        finally:
            process.terminate()
            process.wait(timeout=20)


@dataclass
class Seen:
    """What pages did that they must not do."""

    base: str
    dialogs: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> Page:
        page.on("dialog", self._dialog)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", self._console)
        return page

    def request(self, request: Request) -> None:
        if not request.url.startswith(f"{self.base}/"):
            self.strangers.append(request.url)

    def _dialog(self, dialog: Dialog) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error" and "status of 4" not in message.text:
            self.complaints.append(message.text)

    def check(self) -> None:
        assert (self.dialogs, self.strangers, self.complaints) == ([], [], [])


def window(
    browser: Browser, site: str, seen: Seen, width: int = 1280, **settings: Any
) -> BrowserContext:
    """A browser profile of its own, watched."""
    opened = browser.new_context(
        base_url=site,
        viewport={"width": width, "height": 900},
        locale="en-US",
        timezone_id="UTC",
        **settings,
    )
    opened.set_default_timeout(15_000)
    opened.on("request", seen.request)
    return opened
