"""A Tika server by its URL, through the client library `tika`, which is kept to being a client.

Left to itself that library fetches a jar and starts a server, logs to a file in the temporary
folder, trusts any certificate, follows redirects, goes through a proxy to reach this very machine,
and reads an answer of any size. None of it happens here.
"""

from __future__ import annotations

import ipaddress
import json
import logging
import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

from indexer.errors import (
    ExtractionError,
    ExtractionTimeout,
    ExtractorUnavailable,
    MissingExtra,
    UsageError,
)
from indexer.extraction.base import Limits, TryAlone
from indexer.extraction.tika_answers import damage_error, document, with_hint
from indexer.model import Document
from indexer.system.urls import parts_of, without_login

_VERSION = re.compile(r"Apache Tika (\d[\w.-]*)")
_GREETING_SECONDS, _CONNECT_SECONDS, _PAUSE_SECONDS = 5.0, 5.0, 0.5
_RETURN_SECONDS = 40.0
_PIECE = 1 << 16
_BYTES_A_CHAR, _OTHER_BYTES = 6, 32 << 20
_MOST_EMBEDDED = 1000
_BUSY = frozenset({429, 502, 503, 504})
_ELSEWHERE = frozenset({401, 403, 404, 405, 407})


def tika_server(url: str) -> TikaServer:
    """The server at `url`, asked for its version. Raises `ExtractorUnavailable`, `MissingExtra` and
    `UsageError`.
    """
    if parts_of(url).scheme not in ("http", "https") or not parts_of(url).hostname:
        raise UsageError(
            f"{without_login(url)!r} is not the URL of a Tika server; set NEARFOLD_TIKA to one such as http://127.0.0.1:9998"
        )
    url = url.rstrip("/")
    return TikaServer(url, version_of(url))


def version_of(url: str) -> str:
    """What the server says it is. Raises `ExtractorUnavailable` when it does not answer as a Tika
    server does.
    """
    reasons = []
    for page in ("/version", "/tika"):
        try:
            status, said = _call("get", url, page, None, {}, _GREETING_SECONDS, _OTHER_BYTES)
        except (_BrokenOff, ExtractionError) as error:
            raise _unavailable(url, str(error)) from error
        if status == 200 and (found := _VERSION.search(said.decode("utf-8", "replace"))):
            return found[1]
        reasons.append(f"{page} answered {status}")
    raise _unavailable(url, ", ".join(reasons))


@dataclass(frozen=True, slots=True)
class TikaServer:
    """Makes extractors that ask the server at `url`; `version` is what the server said it is."""

    url: str
    version: str
    patience: float = _RETURN_SECONDS

    @property
    def identity(self) -> str:
        """Such as `tika-server/3.3.2`."""
        return f"tika-server/{self.version}"

    def __call__(self, limits: Limits) -> ServerExtractor:
        """An extractor; the server is not asked."""
        return ServerExtractor(self, limits)


