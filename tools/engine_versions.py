"""Run the contract suite and the tests of engines on versions of engines, and count them.

    python tools/engine_versions.py                        # print the versions
    python tools/engine_versions.py opensearch-2.19.5 ...  # run these, one after the other
    python tools/engine_versions.py --again NAME ...       # run again what failed, and add it up
    python tools/engine_versions.py --table                # write the table of docs/engines.md

Each run is a process with one server of that version. Counts are kept in `engine_versions.json`
beside this file. A gap is a test that is skipped or expected to fail, for a reason that the test
names, or that needs a module of the engine that the published distribution lacks:
`engine_modules.txt` lists these tests. Any other failure ends this program with 1. As a plugin of
pytest, it counts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
COUNTS = Path(__file__).with_suffix(".json")
PAGE = ROOT / "docs" / "engines.md"
MODULES = Path(__file__).with_name("engine_modules.txt")  # of tests that need one, by module
BEGIN, END = "<!-- versions: begin -->", "<!-- versions: end -->"
RESULT = "NEARFOLD_VERSION_RESULT"
TESTS = ("tests/contract", "tests/engines")
SELECTION = "engines and not slow and not versions"
ENGINES = {"opensearch": "OpenSearch", "elasticsearch": "Elasticsearch"}
OF_THE_GATE = ("opensearch-3.8.0", "elasticsearch-9.4.3")
BARE = ("elasticsearch-9.5.3", "elasticsearch-8.19.21")
VERSIONS = (
    "opensearch-3.8.0",
    "opensearch-2.19.5",
    "opensearch-3.4.0-secured",
    "elasticsearch-9.4.3",
    "elasticsearch-9.5.3",
    "elasticsearch-8.19.21",
)


def main(names: list[str]) -> int:
    """Run what is named; return 1 when a test failed that declares no gap."""
    if names == ["--table"]:
        write_table()
        return 0
    again = names[:1] == ["--again"]
    names = names[again:]
    if not names or set(names) - set(VERSIONS):
        print(f"versions: {', '.join(VERSIONS)}")
        return 0 if not names else 2
    return max([_run(name, again) for name in names])


def _run(name: str, again: bool) -> int:
    """Run one version; with `again` the tests that failed when it was run last."""
    before = read_counts()[name] if again else {"passed": 0, "gaps": {}, "failed": TESTS}
    if not before["failed"]:
        return 0
    engine, version, *secured = name.split("-")
    result = COUNTS.with_name(f"{name}.result")
    environment = {
        **os.environ,
        f"NEARFOLD_{engine.upper()}_VERSION": version,
        "NEARFOLD_OPENSEARCH_SECURITY": "1" if secured else "",
        "NEARFOLD_REQUIRE_ENGINES": "1",
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tools")]),
        RESULT: f"{result}:{engine}",
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "-p", "engine_versions"]
    command += ["-m", SELECTION, *before["failed"]]
    code = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
    if code > 1:  # pytest's codes for a run that did not take place
        return code
    counts = json.loads(result.read_text(encoding="utf-8"))
    result.unlink()
    counts["passed"] += before["passed"]
    counts["gaps"] = dict(Counter(counts["gaps"]) + Counter(before["gaps"]))
    counts["failed"] = sorted(counts["failed"])
    COUNTS.write_text(
        json.dumps({**read_counts(), name: counts}, indent=1, sort_keys=True) + "\n",
        encoding="utf-8",
    )
    return 1 if counts["failed"] else 0


def read_counts() -> dict[str, Any]:
    """Return the counts of the last run of each version."""
    return dict(json.loads(COUNTS.read_text(encoding="utf-8"))) if COUNTS.exists() else {}


def table() -> str:
    """Return the counts of the last runs as two tables: of versions, and of the reasons of gaps."""
    counted = sorted(read_counts().items(), key=lambda item: VERSIONS.index(item[0]))
    lines = ["| version | passed | gaps | failed |", "|---|---|---|---|"]
    for name, counts in counted:
        numbers = f"{counts['passed']} | {sum(counts['gaps'].values())} | {len(counts['failed'])}"
        lines.append(f"| {_label(name)} | {numbers} |")
    lines += ["", f"| reason of gaps | {' | '.join(_label(name) for name, _ in counted)} |"]
    lines.append("|---|" + "---|" * len(counted))
    gaps = sum((Counter(counts["gaps"]) for _, counts in counted), Counter())
    for reason in sorted(gaps, key=lambda reason: (-gaps[reason], reason)):
        numbers = " | ".join(str(counts["gaps"].get(reason, "-")) for _, counts in counted)
        lines.append(f"| {reason} | {numbers} |")
    return "\n".join(lines)


def _label(name: str) -> str:
    engine, version, *secured = name.split("-")
    return f"{ENGINES[engine]} {version}{', with its security' if secured else ''}"


def write_table() -> None:
    """Replace the table on its page."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n{table()}\n{END}{after}", encoding="utf-8")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the tests of one engine."""
    engine = os.environ[RESULT].rpartition(":")[2]
    others = [item for item in items if not _is_of(item, engine)]
    items[:] = [item for item in items if _is_of(item, engine)]
    config.hook.pytest_deselected(items=others)


def _is_of(item: pytest.Item, engine: str) -> bool:
    names = {*getattr(item, "fixturenames", ())}
    case = item.callspec.id if hasattr(item, "callspec") else ""
    return bool(names & {f"{engine}_url", f"{engine}_node"}) or engine in case


_passed: set[str] = set()
_gaps: dict[str, str] = {}
_failed: dict[str, str] = {}


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Count one outcome of a test."""
    if report.skipped:
        is_declared = hasattr(report, "wasxfail")
        reason = report.wasxfail if is_declared else report.longrepr[2]
        _gaps[report.nodeid] = reason.removeprefix("Skipped: ")
    elif report.failed and (module := _missing_module(report.nodeid)):
        _gaps[report.nodeid] = f"the published distribution has no {module}"
    elif report.failed:
        _failed[report.nodeid] = str(report.longrepr)
    elif report.when == "call":
        _passed.add(report.nodeid)


def _missing_module(test: str) -> str | None:
    """Return the module that a test needs and the distribution under test lacks, as declared."""
    if f"elasticsearch-{os.environ.get('NEARFOLD_ELASTICSEARCH_VERSION')}" not in BARE:
        return None
    name = test.partition("[")[0].removeprefix("tests/")
    for line in MODULES.read_text(encoding="utf-8").splitlines():
        module, _, tests = line.partition(": ")
        if name in tests.split():
            return module
    return None


def pytest_sessionfinish() -> None:
    """Write the counts, which the process that started this one reads."""
    path = Path(os.environ[RESULT].rpartition(":")[0])
    reasons = Counter(_gaps.values())
    passed = len(_passed - _failed.keys() - _gaps.keys())
    counts = {"passed": passed, "gaps": dict(reasons), "failed": _failed}
    path.write_text(json.dumps(counts), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
