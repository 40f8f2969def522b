"""`nearfold serve` as a process, and browser windows with a record of forbidden actions."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from forked_commands import client_command
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Dialog, Page, Request

ROOT = Path(__file__).parent.parent.parent


@contextlib.contextmanager
def run_site(store_url: str, *options: str) -> Iterator[str]:
    """Run `nearfold serve`; yield its address without the final slash."""
    arguments = ["serve", "--port", "0", "--store", store_url, *options]
    command = [*client_command(), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        try:
            yield line.split(" at ")[1].split()[0].rstrip("/")
        finally:
            process.terminate()
            assert process.wait(timeout=20) == 143


@dataclass
class PageRecord:
    """The forbidden actions of pages: dialogs, requests to elsewhere, errors."""

    base: str
    dialogs: list[str] = field(default_factory=list)
    foreign_requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> Page:
        page.on("dialog", self._dialog)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._console)
        return page

    def request(self, request: Request) -> None:
        if not request.url.startswith(f"{self.base}/"):
            self.foreign_requests.append(request.url)

    def _dialog(self, dialog: Dialog) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error" and "status of 4" not in message.text:
            self.errors.append(message.text)

    def check(self) -> None:
        assert (self.dialogs, self.foreign_requests, self.errors) == ([], [], [])


def open_window(
    browser: Browser, site: str, record: PageRecord, width: int = 1280, **settings: Any
) -> BrowserContext:
    """Open a new browser profile whose requests are recorded."""
    context = browser.new_context(
        base_url=site,
        viewport={"width": width, "height": 900},
        locale="en-US",
        timezone_id="UTC",
        **settings,
    )
    context.set_default_timeout(15_000)
    context.on("request", record.request)
    return context


def axe_violations(page: Page) -> dict[str, list[str]]:
    """Return the elements of a page that break a rule of accessibility, by rule, the first three.

    Rules of every impact count.
    """
    results = Axe().run(page, options={"resultTypes": ["violations"]})  # no details of others
    return {
        violation["id"]: [node["html"][:200] for node in violation["nodes"]][:3]
        for violation in results.response["violations"]
    }
