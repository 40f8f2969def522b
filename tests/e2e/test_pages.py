"""The commands of pages run, in order, in one folder; and print and write what the page says.

Each page is a row of `PAGES`; a page of which one command takes what another printed has a test.
"""

import contextlib
import csv
import json
import re
import shlex
import shutil
import signal
import subprocess
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from command import ROOT, outcome, page_environment, run, run_json, shell
from forked_commands import client_command
from page_blocks import (
    Page,
    blocks,
    clauses_of_types,
    copy_examples,
    group_examples,
    mails,
    page_text,
    prompts,
    run_python,
)

from indexer.comparing.words import normal_words

COPIETJE = ROOT / "tests/data/copietje"
KINDS = ("copy", "format", "edit-40", "moved", "ocr-03", "reply", "boilerplate")
CLAUSE = (
    "7.1 Confidentiality. Each party shall keep the other's confidential information secret, "
    "use it for the purposes of this Agreement alone, and return or destroy it within thirty days "
    "of a written request. This clause survives termination for five years."
)
MIH = "1de319c276884bd0c9e2f1621ada26cc"
CHECKED = """https://example.org/ferry new None
https://example.org/ferry?print=1 duplicate https://example.org/ferry
https://example.org/library new None
"""


def files_of_parts(folder: Path) -> None:
    copy_examples(folder)
    (folder / "clause.txt").write_text(CLAUSE)


def index_clauses(folder: Path) -> None:
    clauses_of_types(folder)
    shell("nearfold index clauses", folder)


def labelled_examples(folder: Path) -> None:
    group_examples(folder)
    store = f"sqlite:///{folder}/nearfold.db"
    page = run_json("search", "agreement", "--fold", "none", store=store)
    run("label", page["hits"][0]["id"], "--label", "responsive", store=store)


def examples_in_place(folder: Path) -> None:
    copy_examples(folder)
    shutil.copytree(ROOT / "examples", folder, dirs_exist_ok=True)


def home(folder: Path) -> None:
    shutil.copytree(ROOT / "examples", folder / "Documents")


def files_of_check(folder: Path) -> None:
    [first, *_] = blocks("docs/check.md")
    shell(first[: first.index("nearfold")], folder)


def nothing(_folder: Path) -> None:
    """Leave the folder empty."""


def verify_check(_folder: Path, outputs: list[str]) -> None:
    first, second, stored, near, again, *reasons, other, least = outputs[0].strip().splitlines()
    assert first == "new" and second.startswith("  no stored document reaches 80%")
    answer = json.loads(near)
    assert stored == f"stored as {answer['of']}" and answer["verdict"] == "duplicate"
    assert answer["similarity"] == 22 / 23 and "new words" in answer["reasons"][-1]
    assert again.startswith(f"duplicate of {answer['of']}  100.0% by lcs  ferry.txt")
    assert reasons == ["  it is stored already, with this text"]
    assert (other, least) == ("new", "  no stored document reaches 80% by lcs")
    assert "note:" not in outputs[0]


def verify_inbox(folder: Path, outputs: list[str]) -> None:
    assert outputs[0].split() == ["accepted:", "again.txt", "review:"]
    assert list((folder / "inbox").iterdir()) == []
    assert run_json("status", store=f"sqlite:///{folder}/nearfold.db")["documents"] == 1


def verify_exports(folder: Path, outputs: list[str]) -> None:
    names = re.findall(r"--out (\S+)", blocks("docs/exports.md")[0])
    assert outputs[0].count("written to") == len(names) == 6
    assert all((folder / name).stat().st_size > 100 for name in names)


