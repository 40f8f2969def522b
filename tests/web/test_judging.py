"""`nearfold judge` as a process, in a real browser: by keyboard, resumed after a kill, safe."""

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
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from forked_commands import client_command
from playwright.sync_api import Browser, Page, expect

from indexer.lab.evaluation.evaluate import evaluate
from indexer.lab.evaluation.judge import tasks
from indexer.lab.evaluation.sheets import read_sheets
from web.hostile import PAYLOADS
from web.watching import ROOT, PageRecord, axe_violations, open_window


@contextlib.contextmanager
def run_judging(
    folder: Path, *options: str, program: Sequence[str] | None = None
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `nearfold judge`; yield the process and its address without the final slash."""
    arguments = ["judge", "pairs.csv", "--store", "sqlite:///none.db", *options]
    command = [*(program or client_command()), *arguments]
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
    """Six pairs of texts that each begin with another word, some hostile; their similarities
    must not be shown.
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
def open_page(browser: Browser, address: str, **settings: object) -> Iterator[Page]:
    """Open a page of the session; the test fails if it does something forbidden."""
    record = PageRecord(address)
    with open_window(browser, address, record, **settings) as context:
        page = record.watch(context.new_page())
        page.goto("/")
        yield page
    record.check()


def pair_number(page: Page) -> int:
    """Return the number of the pair on the page, read from its texts."""
    return int(re.search(r"(?:alpha|beta)(\d)", page.locator(".text").first.inner_text()).group(1))


def read_judgements(folder: Path, name: str) -> dict[str, str]:
    [sheet] = read_sheets(str(folder / f"pairs.{name}.jsonl"))
    return {judgement.a[5]: judgement.type for judgement in sheet.judgements.values()}


def press(page: Page, key: str) -> None:
    """Press a key once the page handles keys."""
    expect(page.locator("[data-opens=help]")).to_be_visible()
    page.keyboard.press(key)


def answer(page: Page, key: str, count: int) -> int:
    """Press a key, wait until the page counts the answer, and return the number of the pair."""
    number = pair_number(page)
    press(page, key)
    expect(page.locator(".where")).to_contain_text(f"{count} of 6 judged")
    return number


def judge_all(address: str, answer_of: Callable[[int], str]) -> Iterator[tuple[int, str]]:
    """Answer all pairs by plain requests; yield the number of each pair and its page."""
    while 'name="key"' in (page := urllib.request.urlopen(address).read().decode()):
        key, token = (
            re.search(rf'name="{name}" value="([^"]+)"', page).group(1) for name in ("key", "token")
        )
        number = int(re.search(r"(?:alpha|beta)(\d)", page).group(1))
        assert post(address, {}, key=key, answer=answer_of(number), token=token) == 200
        yield number, page


def test_judging_by_keyboard_survives_a_kill_and_can_be_undone(
    browser: Browser, folder: Path
) -> None:
    answers: dict[str, str] = {}
    program = [sys.executable, "-m", "indexer"]
    with run_judging(folder, "--assessor", "anna", program=program) as (process, address):
        with open_page(browser, address) as page:
            for count, (key, type) in enumerate(
                (("1", "identical"), ("2", "near-identical"), ("3", "fuzzy")), 1
            ):
                answers[str(answer(page, key, count))] = type
                assert read_judgements(folder, "anna") == answers
        process.send_signal(signal.SIGKILL)
        process.wait()
    with (
        run_judging(folder, "--assessor", "anna") as (_, address),
        open_page(browser, address) as page,
    ):
        expect(page.locator(".where")).to_contain_text("3 of 6 judged")
        number = pair_number(page)
        page.evaluate(
            "for (const button of document.querySelectorAll('[data-answer]')) button.click()"
        )  # while the next one loads
        expect(page.locator(".where")).to_contain_text("4 of 6 judged")
        assert read_judgements(folder, "anna") == {**answers, str(number): "identical"}
        press(page, "u")
        expect(page.locator(".where")).to_contain_text("3 of 6 judged")
        press(page, "u")
        expect(page.locator(".where")).to_contain_text("2 of 6 judged")
        assert answers[str(pair_number(page))] == "fuzzy"
        answers[str(answer(page, "4", 3))] = "different"
        for count in (4, 5, 6):
            answers[str(answer(page, "4", count))] = "different"
        expect(page.locator("h1")).to_have_text("All pairs are judged")
    assert read_judgements(folder, "anna") == answers
    assert len(answers) == 6


@pytest.mark.long
def test_each_assessor_has_another_order_and_no_hints(folder: Path) -> None:
    orders = {}
    for name in ("anna", "bert"):
        with run_judging(folder, "--assessor", name) as (_, address):
            orders[name] = []
            for number, page in judge_all(address, lambda _: "different"):
                assert not re.search(r"left-\d|right-\d|98765|similar", page)
                orders[name].append((number, page.index("alpha") < page.index("beta")))
    assert all(sorted(place for place, _ in order) == list(range(6)) for order in orders.values())
    assert len({tuple(order) for order in orders.values()}) == 2


def test_about_half_of_the_pairs_have_their_sides_swapped() -> None:
    pairs = tasks([(f"a{place}", f"b{place}", "") for place in range(1000)], "anna")
    assert 430 < sum(pair.turned for pair in pairs) < 570
    assert [pair.key for pair in pairs] == [
        pair.key for pair in tasks([(f"b{p}", f"a{p}", "") for p in range(999, -1, -1)], "anna")
    ]


def test_an_arbiter_judges_where_two_differ_and_evaluate_settles_it(
    browser: Browser, folder: Path
) -> None:
    for name, disputed in (("anna", "near-identical"), ("bert", "fuzzy")):
        with run_judging(folder, "--assessor", name) as (_, address):
            for _ in judge_all(
                address,
                lambda number, type_of_two=disputed: (
                    type_of_two if number in (2, 5) else "identical"
                ),
            ):
                pass
    sheets = [str(folder / f"pairs.{name}.jsonl") for name in ("anna", "bert")]
    with run_judging(
        folder, "--assessor", "carol", *(word for path in sheets for word in ("--arbitrate", path))
    ) as (_, address):
        with open_page(browser, address) as page:
            expect(page.locator(".where")).to_contain_text("0 of 2 judged")
            numbers = {pair_number(page)}
            press(page, "4")
            expect(page.locator(".where")).to_contain_text("1 of 2 judged")
            numbers.add(pair_number(page))
            press(page, "2")
            expect(page.locator("h1")).to_have_text("All pairs are judged")
        assert numbers == {2, 5}
    evaluation = evaluate([*sheets, str(folder / "pairs.carol.jsonl")])
    assert dict(evaluation.types) == {"identical": 4, "near-identical": 1, "different": 1}
    assert evaluation.assessors.types.pooled.kappa == pytest.approx(
        (4 / 6 - (4 / 9 + 1 / 36 + 1 / 36)) / (1 - 1 / 2)
    )
    assert evaluation.assessors.duplicate.pooled.kappa is None


@pytest.mark.parametrize(
    ("width", "scheme"), [pytest.param(1280, "light", marks=pytest.mark.slow), (360, "dark")]
)
def test_it_is_accessible_and_fits(browser: Browser, folder: Path, width: int, scheme: str) -> None:
    with (
        run_judging(folder, "--assessor", "anna") as (_, address),
        open_page(browser, address, width=width, color_scheme=scheme) as page,
    ):
        expect(page.locator("[data-answer]")).to_have_count(5)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert axe_violations(page) == {}
        page.get_by_role("button", name="Keyboard shortcuts").click()
        page.get_by_label("single-key shortcuts are on").uncheck()
        page.get_by_role("button", name="Close").click()
        page.keyboard.press("1")
        page.wait_for_timeout(100)
        expect(page.locator(".where")).to_contain_text("0 of 6 judged")


def test_it_works_without_scripts(browser: Browser, folder: Path) -> None:
    with (
        run_judging(folder, "--assessor", "anna") as (_, address),
        open_page(browser, address, java_script_enabled=False) as page,
    ):
        page.locator("[data-answer='3']").click()
        expect(page.locator(".where")).to_contain_text("1 of 6 judged")
        page.get_by_role("button", name="Undo the last judgement").click()
        expect(page.locator(".where")).to_contain_text("0 of 6 judged")
    lines = (folder / "pairs.anna.jsonl").read_text().splitlines()
    assert [json.loads(line).get("judgement", "head") for line in lines] == ["head", "fuzzy", None]


def test_unsure_pairs_come_back_at_the_end_and_go_to_the_arbiter(
    browser: Browser, folder: Path
) -> None:
    with (
        run_judging(folder, "--assessor", "anna") as (_, address),
        open_page(browser, address) as page,
    ):
        press(page, "l")
        page.keyboard.type("2 rents? <b>")
        page.keyboard.press("Enter")
        expect(page.locator(".where")).to_contain_text("0 of 6 judged")
        first = answer(page, "5", 1)
        expect(page.locator(".where")).to_contain_text("1 unsure")
        unsure = [first, *(answer(page, key, count) for count, key in ((2, "5"), (3, "1")))][:2]
        for count in (4, 5, 6):
            answer(page, "1", count)
        expect(page.locator("h1")).to_have_text("All pairs are judged")
        expect(page.get_by_role("link", name="Look at pair")).to_have_count(2)
        press(page, "u")
        expect(page.locator(".where")).to_contain_text("5 of 6 judged")
        answer(page, "1", 6)
        page.get_by_role("link", name="Look at pair 1 again").click()
        assert pair_number(page) in unsure
        expect(page.get_by_label("Note")).to_have_value(
            "2 rents? <b>" if pair_number(page) == first else ""
        )
        assert axe_violations(page) == {}
    for _ in judge_with(folder, "bert", lambda _: "identical"):
        pass
    sheets = [str(folder / f"pairs.{name}.jsonl") for name in ("anna", "bert")]
    evaluation = evaluate(sheets)
    assert dict(evaluation.types) == {"identical": 4}
    disputed = {int(pair.a[5]): pair for pair in evaluation.disagreements}
    assert sorted(disputed) == sorted(unsure)
    assert disputed[first].judgements == {"anna": "unsure", "bert": "identical"}
    assert disputed[first].notes == {"anna": "2 rents? <b>"}
    with run_judging(
        folder, "--assessor", "carol", *(word for path in sheets for word in ("--arbitrate", path))
    ) as (_, address):
        arbitrated = [number for number, _ in judge_all(address, lambda _: "fuzzy")]
    assert sorted(arbitrated) == sorted(unsure)
    settled = evaluate([*sheets, str(folder / "pairs.carol.jsonl")])
    assert dict(settled.types) == {"identical": 4, "fuzzy": 2}


def judge_with(
    folder: Path, name: str, answer_of: Callable[[int], str]
) -> Iterator[tuple[int, str]]:
    """Judge all pairs as an assessor; yield as `judge_all` does."""
    with run_judging(folder, "--assessor", name) as (_, address):
        yield from judge_all(address, answer_of)


def test_agreement_is_shown_in_steps_of_ten_pairs(browser: Browser, folder: Path) -> None:
    lines = ["a,b"]
    for place in range(12):
        for side, word in (("left", "alpha"), ("right", "beta")):
            text = f"{word}{place % 10} rent {place}"
            (folder / f"{side}-{place:02}.txt").write_text(text)
        lines.append(f"left-{place:02}.txt,right-{place:02}.txt")
    (folder / "pairs.csv").write_text("\n".join(lines) + "\n")
    types = ["identical", "different"]
    for _ in judge_with(folder, "bert", lambda number: types[number % 2]):
        pass
    options = ("--assessor", "anna", "--beside", "pairs.bert.jsonl")
    with run_judging(folder, *options) as (_, address):
        for place, _ in enumerate(judge_all(address, lambda number: types[number % 2]), 1):
            shown = urllib.request.urlopen(f"{address}/agreement").read().decode()
            assert ("first 10 pairs" in shown) == (place >= 10)
            assert "bert" in shown or place < 10
        with open_page(browser, address, width=390) as page:
            page.get_by_role("link", name="Agreement so far").click()
            expect(page.get_by_role("cell", name="1.000")).to_have_count(2)
            expect(page.get_by_role("cell", name="100%")).to_have_count(2)
            assert axe_violations(page) == {}
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
    with run_judging(folder, "--assessor", "anna") as (_, address):
        assert b"Agreement so far" not in urllib.request.urlopen(address).read()
        with pytest.raises(urllib.error.HTTPError, match="400"):
            urllib.request.urlopen(f"{address}/agreement")


def test_both_texts_scroll_together_unless_that_is_switched_off(
    browser: Browser, folder: Path
) -> None:
    for side, lines in (("left", 300), ("right", 900)):
        (folder / f"{side}-0.txt").write_text("alpha0 the tenant\n\n" * lines)
    (folder / "pairs.csv").write_text("a,b\nleft-0.txt,right-0.txt\n")
    with (
        run_judging(folder, "--assessor", "anna") as (_, address),
        open_page(browser, address) as page,
    ):
        share = (
            "place => {const e = document.querySelectorAll('.text')[place];"
            " return Math.round(100 * e.scrollTop / (e.scrollHeight - e.clientHeight))}"
        )
        scroll = (
            "([place, part]) => {const e = document.querySelectorAll('.text')[place];"
            " e.scrollTop = part * (e.scrollHeight - e.clientHeight)}"
        )
        for place, part in ((0, 0.5), (1, 0.25), (0, 1)):
            page.evaluate(scroll, [place, part])
            for _ in range(100):  # pages forbid the `eval` of wait_for_function
                if page.evaluate(share, 1 - place) == round(100 * part):
                    break
                page.wait_for_timeout(20)
            assert [page.evaluate(share, side) for side in (0, 1)] == [round(100 * part)] * 2
        press(page, "s")
        expect(page.get_by_label("scroll both texts together")).not_to_be_checked()
        page.evaluate(scroll, [0, 0.1])
        page.wait_for_timeout(200)
        assert page.evaluate(share, 1) == 100


def post(address: str, headers: dict[str, str], **fields: str) -> int:
    body = urllib.parse.urlencode(fields).encode()
    try:
        with urllib.request.urlopen(
            urllib.request.Request(f"{address}/judge", body, headers)
        ) as response:
            return response.status
    except urllib.error.HTTPError as error:
        return error.code


def test_others_cannot_judge(folder: Path) -> None:
    with run_judging(folder, "--assessor", "anna") as (_, address):
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
        assert read_judgements(folder, "anna") == {}
        assert post(address, {}, key=key, answer="fuzzy", token=token) == 200
        with (folder / "pairs.anna.jsonl").open("a") as file:
            file.write("{}\n")
        assert post(address, {}, key=key, answer="fuzzy", token=token) == 400
