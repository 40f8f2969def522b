"""A document that a look-up names is read with the rights of who sent it, in Elasticsearch, whose
security is on.
"""

from __future__ import annotations

import base64
import json
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest
from rest import Rest
from servers.process import Server

pytestmark = pytest.mark.engines

TEXT = "The ferry to Vega leaves from the northern quay every evening, and dogs travel for free."
PASSWORD = "a password of the tests"


def test_like_a_document_that_the_requester_may_not_read(
    shared_node: Callable[[str], Server],
) -> None:
    url = shared_node("elasticsearch").url
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


def _api_key(rest: Rest) -> str:
    """Return a key that may read `open` alone.

    A user would not do: those of the test servers also have the roles of anonymous requests.
    """
    rest.request("PUT", "_security/user/owner", {"password": PASSWORD, "roles": ["superuser"]})
    privileges = [{"names": ["open"], "privileges": ["read"]}]
    body = {"name": "reader", "role_descriptors": {"reader": {"indices": privileges}}}
    owner = base64.b64encode(f"owner:{PASSWORD}".encode()).decode()
    made = _send(f"{rest.url}/_security/api_key", body, f"Basic {owner}")
    return f"ApiKey {made['encoded']}"


def _search(url: str, index: str, credentials: str) -> dict[str, Any]:
    """Search `open` for documents like one of an index."""
    like = {"_index": index, "_id": "1"}
    query = {"near_duplicate": {"field": "text.near", "like": like, "include": True}}
    return _send(f"{url}/open/_search", {"query": query}, credentials)


def _send(url: str, body: object, credentials: str) -> dict[str, Any]:
    headers = {"Content-Type": "application/json", "Authorization": credentials}
    request = urllib.request.Request(url, data=json.dumps(body).encode(), headers=headers)
    with urllib.request.urlopen(request, timeout=60) as response:
        found: dict[str, Any] = json.loads(response.read())
        return found
