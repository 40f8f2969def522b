"""Groups of duplicate files on disk, and acts on the redundant ones that can be undone.

Files are the same if their bytes are; near duplicates if their texts are similar and no fact in
them differs. One file of each group is kept, and is never acted on. Each act is written to a
journal before it happens, so that `undo_duplicates` reverts it, also after a kill.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shlex
import stat
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeAlias

from indexer.comparing.criteria import Criteria
from indexer.defaults import FOLD
from indexer.errors import ExtractionError, SourceNotFound, UsageError
from indexer.fingerprinting.fingerprint import fingerprints, with_pictographs
from indexer.fingerprinting.keys import EmbeddedDigests
from indexer.grouping.group_options import GroupOptions, check_threshold
from indexer.jobs.document_rows import documents_at
from indexer.jobs.in_memory import groups
from indexer.model import Document, Progress, no_progress
from indexer.system.failpoints import reached
from indexer.system.files import state_folder, write_error

# ruff: noqa: PTH101, PTH103, PTH105, PTH108, PTH112, PTH118, PTH120, PERF203
# (names that are not UTF-8 stay as they are in strings with surrogate escapes)

Action: TypeAlias = Literal["move", "hardlink"]
_BLOCK = 1 << 20
_UNDECODABLE = "\ufffd"


@dataclass(frozen=True, slots=True)
class DuplicatesOptions:
    """The options of `duplicates`; without `move`, `hardlink` or `script` nothing is changed.

    `near`: group files of similar texts too; these are only ever moved.
    `threshold`: minimum similarity of a near duplicate to the file that is kept; above 0, at most
    1. Files whose numbers, dates, amounts, negations, names, addresses or signs differ are none.
    `move`: move redundant files below this folder, on the same file system, under their whole path.
    `hardlink`: replace identical files by hard links to the one that is kept.
    `script`: write a shell script that removes identical files, each compared again; a new file.

    Raises `UsageError` for a threshold out of range and for two of the three actions.
    """

    near: bool = False
    threshold: float = FOLD
    move: str | None = None
    hardlink: bool = False
    script: str | None = None

    def __post_init__(self) -> None:
        check_threshold(self.threshold)
        if sum([self.move is not None, self.hardlink, self.script is not None]) > 1:
            raise UsageError("choose one of --move, --hardlink and --script")
        if self.near and (self.hardlink or self.script is not None):
            raise UsageError(
                "near duplicates are only moved; give --near with --move, or leave --near out"
            )


@dataclass(frozen=True, slots=True)
class RedundantFile:
    """A file that another one makes redundant; `similarity` is 1 for the same bytes."""

    path: str
    identical: bool
    similarity: float
    bytes: int


@dataclass(frozen=True, slots=True)
class FileGroup:
    """A file that is kept and those that it makes redundant, in the order of the PATHs."""

    keep: str
    redundant: tuple[RedundantFile, ...]


@dataclass(frozen=True, slots=True)
class DuplicatesResult:
    """The groups, and what was done.

    `files`: regular files that were compared; empty ones are left out, and so are symbolic links.
    `done`: the redundant files that were acted on. `failed`: (path, reason) of those that could
    not be read or acted on. `journal`: the file that `--undo` reads, empty if nothing was changed.
    """

    files: int
    groups: tuple[FileGroup, ...]
    done: tuple[str, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    journal: str = ""


@dataclass(frozen=True, slots=True)
class _File:
    """A file as it was when it was read; `version` tells whether it changed since."""

    path: str
    version: tuple[int, ...]
    digest: str = ""

    @property
    def bytes(self) -> int:
        return self.version[2]


class _ChangedError(OSError):
    """A file is not as it was when it was compared."""


def duplicates(
    paths: Iterable[str | os.PathLike[str]] | str | os.PathLike[str],
    options: DuplicatesOptions = DuplicatesOptions(),
    *,
    progress: Progress = no_progress,
) -> DuplicatesResult:
    """Group the duplicate files below `paths`, and act on the redundant ones if requested.

    Of identical files the one of the earliest path is kept, then the first by name; of near
    duplicates the longest text. Hard links to one file are one file. No symbolic link is followed
    below the paths. Both files of an act are compared again just before it; one that changed, or
    cannot be read or written, is in `failed`, and the others are acted on.

    Raises `SourceNotFound` for a path that does not exist and `UsageError` for a script that exists
    or a folder that cannot be made.
    """
    roots = _roots(paths)
    for root in roots:
        if not os.path.lexists(root):
            raise SourceNotFound(path=root)
    failed: list[tuple[str, str]] = []
    files = list(_find(roots, options.move, failed))
    identical = _identical(files, failed, progress)
    found = _groups(identical)
    if options.near:
        found = _with_near(found, files, identical, options, failed, progress)
    listed = tuple(_file_group(keep, members) for keep, members in found)
    if options.script is not None:
        _write_script(Path(options.script), listed)
    action: Action | None = "hardlink" if options.hardlink else None
    if options.move is not None:
        action = "move"
    if action is None:
        return DuplicatesResult(len(files), listed, (), tuple(failed))
    with _Journal.new() as journal:
        done = _act(found, action, options, journal, failed)
    return DuplicatesResult(len(files), listed, tuple(done), tuple(failed), journal.path)


def _roots(
    paths: Iterable[str | os.PathLike[str]] | str | os.PathLike[str],
) -> list[str]:
    several = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    return [os.path.realpath(os.fsdecode(path)) for path in several]


# Which files are the same.


def _find(
    roots: Sequence[str], without: str | None, failed: list[tuple[str, str]]
) -> Iterator[_File]:
    """Yield regular files that are not empty, each inode once, in the order of the paths."""
    excluded = os.path.realpath(without) if without is not None else None
    known: set[tuple[int, int]] = set()
    for path in _walk(roots, excluded, failed):
        try:
            info = os.lstat(path)
        except OSError as error:
            failed.append((path, _reason(error)))
            continue
        inode = info.st_dev, info.st_ino
        if stat.S_ISREG(info.st_mode) and info.st_size and inode not in known:
            known.add(inode)
            yield _File(path, _version(info))


def _walk(
    roots: Sequence[str], excluded: str | None, failed: list[tuple[str, str]]
) -> Iterator[str]:
    def note(error: OSError) -> None:
        failed.append((str(error.filename), _reason(error)))

    for root in roots:
        if not os.path.isdir(root):
            yield root
            continue
        for folder, folders, names in os.walk(root, onerror=note):
            is_excluded = folder == excluded
            folders[:] = [] if is_excluded else sorted(folders)
            if not is_excluded:
                yield from (os.path.join(folder, name) for name in sorted(names))


def _identical(
    files: Sequence[_File], failed: list[tuple[str, str]], progress: Progress
) -> list[list[_File]]:
    """Return the files of the same bytes together, in the order of their first ones."""
    by_size: defaultdict[int, list[_File]] = defaultdict(list)
    for file in files:
        by_size[file.bytes].append(file)
    candidates = [file for file in files if len(by_size[file.bytes]) > 1]
    by_digest: dict[str, list[_File]] = {}
    for count, file in enumerate(candidates):
        progress("reading files", count, len(candidates))
        try:
            digest = _digest(file)
        except OSError as error:
            failed.append((file.path, _reason(error)))
            continue
        by_digest.setdefault(digest, []).append(_File(file.path, file.version, digest))
    return [members for members in by_digest.values() if len(members) > 1]


_Found: TypeAlias = "list[tuple[_File, list[tuple[_File, float | None]]]]"
"""Files that are kept, each with redundant ones, whose similarity is None for the same bytes."""


def _groups(identical: Iterable[list[_File]]) -> _Found:
    found: _Found = []
    for keep, *others in identical:
        found.append((keep, [(file, None) for file in others]))
    return found


def _with_near(
    found: _Found,
    files: Sequence[_File],
    identical: Sequence[Sequence[_File]],
    options: DuplicatesOptions,
    failed: list[tuple[str, str]],
    progress: Progress,
) -> _Found:
    """Return the groups of near duplicates, with the identical files of each among them."""
    copies = {file.path for members in identical for file in members[1:]}
    by_path = {file.path: file for file in files if file.path not in copies}
    criteria = Criteria(policy="strict")
    settings = GroupOptions(options.threshold, principal="longest", criteria=criteria)
    redundant = {keep.path: members for keep, members in found}
    of_texts = [
        groups(texts.items(), options=settings, progress=progress)
        for texts in _texts(by_path, failed, progress)
    ]
    for group in chain.from_iterable(of_texts):
        members = redundant.setdefault(group.principal, [])
        for path, similarity in group.members:
            members.append((by_path[path], similarity))
            members += [(copy, similarity) for copy, _ in redundant.pop(path, [])]
    return [(by_path[path], members) for path, members in redundant.items()]


def _texts(
    by_path: dict[str, _File], failed: list[tuple[str, str]], progress: Progress
) -> list[dict[str, str]]:
    """Return whole texts by path, one dict for all documents that hold the same files.

    Left out are mails, whose attachments are not compared, texts that were cut or are too short,
    and files of names that cannot be decoded.
    """
    from indexer.documents.base import may_be_mail

    paths = [
        path
        for path in by_path
        if _is_decodable(path) and not may_be_mail(path) and os.path.lexists(path)
    ]
    texts: dict[str, str] = {}
    embedded: dict[str, str] = {}
    for count, (path, document) in enumerate(documents_at(paths)):
        progress("reading texts", count, len(paths))
        if isinstance(document, ExtractionError):
            failed.append((path, str(document)))
        elif isinstance(document, Document) and path in by_path and not document.truncated:
            texts[path] = document.text
            files = with_pictographs(document.embedded, document.text)
            embedded[path] = " ".join(EmbeddedDigests.of(files))
    statuses = fingerprints(list(texts.values())).status if texts else ()
    order = list(by_path)
    whole = {path for path, status in zip(texts, statuses, strict=True) if status == "complete"}
    together: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for path in order:
        if path in whole:
            together[embedded[path]][path] = texts[path]
    return list(together.values())


def _is_decodable(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return _UNDECODABLE not in path


def _file_group(keep: _File, members: Iterable[tuple[_File, float | None]]) -> FileGroup:
    redundant = tuple(
        RedundantFile(file.path, value is None, 1.0 if value is None else value, file.bytes)
        for file, value in members
    )
    return FileGroup(keep.path, redundant)


# Files that are read only while they are as they were.


def _version(info: os.stat_result) -> tuple[int, ...]:
    return info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns


def _open(file: _File, stack: ExitStack) -> BinaryIO:
    """Open a file that did not change. Raises `OSError`."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    stream = stack.enter_context(os.fdopen(os.open(file.path, flags), "rb"))
    _check(file, os.fstat(stream.fileno()))
    return stream


