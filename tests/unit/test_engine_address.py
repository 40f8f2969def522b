"""URLs of engines, and where secrets come from."""

import sys

import pytest

from indexer.errors import MissingExtra, UsageError
from indexer.stores import open_store
from indexer.stores._engine_address import address


def test_a_full_url():
    found = address("opensearch+https://ada%40x@[::1]:9201/proxy/path/docs?shards=3&replicas=0", {})
    assert (found.host, found.port, found.tls, found.path, found.index) == ("::1", 9201, True, "/proxy/path", "docs")
    assert (found.shards, found.replicas, found.user, found.password) == (3, 0, "ada@x", None)


def test_defaults():
    found = address("elasticsearch://host/docs", {})
    assert (found.port, found.tls, found.path, found.shards, found.replicas, found.user) == (9200, False, "", None, None, None)


def test_secrets_come_from_the_environment():
    environment = {
        "NEARFOLD_USER": "ada",
        "NEARFOLD_PASSWORD": "secret",
        "NEARFOLD_API_KEY": "key",
        "NEARFOLD_CA_CERTS": "/ca.pem",
    }
    found = address("opensearch://host/docs", environment)
    assert (found.user, found.password, found.api_key, found.ca_certs) == ("ada", "secret", "key", "/ca.pem")
    assert address("opensearch://eve@host/docs", environment).user == "eve"
    assert "secret" not in found.url


@pytest.mark.parametrize("url", ["opensearch://ada:hunter2@host/docs", "elasticsearch+https://ada:hunter2@host:1/docs"])
def test_a_password_in_the_url_is_refused_and_not_repeated(url):
    with pytest.raises(UsageError, match="NEARFOLD_PASSWORD") as caught:
        open_store(url)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "opensearch://host", "opensearch://host/", "opensearch:///docs", "opensearch://host/Docs", "opensearch://host/a,b",
        "opensearch://host/docs*", "opensearch://host/_all", "opensearch://host/-docs", "opensearch://host/" + "x" * 250,
        "opensearch://host:notaport/docs", "opensearch://host:99999/docs", "opensearch://host/docs?shards=x",
        "opensearch://host/docs?password=x", "opensearch+http://host/docs", "opensearch+https+https://host/docs", "opensearch",
        "elasticsearch:/host/docs",
    ],
)  # fmt: skip
def test_what_cannot_be_opened(url):
    with pytest.raises(UsageError):
        open_store(url)


@pytest.mark.parametrize(("scheme", "module"), [("opensearch", "opensearchpy"), ("elasticsearch+https", "elasticsearch")])
def test_a_client_that_is_not_installed(scheme, module, monkeypatch):
    adapter = f"indexer.stores.{scheme.split('+')[0]}"
    monkeypatch.delitem(sys.modules, adapter, raising=False)
    for name in [name for name in sys.modules if name.split(".")[0] == module]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=r"pip install 'nearfold\["):
        open_store(f"{scheme}://host/docs")
    monkeypatch.delitem(sys.modules, adapter, raising=False)
