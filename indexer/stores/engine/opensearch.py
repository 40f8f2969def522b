"""OpenSearch by its own client, opensearch-py."""

from __future__ import annotations

import base64
import contextlib
import json
import logging
from collections.abc import Mapping
from typing import Any

from opensearchpy import OpenSearch, Urllib3AWSV4SignerAuth, Urllib3HttpConnection
from opensearchpy.exceptions import ConnectionError as NoConnectionError

from indexer.errors import MissingExtra, StoreUnreachable
from indexer.stores.engine.address import Address
from indexer.stores.engine.deadline import bounded_pool
from indexer.stores.engine.index import Dialect, IndexPlace
from indexer.stores.engine.link import Answer
from indexer.stores.engine.store import WRITERS, EngineStore

DIALECT = Dialect(
    metadata_type="flat_object",
    open_pit="_search/point_in_time",
    pit_field="pit_id",
    close_pit="_search/point_in_time",
    close_body=lambda pit: {"pit_id": [pit]},
    search_pipelines=True,
    roles="_plugins/_security/api/roles",
)
_EVERY_STATUS = range(300, 600)


class _Connection(Urllib3HttpConnection):
    """The client's connection, whose answers come to an end."""

    def _create_urllib3_pool(self) -> None:
        """Also called when a connection that was closed is used again."""
        super()._create_urllib3_pool()
        bounded_pool(self.pool)


class OpenSearchLink:
    """Requests through the client's connection: above it, the client keeps neither statuses nor
    headers of errors.
    """

    def __init__(self, address: Address) -> None:
        self._url, self._nodes = address.url, len(address.hosts)
        logging.getLogger("opensearch").addHandler(
            logging.NullHandler()
        )  # no tracebacks on stderr unless asked for
        self._client = OpenSearch(
            hosts=[
                {"host": host, "port": port, "url_prefix": address.path.strip("/")}
                for host, port in address.hosts
            ],
            connection_class=_Connection,
            use_ssl=address.tls,
            ca_certs=address.ca_certs,
            pool_maxsize=WRITERS + 1,
            http_auth=_authentication(address),
            headers=_named(address),
        )

    def request(
        self, method: str, path: str, body: bytes | None, params: Mapping[str, str], seconds: float
    ) -> Answer:
        """One request; a node that does not answer is left alone for a minute, and the next is
        asked.

        What the lost node may have done is done again by the next: every request of ours may be
        repeated.
        """
        for _ in range(self._nodes - 1):
            with contextlib.suppress(StoreUnreachable):
                return self._once(method, path, body, params, seconds)
        return self._once(method, path, body, params, seconds)

    def _once(
        self, method: str, path: str, body: bytes | None, params: Mapping[str, str], seconds: float
    ) -> Answer:
        pool = self._client.transport.connection_pool
        connection = pool.get_connection()
        kind = (
            "application/x-ndjson" if path.endswith(("_bulk", "_msearch")) else "application/json"
        )
        try:
            status, headers, text = connection.perform_request(
                method,
                f"/{path}",
                params,
                body,
                timeout=seconds,
                ignore=_EVERY_STATUS,
                headers={"content-type": kind},
            )
        except NoConnectionError as error:
            pool.mark_dead(connection)
            raise StoreUnreachable(url=self._url, reason=str(error.info or error)) from error
        pool.mark_live(connection)
        return Answer(status, _parsed(text), headers.get("retry-after"))

    def close(self) -> None:
        """Closes the pool; a later request opens it again."""
        self._client.close()


def _named(address: Address) -> dict[str, str] | None:
    """The header that names the asker. The client would send a password as Latin-1, and fail where
    that has no such letter.
    """
    if address.api_key:
        return {"Authorization": f"ApiKey {address.api_key}"}
    if address.user and address.password and address.aws is None:
        login = base64.b64encode(f"{address.user}:{address.password}".encode())
        return {"Authorization": f"Basic {login.decode()}"}
    return None


def _authentication(address: Address) -> Any:
    """What signs requests for AWS, None elsewhere."""
    if address.aws is None:
        return None
    try:
        from indexer.stores.engine.aws import credentials
    except ModuleNotFoundError as error:
        raise MissingExtra(package="botocore", extra="aws") from error
    service, region = address.aws
    return Urllib3AWSV4SignerAuth(credentials(), region, service)


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None


def open_opensearch(address: Address) -> EngineStore:
    """The store in an index of OpenSearch; nothing is asked yet."""
    place = IndexPlace(address.url, address.index, address.shards, address.replicas)
    return EngineStore(place, OpenSearchLink(address), DIALECT)
