"""A reviewer's day on a matter of 1,500 files, by keyboard: find, code, differ, undo, a conflict
with another reviewer, and the export.
"""

from __future__ import annotations

import csv
import random
import re
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from synthetic_mail import Writer

from indexer.comparing.criteria import Criteria
from indexer.documents.base import ReadOptions
from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.jobs.index import IndexOptions, index
from indexer.stores import open_store
from web.test_deciding_in_a_browser import Keyboard
from web.test_labelling import Forms
from web.watching import PageRecord, axe_violations, open_window, run_site

CUSTODIANS = ("Weber", "Klein", "Diaz", "Fox", "Lund", "Moss", "Holt", "Paz")
WORDS = re.findall(
    r"\w+",
    "supplier deliver goods warehouse clause governs payment notice term renewal agreement parties "
    "service level price schedule annex delay damages liability cap insurance audit records quay "
    "confidential personal data transfer dispute court arbitration language entire waiver invoice "
    "harbour crane berth pilot cargo manifest customs tariff storage pallet forklift ledger",
)
ACKNOWLEDGEMENT = (
    "Dear Compliance Office,\n\nI acknowledge receipt of the notice dated {day} March 2024 and of "
    "the enclosed schedule. I have read the policy on trading in shares of the company and agree "
    "to comply with it in every respect. I understand that the policy applies to members of my "
    "household, that the closed periods are published in advance, that dealings by nominees "
    "count as my own, that the register of insiders is kept by the secretary of the board and may "
    "be shown to the regulator at any time, that orders given before the notice was served are "
    "reported within two days, and that questions go to the compliance office.{more}\n\n"
    "Yours sincerely,\n{name}\n"
)
SCRIPTS = {
    "ελ": "Η σύμβαση αυτή διέπει την παράδοση {n} κιβωτίων στην αποθήκη του λιμένα έως την άνοιξη.",
    "ru": "Настоящий договор регулирует поставку {n} ящиков на склад порта до наступления весны.",
    "he": "הסכם זה מסדיר את אספקת {n} הארגזים למחסן הנמל עד לאביב הקרוב ובכפוף לתנאים להלן.",
    "zh": "本协议规定在春季之前向港口仓库交付{n}箱货物，并按照下列条件付款和验收。",
    "hi": "यह अनुबंध वसंत तक बंदरगाह के गोदाम में {n} पेटियों की आपूर्ति को नियंत्रित करता है।",
}
FILES = 1_500


def prose(chance: random.Random, sentences: int) -> str:
    lines = (" ".join(chance.choices(WORDS, k=chance.randint(8, 16))) for _ in range(sentences))
    return "\n".join(f"{line.capitalize()}." for line in lines)


def matter(chance: random.Random) -> Iterator[tuple[str, bytes]]:
    """Yield the names of files with their bytes."""
    for number in range(44):
        more = " This is subject to the advice of my lawyer." if number % 11 == 7 else ""
        name = CUSTODIANS[number % 8]
        text = ACKNOWLEDGEMENT.format(day=1 + number % 28, more=more, name=name)
        yield f"acknowledgement{number:02}.txt", text.encode()
    for contract in range(12):
        clauses = [f"{at + 1}. {prose(chance, 3)}" for at in range(12)]
        for version in range(6):
            fee = f" The fee is {1000 * (contract + 1) + 100 * version} euros."
            text = "\n\n".join([*clauses[:6], clauses[6] + fee, *clauses[7:]])
            yield f"contract{contract:02}-v{version}.txt", text.encode()
    for report in range(60):
        text = f"Pattern report {report}\n\n{prose(chance, 30)} The pattern of the modern harbour."
        yield f"report{report:02}.txt", text.encode()
        yield f"report{report:02}-ocr.txt", text.replace("rn", "m").encode()
    for number in range(100):
        script = list(SCRIPTS)[number % 5]
        text = "\n".join(SCRIPTS[script].format(n=10 * number + line) for line in range(12))
        yield f"{script}{number:02}.txt", text.encode()
    writer = Writer(45)
    for thread in range(70):
        mails = [writer.root(thread, datetime(2024, 1, 1 + thread % 28, tzinfo=timezone.utc))]
        for reply in range(1, 10):
            mails.append(writer.answer(chance.choice(mails), f"t{thread}.{reply}"))
        for at, mail in enumerate(mails):
            yield f"mail{thread:02}-{at}.eml", mail.bytes()
    for number in range(FILES - 44 - 72 - 120 - 100 - 700):
        yield f"note{number:03}.txt", prose(chance, 12).encode()