def _check(file: _File, info: os.stat_result | None = None) -> None:
    if _version(info or os.lstat(file.path)) != file.version:
        raise _ChangedError(errno.EBUSY, "it changed after it was compared")


def _digest(file: _File) -> str:
    with ExitStack() as stack:
        stream = _open(file, stack)
        digest = hashlib.sha256()
        while block := stream.read(_BLOCK):
            digest.update(block)
        _check(file, os.fstat(stream.fileno()))
        return digest.hexdigest()


def _compare_again(keep: _File, file: _File, is_identical: bool) -> None:
    """Raise `OSError` unless both are as they were, and the same bytes if they were that."""
    if keep.version[:2] == file.version[:2]:
        raise _ChangedError(errno.EBUSY, "both names are of one file")
    with ExitStack() as stack:
        left, right = (_open(item, stack) for item in (keep, file))
        while is_identical:
            block = left.read(_BLOCK)
            if block != right.read(_BLOCK):
                raise _ChangedError(errno.EBUSY, "it is not the same as the file that is kept")
            if not block:
                break
    _check(keep)
    _check(file)


def _reason(error: OSError) -> str:
    return error.strerror or str(error)


# Acts, each in the journal before it happens.


@dataclass(slots=True)
class _Act:
    """One act on a file: `to` is where it is moved, or the link before it takes its place."""

    action: Action
    keep: str
    path: str
    to: str
    digest: str
    mode: int
    mtime_ns: int
    inode: list[int] = field(default_factory=list)


