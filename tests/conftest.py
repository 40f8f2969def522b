"""Fixtures that hand real servers to tests; what they are and where they come from is described in
`servers`.
"""

from __future__ import annotations

import ast
import gc
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache, partial, wraps
from pathlib import Path

import chromium
import pytest
from _pytest.doctest import DoctestModule
from browser_fonts import browser_environment
from servers import choosing, with_plugin
from servers.choosing import ENGINES
from servers.engine import AbsentError, Engine
from servers.groups import TESTS, GroupScheduling, repeated, turn_of
from servers.process import Server
from servers.proxy import AuthProxy, Gate
from servers.shared import Broker, Client

collect_ignore = ["data/copietje/make_reference.py"]  # runs in an environment of its own
_SHARED = {f"{name}_url": engine for name, engine in ENGINES.items()}
_SESSION = pytest.StashKey[choosing.Session | Client]()
_BROKER = pytest.StashKey[Broker]()
_COMPILED = pytest.StashKey[bool]()
LONGEST_COLLECTION = 60.0  # seconds


def pytest_configure(config: pytest.Config) -> None:
    _accept_interrupts()
    _set_locale()
    _parse_again()
    config.pluginmanager.register(Examples())
    folder = getattr(config, "workerinput", {}).get("servers")
    config.stash[_SESSION] = Client(Path(folder)) if folder else choosing.Session()


class Examples:
    """A plugin that looks for examples in files that have some: others need not be imported."""

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(self, file_path: Path) -> Iterator[None]:
        return [
            part
            for part in (yield)
            if not isinstance(part, DoctestModule) or ">>> " in file_path.read_text("utf-8")
        ]


