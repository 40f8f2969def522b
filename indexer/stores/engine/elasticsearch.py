"""Elasticsearch 8.19 and 9 by the client of version 9."""

from __future__ import annotations

import logging
import ssl
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import certifi
from elastic_transport import NodeConfig, Urllib3HttpNode
from elastic_transport.client_utils import DEFAULT
from elasticsearch import Elasticsearch, SerializationError, TransportError

from indexer.errors import StoreError
from indexer.stores.address import StoreAddress
from indexer.stores.engine.connections import (
    ELASTICSEARCH,
    ClientLink,
    authorization,
    deadline_pool,
)
from indexer.stores.engine.index import OpenIndex
from indexer.stores.engine.requests import Dialect, Response, content_type
from indexer.stores.engine.store import EngineStore

DIALECT = Dialect(
    metadata_type="flattened",
    open_pit="_pit",
    pit_options={},  # the default
    pit_field="id",
    close_pit="_pit",
    close_body=lambda pit: {"id": pit},
    search_pipelines=False,
    roles="_security/role",
    tie_breaker="_shard_doc",
)
_UNKNOWN_CONTENT_TYPE = 406  # the status with which other engines refuse this client's content type
_PRODUCT = "x-elastic-product"  # the header by which a server says what it is
_NEWEST, _OLDEST = 9, 8  # versions whose form of requests and responses nearfold understands
_OTHER_VERSION = "media_type_header_exception"  # how a server refuses the form of a later version


class _Node(Urllib3HttpNode):
    """The client's node, on a pool whose responses have a deadline.

    It trusts the certificates of the system, and of the configured file or else of certifi.
    """

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        tls: dict[str, Any] = {}
        if config.scheme == "https":
            tls["ssl_context"] = ssl.create_default_context()
            tls["ca_certs"] = config.ca_certs or certifi.where()
        connections = config.connections_per_node
        self.pool = deadline_pool(
            config.scheme, config.host, config.port, maxsize=connections, block=True, **tls
        )


class ElasticsearchLink(ClientLink):
    """Requests through the client's transport.

    Their form is as in version 9, or of version 8 once the server has refused that.
    """

    def __init__(self, address: StoreAddress) -> None:
        super().__init__(address)
        self._form = _NEWEST
        self._headers = authorization(address)
        self._other_nodes = len(address.hosts) - 1
        logging.getLogger("elastic_transport").addHandler(logging.NullHandler())
        scheme = "https" if address.tls else "http"
        self._client = Elasticsearch(
            hosts=[
                {"scheme": scheme, "host": host, "port": port, "path_prefix": address.path}
                for host, port in address.hosts
            ],
            node_class=_Node,
            ca_certs=(address.tls and address.ca_certs) or DEFAULT,
        )

    def _send(
        self, method: str, path: str, body: bytes | None, params: Mapping[str, str], seconds: float
    ) -> Response:
        form = self._form
        headers = {**self._headers, "accept": _media_type("application/json", form)}
        if body is not None:
            headers["content-type"] = _media_type(content_type(path), form)
        target = f"/{path}?{urlencode(params)}" if params else f"/{path}"
        send = self._client.transport.perform_request
        try:
            meta, content = send(
                method,
                target,
                body=body,
                headers=headers,
                max_retries=self._other_nodes,
                retry_on_timeout=True,
                retry_on_status=(),
                request_timeout=seconds,
            )
        except SerializationError:
            return Response(200, None)
        except TransportError as error:
            causes = "; ".join(dict.fromkeys(map(str, (error.message, *error.errors))))
            raise self._unreachable(causes) from error
        response = Response(meta.status, content, meta.headers.get("retry-after"))
        if response.kind == _OTHER_VERSION and form == _NEWEST:
            self._form = _OLDEST
            return self._send(method, path, body, params, seconds)
        is_other = 200 <= meta.status < 300 and meta.headers.get(_PRODUCT) != ELASTICSEARCH
        if is_other or meta.status == _UNKNOWN_CONTENT_TYPE:
            raise self._other_product()
        return response

    def _other_product(self) -> StoreError:
        return StoreError(
            f"{self._url} is not Elasticsearch; "
            "for OpenSearch, write opensearch:// instead of elasticsearch://"
        )

    def close(self) -> None:
        """Close the connections; a later request opens new ones."""
        self._client.close()


def _media_type(plain: str, version: int) -> str:
    """Return a media type in the form of a version of Elasticsearch.

    >>> _media_type("application/json", 8)
    'application/vnd.elasticsearch+json; compatible-with=8'
    """
    return f"{plain.replace('/', '/vnd.elasticsearch+')}; compatible-with={version}"


def open_elasticsearch(address: StoreAddress) -> EngineStore:
    """Return the store in an index of Elasticsearch, without sending a request."""
    return EngineStore(OpenIndex(address, ElasticsearchLink(address), DIALECT))
