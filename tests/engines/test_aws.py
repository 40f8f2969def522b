"""Requests signed for managed OpenSearch: a gate that works the signature out for itself stands
before a real engine.
"""

import secrets
import sys

import pytest
from pipelines import call
from sample_rows import row
from servers.aws import AwsGate

from indexer.errors import MissingExtra, StoreAccessDenied, UsageError
from indexer.model import Query
from indexer.recipe import DEFAULT
from indexer.stores import open_store

SIGNED = {
    "NEARFOLD_AWS_SERVICE": AwsGate.service,
    "AWS_REGION": AwsGate.region,
    "AWS_ACCESS_KEY_ID": AwsGate.key,
    "AWS_SECRET_ACCESS_KEY": AwsGate.secret,
    "AWS_SESSION_TOKEN": AwsGate.token,
}


@pytest.fixture
def signed_url(opensearch_url, gates, monkeypatch, tmp_path):
    """Yield the URL of a store behind the gate, with the key in the environment alone."""
    for name, value in {
        **SIGNED,
        "AWS_CONFIG_FILE": "/dev/null",
        "AWS_EC2_METADATA_DISABLED": "true",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    index = f"nearfold-test-{secrets.token_hex(6)}"
    yield f"opensearch://{gates(AwsGate, opensearch_url).url.partition('://')[2]}/{index}"
    call("DELETE", f"{opensearch_url}/{index}*")


def test_every_request_is_signed(signed_url):
    store = open_store(signed_url)
    store.prepare(DEFAULT)
    assert store.write([row("1", text="a fox & a häre"), row("2 +/?", text="a fox")]) == [
        None,
        None,
    ]
    store.refresh()
    assert [stored.id for stored in store.scan()] == ["1", "2 +/?"]
    assert store.search(Query("häre")).total == 1
    assert store.delete(["2 +/?"]) == 1
    store.close()


@pytest.mark.parametrize(
    "wrong",
    [{"AWS_SECRET_ACCESS_KEY": "another"}, {"AWS_REGION": "us-east-1"}, {"AWS_SESSION_TOKEN": "x"}],
)
def test_a_wrong_signature_is_refused(wrong, signed_url, monkeypatch):
    for name, value in wrong.items():
        monkeypatch.setenv(name, value)
    store = open_store(signed_url)
    with pytest.raises(StoreAccessDenied) as caught:
        store.prepare(DEFAULT)
    assert AwsGate.secret not in str(caught.value)
    store.close()


def test_without_a_key_or_the_library_it_is_said_what_to_do(signed_url, monkeypatch):
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    with pytest.raises(UsageError, match="AWS_SECRET_ACCESS_KEY"):
        open_store(signed_url)
    monkeypatch.setitem(sys.modules, "botocore.session", None)
    with pytest.raises(MissingExtra, match=r"nearfold\[aws\]"):
        open_store(signed_url)
