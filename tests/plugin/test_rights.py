"""A document that a look-up names is read with the rights of who sent it, in Elasticsearch, whose
security is on.
"""

from __future__ import annotations

import base64
import json
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from rest import RequestError, Rest

pytestmark = pytest.mark.engines

TEXT = "The ferry to Vega leaves from the northern quay every evening, and dogs travel for free."
PASSWORD = "a password of the tests"


def test_like_a_document_that_the_requester_may_not_read(
    url_with_plugin: Callable[[str], str],
) -> None:
    url = url_with_plugin("elasticsearch")
    rest = Rest(url)
    for index in ("open", "closed"):
        rest.create(index)
        rest.put(index, "1", text=TEXT)
    key = _api_key(rest)
    assert _search(url, "open", key)["hits"]["total"]["value"] == 1
    with pytest.raises(urllib.error.HTTPError) as refused:
        _search(url, "closed", key)
    with refused.value as response:
        assert response.status == 403
        assert TEXT not in response.read().decode()


@pytest.mark.versions
def test_what_a_reader_may_not_see_is_neither_found_nor_folded(
    url_with_plugin: Callable[[str], str],
) -> None:
    url = url_with_plugin("elasticsearch")
    rest = Rest(url)
    with suppress(RequestError):  # it runs already
        rest.request("POST", "_license/start_trial?acknowledge=true")
    rest.create("open")
    for id, note in (("1", "public"), ("2", "secret"), ("3", "public")):
        rest.put("open", id, text=TEXT, note=note)

    def folded(key: str, **query: object) -> dict[str, Any]:
        rescore = {"window_size": 10, "near_fold": {"field": "text.near"}}
        columns = ["text.near.exact"]
        body = {**query, "rescore": rescore, "docvalue_fields": columns}
        hits = _send(f"{url}/open/_search", body, key)["hits"]["hits"]
        return {hit["_id"]: hit["fields"] for hit in hits}

    near = {"near_duplicate": {"field": "text.near", "like": TEXT}}
    documents = _api_key(rest, query={"term": {"note": "public"}})
    found = folded(documents, query=near)
    assert found.keys() == {"1", "3"}
    assert found["1"]["near_fold"] == [{"folded": 1, "hits": [{"similarity": 1.0, "_id": "3"}]}]
    refusals = []
    for id in ("2", "nobody"):
        with pytest.raises(urllib.error.HTTPError) as refused:
            _search(url, "open", documents, id)
        with refused.value as response:
            refusals.append(response.read().decode().replace(id, ""))
    assert refusals[0] == refusals[1]
    fields = _api_key(rest, field_security={"grant": ["*"], "except": ["text", "text.*"]})
    assert folded(fields, query=near) == {}
    shown = folded(fields)
    folds = [columns["near_fold"] for columns in shown.values()]
    assert folds == [[{"folded": 0, "hits": []}]] * 3
    assert not any("text.near.exact" in columns for columns in shown.values())
    copies = folded(_api_key(rest, field_security={"grant": ["*"], "except": ["text"]}))
    assert copies["3"]["near_fold"] == [{"similarity": 1.0, "folded_under": "1"}]


def _api_key(rest: Rest, **limits: object) -> str:
    """Return a key that may read `open` alone, within limits.

    A user would not do: those of the test servers also have the roles of anonymous requests.
    """
    rest.request("PUT", "_security/user/owner", {"password": PASSWORD, "roles": ["superuser"]})
    privileges = [{"names": ["open"], "privileges": ["read"], **limits}]
    body = {"name": "reader", "role_descriptors": {"reader": {"indices": privileges}}}
    owner = base64.b64encode(f"owner:{PASSWORD}".encode()).decode()
    made = _send(f"{rest.url}/_security/api_key", body, f"Basic {owner}")
    return f"ApiKey {made['encoded']}"


def _search(url: str, index: str, credentials: str, id: str = "1") -> dict[str, Any]:
    """Search `open` for documents like one of an index."""
    like = {"_index": index, "_id": id}
    query = {"near_duplicate": {"field": "text.near", "like": like, "include": True}}
    return _send(f"{url}/open/_search", {"query": query}, credentials)


def _send(url: str, body: object, credentials: str) -> dict[str, Any]:
    headers = {"Content-Type": "application/json", "Authorization": credentials}
    request = urllib.request.Request(url, data=json.dumps(body).encode(), headers=headers)
    with urllib.request.urlopen(request, timeout=60) as response:
        found: dict[str, Any] = json.loads(response.read())
        return found
