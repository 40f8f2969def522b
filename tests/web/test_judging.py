"""`nearfold judge` as a process, in a real browser: blind, by keyboard, resumed after a kill, safe
whatever texts say.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from indexer.lab.evaluation.evaluate import evaluate
from indexer.lab.evaluation.judging_session import tasks
from indexer.lab.evaluation.sheets import read_sheets
from web.hostile import PAYLOADS
from web.watching import ROOT, Seen, window


@contextlib.contextmanager
def judging(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process and its address, without the slash at its end."""
    command = [
        sys.executable,
        "-m",
        "indexer",
        "judge",
        "pairs.csv",
        "--store",
        "sqlite:///none.db",
        *options,
    ]
    settings = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=settings, cwd=folder
    ) as process:
        line = process.stdout.readline()
        assert " at " in line, process.stderr.read()
        try:
            yield process, line.split(" at ")[1].split()[0].rstrip("/")
        finally:
            process.terminate()
            process.wait(timeout=20)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Six pairs of texts that begin with a word of their own, some of them hostile; similarities
    that must not be shown.
    """
    lines = ["a,b,similarity"]
    for place in range(6):
        (tmp_path / f"left-{place}.txt").write_text(
            f"alpha{place} the tenant pays rent. {PAYLOADS[place % len(PAYLOADS)]}"
        )
        (tmp_path / f"right-{place}.txt").write_text(f"beta{place} the tenant pays the rent.")
        lines.append(f"left-{place}.txt,right-{place}.txt,0.98765")
    (tmp_path / "pairs.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


@contextlib.contextmanager
def opened(browser: Browser, address: str, **settings: object) -> Iterator[Page]:
    """A watched page of the desk, which must do nothing that it must not."""
    seen = Seen(address)
    with window(browser, address, seen, **settings) as context:
        page = seen.watch(context.new_page())
        page.goto("/")
        yield page
    seen.check()


def shown(page: Page) -> int:
    """The number of the pair on the page, which its texts tell."""
    return int(re.search(r"(?:alpha|beta)(\d)", page.locator(".text").first.inner_text()).group(1))


def judged(folder: Path, name: str) -> dict[str, str]:
    [sheet] = read_sheets(str(folder / f"pairs.{name}.jsonl"))
    return {one.a[5]: one.type for one in sheet.judgements.values()}


def press(page: Page, key: str) -> None:
    """Press a key when the page hears it."""
    expect(page.locator("[data-opens=help]")).to_be_visible()
    page.keyboard.press(key)


def answer(page: Page, key: str, done: int) -> int:
    """Press a key; the pair that it answered. The next page says how many are done."""
    at = shown(page)
    press(page, key)
    expect(page.locator(".where")).to_contain_text(f"{done} of 6 judged")
    return at


def judge_all(address: str, said: Callable[[int], str]) -> Iterator[tuple[int, str]]:
    """Answer all pairs by plain requests, quicker than a browser does: each with its number and the
    page that asked for it.
    """
    while 'name="key"' in (page := urllib.request.urlopen(address).read().decode()):
        key, token = (
            re.search(rf'name="{name}" value="([^"]+)"', page).group(1) for name in ("key", "token")
        )
        number = int(re.search(r"(?:alpha|beta)(\d)", page).group(1))
        assert post(address, {}, key=key, answer=said(number), token=token) == 200
        yield number, page


def test_by_keyboard_killed_resumed_and_taken_back(browser: Browser, folder: Path) -> None:
    said: dict[str, str] = {}
    with judging(folder, "--assessor", "anna") as (process, address):
        with opened(browser, address) as page:
            for done, (key, type) in enumerate(
                (("1", "identical"), ("2", "near-identical"), ("3", "fuzzy")), 1
            ):
                said[str(answer(page, key, done))] = type
                assert judged(folder, "anna") == said
        process.send_signal(signal.SIGKILL)
        process.wait()
    with judging(folder, "--assessor", "anna") as (_, address), opened(browser, address) as page:
        expect(page.locator(".where")).to_contain_text("3 of 6 judged")
        at = shown(page)
        page.evaluate(
            "for (const one of document.querySelectorAll('[data-answer]')) one.click()"
        )  # while the next one loads
        expect(page.locator(".where")).to_contain_text("4 of 6 judged")
        assert judged(folder, "anna") == {**said, str(at): "identical"}
        press(page, "u")
        expect(page.locator(".where")).to_contain_text("3 of 6 judged")
        press(page, "u")
        expect(page.locator(".where")).to_contain_text("2 of 6 judged")
        assert said[str(shown(page))] == "fuzzy"
        said[str(answer(page, "4", 3))] = "different"
        for done in (4, 5, 6):
            said[str(answer(page, "4", done))] = "different"
        expect(page.locator("h1")).to_have_text("All pairs are judged")
    assert judged(folder, "anna") == said
    assert len(said) == 6


def test_each_assessor_has_an_order_of_ones_own_and_no_hints(folder: Path) -> None:
    orders = {}
    for name in ("anna", "bert"):
        with judging(folder, "--assessor", name) as (_, address):
            orders[name] = []
            for number, page in judge_all(address, lambda _: "different"):
                assert not re.search(r"left-\d|right-\d|98765|similar", page)
                orders[name].append((number, page.index("alpha") < page.index("beta")))
    assert all(sorted(place for place, _ in order) == list(range(6)) for order in orders.values())
    assert len({tuple(order) for order in orders.values()}) == 2


def test_sides_are_turned_for_about_half_of_the_pairs() -> None:
    made = tasks([(f"a{place}", f"b{place}", "") for place in range(1000)], "anna")
    assert 430 < sum(one.turned for one in made) < 570
    assert [one.key for one in made] == [
        one.key for one in tasks([(f"b{p}", f"a{p}", "") for p in range(999, -1, -1)], "anna")
    ]


def test_an_arbiter_judges_where_two_differ_and_evaluate_settles_it(
    browser: Browser, folder: Path
) -> None:
    for name, of_two in (("anna", "near-identical"), ("bert", "fuzzy")):
        with judging(folder, "--assessor", name) as (_, address):
            for _ in judge_all(
                address, lambda number, said=of_two: said if number in (2, 5) else "identical"
            ):
                pass
    sheets = [str(folder / f"pairs.{name}.jsonl") for name in ("anna", "bert")]
    with judging(
        folder, "--assessor", "carol", *(word for path in sheets for word in ("--arbitrate", path))
    ) as (_, address):
        with opened(browser, address) as page:
            expect(page.locator(".where")).to_contain_text("0 of 2 judged")
            seen = {shown(page)}
            press(page, "4")
            expect(page.locator(".where")).to_contain_text("1 of 2 judged")
            seen.add(shown(page))
            press(page, "2")
            expect(page.locator("h1")).to_have_text("All pairs are judged")
        assert seen == {2, 5}
    made = evaluate([*sheets, str(folder / "pairs.carol.jsonl")])
    assert dict(made.types) == {"identical": 4, "near-identical": 1, "different": 1}
    assert made.assessors.types.pooled.kappa == pytest.approx(
        (4 / 6 - (4 / 9 + 1 / 36 + 1 / 36)) / (1 - 1 / 2)
    )
    assert made.assessors.duplicate.pooled.kappa is None


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_it_reads_well(browser: Browser, folder: Path, width: int, scheme: str) -> None:
    with (
        judging(folder, "--assessor", "anna") as (_, address),
        opened(browser, address, width=width, color_scheme=scheme) as page,
    ):
        expect(page.locator("[data-answer]")).to_have_count(4)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        found = Axe().run(page).response["violations"]
        assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
        page.get_by_role("button", name="Keyboard shortcuts").click()
        page.get_by_label("single-key shortcuts are on").uncheck()
        page.get_by_role("button", name="Close").click()
        page.keyboard.press("1")
        page.wait_for_timeout(100)
        expect(page.locator(".where")).to_contain_text("0 of 6 judged")


def test_it_works_without_scripts(browser: Browser, folder: Path) -> None:
    with (
        judging(folder, "--assessor", "anna") as (_, address),
        opened(browser, address, java_script_enabled=False) as page,
    ):
        page.locator("[data-answer='3']").click()
        expect(page.locator(".where")).to_contain_text("1 of 6 judged")
        page.get_by_role("button", name="Take the last answer back").click()
        expect(page.locator(".where")).to_contain_text("0 of 6 judged")
    lines = (folder / "pairs.anna.jsonl").read_text().splitlines()
    assert [json.loads(line).get("judgement", "head") for line in lines] == ["head", "fuzzy", None]


def post(address: str, headers: dict[str, str], **fields: str) -> int:
    body = urllib.parse.urlencode(fields).encode()
    try:
        with urllib.request.urlopen(
            urllib.request.Request(f"{address}/judge", body, headers)
        ) as answered:
            return answered.status
    except urllib.error.HTTPError as error:
        return error.code


def test_others_cannot_judge(folder: Path) -> None:
    with judging(folder, "--assessor", "anna") as (_, address):
        page = urllib.request.urlopen(address).read().decode()
        key, token = (
            re.search(rf'name="{name}" value="([^"]+)"', page).group(1) for name in ("key", "token")
        )
        assert post(address, {}, key=key, answer="fuzzy") == 403
        assert post(address, {}, key=key, answer="fuzzy", token="guessed") == 403
        assert (
            post(
                address,
                {"Origin": "http://elsewhere.example"},
                key=key,
                answer="fuzzy",
                token=token,
            )
            == 403
        )
        assert (
            post(address, {"Host": "rebound.example"}, key=key, answer="fuzzy", token=token) == 421
        )
        assert post(address, {}, key=key, answer="perhaps", token=token) == 400
        assert post(address, {}, key="0", answer="fuzzy", token=token) == 400
        assert judged(folder, "anna") == {}
        assert post(address, {}, key=key, answer="fuzzy", token=token) == 200
        with (folder / "pairs.anna.jsonl").open("a") as file:
            file.write("{}\n")
        assert post(address, {}, key=key, answer="fuzzy", token=token) == 400
