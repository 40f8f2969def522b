"""Sources by the PATHs that name them: files and folders, and URLs.

Every file below the PATHs comes once, in an order that depends only on names.
Names are bytes, so names that are not UTF-8 are supported. No symbolic link is followed, so there
are no loops and no way out of a folder; only a PATH that is itself a link is resolved.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from indexer.documents import blobs
from indexer.documents.base import ReadOptions, Source, SourceItem, unique
from indexer.documents.blobs import INSIDE, file_ids, identifier
from indexer.errors import MissingExtra, SourceNotFound, UsageError
from indexer.model import Blob, FailedBlob, SkippedBlob

# ruff: noqa: PTH100, PTH116, PTH120
# (pathlib knows no paths of bytes)


_BROKEN = "\ufffd"
_COMPANIONS = (b"", b"-wal", b"-shm", b"-journal")


@dataclass(frozen=True, slots=True)
class _Root:
    """The real path of a PATH, and its status; `info` is None when that could not be read."""

    path: bytes
    info: os.stat_result | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class _Rules:
    """Files to leave out silently: nearfold's own, unless they are a PATH, and files of earlier
    PATHs.
    """

    own: frozenset[bytes]
    covered: frozenset[bytes]
    namespace: str | None

    def owns(self, path: bytes) -> bool:
        """Return whether `path` or a folder above it is nearfold's own."""
        return not self.own.isdisjoint(_lineage(path))


class FileSource:
    """Files and folders, and the members of containers among them."""

    def __init__(
        self, paths: Sequence[str], read_options: ReadOptions, own_files: Collection[str] = ()
    ) -> None:
        """Raise `SourceNotFound` for a PATH that does not exist."""
        self._paths = paths
        self._options = read_options
        self._files = walk(paths, read_options.namespace, own_files)
        self._opened: set[str] = set()

    def blobs(self) -> Iterator[SourceItem]:
        """Yield the items of `walk`, containers opened."""
        from indexer.documents.containers import expand

        named = {_printable(os.path.realpath(os.fsencode(path))) for path in self._paths}
        return expand(self._files, named, self._options, self._opened)

    def scopes(self) -> tuple[str, ...]:
        """Return each PATH, and the inside of those that are containers."""
        from indexer.documents.containers import container_of

        real = [os.path.realpath(path) for path in self._paths]
        return (*real, *(f"{path}!" for path in real if container_of(path)))

    def holds(self, path: str) -> bool:
        """Return whether the path exists as a file, or is inside a container that was not opened.

        True for a name that is not UTF-8, which cannot be looked up.
        """
        if path in self._opened:
            return False
        if _BROKEN in path or os.path.lexists(path):
            return True
        outer, inside, _ = path.partition(INSIDE)
        return bool(inside) and outer not in self._opened and os.path.lexists(outer)


def path_list(
    paths: Iterable[str | os.PathLike[str]] | str | os.PathLike[str],
) -> list[str]:
    """Return PATHs as a list; a single one need not be in a list.

    >>> path_list("docs"), path_list(["docs", "mail"])
    (['docs'], ['docs', 'mail'])
    """
    several = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    return [os.fspath(path) for path in several]


def walk(
    paths: Sequence[str | os.PathLike[str]],
    namespace: str | None = None,
    own_files: Collection[str] = (),
) -> Iterator[SourceItem]:
    """Yield each file under `paths` once, in the order of the paths, then by the bytes of its key.

    A blob's key is its path relative to its PATH, with `/` between names. Its id is made of the
    namespace and the key. The default namespace is the real path of the PATH; for a single file it
    is the folder that holds it. By `other_ids` a store finds a file that came by another PATH
    before, and keeps the id that it has there. A mail in a Maildir keeps its key when it is read or
    answered. A file reached by two PATHs belongs to the first. Under an explicit namespace, a
    second file with the same key is `FailedBlob`: it would replace the first.

    Symbolic links are `SkippedBlob` (`symbolic_link`), as are FIFOs, sockets and devices
    (`special_file`), mails that are still delivered (`excluded`; `tmp` of a Maildir), and a PATH
    that is one of `own_files` (`excluded`) or a companion that a database puts next to them; those
    in folders are left out. A folder that may not be read is `FailedBlob`; the walk goes on. Raises
    `SourceNotFound` at once, before anything is yielded.
    """
    roots = [_root(path) for path in paths]
    own_paths = [os.path.realpath(os.fsencode(name)) for name in own_files]
    own = frozenset(path + suffix for path in own_paths for suffix in _COMPANIONS)
    items = _walk_roots(roots, own, namespace)
    return unique(items) if namespace is not None and len(roots) > 1 else items


def _root(path: str | os.PathLike[str]) -> _Root:
    name = os.fsencode(path)
    try:
        info = os.stat(name)
        return _Root(os.path.realpath(name), info)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise SourceNotFound(path=_printable(name)) from None
    except OSError as error:
        return _Root(os.path.abspath(name), None, _problem("this path", error))


def _walk_roots(
    roots: Iterable[_Root], own: frozenset[bytes], namespace: str | None
) -> Iterator[SourceItem]:
    covered: set[bytes] = set()
    for root in roots:
        if covered.isdisjoint(_lineage(root.path)):
            yield from _walk_root(root, _Rules(own, frozenset(covered), namespace))
            covered.add(root.path)


def _walk_root(root: _Root, rules: _Rules) -> Iterator[SourceItem]:
    if root.info is None:
        yield FailedBlob(_printable(root.path), root.problem)
    elif stat.S_ISDIR(root.info.st_mode):
        yield from _walk_folder(root.path, rules)
    elif rules.owns(root.path):
        yield SkippedBlob(_printable(root.path), "excluded")
    else:
        folder, name = os.path.split(root.path)
        key = (blobs.is_message(root.path) and blobs.unique_name(name)) or name
        yield _file(root.path, key, folder, rules.namespace, root.info)