class ServerExtractor:
    """Sends one document at a time. What breaks off is told by `TryAlone`, after the server has
    come back.
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
            parts = _parts(*self._answer(with_hint(data, name)))
        except _BrokenOff as error:
            _await_return(self._url)
            raise TryAlone from error
        text = "\n".join(
            content for part in parts if (content := "".join(part.get("X-TIKA:content", ())))
        )
        return document(text, _metadata(parts), data, self._limits.chars, self.identity)

    def _answer(self, data: bytes) -> tuple[int, bytes]:
        """The name is not sent: `.txt` would make Tika read anything as text."""
        chars = self._limits.chars + 1
        headers = {
            "Accept": "application/json",
            "writeLimit": str(chars),
            "maxEmbeddedResources": str(_MOST_EMBEDDED),
        }
        most = _BYTES_A_CHAR * chars + _OTHER_BYTES
        return _call("put", self._url, "/rmeta/body", data, headers, self._limits.seconds, most)


class _BrokenOff(Exception):
    """No whole answer came; the document may be to blame, or another one."""


@dataclass(slots=True)
class _Answer:
    """What the client library reads of a response."""

    status_code: int
    headers: Mapping[str, str]
    content: bytes
    encoding: str = ""


def _parts(status: int, body: bytes) -> list[dict[str, list[str]]]:
    """The metadata and content of the document and of what is embedded in it, values always as
    lists.
    """
    if status in _BUSY:
        raise _BrokenOff(f"the server answered {status}")
    if status in _ELSEWHERE or 300 <= status < 400:
        raise ExtractorUnavailable(
            extractor="server", reason=f"it answered {status}; check NEARFOLD_TIKA"
        )
    if status != 200:
        raise damage_error(f"the server answered {status}")
    try:
        return [
            {key: _listed(value) for key, value in part.items()}
            for part in json.loads(body.decode("utf-8", "replace"))
        ]
    except (ValueError, AttributeError, TypeError) as error:
        raise _BrokenOff("the answer is not what Tika sends") from error


def _listed(value: object) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else [str(value)]


def _metadata(parts: Sequence[Mapping[str, list[str]]]) -> dict[str, list[str]]:
    """The document's own metadata, and what went wrong in anything that is embedded."""
    merged = dict(parts[0]) if parts else {}
    for part in parts[1:]:
        for key, values in part.items():
            if key.upper().startswith(("X-TIKA:EXCEPTION", "X-TIKA:WARN")):
                merged[key] = [*merged.get(key, ()), *values]
    return merged


def _await_return(url: str) -> None:
    deadline = time.monotonic() + _RETURN_SECONDS
    while not _answers(url):
        if time.monotonic() > deadline:
            raise _unavailable(
                url, f"it broke off and did not come back within {_RETURN_SECONDS:g} s"
            )
        time.sleep(_PAUSE_SECONDS)


def _answers(url: str) -> bool:
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
    most: int,
) -> tuple[int, bytes]:
    """Status and body. Raises `ExtractionTimeout`, `_BrokenOff`, and `ExtractionError` for a body
    over `most` bytes.
    """
    client = _client()
    deadline = time.monotonic() + seconds

    def bounded(address: str, body: bytes | None, **options: Any) -> _Answer:
        with client.requests.request(
            verb, address, data=body, stream=True, allow_redirects=False, **options
        ) as response:
            return _Answer(
                response.status_code, response.headers, _read(response, deadline, seconds, most)
            )

    options = {"timeout": (_CONNECT_SECONDS, seconds), "verify": True, "proxies": _proxies(url)}
    try:
        status, content = client.callServer(
            verb,
            url,
            service,
            data,
            headers,
            httpVerbs={verb: bounded},
            rawResponse=True,
            requestOptions=options,
        )
    except client.requests.RequestException as error:
        if time.monotonic() > deadline - _PAUSE_SECONDS:
            raise ExtractionTimeout(seconds=seconds) from error
        raise _BrokenOff(f"{type(error).__name__} at {without_login(url)}") from error
    return int(status), bytes(content)


def _read(response: Any, deadline: float, seconds: float, most: int) -> bytes:
    pieces, size = [], 0
    for piece in response.iter_content(_PIECE):
        pieces.append(piece)
        size += len(piece)
        if size > most:
            raise ExtractionError(
                f"the server's answer is larger than {most >> 20} MB; the document is hostile"
            )
        if time.monotonic() > deadline:
            raise ExtractionTimeout(seconds=seconds)
    return b"".join(pieces)


@cache
def _client() -> ModuleType:
    """The client library, silent, and told never to start a server of its own."""
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
    """No proxy on the way to this machine; elsewhere what the environment says."""
    host = parts_of(url).hostname or ""
    try:
        here = ipaddress.ip_address(host).is_loopback
    except ValueError:
        here = host == "localhost"
    return {"no_proxy": "*"} if here else {}


def _unavailable(url: str, reason: str) -> ExtractorUnavailable:
    return ExtractorUnavailable(
        extractor="server", reason=f"{reason}; NEARFOLD_TIKA has its address, {without_login(url)}"
    )