class _Journal:
    """The acts of one run, as lines of JSON; each is on the disk before it happens."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._file = open(path, "a", encoding="ascii")  # noqa: PTH123, SIM115

    @classmethod
    def new(cls) -> _Journal:
        """Make the journal of a new run. Raises `UsageError` where it cannot be written."""
        folder = _journals()
        name = folder / f"{time.time_ns():020}-{os.getpid()}.jsonl"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            return cls(str(name))
        except OSError as error:
            raise write_error(name, "XDG_STATE_HOME", error) from error

    def __enter__(self) -> _Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, line: dict[str, Any]) -> None:
        """Write a line, and wait until it is on the disk."""
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        reached("after_journal")

    @staticmethod
    def open_acts(path: Path) -> list[_Act]:
        """Return the acts that were not undone, in order; a line that was cut was not acted on."""
        acts: dict[str, _Act] = {}
        for line in path.read_text(encoding="ascii").splitlines():
            with suppress(ValueError):
                values = json.loads(line)
                if "undone" in values:
                    acts.pop(values["undone"], None)
                else:
                    acts[values["path"]] = _Act(**values)
        return list(acts.values())


def _journals() -> Path:
    return state_folder() / "duplicates"


def _act(
    found: _Found,
    action: Action,
    options: DuplicatesOptions,
    journal: _Journal,
    failed: list[tuple[str, str]],
) -> list[str]:
    """Act on every redundant file, and return those on which it succeeded."""
    done: list[str] = []
    for keep, members in found:
        for file, similarity in members:
            try:
                _compare_again(keep, file, similarity is None)
                if action == "hardlink":
                    _link(keep, file, journal)
                else:
                    _move(keep, file, str(options.move), journal)
                done.append(file.path)
            except OSError as error:
                failed.append((file.path, _reason(error)))
    return done


def _planned(action: Action, keep: _File, file: _File, to: str) -> _Act:
    info = os.lstat(file.path)
    inode = list(keep.version[:2] if action == "hardlink" else file.version[:2])
    mode = stat.S_IMODE(info.st_mode)
    return _Act(action, keep.path, file.path, to, file.digest, mode, info.st_mtime_ns, inode)


def _link(keep: _File, file: _File, journal: _Journal) -> None:
    """Replace a file by a hard link in one step."""
    kept, own = os.lstat(keep.path), os.lstat(file.path)
    if kept.st_dev != own.st_dev:
        raise OSError(errno.EXDEV, "it is on another file system than the file that is kept")
    if (kept.st_uid, kept.st_gid, kept.st_mode) != (own.st_uid, own.st_gid, own.st_mode):
        raise OSError(errno.EPERM, "its owner or permissions differ from the file that is kept")
    folder = os.path.dirname(file.path)
    link = os.path.join(folder, f".nearfold-{os.getpid()}-{time.time_ns()}")
    journal.write(asdict(_planned("hardlink", keep, file, link)))
    os.link(keep.path, link, follow_symlinks=False)
    try:
        if os.lstat(link).st_ino != keep.version[1]:
            raise _ChangedError(errno.EBUSY, "the file that is kept was replaced")
        _check(file)
        os.replace(link, file.path)
    except OSError:
        os.unlink(link)
        raise


def _move(keep: _File, file: _File, folder: str, journal: _Journal) -> None:
    """Move a file below a folder, where nothing is replaced."""
    target = os.path.join(os.path.realpath(folder), file.path.lstrip(os.sep))
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if os.lstat(os.path.dirname(target)).st_dev != file.version[0]:
        raise OSError(errno.EXDEV, "it is on another file system than the folder to move to")
    journal.write(asdict(_planned("move", keep, file, target)))
    _rename(file.path, target)


def _rename(path: str, target: str) -> None:
    """Rename a file to a name that is free. Raises `FileExistsError`."""
    os.link(path, target, follow_symlinks=False)
    try:
        os.unlink(path)
    except OSError:
        os.unlink(target)
        raise


# Undo.


@dataclass(frozen=True, slots=True)
class UndoResult:
    """The files that are as they were before, and (path, reason) of those that could not be."""

    undone: tuple[str, ...]
    failed: tuple[tuple[str, str], ...]


def undo_duplicates(
    paths: Iterable[str | os.PathLike[str]] | str | os.PathLike[str],
) -> UndoResult:
    """Undo what `duplicates` did to files below `paths`, the latest first.

    A moved file returns, unless another file has its name now. A hard link becomes a file of its
    own with the bytes, permissions and time that it had, unless the bytes changed since. What an
    interrupted run had only begun is undone too.

    Raises `SourceNotFound` for a path that does not exist and below which nothing was to be undone.
    """
    roots = _roots(paths)
    undone: list[str] = []
    failed: list[tuple[str, str]] = []
    folder = _journals()
    for name in sorted(folder.glob("*.jsonl") if folder.is_dir() else (), reverse=True):
        with _Journal(str(name)) as journal:
            for act in reversed(_Journal.open_acts(name)):
                if not any(_is_below(act.path, root) for root in roots):
                    continue
                try:
                    if _undo(act):
                        undone.append(act.path)
                    journal.write({"undone": act.path})
                except OSError as error:
                    failed.append((act.path, _reason(error)))
    acted = [*undone, *(path for path, _ in failed)]
    for root in roots:
        if not os.path.lexists(root) and not any(_is_below(path, root) for path in acted):
            raise SourceNotFound(path=root)
    return UndoResult(tuple(undone), tuple(failed))


def _is_below(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def _undo(act: _Act) -> bool:
    """Undo one act; return whether there was anything to undo."""
    now, other = _inode(act.path), _inode(act.to)
    if act.action == "move":
        if other != act.inode:
            return False
        if now is None:
            _rename(act.to, act.path)
            return True
        if now == other:  # the run ended between the new name and the end of the old one
            os.unlink(act.to)
            return True
        raise FileExistsError(errno.EEXIST, "another file has its name now")
    if other == act.inode:  # a link that had not taken the place of the file
        os.unlink(act.to)
    if now != act.inode:
        return False
    _separate(act)
    return True


def _inode(path: str) -> list[int] | None:
    try:
        info = os.lstat(path)
    except FileNotFoundError:
        return None
    return [info.st_dev, info.st_ino]


def _separate(act: _Act) -> None:
    """Make a hard link a file of its own again."""
    copy = os.path.join(os.path.dirname(act.path), f".nearfold-{os.getpid()}-{time.time_ns()}")
    digest = hashlib.sha256()
    try:
        with open(act.path, "rb") as source, open(copy, "xb") as target:  # noqa: PTH123
            while block := source.read(_BLOCK):
                digest.update(block)
                target.write(block)
            target.flush()
            os.fsync(target.fileno())
        if digest.hexdigest() != act.digest:
            raise _ChangedError(errno.EBUSY, "its bytes changed after it was linked")
        os.chmod(copy, act.mode)
        os.utime(copy, ns=(act.mtime_ns, act.mtime_ns))
        os.replace(copy, act.path)
    except OSError:
        with suppress(FileNotFoundError):
            os.unlink(copy)
        raise


# The script.

_SCRIPT = """#!/bin/sh
# Removes files that are the same as another one, each compared again just before.
failed=0
remove() {
    if [ ! -L "$1" ] && [ ! -L "$2" ] && [ ! "$1" -ef "$2" ] && cmp -s -- "$1" "$2"; then
        rm -f -- "$2" || failed=1
    else
        printf 'not removed: %s\\n' "$2" >&2
        failed=1
    fi
}
"""


def _write_script(path: Path, listed: Iterable[FileGroup]) -> None:
    """Write a script that removes the redundant files. Raises `UsageError`, as if it exists."""
    lines = [_SCRIPT]
    for group in listed:
        keep = shlex.quote(group.keep)
        lines += [f"remove {keep} {shlex.quote(file.path)}\n" for file in group.redundant]
    lines.append("exit $failed\n")
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o700)
        with os.fdopen(descriptor, "wb") as script:
            script.write(os.fsencode("".join(lines)))
    except OSError as error:
        raise write_error(path, "--script", error) from error
