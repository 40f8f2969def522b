"""Requests to an engine, as curl sends them."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any

_TIMEOUT = 120


class RequestError(Exception):
    """Raised when an engine refuses a request; `status` and `reason` are its own."""

    def __init__(self, status: int, body: dict[str, Any]) -> None:
        super().__init__(f"{status}: {json.dumps(body)[:2000]}")
        self.status, self.body = status, body


@dataclass(frozen=True, slots=True)
class Rest:
    """An engine at a URL."""

    url: str

    def request(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        """Return the response. A body that is a string is sent as it is. Raises `RequestError`."""
        text = body if isinstance(body, str) else None if body is None else json.dumps(body)
        request = urllib.request.Request(
            f"{self.url}/{path}",
            data=None if text is None else text.encode(),
            method=method,
            headers={"Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT) as response:
                return json.loads(response.read() or b"{}")
        except urllib.error.HTTPError as error:
            with error:
                raise RequestError(error.code, json.loads(error.read() or b"{}")) from None

    def create(self, index: str, near: object = None, shards: int = 1, **settings: object) -> None:
        """Create an index with a field `text.near`, in place of one of that name."""
        self.request("DELETE", f"{index}?ignore_unavailable=true")
        fields = {"near": {"type": "near_duplicate", **(near or {})}}
        self.request(
            "PUT",
            index,
            {
                "settings": {"number_of_shards": shards, "number_of_replicas": 0, **settings},
                "mappings": {
                    "properties": {
                        "text": {"type": "text", "fields": fields},
                        "note": {"type": "keyword"},
                    }
                },
            },
        )

    def put(self, index: str, id: str, **source: object) -> None:
        """Index a document, which can be searched at once."""
        self.request("PUT", f"{index}/_doc/{id}?refresh=true", source)

    def bulk(self, *lines: object) -> None:
        """Send a bulk request. Raises `AssertionError` when an item is refused."""
        body = "".join(f"{json.dumps(line)}\n" for line in lines)
        response = self.request("POST", "_bulk?refresh=true", body)
        assert not response["errors"], response

    def search(self, index: str, **body: object) -> list[dict[str, Any]]:
        """Return the hits of a search."""
        return self.request("POST", f"{index}/_search", body)["hits"]["hits"]

    def columns(self, index: str, id: str) -> dict[str, Any]:
        """Return the columns of a document, each a value or None."""
        names = [f"text.near{part}" for part in ("", ".status", ".exact", ".words", ".chars")]
        (hit,) = self.search(
            index, query={"ids": {"values": [id]}}, docvalue_fields=names, _source=False
        )
        fields = hit.get("fields", {})
        return {
            name.removeprefix("text.near").lstrip("."): fields.get(name, [None])[0]
            for name in names
        }
