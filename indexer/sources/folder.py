"""Files and folders as a source: every file below the paths given, once, in an order that depends
on nothing but names.

Names are bytes inside, so one that is not UTF-8 is as good as any other. Nothing here follows a
symbolic link, so there are no loops and no way out of the folder; only a PATH that was given and is
itself a link is resolved.
"""
# ruff: noqa: PTH100, PTH116, PTH119, PTH120
# (pathlib knows no paths of bytes)

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from indexer.errors import SourceNotFound
from indexer.model import Blob, FailedBlob, SkippedBlob
from indexer.sources.base import INSIDE, Found, Reading, identifier, unique
from indexer.sources.containers import expand, kind_of

_BROKEN = "\ufffd"
_COMPANIONS = (b"", b"-wal", b"-shm", b"-journal")


@dataclass(frozen=True, slots=True)
class _Root:
    """A PATH that was given: its real path, and what it is; `info` is None when it could not be
    looked at.
    """

    place: bytes
    info: os.stat_result | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class _Rules:
    """What to leave out: nearfold's own files (`excluded`), and what an earlier PATH has already
    yielded (without a word).
    """

    own: frozenset[bytes]
    covered: frozenset[bytes]
    namespace: str | None

    def owns(self, place: bytes) -> bool:
        """Whether `place` or a folder that holds it is nearfold's own."""
        return not self.own.isdisjoint(_lineage(place))


class FileSource:
    """Files and folders, and what is in the containers among them."""

    def __init__(
        self, paths: Sequence[str], reading: Reading, own_files: Collection[str] = ()
    ) -> None:
        """Raises `SourceNotFound`."""
        self._paths, self._reading = paths, reading
        self._found = walk(paths, reading.namespace, own_files)
        self._opened: set[str] = set()

    def blobs(self) -> Iterator[Found]:
        """As `walk` finds them, containers opened."""
        given = {_shown(os.path.realpath(os.fsencode(path))) for path in self._paths}
        return expand(self._found, given, self._reading, self._opened)

    def scopes(self) -> tuple[str, ...]:
        """Each PATH, and the inside of one that is a container."""
        real = [os.path.realpath(path) for path in self._paths]
        return (*real, *(f"{path}!" for path in real if kind_of(path)))

    def holds(self, path: str) -> bool:
        """What is there as a file, or in a container that was not opened; a name that is not UTF-8
        cannot be looked up.
        """
        if path in self._opened:
            return False
        outer, inside, _ = path.partition(INSIDE)
        unopened = bool(inside) and outer not in self._opened and os.path.lexists(outer)
        return _BROKEN in path or os.path.lexists(path) or unopened


def walk(
    paths: Sequence[str | os.PathLike[str]],
    namespace: str | None = None,
    own_files: Collection[str] = (),
) -> Iterator[Blob | SkippedBlob | FailedBlob]:
    """Yield each file under `paths` once: path after path as given, by the bytes of its key within
    a path.

    A blob's key is its path relative to the PATH given, with `/` between names. Its id is made of
    the namespace and the key. The namespace is the real path of the PATH, unless one is given; for
    a single file it is the folder that holds it, so `docs` and `docs/a.txt` agree about the file,
    `docs` and `docs/sub/a.txt` do not. A file reached by two PATHs belongs to the first. Under a
    namespace that was given, a second file with the same key is `FailedBlob`: it would replace the
    first.

    FIFOs, sockets, devices and symbolic links are `SkippedBlob` (`special_file`), as are `own_files`
    (`excluded`) with the companions a database puts beside them, and everything in those that are
    folders. A folder that may not be read is `FailedBlob`; the walk goes on. Raises `SourceNotFound` at
    once, before anything is yielded.
    """
    roots = [_root(path) for path in paths]
    own = frozenset(
        os.path.realpath(os.fsencode(name)) + suffix for name in own_files for suffix in _COMPANIONS
    )
    found = _all(roots, own, namespace)
    return unique(found) if namespace is not None and len(roots) > 1 else found


