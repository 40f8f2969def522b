"""A Tika server by its URL, through the client library `tika`, restricted to being a client.

By default that library fetches a jar and starts a server, logs to a file in the temporary folder,
trusts any certificate, follows redirects, uses a proxy to reach this very machine, and reads an
response of any size. None of it happens here.
"""

from __future__ import annotations

import ipaddress
import json
import logging
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

from indexer.documents.base import Limits, TryAlone
from indexer.documents.tika import READER, damage_error, document, with_hint
from indexer.errors import (
    ExtractionError,
    ExtractionTimeout,
    ExtractorUnavailable,
    MissingExtra,
    UsageError,
)
from indexer.model import Document
from indexer.system.credentials import parts_of, without_login

_VERSION = re.compile(r"Apache Tika (\d[\w.-]*)")
_GREETING_SECONDS, _CONNECT_SECONDS, _PAUSE_SECONDS = 5.0, 5.0, 0.5
_RETURN_SECONDS = 40.0
_PIECE = 1 << 16
_BYTES_A_CHAR, _OTHER_BYTES = 6, 32 << 20
_MAX_EMBEDDED = 1000
_BUSY = frozenset({429, 502, 503, 504})
_ELSEWHERE = frozenset({401, 403, 404, 405, 407})


def tika_server(url: str) -> TikaServer:
    """Return the server at `url`, whose version is requested now.

    Raises `ExtractorUnavailable`, `MissingExtra` and `UsageError`.
    """
    parts = parts_of(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(
            f"{without_login(url)!r} is not the URL of a Tika server; "
            "set NEARFOLD_TIKA to one such as http://127.0.0.1:9998"
        )
    url = url.rstrip("/")
    return TikaServer(url, version_of(url))


def version_of(url: str) -> str:
    """Return the server's version. Raises `ExtractorUnavailable` when it does not respond as a Tika
    server does.
    """
    reasons = []
    for page in ("/version", "/tika"):
        try:
            status, body = _call("get", url, page, None, {}, _GREETING_SECONDS, _OTHER_BYTES)
        except (_Disconnection, ExtractionError) as error:
            raise _unavailable(url, str(error)) from error
        if status == 200 and (match := _VERSION.search(body.decode("utf-8", "replace"))):
            return match[1]
        reasons.append(f"{page} answered {status}")
    raise _unavailable(url, ", ".join(reasons))


@dataclass(frozen=True, slots=True)
class TikaServer:
    """A factory of extractors that use the server at `url`, which has this version."""

    url: str
    version: str
    extra_seconds: float = _RETURN_SECONDS

    @property
    def identity(self) -> str:
        """Name and version, such as `tika-server/3.3.2-2`."""
        return f"tika-server/{self.version}-{READER}"

    def __call__(self, limits: Limits) -> ServerExtractor:
        """Make an extractor, without a request to the server."""
        return ServerExtractor(self, limits)


class ServerExtractor:
    """An extractor by a Tika server, one document at a time.

    A broken connection is `TryAlone`, raised when the server is back.
    """

    def __init__(self, server: TikaServer, limits: Limits) -> None:
        self.identity = server.identity
        self._url = server.url
        self._limits = limits

    def extract(self, data: bytes, name: str) -> Document:
        """Read one document; no bytes give an empty document.

        Raises `ExtractionError`; `TryAlone` when the server broke off and is back;
        `ExtractorUnavailable` when it does not come back within 40 seconds.
        """
        if not data:
            return Document("", extractor=self.identity)
        try:
            parts = _parts(*self._send(with_hint(data, name)))
        except _Disconnection as error:
            _await_return(self._url)
            raise TryAlone from error
        return document(_text(parts), _metadata(parts), data, self._limits.chars, self.identity)

    def _send(self, data: bytes) -> tuple[int, bytes]:
        """Send a document without its name, since `.txt` would make Tika read anything as text."""
        chars = self._limits.chars + 1
        headers = {
            "Accept": "application/json",
            "writeLimit": str(chars),
            "maxEmbeddedResources": str(_MAX_EMBEDDED),
        }
        limit = _BYTES_A_CHAR * chars + _OTHER_BYTES
        return _call("put", self._url, "/rmeta/body", data, headers, self._limits.seconds, limit)


class _Disconnection(Exception):
    """Raised without a whole response; this document may be the cause, or another one."""


@dataclass(slots=True)
class _Response:
    """The part of a response that the client library reads."""

    status_code: int
    headers: Mapping[str, str]
    content: bytes
    encoding: str = ""


def _parts(status: int, body: bytes) -> list[dict[str, list[str]]]:
    """Return the metadata and content of the document and of each embedded one, values always as
    lists.
    """
    if status in _BUSY:
        raise _Disconnection(f"the server answered {status}")
    if status in _ELSEWHERE or 300 <= status < 400:
        raise ExtractorUnavailable(
            extractor="server", reason=f"it answered {status}; check NEARFOLD_TIKA"
        )
    if status != 200:
        raise damage_error(f"the server answered {status}")
    try:
        return [_with_lists(part) for part in json.loads(body.decode("utf-8", "replace"))]
    except (ValueError, AttributeError, TypeError) as error:
        raise _Disconnection("the response is not what Tika sends") from error


def _with_lists(part: Mapping[str, object]) -> dict[str, list[str]]:
    values = {key: value if isinstance(value, list) else [value] for key, value in part.items()}
    return {key: list(map(str, items)) for key, items in values.items()}


def _text(parts: Sequence[Mapping[str, list[str]]]) -> str:
    """Return the text of a document and of what is in it; of an archive, whose own text lists what
    is in it, each text follows its name, as the native extractor has it.

    >>> path = "X-TIKA:embedded_resource_path"
    >>> parts = [{"X-TIKA:content": ["\\na.txt\\n\\nb.txt"]}]
    >>> for name in ("b.txt", "a.txt"):
    ...     parts.append({path: [f"/{name}"], "X-TIKA:content": [f"Text of {name}"]})
    >>> _text(parts).split("\\n")
    ['a.txt', 'Text of a.txt', 'b.txt', 'Text of b.txt']
    """
    contents: dict[str, str] = {}
    inner: dict[str, list[str]] = {}
    for number, part in enumerate(parts):
        path = "".join(part.get("X-TIKA:embedded_resource_path", ())) if number else ""
        path = path if number == 0 or path not in contents else f"{path}/{number}"
        contents[path] = "".join(part.get("X-TIKA:content", ()))
        if number:
            inner.setdefault(path.rpartition("/")[0], []).append(path)
    return "\n".join(filter(None, _texts("", contents, inner)))


def _texts(path: str, contents: dict[str, str], inner: dict[str, list[str]]) -> Iterator[str]:
    """Yield the text of a part, and of the parts in it, each once."""
    content = contents.pop(path, "")
    names = {found.rpartition("/")[2]: found for found in inner.pop(path, ())}
    lines = [line.strip() for line in content.splitlines() if line.strip()]
    is_list = names.keys() >= set(lines)
    for line in lines if is_list else [content]:
        yield line
        if is_list and line in names:
            yield from _texts(names.pop(line), contents, inner)
    for found in names.values():
        yield from _texts(found, contents, inner)
    if not path:  # parts of which the one around them is missing
        yield from list(contents.values())


def _metadata(parts: Sequence[Mapping[str, list[str]]]) -> dict[str, list[str]]:
    """Return the document's own metadata, with the errors and warnings of embedded documents."""
    merged = dict(parts[0]) if parts else {}
    for part in parts[1:]:
        for key, values in part.items():
            if key.upper().startswith(("X-TIKA:EXCEPTION", "X-TIKA:WARN")):
                merged[key] = [*merged.get(key, ()), *values]
    return merged


def _await_return(url: str) -> None:
    """Wait until the server responds again. Raises `ExtractorUnavailable` after 40 seconds."""
    deadline = time.monotonic() + _RETURN_SECONDS
    while not _is_available(url):
        if time.monotonic() > deadline:
            raise _unavailable(
                url,
                f"the connection broke, and it did not respond again within {_RETURN_SECONDS:g} s",
            )
        time.sleep(_PAUSE_SECONDS)


def _is_available(url: str) -> bool:
    try:
        return bool(version_of(url))
    except ExtractorUnavailable:
        return False


def _call(
    verb: str,
    url: str,
    service: str,
    data: bytes | None,
    headers: dict[str, str],
    seconds: float,
    limit: int,
) -> tuple[int, bytes]:
    """Return status and body of a response.

    Raises `ExtractionTimeout`, `_Disconnection`, and `ExtractionError` for a body over `limit`
    bytes.
    """
    client = _client()
    deadline = time.monotonic() + seconds

    def send(address: str, body: bytes | None, **options: Any) -> _Response:
        with client.requests.request(
            verb, address, data=body, stream=True, allow_redirects=False, **options
        ) as response:
            content = _read(response, deadline, seconds, limit)
            return _Response(response.status_code, response.headers, content)

    options = {"timeout": (_CONNECT_SECONDS, seconds), "verify": True, "proxies": _proxies(url)}
    settings = {"httpVerbs": {verb: send}, "rawResponse": True, "requestOptions": options}
    try:
        status, content = client.callServer(verb, url, service, data, headers, **settings)
    except client.requests.RequestException as error:
        if time.monotonic() > deadline - _PAUSE_SECONDS:
            raise ExtractionTimeout(seconds=seconds) from error
        raise _Disconnection(f"{type(error).__name__} at {without_login(url)}") from error
    return int(status), bytes(content)


def _read(response: Any, deadline: float, seconds: float, limit: int) -> bytes:
    """Read a body of at most `limit` bytes until the deadline."""
    pieces = []
    size = 0
    for piece in response.iter_content(_PIECE):
        pieces.append(piece)
        size += len(piece)
        if size > limit:
            raise ExtractionError(
                f"the server's response is larger than {limit >> 20} MB; the document is hostile"
            )
        if time.monotonic() > deadline:
            raise ExtractionTimeout(seconds=seconds)
    return b"".join(pieces)


@cache
def _client() -> ModuleType:
    """Return the client library, configured never to log to a file or to start a server."""
    before = os.environ.get("TIKA_LOG_FILE")
    os.environ["TIKA_LOG_FILE"] = ""
    try:
        from tika import tika as client  # type: ignore[import-untyped]
    except ImportError as error:
        raise MissingExtra(package="tika", extra="tika") from error
    finally:
        del os.environ["TIKA_LOG_FILE"]
        if before is not None:
            os.environ["TIKA_LOG_FILE"] = before
    client.TikaClientOnly = True
    logging.getLogger("tika.tika").addHandler(logging.NullHandler())
    module: ModuleType = client
    return module


def _proxies(url: str) -> dict[str, str]:
    """Return the proxy settings: none for this machine, else from the environment."""
    host = parts_of(url).hostname or ""
    try:
        is_local = ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_local = host == "localhost"
    return {"no_proxy": "*"} if is_local else {}


def _unavailable(url: str, reason: str) -> ExtractorUnavailable:
    return ExtractorUnavailable(
        extractor="server", reason=f"{reason}; NEARFOLD_TIKA has its address, {without_login(url)}"
    )
