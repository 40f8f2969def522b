"""Files and folders in all file systems of fsspec: s3, sftp, https, memory and some thirty more."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, BinaryIO, cast

from fsspec.core import url_to_fs  # type: ignore[import-untyped]

from indexer.documents.base import ReadOptions, SourceItem
from indexer.documents.blobs import INSIDE, bounded, file_payload, identifier
from indexer.documents.containers import container_of, expand
from indexer.errors import SourceNotFound, UnreadableFile, UsageError
from indexer.model import Blob, FailedBlob, Payload
from indexer.system.credentials import parts_of

_TIMES = ("mtime", "LastModified", "last_modified", "modified", "updated", "created")
_ABSENT = (404, 410)


class RemoteSource:
    """One URL: a file, or a folder with everything below it."""

    def __init__(self, url: str, read_options: ReadOptions) -> None:
        """Raise `SourceNotFound`, and `UsageError` for a URL that cannot be read or holds a
        password.
        """
        if parts_of(url).password is not None:
            raise UsageError(
                "a URL must not hold a password, because others can read it; "
                "see docs/sources.md for where to put it"
            )
        self._options = read_options
        self._system, self._root, self._info = _look_up(url)
        self._opened: set[str] = set()
        self._url = self._display(self._root)

    def blobs(self) -> Iterator[SourceItem]:
        """Yield the files by name, containers opened; each file is read again in every run."""
        return expand(self._files(), {self._url}, self._options, self._opened)

    def scopes(self) -> tuple[str, ...]:
        """Return the URL, and the inside of a container."""
        return (self._url, f"{self._url}!") if container_of(self._url) else (self._url,)

    def holds(self, path: str) -> bool:
        """Return whether the path is inside a container that exists but was not opened."""
        outer, inside, _ = path.partition(INSIDE)
        return bool(inside) and outer not in self._opened and bool(self._system.exists(outer))

    def _files(self) -> Iterator[SourceItem]:
        try:
            files = self._list()
        except Exception as error:
            yield FailedBlob(
                self._url, f"it cannot be listed ({_reason(error)}); correct that, then run again"
            )
            return
        folder = self._root.rstrip("/") if self._info is None else self._root.rpartition("/")[0]
        namespace = self._options.namespace or self._display(folder)
        space = namespace.encode("utf-8", "surrogateescape")
        for name in sorted(files):
            info = files[name]
            key = name[len(folder) :].lstrip("/").encode("utf-8", "surrogateescape")
            modified = _modified(info)
            size = int(info.get("size") or 0)
            opener = _RemoteFile(self._system, name, modified, bool(info.get("partial")))
            yield Blob(identifier(space, key), key, self._display(name), opener, size, modified)

    def _list(self) -> Mapping[str, Mapping[str, Any]]:
        if self._info is not None:
            return {self._root: self._info}
        return cast(Mapping[str, Mapping[str, Any]], self._system.find(self._root, detail=True))

    def _display(self, name: str) -> str:
        return str(self._system.unstrip_protocol(name)).rstrip("/")


def _look_up(url: str) -> tuple[Any, str, Mapping[str, Any] | None]:
    """Return the file system, the path in it, and the properties of the file, None for a folder."""
    try:
        system, root = url_to_fs(url)
        system.invalidate_cache()  # of listings that an earlier run may have left
        info = system.info(root)
    except FileNotFoundError as error:
        cause = _http_failure(error)
        if cause is None:
            raise SourceNotFound(path=url) from error
        raise _unusable(url, cause) from error
    except ImportError as error:
        raise UsageError(
            f"{url} needs a library that is not installed: {error}; docs/sources.md names extras"
        ) from error
    except Exception as error:
        raise _unusable(url, error) from error
    folder = url.endswith("/") or info.get("type") == "directory"
    return system, root, None if folder else info


def _http_failure(error: FileNotFoundError) -> BaseException | None:
    """Return the cause of a file that was not found, None when it really does not exist.

    fsspec reports every failure over HTTP, such as no response or status 500, as a missing file.
    """
    cause = error.__cause__
    status = getattr(cause, "status", None)
    is_unreachable = isinstance(cause, OSError) and not isinstance(cause, FileNotFoundError)
    return cause if is_unreachable or status not in (None, *_ABSENT) else None


def _unusable(url: str, error: BaseException) -> UsageError:
    return UsageError(
        f"{url} cannot be read ({_reason(error)}); "
        "check the address, and credentials if it requires them"
    )


@dataclass(frozen=True, slots=True)
class _RemoteFile:
    """One file of a file system."""

    system: Any
    name: str
    modified: int | None
    has_ranges: bool  # whether an HTTP server supports requests for parts of files

    def read(self, max_bytes: int) -> Payload:
        """Read the whole file; only a change of its bytes makes it a changed file."""
        with self.stream() as stream:
            try:
                data = bounded(stream, max_bytes)
            except OSError as error:
                raise _unreadable(error) from error
        if isinstance(data, UnreadableFile):
            raise data
        return file_payload(data, self.modified)

    def stream(self) -> BinaryIO:
        """Open the file; over HTTP it is one request from front to back, unless the server supports
        requests for parts.
        """
        is_http = self.name.startswith(("http://", "https://"))
        settings = {"block_size": 0} if is_http and not self.has_ranges else {}
        try:
            file = self.system.open(self.name, "rb", **settings)
            return cast(BinaryIO, io.BufferedReader(_OSErrorFile(file)))
        except Exception as error:
            raise _unreadable(error) from error


class _OSErrorFile(io.RawIOBase):
    """A file whose errors are all `OSError`, whatever library it comes from."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return bool(self._file.seekable())

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._file.read(len(buffer))
        except Exception as error:
            raise OSError(_reason(error)) from error
        buffer[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        try:
            return int(self._file.seek(offset, whence))
        except Exception as error:
            raise OSError(_reason(error)) from error

    def tell(self) -> int:
        return int(self._file.tell())

    def close(self) -> None:
        self._file.close()
        super().close()


def _modified(info: Mapping[str, Any]) -> int | None:
    """Return nanoseconds since 1970, None when the file system gives no time under any name."""
    time = next((info[name] for name in _TIMES if info.get(name)), None)
    if isinstance(time, str):
        try:
            time = datetime.fromisoformat(time.replace("Z", "+00:00"))
        except ValueError:
            return None
    if isinstance(time, datetime):
        time = (time if time.tzinfo else time.replace(tzinfo=timezone.utc)).timestamp()
    return int(time * 10**9) if isinstance(time, (int, float)) else None


def _unreadable(error: Exception) -> UnreadableFile:
    return UnreadableFile(
        reason=f"the file could not be read ({_reason(error)})",
        remedy="check the server, then run again",
    )


def _reason(error: BaseException) -> str:
    return str(error) or type(error).__name__
