"""Parts of documents in an index: the fields that they need, and how documents are divided, in
`_meta`.
"""

from __future__ import annotations

from indexer import mappings
from indexer.stores.engine import bodies, index_body
from indexer.stores.engine.index_requests import Requests
from indexer.stores.engine.mapping_facts import changed_meta


def record_parts(requests: Requests, index: str, kind: str) -> None:
    """Record how the documents of an index are divided; what `_meta` says beside that stays."""
    ((name, settings),) = requests.call("GET", index).items()
    properties = mappings.load("index.json")["mappings"]["properties"]
    body: bodies.Body = {
        "_meta": changed_meta(settings["mappings"], {"parts": kind}),
        "properties": {field: properties[field] for field in index_body.OF_PARTS},
    }
    requests.call("PUT", f"{name}/_mapping", body)
