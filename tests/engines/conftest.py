"""Fixtures of tests on engines: both kinds in turn, and stores whose indices and installations are
gone at the end.
"""

import secrets

import pytest
from pipelines import OTHER, call

from indexer.jobs.install import install, uninstall
from indexer.recipe import DEFAULT
from indexer.stores import open_store


@pytest.fixture(params=["opensearch", "elasticsearch"])
def engine(request):
    """The scheme of an engine's addresses."""
    return request.param


@pytest.fixture
def server(engine, request):
    """The URL of the engine."""
    return request.getfixturevalue(f"{engine}_url")


@pytest.fixture
def stores():
    """Open stores of new indices; what was installed or indexed there is removed at the end."""
    opened = []

    def store(engine, server):
        index = f"nearfold-test-{secrets.token_hex(6)}"
        opened.append(
            (open_store(f"{engine}://{server.partition('://')[2]}/{index}"), server, index)
        )
        return opened[-1][0], index

    yield store
    for store, server, index in opened:
        for name in call("GET", f"{server}/{index}*")[1]:
            call("DELETE", f"{server}/{name}")
        for recipe in (DEFAULT, OTHER):
            uninstall(store, recipe)
        store.close()


@pytest.fixture
def installed(stores, engine, server, tmp_path, monkeypatch):
    """A store whose index fingerprints what clients send, the URL of the server, and the index."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    store, name = stores(engine, server)
    install(store, DEFAULT)
    return store, server, name


@pytest.fixture
def index(server):
    """Yield the name of a new index, removed at the end."""
    name = f"nearfold-test-{secrets.token_hex(6)}"
    yield name
    call("DELETE", f"{server}/{name}")


@pytest.fixture
def open_at():
    """Yield a function that opens a store at a URL; all are closed at the end."""
    opened_stores = []

    def open_url(url):
        opened_stores.append(open_store(url))
        return opened_stores[-1]

    yield open_url
    for store in opened_stores:
        store.close()


@pytest.fixture
def opensearch_index(stores, opensearch_url):
    """A store on OpenSearch, its index, and the server."""
    return (*stores("opensearch", opensearch_url), opensearch_url)
