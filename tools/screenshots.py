"""Take the screenshots of the review pages in docs/images, from the example folder.

    python tools/screenshots.py

Needs the packages of the `dev` group and a Chromium (see tools/chromium.py).
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path
from urllib.parse import urlencode

import chromium
from environment import ROOT
from playwright.sync_api import Page, sync_playwright

IMAGES = ROOT / "docs" / "images"
SIZE = {"width": 1180, "height": 760}
PHONE = {"width": 390, "height": 844}
PHONE_PAGES = (
    *("/dashboard", "/?q=agreement", "/document?id={a}&q=agreement", "/family?id={a}"),
    *("/variants?id={a}", "/versions?id={a}", "/matrix?id={a}", "/compare?a={a}&b={b}"),
    *("/worklist", "/overview", "/threshold", "/jobs"),
)


def main() -> int:
    """Index and serve the examples, and save the screenshots; 1 without a browser."""
    browser = chromium.ensure()
    if browser is None:
        print(chromium.REMEDY, file=sys.stderr)
        return 1
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        store = ("--store", f"sqlite:///{folder}/examples.db")
        for words in (("index", "examples"), ("group",)):
            subprocess.run(
                _command(*words, *store),
                cwd=ROOT,
                check=True,
                stdout=subprocess.DEVNULL,
                env=_environment(),
            )
        serving = _command("serve", "--port", "0", *store)
        with subprocess.Popen(
            serving, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=_environment()
        ) as process:
            assert process.stdout is not None
            address = process.stdout.readline().split(" at ")[1].split()[0].rstrip("/")
            try:
                _pictures(address, browser)
            finally:
                process.terminate()
    return 0


def _pictures(address: str, browser: str) -> None:
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=browser, args=chromium.arguments())
        for theme, picture in (("light", _search), ("dark", _compare)):
            context = opened.new_context(base_url=address, viewport=SIZE, color_scheme=theme)
            picture(context.new_page(), address, theme)
            phone = opened.new_context(base_url=address, viewport=PHONE, color_scheme=theme)
            _phone_pages(phone.new_page(), address, theme)
        opened.close()


def _search(page: Page, _address: str, theme: str) -> None:
    page.goto("/?q=agreement")
    page.locator("details.fold summary").first.click()
    page.mouse.move(0, 0)
    _save(page, f"search-{theme}.png")


def _compare(page: Page, address: str, theme: str) -> None:
    page.goto("/compare?" + urlencode(_pair(address)))
    _save(page, f"compare-{theme}.png")


def _pair(address: str) -> dict[str, str]:
    """Return the ids of a hit and of the document folded under it that is less similar."""
    with urllib.request.urlopen(f"{address}/api/search?q=agreement") as answer:
        hit = json.load(answer)["hits"][0]
    other = min(hit["folded"], key=lambda folded: folded["similarity"])
    return {"a": hit["id"], "b": other["id"]}


def _phone_pages(page: Page, address: str, theme: str) -> None:
    """Save all pages as a telephone shows them, as one picture at half size, if Pillow is there."""
    try:
        from PIL import Image
    except ModuleNotFoundError:
        return
    ids = _pair(address)
    width, height = PHONE["width"] // 2, PHONE["height"] // 2
    columns = len(PHONE_PAGES) // 2
    sheet = Image.new("RGB", ((width + 8) * columns, (height + 8) * 2), "gray")
    for number, name in enumerate(PHONE_PAGES):
        page.goto(name.format(**ids))
        page.wait_for_load_state("networkidle")
        _hide_folders(page)
        with Image.open(io.BytesIO(page.screenshot())) as shot:
            small = shot.convert("RGB").resize((width, height), Image.Resampling.LANCZOS)
        row, column = divmod(number, columns)
        sheet.paste(small, (column * (width + 8), row * (height + 8)))
    path = IMAGES / f"phone-{theme}.webp"
    sheet.save(path, quality=50, method=6)
    print(f"{path.relative_to(ROOT)}  {path.stat().st_size // 1024} KB")


def _save(page: Page, name: str) -> None:
    """Save a screenshot without this machine's folders; Pillow, if installed, makes it smaller."""
    _hide_folders(page)
    path = IMAGES / name
    page.screenshot(path=path)
    _shrink(path)
    print(f"{path.relative_to(ROOT)}  {path.stat().st_size // 1024} KB")


def _hide_folders(page: Page) -> None:
    page.evaluate(
        "root => { for (const path of document.querySelectorAll('.path bdi')) "
        "path.textContent = path.textContent.replace(root, '').replace(/^[/]/, ''); "
        "document.querySelector('.store').textContent = 'sqlite:///nearfold.db'; "
        "document.activeElement.blur(); }",
        str(ROOT),
    )


def _shrink(path: Path) -> None:
    try:
        from PIL import Image
    except ModuleNotFoundError:
        return
    with Image.open(path) as image:
        image.convert("RGB").quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)


def _command(*words: str) -> list[str]:
    return [sys.executable, "-m", "indexer", *words]


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


if __name__ == "__main__":
    sys.exit(main())
