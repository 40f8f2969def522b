"""OpenSearch by its own client, opensearch-py."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

from opensearchpy import OpenSearch, Urllib3AWSV4SignerAuth, Urllib3HttpConnection
from opensearchpy.exceptions import ConnectionError as ClientConnectionError

from indexer.errors import MissingExtra, UsageError
from indexer.stores.address import StoreAddress
from indexer.stores.engine.connections import ClientLink, authorization, deadline_pool
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
    """The client's connection to a node, on a pool whose responses have a deadline."""

    def __init__(self, *, ca_certs: str | None, **settings: Any) -> None:
        super().__init__(ca_certs=ca_certs, **settings)
        self._ca_certs = ca_certs or self.default_ca_certs()
        self.pool = self._deadline_pool()

    def perform_request(self, *args: Any, **settings: Any) -> tuple[int, dict[str, str], Response]:
        """Return the response of any status, whole: the client itself passes on its text alone."""
        settings["ignore"] = _EVERY_STATUS
        status, headers, text = super().perform_request(*args, **settings)
        return status, {}, Response(status, _json_or_none(text), headers.get("retry-after"))

    def _deadline_pool(self) -> Any:
        tls = {"cert_reqs": "CERT_REQUIRED", "ca_certs": self._ca_certs} if self.use_ssl else {}
        return deadline_pool(self.scheme, self.hostname, self.port, maxsize=WRITERS + 1, **tls)

    def close(self) -> None:
        """Close the sockets; a later request opens new ones."""
        super().close()
        self.pool = self._deadline_pool()


class _Passthrough:
    """The client's serializer: it leaves requests and responses as they are."""

    mimetype = "application/json"

    def dumps(self, data: bytes) -> bytes:
        return data

    def loads(self, response: Response) -> Response:
        return response


class OpenSearchLink(ClientLink):
    """Requests through the client's transport.

    A node that does not respond is skipped for a minute, longer after each further failure.
    """

    def __init__(self, address: StoreAddress) -> None:
        super().__init__(address)
        # Keeps the client's tracebacks off stderr unless logging is configured.
        logging.getLogger("opensearch").addHandler(logging.NullHandler())
        prefix = address.path.strip("/")
        self._client = OpenSearch(
            hosts=[
                {"host": host, "port": port, "url_prefix": prefix} for host, port in address.hosts
            ],
            connection_class=_Connection,
            serializer=_Passthrough(),
            max_retries=len(address.hosts) - 1,
            retry_on_timeout=True,
            use_ssl=address.tls,
            ca_certs=address.ca_certs,
            http_auth=_request_signer(address),
            headers=authorization(address),
        )

    def _send(
        self, method: str, path: str, body: bytes | None, params: Mapping[str, str], seconds: float
    ) -> Response:
        if path.endswith("_search"):
            params = {**_NO_PIPELINE, **params}
        headers = {"content-type": content_type(path)}
        send = self._client.transport.perform_request
        try:
            response: Response = send(
                method, f"/{path}", params, body, timeout=seconds, headers=headers
            )
        except ClientConnectionError as error:
            raise self._unreachable(str(error.info or error)) from error
        return response

    def close(self) -> None:
        """Close the connections; a later request opens new ones."""
        self._client.close()


def _request_signer(address: StoreAddress) -> Any:
    """Return the callable that signs requests for AWS, None elsewhere."""
    if address.aws is None:
        return None
    service, region = address.aws
    return Urllib3AWSV4SignerAuth(_aws_credentials(), region, service)


def _aws_credentials() -> Any:
    """Return the AWS credentials that sign requests, renewed when they expire.

    They come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, else from a profile, else from the
    role of the machine. Raises `UsageError` when there are none.
    """
    try:
        from botocore.exceptions import BotoCoreError
        from botocore.session import Session
    except ModuleNotFoundError as error:
        raise MissingExtra(package="botocore", extra="aws") from error
    try:
        credentials = Session().get_credentials()
    except BotoCoreError as error:
        raise UsageError(
            f"the AWS credentials cannot be read: {error}; check AWS_PROFILE and its files"
        ) from error
    if credentials is None:
        raise UsageError(
            "there are no AWS credentials; "
            "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
        )
    return credentials


def _json_or_none(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None


def open_opensearch(address: StoreAddress) -> EngineStore:
    """Return the store in an index of OpenSearch, without sending a request."""
    return EngineStore(OpenIndex(address, OpenSearchLink(address), DIALECT))