@pytest.fixture(scope="module")
def matter_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The store of the matter, each custodian's files in a folder."""
    folder = tmp_path_factory.mktemp("matter")
    files = list(matter(random.Random(45)))
    assert len(files) == FILES
    store = open_store(f"sqlite:///{folder}/matter.db")
    for number, custodian in enumerate(CUSTODIANS):
        own = folder / custodian
        own.mkdir()
        for name, data in files[number :: len(CUSTODIANS)]:
            (own / name).write_bytes(data)
        options = IndexOptions(reading=ReadOptions(attachments=True), custodian=custodian)
        index([str(own)], store, options)
    group(store, GroupOptions(criteria=Criteria(policy="loose")))  # 44 forms, eight names
    yield store
    store.close()


@pytest.fixture
def desk(matter_store: Any, browser: Browser) -> Iterator[Page]:
    fields = ("--field", "relevance=responsive,not responsive:required")
    privilege = ("--field", "privilege=privileged,not privileged", "--rule")
    rule = ("privilege=privileged needs note", "--matter", "Weber v. Lund")
    with run_site(matter_store.url, *fields, *privilege, *rule, "--reviewer", "anna") as address:
        record = PageRecord(address)
        with open_window(browser, address, record) as windows:
            yield record.watch(windows.new_page())
        record.check()


def labelled(store: Any, label: str) -> int:
    return sum(label in row.labels for row in store.scan())


@pytest.mark.slow
def test_a_day(desk: Page, matter_store: Any) -> None:
    keys = Keyboard(desk)
    desk.goto("/")
    expect(desk.get_by_role("heading", level=1)).to_have_text("Weber v. Lund")
    keys.press("/")
    desk.keyboard.type("acknowledge notice")
    keys.open("Enter")
    expect(desk.locator("#count")).to_contain_text("44 documents in 1 group")
    keys.press("j", "x")
    expect(desk.locator(".fold li")).to_have_count(43)
    expect(desk.locator(".fold .facts-differ").first).to_contain_text("differ")
    keys.open("f")
    others = "4 of 43 members have words that the principal lacks"
    expect(desk.locator("main")).to_contain_text(others)
    expect(desk.locator("main")).to_contain_text("lawyer")
    keys.open("1")
    keys.open("m")
    keys.open("o")
    expect(desk.get_by_role("heading", level=1)).to_have_text("39 documents would change")
    keys.open("Enter")
    assert labelled(matter_store, "relevance=responsive") == 40
    keys.open("u")
    assert labelled(matter_store, "relevance=responsive") == 1
    keys.open("o")
    keys.open("Enter")
    assert labelled(matter_store, "relevance=responsive") == 40
    desk.goto("/?q=lawyer&sort=path")
    expect(desk.locator("#count")).to_contain_text("4 documents")
    keys.press("j")
    keys.open("Enter")
    id = re.search("id=([0-9a-f]+)", desk.url)
    assert id is not None
    other = Forms(desk.url.split("/document")[0])
    other.send("/label", id=id[1], add="relevance=not responsive", dry_run="no")
    keys.open("1")
    expect(desk.get_by_role("heading", level=1)).to_have_text(
        "Somebody has changed these labels since you opened the page"
    )
    desk.go_back()
    desk.goto("/?q=contract+OR+fee&fold=none")
    with desk.expect_download() as download:
        keys.press("e")
    with Path(download.value.path()).open(encoding="utf-8-sig", newline="") as file:
        lines = list(csv.DictReader(file))
    assert {line["custodian"] for line in lines} == set(CUSTODIANS)
    assert axe_violations(desk) == {}
