"""Documents of a project in Hansken, the digital forensics platform, by its own Python client.

Hansken keeps the text that it extracted from a document next to the raw data; without such a text,
the raw data are read.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, cast
from urllib.parse import parse_qs

from hansken import envvars  # type: ignore[import-untyped]
from hansken.connect import connect_project  # type: ignore[import-untyped]
from hansken.query import Range, to_query  # type: ignore[import-untyped]
from hansken.remote import RECOVERABLE_JSON_STREAM_ERRORS  # type: ignore[import-untyped]
from requests import RequestException

from indexer.documents.base import OCR, ReadOptions, SourceItem
from indexer.documents.blobs import INSIDE, bounded, file_payload
from indexer.errors import UnreadableFile, UsageError
from indexer.model import Blob, Document, FailedBlob, Payload
from indexer.system.credentials import parts_of

DOCUMENTS = "type:document"
_TEXTS = ("ocr", "htmlText", "text", "plain")
_RAW, _HTML = "raw", "htmlText"
_MIN_BYTES = 16
_MAX_IDLE = 3
_IDENTITY = "hansken/text"
_USER, _PASSWORD = "HANSKEN_USERNAME", "HANSKEN_PASSWORD"
_ERRORS = (RequestException, OSError, ValueError)


class HanskenSource:
    """One project. A document is known by its trace uid, which is its id too."""

    def __init__(self, url: str, read_options: ReadOptions) -> None:
        """Open `hansken://HOST[:PORT][/PATH]/PROJECT[?keystore=URL]`; `hansken+http://` without
        TLS, for tests.

        Logs in with HANSKEN_USERNAME and HANSKEN_PASSWORD where the server requires it; the
        keystore may also be given by HANSKEN_KEYSTORE_ENDPOINT. Raises `UsageError` for a URL that
        names no project, or a server that refuses the login.
        """
        self._options = read_options
        endpoint, project, keystore = _address(url)
        self._url = url.partition("?")[0].rstrip("/")
        try:
            self._context = connect_project(
                endpoint,
                project,
                username=os.environ.get(_USER),
                password=os.environ.get(_PASSWORD),
                keystore=keystore,
            )
            self._context.open()
        except _ERRORS as error:
            raise UsageError(
                f"{url} cannot be reached ({error}); check the address, "
                f"and set {_USER} and {_PASSWORD} if it requires a login"
            ) from error
        self._has_keystore = keystore is not None

    def blobs(self) -> Iterator[SourceItem]:
        """Yield every document that matches the query (by default all of type `document`), by uid.

        A document that is suspected or confirmed to be privileged gets the label `privileged`, and
        its state as another label.
        """
        query = to_query(self._options.query or DOCUMENTS)
        try:
            with self._context as context:
                for trace in _traces(context, query):
                    yield self._item(trace)
        except _ERRORS as error:
            yield FailedBlob(
                self._url, f"the project cannot be read to its end ({error}); run again to go on"
            )

    def scopes(self) -> tuple[str, ...]:
        """Return the inside of the project; nothing when a query selects documents."""
        return () if self._options.query else (f"{self._url}!",)

    def holds(self, path: str) -> bool:
        """Return False: every document was read."""
        return False

    def _item(self, trace: Any) -> SourceItem:
        uid = str(trace.uid)
        name = str(trace.name or uid)
        path = f"{self._url}{INSIDE}{uid}/{name.replace('/', '_')}"
        stream = _stream_name(trace)
        if stream is None:
            return FailedBlob(
                path,
                f"it has no stream of data, neither raw nor any of {', '.join(_TEXTS)}; "
                "look at it in Hansken",
            )
        size = int(trace.get(f"data.{stream}.size") or 0)
        digest = trace.get(f"data.{stream}.hash.sha1")
        labels = ("privileged", str(trace.privileged)) if trace.privileged else ()
        metadata = _metadata(trace, stream)
        max_chars = self._options.max_chars
        is_raw = stream == _HTML and self._options.raw_markup
        fields = [stream, size, digest, name, labels, metadata, max_chars]
        state = json.dumps([*fields, "raw"] if is_raw else fields, sort_keys=True)
        source = hashlib.sha256(state.encode()).hexdigest() if digest else None
        opener = _Stream(trace, stream, size, source, self._has_keystore, max_chars, name, is_raw)
        if stream == _HTML:
            path += ".html"
        return Blob(uid, uid.encode(), path, opener, 0, None, source, labels, metadata)


@dataclass(frozen=True, slots=True)
class _Stream:
    """One stream of a trace."""

    trace: Any
    name: str
    size: int
    source: str | None
    has_keystore: bool
    max_chars: int
    title: str
    is_raw_markup: bool

    def read(self, max_bytes: int) -> Payload:
        """Read the whole stream; a text that Hansken extracted comes as a document, and so does its
        HTML if that is not to be extracted again.
        """
        if self.size > max_bytes:
            raise UnreadableFile.too_large(max_bytes, self.size)
        try:
            with self.stream() as stream:
                data = bounded(stream, max_bytes)
        except _ERRORS as error:
            raise UnreadableFile(
                reason=f"Hansken does not give the data ({error})",
                remedy="check your rights, then run again",
            ) from error
        if isinstance(data, UnreadableFile):
            raise data
        payload = file_payload(data, None)
        is_text = self.name not in (_RAW, _HTML) or self.is_raw_markup
        document = self._document(data) if is_text else None
        source = self.source or payload.source
        return Payload(data, payload.size, None, payload.raw, source, document)

    def stream(self) -> BinaryIO:
        """Open the stream; with a keystore the client fetches the key of an image."""
        keys = {} if self.has_keystore else {"key": None}
        return cast(BinaryIO, io.BufferedReader(self.trace.open(self.name, **keys)))

    def _document(self, data: bytes) -> Document:
        text = data.decode("utf-8", "replace")
        return Document(
            text[: self.max_chars],
            self.title,
            "text/html" if self.is_raw_markup else "text/plain",
            {OCR: "Hansken"} if self.name == "ocr" else {},
            _IDENTITY,
            len(text) > self.max_chars,
        )


def _traces(context: Any, query: Any) -> Iterator[Any]:
    """Yield the traces that match a query, by uid.

    When a response breaks off, as happens to a slow reader, the rest is requested again; the client
    itself would repeat that without an end.
    """
    last = None
    idle = 0
    while True:
        rest = query if last is None else Range("uid", gt=last) & query
        try:
            with context.search(rest, sort="uid+") as traces:
                for trace in traces:
                    last = trace.uid
                    idle = 0
                    yield trace
            return
        except RECOVERABLE_JSON_STREAM_ERRORS as error:
            idle += 1
            if idle > _MAX_IDLE:
                raise OSError(f"the response is incomplete each time: {error}") from error


def _stream_name(trace: Any) -> str | None:
    """Return the largest text of a document if it is more than a few bytes, else the raw data;
    None without either.
    """
    texts = {
        name: int(trace.get(f"data.{name}.size") or 0)
        for name in _TEXTS
        if trace.get(f"data.{name}.mimeClass") == "text"
    }
    best = max(texts, key=texts.__getitem__, default=_RAW)
    if texts.get(best, 0) > _MIN_BYTES:
        return best
    return _RAW if _RAW in trace.data_types else None


def _metadata(trace: Any, stream: str) -> Mapping[str, str]:
    values = {
        "uid": trace.uid,
        "image": trace.image_id,
        "path": trace.get("file.path"),
        "stream": stream,
        "tags": ", ".join(map(str, trace.tags)) or None,
        "privileged": str(trace.privileged) if trace.privileged is not None else None,
    }
    return {f"hansken.{name}": str(value) for name, value in values.items() if value is not None}


def _address(url: str) -> tuple[str, str, str | None]:
    """Return the address of the gatekeeper, the project, and the address of the keystore if there
    is one.
    """
    parts = parts_of(url)
    path, _, project = parts.path.rstrip("/").rpartition("/")
    if not parts.hostname or not project or parts.username is not None:
        raise UsageError(
            f"{url} names no project; "
            "write hansken://HOST/gatekeeper/PROJECT, without user and password"
        )
    scheme = "http" if parts.scheme.endswith("+http") else "https"
    keystore = parse_qs(parts.query).get("keystore", [os.environ.get(envvars.keystore)])[0]
    return f"{scheme}://{parts.netloc}{path}", project, keystore
