"""Parts of documents in an index: the fields that they need, and how documents are divided, in
`_meta`.
"""

from __future__ import annotations

from indexer import mappings
from indexer.stores.engine import bodies
from indexer.stores.engine.index_requests import Requests


def record_parts(requests: Requests, index: str, kind: str) -> None:
    """Record how the documents of an index are divided; what `_meta` says beside that stays."""
    ((name, settings),) = requests.call("GET", index).items()
    meta = settings["mappings"]["_meta"]
    properties = mappings.load("index.json")["mappings"]["properties"]
    body: bodies.Body = {
        "_meta": {**meta, "nearfold": {**meta["nearfold"], "parts": kind}},
        "properties": {field: properties[field] for field in bodies.OF_PARTS},
    }
    requests.call("PUT", f"{name}/_mapping", body)