def verify_study(folder: Path, _outputs: list[str]) -> None:
    for out in (folder / "studied", folder / "studied-store"):
        report = (out / "report.html").read_text(encoding="utf-8")
        assert "Table 1" in report and "Table 2" in report
        assert not re.search(r"https?://(?!www\.w3\.org)", report)
        assert not (out / "work").exists()
    table = (folder / "studied" / "signatures.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(table.splitlines()))
    assert {"16", "1024"} <= {row["bits"] for row in rows}
    assert {row["documents"] for row in rows} == {"12"}
    figure = folder / "studied" / "figure-3-1024.svg"
    assert figure.read_text(encoding="utf-8").startswith("<svg")


def verify_threads(folder: Path, outputs: list[str]) -> None:
    printed = outputs[0].splitlines()
    assert printed[0] == f"{MIH}  2 mails, 1 inclusive"
    assert printed[1] == "  2024-02-05 09:00  Ann <ann@x.org>  Ferry"
    assert printed[2].endswith(f"held by {folder}/mails/Inbox!/2@x.eml")
    assert printed[3] == "*   2024-02-05 10:00  Bo <bo@x.org>  Re: Ferry"
    assert "2 mails in 1 thread: 1 inclusive (50%), 1 other files, 0 failed" in printed
    assert "written to threads.csv" in outputs[0]
    table = (folder / "threads.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(table.splitlines()))
    assert [(row["thread"], row["inclusive"], row["depth"]) for row in rows] == [
        (MIH, "false", "0"),
        (MIH, "true", "1"),
    ]
    load_file = (folder / "threads.dat").read_text(encoding="utf-8-sig")
    header, first, *_ = (line.strip("\rþ").split("þ\x14þ") for line in load_file.split("\n"))
    values = dict(zip(header, first, strict=True))
    assert (values["MIH"], values["Inclusive"], values["HeldBy"]) == (MIH, "N", rows[1]["id"])
    thread = json.loads((folder / "threads.jsonl").read_text(encoding="utf-8"))
    assert [mail["held_by"] for mail in thread["mails"]] == [rows[1]["id"], None]
    segments = [part["kind"] for part in thread["mails"][1]["segments"]]
    assert segments == ["reply", "attribution", "quoted"]


def verify_evaluation(folder: Path, outputs: list[str]) -> None:
    by_gold, _, by_queries, by_sheets, audit, _ = outputs
    assert "7 judged pairs" in by_gold
    assert re.search(r"default_v3 at 0.97 .*missed: \d.*nearfold compare", by_gold, re.DOTALL)
    assert "Quality of near-duplicate detection" in (folder / "evaluation.html").read_text(
        encoding="utf-8"
    )
    results = json.loads((folder / "evaluation.json").read_text())
    assert [item["recipe"] for item in results["results"]] == ["default_v3", "simhash-doc-v2"]
    assert results["results"][0]["pairs"]["precision"]["value"] == 1.0
    assert all(
        item["compare"].startswith("nearfold compare ") for item in results["results"][0]["misses"]
    )
    assert (folder / "pairs.csv").read_text().count("\n") > 5
    assert "collection.bert.csv has 9 pairs to judge" in by_queries
    assert "kappa with the truth" in by_queries and (folder / "tables" / "sets.csv").is_file()
    assert "1 disagreement, 0 not settled" in by_sheets
    assert re.search(r"duplicate or not +0\.467", by_sheets)  # (3/4 - 17/32) / (15/32), by hand
    assert "recall 100.0%" in (folder / "report.html").read_text(encoding="utf-8")
    assert re.search(r"audit: all 36 pairs .* 0 pairs of .* not listed: recall 100\.0%", audit)


PAGES = [
    Page("docs/index.md", ("12 documents: 12 indexed", "6 documents in 3 groups")),
    Page(
        "docs/operating.md",
        (
            "index  done",
            "ferry-press-release.txt",
            "note  provisional: 12 documents",
            "note  provisional: 12 documents",
        ),
        files={"nearfold.prom": ("nearfold_documents",)},
    ),
    Page("docs/search.md", ("ferry-news-evening-edition.txt",), set_up=group_examples),
    Page("README.md", chosen=(0, 0), consoles=True, environment={"COLUMNS": "110"}),
    Page("docs/commands.md", chosen=(0, 0), consoles=True, environment={"COLUMNS": "110"}),
    Page(
        "docs/clauses.md",
        (
            "12 documents in 63 parts",
            "63 parts: 17 near-duplicate groups",
            "4 near duplicates",
        ),
        consoles=True,
        set_up=files_of_parts,
    ),
    Page(
        "docs/duplicate-types.md",
        ("near identical",),
        consoles=True,
        python="a [('b', 'near_identical')]\n",
        set_up=index_clauses,
    ),
    Page(
        "docs/check.md",
        chosen=(0, 1),
        python=CHECKED,
        set_up=nothing,
        verify=verify_check,
    ),
    Page("docs/check.md", chosen=(1, 2), set_up=files_of_check, verify=verify_inbox),
    Page(
        "docs/exports.md",
        chosen=(0, 1),
        set_up=labelled_examples,
        verify=verify_exports,
    ),
    Page(
        "docs/evaluation.md",
        set_up=examples_in_place,
        environment={"COLUMNS": "160"},
        errors=True,
        verify=verify_evaluation,
    ),
    Page("docs/threads.md", chosen=(0, 1), set_up=mails, verify=verify_threads),
    Page(
        "docs/guides/clean-a-dataset.md",
        lines={"exact.jsonl": 4, "clean.jsonl": 3, "numbers.jsonl": 2, "all.jsonl": 3},
        python="3 kept, 1 copies, 1 near duplicates\n",
    ),
    Page(
        "docs/guides/review-a-matter.md",
        (
            "12 documents: 12 indexed",
            "3 documents",  # the largest group
            "1 amount differs: 42,000 / 45,500",
        ),
        files={"groups.dat": ("NearDupGroup",), "coding.csv": ("nonresponsive",)},
        skipped=("nearfold export --format html",),  # slow
    ),
    Page(
        "docs/guides/choose-a-threshold.md",
        ("precision",),
        files={"pairs.csv": ("names differ",)},
        skipped=("nearfold synth", "nearfold tune"),  # slow; docs/tuning.md has them
    ),
    Page(
        "docs/guides/run-in-production.md",
        ("12 unchanged", '"verdict": "new"'),
        files={"copy.db": ()},
    ),
    Page(
        "docs/guides/first-ten-minutes.md",
        (
            "12 documents: 12 indexed",
            "6 documents in 3 groups",
            "near-duplicate groups",
            "2 near duplicates by measure: lcs",
        ),
        set_up=home,
        environment={"HOME": "."},
    ),
]
SLOW = [
    Page("docs/tuning.md", files={"corpus/gold.csv": tuple(f",{kind}," for kind in KINDS)}),
    Page("docs/study.md", verify=verify_study),
]
SOURCES = ROOT / "docs" / "sources"
SOURCE_PAGES = ["000.md", "001.md", "002.md", "003.md", "004.md"]
needs_curl = pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_commands_of_a_page(page: Page, tmp_path: Path) -> None:
    page.check(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("page", SLOW, ids=str)
def test_slow_commands_of_a_page(page: Page, tmp_path: Path) -> None:
    page.check(tmp_path)


def test_events_are_those_that_the_page_of_operating_shows(tmp_path: Path) -> None:
    copy_examples(tmp_path)
    shell(blocks("docs/operating.md")[0], tmp_path)
    log = (tmp_path / "events.jsonl").read_text().splitlines()
    events = [json.loads(line) for line in log if line.startswith("{")]
    assert [event["event"] for event in events] == ["job_began", "job_ended"]
    page = page_text("docs/operating.md").splitlines()
    examples = [json.loads(line) for line in page if line.startswith("{")]
    [ended] = [event for event in examples if event["event"] == "job_ended"]
    assert events[0].keys() < events[1].keys() == ended.keys()


def outputs_as_shown(page: str, folder: Path) -> None:
    """Run the console blocks of a page, each in one shell, and compare the output with the page."""
    sessions = [prompts(block) for block in blocks(page, "console")]
    assert sessions
    for session in sessions:
        commands = "\n".join(command for command, _ in session)
        assert shell(commands, folder) == "".join(shown for _, shown in session)


def test_a_search_prints_what_its_page_shows(library: str, tmp_path: Path) -> None:
    outputs_as_shown("docs/search.md", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("page", SOURCE_PAGES)
def test_quoted_commands_print_what_the_page_shows(page: str, tmp_path: Path) -> None:
    copy_examples(tmp_path)
    shutil.copy(COPIETJE / "case-2.0.db", tmp_path / "casename.db")
    expected = (COPIETJE / "expected-2.0.txt").read_text(encoding="utf-8").split("## ")[1]
    (tmp_path / "expected.txt").write_text(expected.partition("\n")[2], encoding="utf-8")
    outputs_as_shown(f"docs/sources/{page}", tmp_path)


def test_every_source_document_has_its_page() -> None:
    assert sorted(path.name for path in SOURCES.iterdir()) == SOURCE_PAGES


@pytest.fixture
def library(copy_examples_to: Callable[[Path], str], tmp_path: Path) -> str:
    """The store of the commands, with the examples indexed and grouped."""
    store = copy_examples_to(tmp_path / "nearfold.db")
    run("group", store=store)
    return store


def test_passages(library: str, tmp_path: Path) -> None:
    notice = "This message is meant for its addressee alone; whoever has it by mistake deletes it, "
    notice += "and tells the sender so that the mistake is not made a second time."
    texts = ["Rent is due in May.", "The ferry was late again.", "Bring the keys to room nine."]
    texts += ["Twelve boxes arrived without lids.", "Our meeting is moved to the library."]
    (tmp_path / "mails").mkdir()
    for number, text in enumerate(texts):
        (tmp_path / "mails" / f"{number}.txt").write_text(f"{text}\n\n{notice}\n")
    run("index", tmp_path / "mails", store=library)
    run("group", store=library)
    commands, leaving, signing = blocks("docs/passages.md")
    first, _, line = shell(commands, tmp_path).rpartition("passages\n")
    assert first.startswith("5 documents, 5 groups, 1 folder, 29 words, top\n  This message")
    passage = json.loads(line)
    assert (passage["text"], passage["documents"]) == (notice.rstrip("."), 5)
    assert {Path(place["path"]).name for place in passage["places"]} == {
        f"{number}.txt" for number in range(5)
    }
    out = tmp_path / "passages.jsonl"
    shell(leaving.splitlines()[0], tmp_path)
    out.write_text(out.read_text().replace('"approved": false', '"approved": true'))
    assert "1 approved passage (145 words) left out of 5 documents" in shell(leaving, tmp_path)
    new_index, *another_list = signing.splitlines()
    store = f"sqlite:///{tmp_path}/new.db"
    assert "5 documents" in shell(new_index, tmp_path, NEARFOLD_STORE=store)
    for line in another_list:
        shell(line, tmp_path)


def test_families(library: str, tmp_path: Path) -> None:
    page = run_json("search", "ferry", "--fold", "family", store=library)
    [id] = [hit["id"] for hit in page["hits"] if hit["folded"]][:1]
    matching, contained, scans, criteria, listing, *labelling = blocks("docs/families.md")
    supply = run_json("search", "supply agreement", store=library)["hits"][0]["id"]
    run("label", supply, "--label", "privileged", store=library)
    assert shell(matching, tmp_path).startswith("1.000\t")
    assert {"a", "b", "similarity", "measure"} <= json.loads(
        (tmp_path / "pairs.jsonl").read_text().splitlines()[0]
    ).keys()
    assert all(
        json.loads(line)["measure"] == "passages"
        for line in shell(contained, tmp_path).splitlines()
    )
    shutil.copytree(ROOT / "examples", tmp_path / "scans")
    assert "1.000\t" in shell(scans, tmp_path)
    first, _, labelled = shell(listing, tmp_path).rpartition("groups\n")
    assert first.startswith("3 documents") and json.loads(labelled)["size"] == 2
    by_id, by_field, by_rule = labelling
    assert (
        shell(by_id.replace(" ID ", f" {id} ").replace("--undo 1", "--undo 2"), tmp_path).count(
            "nonresponsive"
        )
        > 1
    )
    run("label", id, "--label", "nonresponsive", store=library)
    coded = shell(by_field.replace(" ID ", f" {id} "), tmp_path)
    assert "privilege=privileged needs note" in coded
    assert "nonresponsive, relevance=responsive, privilege=privileged" in coded
    assert "nonresponsive" in shell(by_rule, tmp_path)
    assert shell(criteria, tmp_path).count(" changed") == 3


def test_dedup(tmp_path: Path) -> None:
    rows, again, spans = blocks("docs/dedup.md")
    printed = shell(rows, tmp_path)
    assert "5 rows: 3 kept, 1 exact and 1 near duplicates removed" in printed
    kept = (tmp_path / "clean.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in kept] == [1, 4, 5]
    assert (tmp_path / "clean.jsonl.manifest.json").exists()
    assert shell(again, tmp_path).split()[-1] == "3"
    printed = shell(spans, tmp_path)
    assert "1 copy of approved passages (3 words) removed from rows that stay" in printed
    assert '{"text": "The library opens a reading room on Monday.  "}' in printed
    command = ("dedup", tmp_path / "news.jsonl", "--out", tmp_path / "other.jsonl")
    (tmp_path / "other.jsonl.manifest.json").write_text("mine")
    refused = outcome(*command)
    assert refused.returncode == 2 and "--replace" in refused.stderr
    assert not (tmp_path / "other.jsonl").exists()
    assert outcome(*command, "--replace").returncode == 0
    [python] = blocks("docs/dedup.md", "python")
    assert run_python(python, tmp_path).split() == ["5", "3", "1", "1", "0"]


def test_dedup_to_stdout_and_not_at_all(tmp_path: Path) -> None:
    shell(blocks("docs/dedup.md")[0], tmp_path)
    rows = tmp_path / "news.jsonl"
    files = sorted(tmp_path.iterdir())
    written = outcome("dedup", rows, "--out", "-")
    assert written.stdout == (tmp_path / "clean.jsonl").read_text()
    assert "5 rows: 3 kept" in written.stderr
    assert "5 rows: 3 kept" in run("dedup", rows, "--dry-run")
    wrong = outcome("dedup", rows, "--out", "-", "--text-field", "body")
    assert (wrong.returncode, wrong.stdout) == (2, "") and "it has: id, text" in wrong.stderr
    assert outcome("dedup", rows).returncode == 2
    assert sorted(tmp_path.iterdir()) == files


def test_dedup_goes_on_after_a_kill(tmp_path: Path) -> None:
    lines = [json.dumps({"text": f"row {n % 1100} of a table with words"}) for n in range(2500)]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    run("dedup", tmp_path / "a.jsonl", "--out", tmp_path / "whole.jsonl")
    command = ("dedup", tmp_path / "a.jsonl", "--out", tmp_path / "b.jsonl", "--json")
    for point in ("before_commit:3=kill", "after_commit:2=kill", "before_commit:2=kill"):
        killed = outcome(*command, NEARFOLD_FAILPOINTS=point)
        assert killed.returncode == -signal.SIGKILL
        assert not (tmp_path / "b.jsonl").exists()
    result = json.loads(outcome(*command).stdout)
    assert result["resumed"] == 2500
    assert result["read"] == result["kept"] + result["exact"] + result["near"] == 2500
    for ending in ("", ".removed.jsonl"):
        whole = tmp_path / f"whole.jsonl{ending}"
        assert whole.read_bytes() == (tmp_path / f"b.jsonl{ending}").read_bytes()
    assert not (tmp_path / ".b.jsonl.dedup").exists()


def test_sending(tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "good.txt").write_text(
        "Ferries leave the harbour at eight in the morning and at six in the evening."
    )
    (folder / "broken.docx").write_bytes(b"PK\x03\x04 and nothing else")
    run("index", folder, store=f"sqlite:///{tmp_path}/nearfold.db", code=1)
    [block] = blocks("docs/sending.md")
    how_many, which, again = block.strip().splitlines()
    assert re.search(r"1  failed: ", shell(how_many, tmp_path))
    assert "broken.docx" in shell(which, tmp_path)
    assert "broken.docx" in shell(again.replace("PATH", str(folder)), tmp_path, code=1)


@needs_curl
def test_the_api_of_the_review_pages(library: str, tmp_path: Path) -> None:
    lines = [line for block in blocks("docs/reviewing.md") for line in block.splitlines()]
    served = next(line for line in lines if line.startswith("nearfold serve"))
    [commands] = [block for block in blocks("docs/reviewing.md") if "curl" in block]
    words = served.partition("#")[0].split()
    assert words[:2] == ["nearfold", "serve"]
    command = [*client_command(), *words[1:], "--port", "0"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=page_environment(tmp_path), stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            address = next(iter(re.findall(r"http://[\w.:]+", process.stdout.readline())))
            deadline = time.monotonic() + 60
            while not ready(f"{address}/api/status"):
                assert time.monotonic() < deadline
                time.sleep(0.1)
            answer = json.loads(
                shell(
                    commands.replace("http://127.0.0.1:8765", address).replace(
                        "curl ", "curl -sf "
                    ),
                    tmp_path,
                )
            )
            assert sum(len(hit["folded"]) for hit in answer["hits"]) > 0
        finally:
            process.terminate()


def ready(url: str) -> bool:
    """Return whether a server that printed its address answers requests."""
    with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=5):
        return True
    return False


def test_versions(library: str) -> None:
    run("group", "--policy", "loose", store=library)
    page = run_json("search", "agreement", "--fold", "none", store=library)
    [renewal] = [hit["id"] for hit in page["hits"] if "renewal" in hit["path"]]
    [block] = blocks("docs/versions.md")
    for line in block.splitlines():
        words = shlex.split(line, comments=True)[1:]
        printed = run(words[0], renewal, *words[2:], store=library)
        assert "3 versions in 4 documents" in printed
        assert ("2024-03-04  " in printed) == ("--no-dates" not in words)
        assert ("[-Tilbury-] {+Southampton+}" in printed) == ("--redline" in words)
        assert ("either way" in printed) == ("--no-dates" in words)
    answer = run_json("versions", renewal, "--redline", store=library)
    assert [version["from"] is None for version in answer["versions"]] == [True, False, False]
    [last] = [version for version in answer["versions"] if version["id"] == renewal]
    assert ["added", "Southampton "] in last["redline"]
    assert last["added"] == sum(
        len(normal_words(text)) for change, text in last["redline"] if change == "added"
    )
