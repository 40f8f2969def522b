"""OpenSearch by its own client, opensearch-py."""

from __future__ import annotations

import base64
import contextlib
import json
import logging
from collections.abc import Mapping
from typing import Any

from opensearchpy import OpenSearch, Urllib3AWSV4SignerAuth, Urllib3HttpConnection
from opensearchpy.exceptions import ConnectionError as ClientConnectionError

from indexer.errors import MissingExtra, StoreUnreachable
from indexer.stores.address import StoreAddress
from indexer.stores.engine.connections import CheckedLink, deadline_pool
from indexer.stores.engine.index import WRITERS, OpenIndex
from indexer.stores.engine.requests import Dialect, Response, content_type
from indexer.stores.engine.store import EngineStore

DIALECT = Dialect(
    metadata_type="flat_object",
    open_pit="_search/point_in_time",
    pit_options={"allow_partial_pit_creation": "false"},
    pit_field="pit_id",
    close_pit="_search/point_in_time",
    close_body=lambda pit: {"pit_id": [pit]},
    search_pipelines=True,
    roles="_plugins/_security/api/roles",
    tie_breaker="_seq_no",  # before 3.3 it does not know _shard_doc
)
_EVERY_STATUS = range(300, 600)
# An index may have a search pipeline for its clients, which would change what nearfold reads.
_NO_PIPELINE = {"search_pipeline": "_none"}


class _Connection(Urllib3HttpConnection):
    """The client's connection to a node, on a pool whose answers have a deadline."""

    def __init__(self, *, ca_certs: str | None, **settings: Any) -> None:
        super().__init__(ca_certs=ca_certs, **settings)
        self._ca_certs = ca_certs or self.default_ca_certs()
        self.pool = self._deadline_pool()

    def _deadline_pool(self) -> Any:
        tls = {"cert_reqs": "CERT_REQUIRED", "ca_certs": self._ca_certs} if self.use_ssl else {}
        return deadline_pool(self.scheme, self.hostname, self.port, maxsize=WRITERS + 1, **tls)

    def close(self) -> None:
        """Close the sockets; a later request opens new ones."""
        super().close()
        self.pool = self._deadline_pool()


class OpenSearchLink:
    """Requests through the client's connections: its higher levels drop the statuses and the
    headers of errors.
    """

    def __init__(self, address: StoreAddress) -> None:
        self._url = address.url
        self._nodes = len(address.hosts)
        # Keeps the client's tracebacks off stderr unless logging is configured.
        logging.getLogger("opensearch").addHandler(logging.NullHandler())
        prefix = address.path.strip("/")
        self._client = OpenSearch(
            hosts=[
                {"host": host, "port": port, "url_prefix": prefix} for host, port in address.hosts
            ],
            connection_class=_Connection,
            use_ssl=address.tls,
            ca_certs=address.ca_certs,
            http_auth=_request_signer(address),
            headers=_authorization(address),
        )

    def request(
        self, method: str, path: str, body: bytes | None, params: Mapping[str, str], seconds: float
    ) -> Response:
        """Send one request; a node that does not answer is skipped for a minute, and the next one
        gets the request.

        The next node may repeat what the lost one has done: every request may be repeated.
        """
        if path.endswith("_search"):
            params = {**_NO_PIPELINE, **params}
        for _ in range(self._nodes - 1):
            with contextlib.suppress(StoreUnreachable):
                return self._send(method, path, body, params, seconds)
        return self._send(method, path, body, params, seconds)

    def _send(
        self, method: str, path: str, body: bytes | None, params: Mapping[str, str], seconds: float
    ) -> Response:
        pool = self._client.transport.connection_pool
        connection = pool.get_connection()
        try:
            status, headers, text = connection.perform_request(
                method,
                f"/{path}",
                params,
                body,
                timeout=seconds,
                ignore=_EVERY_STATUS,
                headers={"content-type": content_type(path)},
            )
        except ClientConnectionError as error:
            pool.mark_dead(connection)
            raise StoreUnreachable(url=self._url, reason=str(error.info or error)) from error
        pool.mark_live(connection)
        return Response(status, _json_or_none(text), headers.get("retry-after"))

    def close(self) -> None:
        """Close the connections; a later request opens new ones."""
        self._client.close()


def _authorization(address: StoreAddress) -> dict[str, str] | None:
    """Return the header with the credentials, None without any.

    The client itself would encode a password as Latin-1, and fail on other letters.
    """
    if address.api_key:
        return {"Authorization": f"ApiKey {address.api_key}"}
    if address.user and address.password and address.aws is None:
        login = base64.b64encode(f"{address.user}:{address.password}".encode())
        return {"Authorization": f"Basic {login.decode()}"}
    return None


def _request_signer(address: StoreAddress) -> Any:
    """Return the callable that signs requests for AWS, None elsewhere."""
    if address.aws is None:
        return None
    try:
        from indexer.stores.engine.aws import credentials
    except ModuleNotFoundError as error:
        raise MissingExtra(package="botocore", extra="aws") from error
    service, region = address.aws
    return Urllib3AWSV4SignerAuth(credentials(), region, service)


def _json_or_none(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None


def open_opensearch(address: StoreAddress) -> EngineStore:
    """Return the store in an index of OpenSearch, without sending a request."""
    link = CheckedLink(OpenSearchLink(address), address)
    return EngineStore(OpenIndex(address, link, DIALECT))
