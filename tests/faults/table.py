"""The table of injected faults: kinds, counts, the checks after each, the defects that were fixed,
and open ones.

How often is counted: the tests that passed (one fault each, or as many as the test says by its
property `faults`), and the kills of campaigns. `times.json` keeps the counts of the last runs that
were recorded.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PAGE = HERE.parent.parent / "docs" / "reliability.md"
TIMES = HERE / "times.json"
BEGIN, END = "<!-- faults: begin -->", "<!-- faults: end -->"
ALL = "I1 to I9"
END_OF = "when a store is complete I1 to I9, except memory"


@dataclass(frozen=True)
class Fault:
    """One kind of fault. `tests`: names, or beginnings of names, of tests in this folder; or the
    key of a campaign.
    """

    name: str
    tests: tuple[str, ...]
    checked: str
    fixed: str = ""
    still_open: str = ""


FAULTS = (
    Fault(
        "kill -9 at each named step of a job, alone and all in turn",
        ("test_failpoints.py::test_killed",),
        ALL,
    ),
    Fault(
        "an error at each named step",
        ("test_failpoints.py::test_failing",),
        ALL,
        "errors of the journal's disk were reported as internal errors (exit code 70): now 4, "
        "with a way forward",
        "an internal error is exit code 70, with its traceback",
    ),
    Fault(
        "kill -9, a lost request, a lost response at the steps of a job into OpenSearch and "
        "Elasticsearch",
        ("test_engine_failpoints.py",),
        "I1 to I5, I9",
    ),
    Fault("a delay at each named step", ("test_failpoints.py::test_slow",), ALL),
    Fault(
        "kill -9 of nearfold at random times and steps, embedded store",
        ("campaign nearfold sqlite",),
        f"I2 to I5, I8; {END_OF}",
    ),
    Fault(
        "kill -9 of nearfold at random times and steps, OpenSearch",
        ("campaign nearfold opensearch",),
        f"I2, I5; {END_OF}",
    ),
    Fault(
        "kill -9 of OpenSearch at random times",
        ("campaign opensearch",),
        f"I2, I5 when its job has ended; {END_OF}",
    ),
    Fault(
        "kill -9 of nearfold at random times and steps, Elasticsearch",
        ("campaign nearfold elastic",),
        f"I2, I5; {END_OF}",
    ),
    Fault(
        "kill -9 of Elasticsearch at random times",
        ("campaign elastic",),
        f"I2, I5 when its job has ended; {END_OF}",
    ),
    Fault(
        "kill -9 of commands of every kind at random times and steps, on eight stores",
        ("campaign operations", "test_long_run.py"),
        "every document has the text and labels of before or after the command, which then "
        "completes; I2, I3, I8",
        "labels were lost when a file was indexed again; `doctor --repair` rebuilt a sound index; "
        "`reindex` left earlier versions of an index in an engine",
    ),
    Fault(
        "kill -9 of a node of three at random times, during jobs and searches, OpenSearch",
        ("campaign nodes opensearch", "test_node_kills.py::test_no_command"),
        "no job or search ends with an error; at the end I1 to I3, I8, I9",
        "a search answered with the documents of the shards that were there: now it waits",
    ),
    Fault(
        "kill -9 of a node of three at random times, during jobs and searches, Elasticsearch",
        ("campaign nodes elasticsearch",),
        "no job or search ends with an error; at the end I1 to I3, I8, I9",
    ),
    Fault(
        "steps of other clients during commands of every kind; clients, commands and nodes of "
        "three are killed",
        ("campaign clients", "test_other_writers.py::test_c"),
        "no document is folded under one that it does not resemble; every group has a visible "
        "principal; what `doctor` calls good is good",
        "`reindex` kept the groups of texts that clients had changed; a principal sent again "
        "without a pipeline folded its former members; `group` left the keys of texts that clients "
        "had changed in one of several indices",
    ),
    Fault(
        "kill -9 of OpenSearch in the middle of a bulk request",
        ("../e2e/test_killed_server.py",),
        "I1, I2, I3, I5",
    ),
    Fault(
        "SIGINT, SIGTERM once",
        ("test_signals.py::test_the_first",),
        ALL,
        "extracted texts that were not yet written were discarded: now they are written, and the "
        "account is printed",
    ),
    Fault(
        "SIGINT, SIGTERM twice; SIGSTOP",
        ("test_signals.py::test_the_second", "test_signals.py::test_a_job"),
        ALL,
    ),
    Fault("a second job on one store", ("test_two_indexers.py::test_the_second",), ALL),
    Fault(
        "two machines fill one cluster, one is killed",
        ("test_two_indexers.py::test_two",),
        "I1, I2, I3, I9",
    ),
    Fault(
        "a store's log torn at the end, cut, or with a bit flipped",
        (
            "test_damaged_files.py::test_a_log",
            "test_damaged_files.py::test_a_job",
            "test_damaged_files.py::test_a_bit",
        ),
        "I3, I4, I8; in 11 of them I1 to I9",
        "",
        "a flipped bit in the file itself, not in its log, is detected only where it breaks the "
        "file's structure",
    ),
    Fault(
        "a journal torn at each byte of its last pages, emptied, overwritten",
        (
            "test_damaged_files.py::test_a_journal",
            "test_damaged_files.py::test_a_torn",
            "test_damaged_files.py::test_an_emptied",
            "test_damaged_files.py::test_a_damaged",
        ),
        "complete, or reported; in two of them I1 to I9",
        "a torn last page was read as zeros, so failures were lost silently: now the journal is "
        "reported",
    ),
    Fault(
        "a store whose end is missing",
        ("test_damaged_files.py::test_a_store",),
        "it is reported",
        "a torn last page was read as zeros: now the store is reported as damaged before anything "
        "is read or written",
    ),
    Fault(
        "a disk of 2 MB fills up; a file may not grow",
        ("test_full_disk.py",),
        ALL,
    ),
    Fault(
        "disk system calls return EIO, ENOSPC, EMFILE or nothing written, once or from then on",
        ("test_failing_disk.py::test_a_disk",),
        ALL,
        "a journal's failing disk was reported as a full one",
    ),
    Fault(
        "loss of power: what was not synced is lost, torn or out of order",
        ("test_power_loss.py::test_whatever", "test_power_loss.py::test_a_job"),
        "I2 to I4, I8; in 24 of them I1 to I9",
        "`status` could not read a journal whose last change was incomplete: now the reader rolls "
        "it back",
        "a disk that reports a sync it has not done",
    ),
    Fault(
        "loss of power while a backup is made, and after it",
        ("test_power_loss.py::test_a_backup",),
        "the earlier one or the new one, complete",
        "a reported backup could be missing, or be the earlier one: now its folder is synced",
    ),
    Fault(
        "clocks of 2001, 2038, 2106 and of the change to summer time, 50 times too fast",
        ("test_clocks.py::test_a_job",),
        ALL,
    ),
    Fault("files from before 1970 to 2242", ("test_clocks.py::test_files",), "I2, I5"),
    Fault(
        "responses of a server: 413, 429, 500 to 504, short, reordered, garbled, cut, reset, none, "
        "slow, endless; flood stage",
        ("test_sending_faults.py", "test_writing_faults.py"),
        "I1, I2, I7",
        "an endless slow response held the run for 15 minutes: now it has twice its timeout",
    ),
    Fault(
        "an extraction server that fails, hangs, responds wrongly",
        tuple(
            f"test_extraction_server.py::test_{what}"
            for what in ("answer", "server", "slow", "refusal", "faults", "innocent")
        ),
        "I1, I4, I7",
    ),
    Fault(
        "documents that hang, crash or exhaust their reader, contain themselves, or reference "
        "files and hosts",
        ("test_hostile_documents.py",),
        "I1, I4, I7",
    ),
    Fault(
        "texts with look-alike letters, controls, surrogates or millions of words",
        ("test_hostile_text.py",),
        "documented equivalences; bounded memory",
    ),
    Fault(
        "texts crafted to share bands, and frequent keys",
        ("test_hostile_collisions.py",),
        "decided by texts; candidates stay bounded",
        "`search --fold live` hid documents under crafted ones: now it folds by texts once slots "
        "have been misleading",
        "`match` without `--exact` lists crafted pairs as estimates",
    ),
    Fault(
        "random bytes and words for readers, tokenisers, codec, recipes, URLs, queries",
        ("test_fuzzing.py",),
        "a result, or a documented error",
        "broken URLs, endless numbers and bad hosts were internal errors; passwords were repeated "
        "in messages",
    ),
)


class FaultCounter:
    """A plugin of pytest that counts the faults of passed tests."""

    def __init__(self) -> None:
        self.times: Counter[str] = Counter()
        self.failed: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count the test itself, not its set-up."""
        if report.failed:
            self.failed.append(report.nodeid)
        if report.when == "call" and report.passed:
            name = (
                report.nodeid.replace("tests/faults/", "")
                .replace("tests/e2e/", "../e2e/")
                .partition("[")[0]
            )
            self.times[name] += int(dict(report.user_properties).get("faults", 1))