def _accept_interrupts() -> None:
    """Undo that a shell lets its background jobs, and all that they start, ignore SIGINT."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _set_locale() -> None:
    """Give this process and those that it starts the same time zone and locale on every machine."""
    for name in [name for name in os.environ if name.startswith("LC_")]:
        del os.environ[name]
    os.environ |= {"LANG": "C.UTF-8", "TZ": "UTC"}
    if hasattr(time, "tzset"):
        time.tzset()


def _parse_again() -> None:
    """Parse a second time where another parse ran in the middle of one.

    Python 3.11 then counts wrongly and raises SystemError (python/cpython#106905); to print the
    traceback of an error that a collected object logs is such a parse.
    """
    parse_once = ast.parse

    @wraps(parse_once)
    def parse(*args, **options) -> ast.AST:
        try:
            return parse_once(*args, **options)
        except SystemError:
            return parse_once(*args, **options)

    ast.parse = parse


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node) -> None:
    """Tell a worker of pytest-xdist where to ask for servers, and whether it collects second."""
    stash = node.config.stash
    if _BROKER not in stash:
        stash[_BROKER] = Broker(Path(tempfile.mkdtemp(prefix="nearfold-servers-")))
        stash[_COMPILED] = (TESTS / "unit" / "__pycache__").exists()
    node.workerinput["servers"] = str(stash[_BROKER].folder)
    node.workerinput["is_second"] = node.gateway.id != "gw0" and not stash[_COMPILED]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log) -> GroupScheduling:
    """Let one worker run all tests of a group; `servers.groups` says which belong together."""
    return GroupScheduling(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Let one process compile the tests, and put what is collected out of sight of the garbage
    collector.

    It would go through ten thousand tests and their modules again and again: a third of the time
    of a collection.
    """
    worker = getattr(session.config, "workerinput", {})
    compiled = Path(worker.get("servers", ""), "compiled")
    give_up = time.monotonic() + LONGEST_COLLECTION
    while worker.get("is_second") and not compiled.exists() and time.monotonic() < give_up:
        time.sleep(0.1)
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        if worker:
            compiled.touch()


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Mark what needs a server or a browser, and cases that another engine has, before `-m`
    selects; let long groups begin first.
    """
    second = set(repeated(item.nodeid for item in items if not item.get_closest_marker("slow")))
    for item in items:
        alone = item.get_closest_marker("one_engine") and "elasticsearch" in item.nodeid
        if alone or item.nodeid in second:
            item.add_marker(pytest.mark.second_engine)
        fixtures = set(getattr(item, "fixturenames", ()))
        if fixtures & {*_SHARED, "opensearch_node"}:
            item.add_marker(pytest.mark.engines)
        if fixtures & {"browser", "chromium_path"}:
            item.add_marker(pytest.mark.browser)
    result = yield
    items.sort(key=lambda item: turn_of(item.nodeid))
    return result


def pytest_collection_finish(session: pytest.Session) -> None:
    """Start the servers that the selected tests ask for, all at once, while other tests already
    run.
    """
    if session.config.option.collectonly:
        return
    requested = {name for item in session.items for name in getattr(item, "fixturenames", ())}
    for name in _SHARED.keys() & requested:
        session.config.stash[_SESSION].begin(_SHARED[name])


def pytest_sessionfinish(session: pytest.Session) -> None:
    stash = session.config.stash
    stash[_SESSION].close()
    if _BROKER in stash:
        stash[_BROKER].close()
        shutil.rmtree(stash[_BROKER].folder)


@pytest.fixture(scope="session")
def opensearch_url(pytestconfig: pytest.Config) -> str:
    """An OpenSearch that the whole session shares: a test removes what it made there."""
    return _url(pytestconfig, ENGINES["opensearch"])


@pytest.fixture(scope="session")
def elasticsearch_url(pytestconfig: pytest.Config) -> str:
    """An Elasticsearch that the whole session shares: a test removes what it made there."""
    return _url(pytestconfig, ENGINES["elasticsearch"])


@pytest.fixture(scope="session")
def tika_url(pytestconfig: pytest.Config) -> str:
    """A Tika server that the whole session shares."""
    return _url(pytestconfig, ENGINES["tika"])


@pytest.fixture(scope="session")
def url_with_plugin(pytestconfig: pytest.Config) -> Iterator[Callable[[str], str]]:
    """Return a function that gives the URL of an engine with the plugin and a secret key, by its
    name: of the shared one, where that has them.
    """
    with ExitStack() as nodes:

        @cache
        def url_of(name: str) -> str:
            url = _url(pytestconfig, ENGINES[name])
            if with_plugin.has_plugin(url):
                return url
            return nodes.enter_context(with_plugin.server(name)).url

        yield url_of


@pytest.fixture
def opensearch_node() -> Iterator[Callable[[], Server]]:
    """Return a function that starts an OpenSearch node for this test alone, which may be killed,
    paused and started again on the same data.
    """
    nodes: list[Server] = []

    def node() -> Server:
        try:
            nodes.append(Server(ENGINES["opensearch"]))
        except AbsentError as error:
            _absent(ENGINES["opensearch"], error)
        nodes[-1].start()
        return nodes[-1]

    yield node
    for started in nodes:
        started.close()


@pytest.fixture
def gates() -> Iterator[Callable[..., Gate]]:
    """Return a function that puts a gate before a server: `gates(AwsGate, opensearch_url).url`;
    `tls=file` makes it https.
    """
    opened: list[Gate] = []

    def gate(kind: type[Gate], upstream: str, *settings: object, tls: Path | None = None) -> Gate:
        opened.append(kind(upstream, *settings, tls=tls))
        return opened[-1]

    yield gate
    for open_gate in opened:
        open_gate.close()


@pytest.fixture
def auth_proxy(gates: Callable[..., Gate]) -> Callable[..., Gate]:
    """Put a gate that wants credentials before a server: `auth_proxy(opensearch_url).url`;
    `tls=file` makes it https.
    """
    return partial(gates, AuthProxy)


def _url(config: pytest.Config, engine: Engine) -> str:
    try:
        return config.stash[_SESSION].url(engine)
    except AbsentError as error:
        _absent(engine, error)


def _absent(engine: Engine, error: AbsentError) -> None:
    """Skip on a laptop, fail where engines are required."""
    remedy = f"or set {engine.variable} to the URL of a server"
    choosing.leave_out(f"no {engine.name}: {error}; {remedy}")


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """A Chromium of the system; without one tests are skipped with the reason, or fail where
    everything is required.
    """
    path = chromium.ensure()
    if path is None:
        choosing.leave_out(f"no Chromium: {chromium.REMEDY}")
    return path


@pytest.fixture(scope="session")
def browser_settings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a browser: the same fonts on every machine."""
    return browser_environment(tmp_path_factory.mktemp("browser"))
