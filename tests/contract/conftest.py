"""Every store there is, fresh and reopened, under one name.

`store` is prepared with the default recipe; `unprepared` is not. A reopened store is another object
for every call, as if each came from another process. A gap is a marker with a reason:
`@pytest.mark.gap("elasticsearch", reason="...")`.
"""

from __future__ import annotations

import json
import secrets
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from indexer.jobs.install import install
from indexer.recipe import DEFAULT
from indexer.stores import open_store

ENGINES = ("opensearch", "elasticsearch")
HERE = Path(__file__).parent
KINDS = [pytest.param("memory", marks=pytest.mark.slow), "sqlite", "sqlite-reopened"]
KINDS += [pytest.param(name, marks=pytest.mark.engines) for name in ENGINES]
PLUGIN = "-plugin"  # an index whose fingerprints the engine's plugin makes
KINDS += [pytest.param(f"{name}{PLUGIN}", marks=pytest.mark.engines) for name in ENGINES]
# whose rows have the fingerprints of their texts, as the plugin makes them
WITH_PLUGIN = (
    "test_check", "test_copies", "test_criteria", "test_fold", "test_labels", "test_passages",
    "test_search", "test_short_texts",
)  # fmt: skip
IN_GATE = ("test_fold",)
KINDS += [
    pytest.param(f"{name}-reopened", marks=[pytest.mark.engines, pytest.mark.slow])
    for name in ENGINES
]


class Reopened:
    """A store that is opened anew for every call; attributes that were set are set again."""

    def __init__(self, url: str) -> None:
        self.__dict__.update(url=url, _opened=[], _set={})

    def __getattr__(self, name: str) -> Any:
        store = open_store(self.url)
        for attribute, value in self._set.items():
            setattr(store, attribute, value)
        self._opened.append(store)
        return getattr(store, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._set[name] = value

    def close(self) -> None:
        for store in self._opened:
            store.close()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "gap(kind, reason): a store of that kind is known not to do this"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Name the server that an item needs, so that it is started in time; leave out tests of rows
    that an engine with the plugin cannot have.
    """
    items[:] = [item for item in items if not _is_impossible(item)]
    for item in items:
        kind = (
            item.callspec.params.get("kind")
            if hasattr(item, "callspec") and HERE in item.path.parents
            else None
        )
        if kind and kind.endswith(PLUGIN):
            if item.path.stem not in IN_GATE:
                item.add_marker(pytest.mark.slow)
        elif kind and engine_of(kind) in ENGINES:
            item.fixturenames = [*item.fixturenames, f"{engine_of(kind)}_url"]


def _is_impossible(item: pytest.Item) -> bool:
    kind = item.callspec.params.get("kind") if hasattr(item, "callspec") else None
    is_with_plugin = HERE in item.path.parents and str(kind).endswith(PLUGIN)
    return is_with_plugin and item.path.stem not in WITH_PLUGIN


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the user's state folder, which holds journals of engines, into a temporary folder."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def url(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a store that does not exist yet, and will not when the test is over."""
    engine = engine_of(kind)
    if engine == "memory":
        yield "sqlite://:memory:"
    elif engine == "sqlite":
        yield f"sqlite:///{tmp_path}/store.db"
    else:
        server, index = server_of(kind, request), f"nearfold-test-{secrets.token_hex(6)}"
        address = f"{engine_url(engine, server)}/{index}"
        if kind.endswith(PLUGIN):
            with closing(open_store(address)) as installed:
                install(installed, layout="plugin")
        yield address
        ask(f"{server}/{index}", method="DELETE")
        ask(f"{server}/_index_template/nearfold-{index}", method="DELETE")


@pytest.fixture
def opening(kind: str, url: str) -> Iterator[Callable[[], Any]]:
    """Open the store under test once more, each time as another object."""
    opened = []

    def again() -> Any:
        opened.append(Reopened(url) if kind.endswith("reopened") else open_store(url))
        return opened[-1]

    yield again
    for store in opened:
        store.close()


@pytest.fixture
def unprepared(opening: Callable[[], Any], kind: str, request: pytest.FixtureRequest) -> Any:
    for marker in request.node.iter_markers("gap"):
        if marker.args[0] in traits(kind, request):
            request.applymarker(pytest.mark.xfail(reason=marker.kwargs["reason"], strict=True))
    return opening()


@pytest.fixture
def store(unprepared: Any) -> Any:
    unprepared.prepare(DEFAULT)
    return unprepared


def engine_of(kind: str) -> str:
    return kind.removesuffix("-reopened").removesuffix(PLUGIN)


def server_of(kind: str, request: pytest.FixtureRequest) -> str:
    """The URL of the engine of a kind of store."""
    if kind.endswith(PLUGIN):
        url: str = request.getfixturevalue("url_with_plugin")(engine_of(kind))
        return url
    return request.getfixturevalue(f"{engine_of(kind)}_url")


def traits(kind: str, request: pytest.FixtureRequest) -> set[str]:
    """What a gap may name: the kind of store, `plugin` for its layout, and `core analysis` for an
    engine without its analysis-common module.
    """
    engine = engine_of(kind)
    layout = {"plugin"} if kind.endswith(PLUGIN) else set()
    if engine not in ENGINES:
        return {engine}
    pattern = {"tokenizer": {"type": "pattern", "pattern": "x"}, "text": "x"}
    refused = ask(f"{server_of(kind, request)}/_analyze", method="POST", body=pattern) == 400
    return {engine, *layout, *(["core analysis"] if refused else [])}


def engine_url(engine: str, server: str) -> str:
    """A server's address as the URL of a store, without an index."""
    scheme, rest = server.split("://")
    return f"{engine}{'+https' if scheme == 'https' else ''}://{rest}"


def ask(url: str, method: str, body: object = None) -> int:
    """The status of the answer to one request."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        url, data=data, method=method, headers={"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code
