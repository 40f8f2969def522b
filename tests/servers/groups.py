"""Groups of tests that one worker of pytest-xdist runs, by the file that a test is in, and which
cases the gate runs on which engine.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from zlib import crc32

from xdist.scheduler import LoadScopeScheduling

TESTS = Path(__file__).parent.parent
SHORT = ("unit", "contract")
BOTH = ("tests/plugin/", "tests/engines/test_engine_stores", "tests/engines/test_pipeline")
STORES = re.compile(r"(?<![^-\[])(opensearch|elasticsearch)(-plugin)?(?![^-\]])")
ENGINES = (
    "opensearch_url",
    "elasticsearch_url",
    "opensearch_node",
    "servers.cluster",
    "}_url",
    "url_with_plugin",
)


class GroupScheduling(LoadScopeScheduling):
    """A scheduler that gives each worker whole groups of tests."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)


def group_of(nodeid: str) -> str:
    """Return the group of a test.

    All of Spark, which starts once a process; the tests that install into one shared engine; those
    at the top, which parse all modules; the tests of one file, which share costly fixtures and
    imports.
    """
    file = nodeid.partition("::")[0]
    parts = Path(file).parts
    if parts[0] != "tests" or parts[1] in SHORT:
        return file
    if len(parts) == 2:
        return "top"
    if parts[1] == "spark":
        return "spark"
    if parts[1] == "engines" or _installs_into_an_engine(parts[1:]):
        return "elasticsearch" if "elasticsearch" in nodeid else "opensearch"
    return file


@cache
def _installs_into_an_engine(parts: tuple[str, ...]) -> bool:
    text = TESTS.joinpath(*parts).read_text(encoding="utf-8")
    installs = "install" in text or "SharedRun" in text or parts[-1].endswith("_page.py")
    return installs and any(name in text for name in ENGINES)


def turn_of(nodeid: str) -> int:
    """Return the place of a test's group in the order of the run: the longest groups first."""
    if group_of(nodeid) in ("spark", "opensearch", "elasticsearch"):
        return 0
    return 1 if nodeid.startswith("tests/") and Path(nodeid).parts[1] not in SHORT else 2


def repeated(nodeids: Iterable[str]) -> Iterator[str]:
    """Yield the tests that repeat a case on a second engine.

    The cases of a file run on one engine by turns, and on the other in the plugin's layout. Files
    of what each engine has code for (`BOTH`) run on both.
    """
    files: defaultdict[str, defaultdict[str, dict[str, str]]]
    files = defaultdict(lambda: defaultdict(dict))
    for nodeid in nodeids:
        store = STORES.search(nodeid)
        if store and not nodeid.startswith(BOTH):
            case = nodeid[: store.start()] + nodeid[store.end() :]
            files[nodeid.partition("::")[0]][case][store[0]] = nodeid
    for file, cases in files.items():
        shared = [tests for tests in cases.values() if {"opensearch", "elasticsearch"} <= {*tests}]
        for number, tests in enumerate(shared, crc32(file.encode())):
            for store, nodeid in tests.items():
                if (number + ("elastic" in store) + ("plugin" in store)) % 2:
                    yield nodeid