def _walk_folder(root: bytes, rules: _Rules) -> Iterator[SourceItem]:
    """Yield the items of a folder by key bytes, with a stack of open levels instead of recursion:
    depth has no limit.
    """
    levels = [(root, rules.owns(root) or blobs.holds_deliveries(root), _entries(root, b""))]
    while levels:
        position, own, entries = levels[-1]
        try:
            key, entry = next(entries)
        except StopIteration:
            levels.pop()
            continue
        except OSError as error:
            levels.pop()
            yield FailedBlob(_printable(position), _problem("this folder", error))
            continue
        if entry.path in rules.covered or (not own and entry.path in rules.own):
            continue
        if entry.is_dir(follow_symlinks=False):
            own = own or blobs.holds_deliveries(entry.path)
            levels.append((entry.path, own, _entries(entry.path, key + b"/")))
        else:
            yield (
                SkippedBlob(_printable(entry.path), "excluded")
                if own
                else _leaf(entry, key, root, rules.namespace)
            )


def _entries(path: bytes, prefix: bytes) -> Iterator[tuple[bytes, os.DirEntry[bytes]]]:
    """Yield the entries of a folder with their keys, in the order of keys, in one of a Maildir in
    the order of names.
    """
    with os.scandir(path) as listing:
        entries = sorted(listing, key=_sort_key)
    names = (entry.name for entry in entries)
    keys: Iterator[bytes] = (prefix + name for name in names)
    if blobs.holds_messages(path):
        keys = blobs.message_keys(path, prefix, names)
    yield from zip(keys, entries, strict=True)


def _sort_key(entry: os.DirEntry[bytes]) -> bytes:
    """Return the name, for a folder with the `/` that follows it in the keys of its files."""
    return entry.name + b"/" * entry.is_dir(follow_symlinks=False)


def _leaf(
    entry: os.DirEntry[bytes], key: bytes, folder: bytes, namespace: str | None
) -> SourceItem:
    try:
        return _file(entry.path, key, folder, namespace, entry.stat(follow_symlinks=False))
    except OSError as error:
        return FailedBlob(_printable(entry.path), _problem("this file", error))


def _file(
    path: bytes, key: bytes, folder: bytes, namespace: str | None, info: os.stat_result
) -> Blob | SkippedBlob:
    if stat.S_ISLNK(info.st_mode):
        return SkippedBlob(_printable(path), "symbolic_link")
    if not stat.S_ISREG(info.st_mode):
        return SkippedBlob(_printable(path), "special_file")
    opener = blobs.MailFile(path) if blobs.is_message(path) else path
    space = folder if namespace is None else os.fsencode(namespace)
    return Blob(
        identifier(space, key),
        key,
        _printable(path),
        opener,
        info.st_size,
        info.st_mtime_ns,
        other_ids=partial(file_ids, folder, key) if namespace is None else tuple,
    )


def _lineage(path: bytes) -> Iterator[bytes]:
    """Yield a path, its folder, the folder of that one, and so on to the top."""
    yield path
    while (parent := os.path.dirname(path)) != path:
        yield parent
        path = parent


def _printable(path: bytes) -> str:
    """Return a path to display; bytes that are not UTF-8 appear as U+FFFD."""
    return path.decode("utf-8", "replace")


def _problem(item: str, error: OSError) -> str:
    if isinstance(error, PermissionError):
        return f"no permission to read {item}; grant it, or run as a user who has it"
    if isinstance(error, FileNotFoundError):
        return f"{item} vanished before it was read; run again"
    return f"{item} could not be read ({error.strerror or error}); correct that, then run again"


# Sources by URL. To add one, write its module and declare it here (imported when first needed).


@dataclass(frozen=True, slots=True)
class UrlSource:
    """A kind of URL that names a source.

    `schemes`: how such URLs begin. `load`: imports the module of the source, which needs `package`
    (of the `extra` of nearfold), and returns what makes the source of a URL. `takes_query`:
    `Reading.query` selects documents.
    """

    schemes: tuple[str, ...]
    load: Callable[[], Callable[[str, ReadOptions], Source]]
    package: str
    extra: str
    takes_query: bool = False


def _hansken() -> Callable[[str, ReadOptions], Source]:
    from indexer.documents.hansken import HanskenSource

    return HanskenSource


def _remote() -> Callable[[str, ReadOptions], Source]:
    from indexer.documents.remote import RemoteSource

    return RemoteSource


URL_SOURCES = (
    UrlSource(
        ("hansken://", "hansken+http://"), _hansken, "hansken", extra="hansken", takes_query=True
    ),
    UrlSource(("",), _remote, "fsspec", extra="fsspec"),  # all file systems that fsspec knows
)


def url_source(url: str, read_options: ReadOptions) -> Source:
    """Return the source at a URL. Raises `MissingExtra` when its library is not installed."""
    kind = _kind_of_url(url)
    try:
        open_source = kind.load()
    except ModuleNotFoundError as error:
        raise MissingExtra(package=kind.package, extra=kind.extra) from error
    return open_source(url, read_options)


def check_queryable(paths: Iterable[str]) -> None:
    """Raise `UsageError` when a PATH is of a source that takes no query."""
    for path in paths:
        if "://" not in path or not _kind_of_url(path).takes_query:
            raise UsageError(
                f"{path} takes no query; --query is for hansken:// alone, "
                "leave it out, or index the others apart"
            )


def _kind_of_url(url: str) -> UrlSource:
    return next(kind for kind in URL_SOURCES if url.startswith(kind.schemes))
