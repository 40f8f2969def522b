"""Files anywhere that fsspec reaches: s3, sftp, https, memory and some thirty more, a file or a
folder.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, BinaryIO, cast

from fsspec.core import url_to_fs  # type: ignore[import-untyped]

from indexer.errors import SourceNotFound, UnreadableFile, UsageError
from indexer.model import Blob, FailedBlob, Payload
from indexer.sources.base import INSIDE, Found, Reading, bounded, file_payload, identifier
from indexer.sources.containers import expand, kind_of
from indexer.system.urls import parts_of

_TIMES = ("mtime", "LastModified", "last_modified", "modified", "updated", "created")
_ABSENT = (404, 410)


class RemoteSource:
    """One URL: a file, or a folder with everything below it."""

    def __init__(self, url: str, reading: Reading) -> None:
        """Raises `SourceNotFound`, and `UsageError` for a URL that cannot be read, or holds a
        password.
        """
        if parts_of(url).password is not None:
            raise UsageError(
                "a URL must not hold a password: everybody may read it; see docs/sources.md for where to put it"
            )
        self._reading = reading
        self._system, self._root, self._info = _looked_up(url)
        self._opened: set[str] = set()
        self._url = self._shown(self._root)

    def blobs(self) -> Iterator[Found]:
        """Files by name, containers opened; each is read anew in every run."""
        return expand(self._files(), {self._url}, self._reading, self._opened)

    def scopes(self) -> tuple[str, ...]:
        """The URL, and the inside of one that is a container."""
        return (self._url, f"{self._url}!") if kind_of(self._url) else (self._url,)

    def holds(self, path: str) -> bool:
        """What is in a container that was not opened, if it is there."""
        outer, inside, _ = path.partition(INSIDE)
        return bool(inside) and outer not in self._opened and bool(self._system.exists(outer))

    def _files(self) -> Iterator[Found]:
        try:
            found = self._listed()
        except Exception as error:
            yield FailedBlob(
                self._url, f"it cannot be listed ({_words(error)}); mend that, then run again"
            )
            return
        above = self._root.rstrip("/") if self._info is None else self._root.rpartition("/")[0]
        space = self._reading.namespace or self._shown(above)
        for name in sorted(found):
            key = name[len(above) :].lstrip("/").encode("utf-8", "surrogateescape")
            info = found[name]
            opener = _Remote(self._system, name, _modified(info), bool(info.get("partial")))
            identity = identifier(space.encode("utf-8", "surrogateescape"), key)
            yield Blob(
                identity,
                key,
                self._shown(name),
                opener,
                int(info.get("size") or 0),
                opener.modified,
            )

    def _listed(self) -> Mapping[str, Mapping[str, Any]]:
        if self._info is not None:
            return {self._root: self._info}
        return cast(Mapping[str, Mapping[str, Any]], self._system.find(self._root, detail=True))

    def _shown(self, name: str) -> str:
        return str(self._system.unstrip_protocol(name)).rstrip("/")


def _looked_up(url: str) -> tuple[Any, str, Mapping[str, Any] | None]:
    """The file system, the path in it, and what is known of the file; None of a folder."""
    try:
        system, root = url_to_fs(url)
        system.invalidate_cache()  # of listings, which a run before this one may have left
        info = system.info(root)
    except FileNotFoundError as error:
        if (happened := _happened(error)) is None:
            raise SourceNotFound(path=url) from error
        raise _unusable(url, happened) from error
    except ImportError as error:
        raise UsageError(
            f"{url} needs a library that is not installed: {error}; docs/sources.md names extras"
        ) from error
    except Exception as error:
        raise _unusable(url, error) from error
    folder = url.endswith("/") or info.get("type") == "directory"
    return system, root, None if folder else info


def _happened(error: FileNotFoundError) -> BaseException | None:
    """What stands behind a file that was not found: no answer, or another one than that; None where
    it is not there.

    fsspec says of whatever goes wrong over HTTP that the file was not found.
    """
    cause = error.__cause__
    status = getattr(cause, "status", None)
    unreached = isinstance(cause, OSError) and not isinstance(cause, FileNotFoundError)
    return cause if unreached or status not in (None, *_ABSENT) else None


def _unusable(url: str, error: BaseException) -> UsageError:
    return UsageError(
        f"{url} cannot be read ({_words(error)}); check the address, and credentials where it wants them"
    )


@dataclass(frozen=True, slots=True)
class _Remote:
    """One file of a file system."""

    system: Any
    name: str
    modified: int | None
    ranges: bool  # whether an HTTP server said that it gives parts of files

    def read(self, max_bytes: int) -> Payload:
        """All of it; what tells a change is its bytes alone."""
        with self.stream() as stream:
            try:
                data = bounded(stream, max_bytes)
            except OSError as error:
                raise _unreadable(error) from error
        if isinstance(data, UnreadableFile):
            raise data
        return file_payload(data, self.modified)

    def stream(self) -> BinaryIO:
        """Read piece by piece; over HTTP from front to back, by one request, unless the server
        gives parts.
        """
        settings = (
            {"block_size": 0}
            if self.name.startswith(("http://", "https://")) and not self.ranges
            else {}
        )
        try:
            return cast(
                BinaryIO,
                io.BufferedReader(_Translated(self.system.open(self.name, "rb", **settings))),
            )
        except Exception as error:
            raise _unreadable(error) from error


class _Translated(io.RawIOBase):
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
            raise OSError(_words(error)) from error
        buffer[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        try:
            return int(self._file.seek(offset, whence))
        except Exception as error:
            raise OSError(_words(error)) from error

    def tell(self) -> int:
        return int(self._file.tell())

    def close(self) -> None:
        self._file.close()
        super().close()


def _modified(info: Mapping[str, Any]) -> int | None:
    """Nanoseconds since 1970, by whatever name a file system gives the time."""
    moment = next((info[name] for name in _TIMES if info.get(name)), None)
    if isinstance(moment, str):
        try:
            moment = datetime.fromisoformat(moment.replace("Z", "+00:00"))
        except ValueError:
            return None
    if isinstance(moment, datetime):
        moment = (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()
    return int(moment * 10**9) if isinstance(moment, (int, float)) else None


def _unreadable(error: Exception) -> UnreadableFile:
    return UnreadableFile(
        reason=f"the file could not be read ({_words(error)})",
        remedy="check the server, then run again",
    )


def _words(error: BaseException) -> str:
    return str(error) or type(error).__name__
