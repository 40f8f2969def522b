"""OpenSearch by its own client, opensearch-py."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping

from opensearchpy import OpenSearch
from opensearchpy.exceptions import ConnectionError as NoConnectionError

from indexer.errors import StoreUnreachable
from indexer.stores._engine import EngineStore
from indexer.stores._engine_address import Address
from indexer.stores._engine_index import Dialect, Place
from indexer.stores._engine_link import Answer

DIALECT = Dialect(
    metadata_type="flat_object",
    open_pit="_search/point_in_time",
    pit_field="pit_id",
    close_pit="_search/point_in_time",
    close_body=lambda pit: {"pit_id": [pit]},
    search_pipelines=True,
)
_EVERY_STATUS = range(300, 600)


class OpenSearchLink:
    """Requests through the client's connection: above it, the client keeps neither statuses nor headers of errors."""

    def __init__(self, address: Address) -> None:
        self._url = address.url
        logging.getLogger("opensearch").addHandler(logging.NullHandler())  # no tracebacks on stderr unless asked for
        self._client = OpenSearch(
            hosts=[{"host": address.host, "port": address.port, "url_prefix": address.path.strip("/")}],
            use_ssl=address.tls,
            ca_certs=address.ca_certs,
            http_auth=(address.user, address.password) if address.user and address.password else None,
            headers={"Authorization": f"ApiKey {address.api_key}"} if address.api_key else None,
        )

    def request(self, method: str, path: str, body: bytes | None, params: Mapping[str, str], seconds: float) -> Answer:
        """One request, never repeated by the client."""
        connection = self._client.transport.get_connection()
        kind = "application/x-ndjson" if path.endswith("_bulk") else "application/json"
        try:
            status, headers, text = connection.perform_request(
                method, f"/{path}", params, body, timeout=seconds, ignore=_EVERY_STATUS, headers={"content-type": kind}
            )
        except NoConnectionError as error:
            raise StoreUnreachable(url=self._url, reason=str(error.info or error)) from error
        return Answer(status, _parsed(text), headers.get("retry-after"))

    def close(self) -> None:
        """Closes the pool; a later request opens it again."""
        self._client.close()


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None


def open_opensearch(address: Address) -> EngineStore:
    """The store in an index of OpenSearch; nothing is asked yet."""
    place = Place(address.url, address.index, address.shards, address.replicas)
    return EngineStore(place, OpenSearchLink(address), DIALECT)