def _root(path: str | os.PathLike[str]) -> _Root:
    name = os.fsencode(path)
    try:
        info = os.stat(name)
        return _Root(os.path.realpath(name), info)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise SourceNotFound(path=_shown(name)) from None
    except OSError as error:
        return _Root(os.path.abspath(name), None, _problem("this path", error))


def _all(
    roots: Iterable[_Root], own: frozenset[bytes], namespace: str | None
) -> Iterator[Blob | SkippedBlob | FailedBlob]:
    covered: set[bytes] = set()
    for root in roots:
        if covered.isdisjoint(_lineage(root.place)):
            yield from _under(root, _Rules(own, frozenset(covered), namespace))
            covered.add(root.place)


def _under(root: _Root, rules: _Rules) -> Iterator[Blob | SkippedBlob | FailedBlob]:
    if root.info is None:
        yield FailedBlob(_shown(root.place), root.problem)
    elif stat.S_ISDIR(root.info.st_mode):
        yield from _folder(root.place, rules)
    elif rules.owns(root.place):
        yield SkippedBlob(_shown(root.place), "excluded")
    else:
        yield _file(
            root.place,
            os.path.basename(root.place),
            _space(os.path.dirname(root.place), rules),
            root.info,
        )


def _folder(root: bytes, rules: _Rules) -> Iterator[Blob | SkippedBlob | FailedBlob]:
    """What is in a folder, by key bytes. A stack of open levels, not recursion: depth has no
    limit.
    """
    space = _space(root, rules)
    levels = [(root, rules.owns(root), _entries(root, b""))]
    while levels:
        place, own, entries = levels[-1]
        try:
            key, entry = next(entries)
        except StopIteration:
            levels.pop()
            continue
        except OSError as error:
            levels.pop()
            yield FailedBlob(_shown(place), _problem("this folder", error))
            continue
        if entry.path in rules.covered:
            continue
        own = own or entry.path in rules.own
        if entry.is_dir(follow_symlinks=False):
            levels.append((entry.path, own, _entries(entry.path, key + b"/")))
        else:
            yield SkippedBlob(_shown(entry.path), "excluded") if own else _leaf(entry, key, space)


def _entries(place: bytes, prefix: bytes) -> Iterator[tuple[bytes, os.DirEntry[bytes]]]:
    """The entries of a folder with their keys; folders sort with the `/` that follows their name in
    longer keys.
    """
    with os.scandir(place) as listing:
        entries = sorted(
            listing, key=lambda entry: entry.name + b"/" * entry.is_dir(follow_symlinks=False)
        )
    for entry in entries:
        yield prefix + entry.name, entry


def _leaf(entry: os.DirEntry[bytes], key: bytes, space: bytes) -> Blob | SkippedBlob | FailedBlob:
    try:
        return _file(entry.path, key, space, entry.stat(follow_symlinks=False))
    except OSError as error:
        return FailedBlob(_shown(entry.path), _problem("this file", error))


def _file(place: bytes, key: bytes, space: bytes, info: os.stat_result) -> Blob | SkippedBlob:
    if not stat.S_ISREG(info.st_mode):
        return SkippedBlob(_shown(place), "special_file")
    return Blob(identifier(space, key), key, _shown(place), place, info.st_size, info.st_mtime_ns)


def _space(folder: bytes, rules: _Rules) -> bytes:
    return folder if rules.namespace is None else os.fsencode(rules.namespace)


def _lineage(place: bytes) -> Iterator[bytes]:
    """A path, the folder it is in, the folder that is in, and so on to the top."""
    yield place
    while (above := os.path.dirname(place)) != place:
        yield above
        place = above


def _shown(place: bytes) -> str:
    """A path for people: bytes that are not UTF-8 appear as U+FFFD."""
    return place.decode("utf-8", "replace")


def _problem(what: str, error: OSError) -> str:
    if isinstance(error, PermissionError):
        return f"no permission to read {what}; grant it, or run as a user who has it"
    if isinstance(error, FileNotFoundError):
        return f"{what} vanished before it was read; run again"
    return f"{what} could not be read ({error.strerror or error}); mend that, then run again"