def read_counts() -> dict[str, int]:
    """Return the last recorded counts, by test or campaign."""
    return dict(json.loads(TIMES.read_text(encoding="utf-8"))) if TIMES.exists() else {}


def record(times: Mapping[str, int]) -> None:
    """Replace the counts of the same campaign or file of tests, and the table on its page."""
    files = {name.partition("::")[0] for name in times}
    counts = {
        name: number
        for name, number in read_counts().items()
        if name.partition("::")[0] not in files
    }
    counts.update(times)
    TIMES.write_text(json.dumps(counts, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{table()}\n{END}{rest.partition(END)[2]}", encoding="utf-8")


def table() -> str:
    """Return the table of docs/reliability.md."""
    times = read_counts()
    lines = [
        "| fault | times | checked after each | defects fixed | still open |",
        "|---|---|---|---|---|",
    ]
    for fault in FAULTS:
        number = sum(count for name, count in times.items() if name.startswith(fault.tests))
        cells = (
            fault.name,
            f"{number:,}",
            fault.checked,
            fault.fixed or "-",
            fault.still_open or "-",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def unlisted_tests(names: Iterable[str]) -> list[str]:
    """Return the tests and campaigns without a row."""
    listed_tests = tuple(name for fault in FAULTS for name in fault.tests)
    return [name for name in names if not name.startswith(listed_tests)]
