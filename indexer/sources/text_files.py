"""Text files that load files and tables name by their paths."""
# ruff: noqa: PTH113, PTH114, PTH118, PTH119, PTH122, PTH208
# (names are joined one by one, so that none leads out of the folder)

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from indexer.errors import ExtractionError, UnreadableFile
from indexer.model import Blob
from indexer.sources import read_blob
from indexer.sources.base import Reading, Records
from indexer.text.byte_order_marks import byte_order_mark
from indexer.text.field_paths import field_of

_REMEDY = "name the folder in which the paths begin by --text-files"


class TextFiles:
    """The text files at or below a folder, by the paths that a load file gives them.

    Such a path has `/` or `\\` between its names, in capitals or not, and may begin with the name
    of the folder itself. It never leads out of the folder, nor through a symbolic link.
    """

    def __init__(self, folder: str | None, reading: Reading) -> None:
        """Open no file yet; without a folder every path is refused."""
        self._folder = None if folder is None else os.path.realpath(folder)
        self._reading = reading
        self._entries: dict[str, Mapping[str, str]] = {}

    def text(self, path: str) -> str | ExtractionError:
        """Return the text of a file, or why it cannot be read."""
        try:
            place = self._locate(path)
            blob = Blob("", b"", place, os.fsencode(place), 0, None)
            data = read_blob.read(blob, self._reading.max_bytes).data
        except UnreadableFile as error:
            return error
        return decode(data, path, self._reading.encoding)

    def by_stem(self) -> dict[str, list[str]]:
        """Return the paths of all `.txt` files below the folder, by their names in lower case
        without `.txt`; files behind links are left out.
        """
        by_stem: dict[str, list[str]] = {}
        for folder, _, names in os.walk(self._folder or ""):
            for name in names:
                stem, suffix = os.path.splitext(name)
                if suffix.casefold() == ".txt":
                    path = os.path.relpath(os.path.join(folder, name), self._folder)
                    by_stem.setdefault(stem.casefold(), []).append(path)
        return {stem: sorted(paths) for stem, paths in by_stem.items()}

    def _locate(self, path: str) -> str:
        """Return where a file is. Raises `UnreadableFile`."""
        if self._folder is None:
            raise UnreadableFile(reason=f"nothing says where {path} is", remedy=_REMEDY)
        names = [name for name in path.replace("\\", "/").split("/") if name not in ("", ".")]
        if not names or ".." in names or ":" in names[0] or "\0" in path:
            raise UnreadableFile(
                reason=f"the path {path} is not below {self._folder}", remedy=_REMEDY
            )
        place = _below(self._folder, names, self._names)
        if place is None and names[0].casefold() == os.path.basename(self._folder).casefold():
            place = _below(self._folder, names[1:], self._names)
        if place is None:
            raise UnreadableFile(
                reason=f"there is no text file {path} below {self._folder}", remedy=_REMEDY
            )
        return place

    def _names(self, folder: str) -> Mapping[str, str]:
        """Return the names in a folder by their folded spelling; the first of several counts."""
        if folder not in self._entries:
            try:
                names = sorted(os.listdir(folder), reverse=True)
            except OSError:
                names = []
            self._entries[folder] = {name.casefold(): name for name in names}
        return self._entries[folder]


def read_text_files(
    records: Records, reading: Reading, files: TextFiles, is_path: Callable[[str], bool]
) -> Records:
    """Yield records, with the texts of files in place of the paths that their text field holds.

    `is_path` says whether a text is one; an empty field stays an empty text. A file that cannot be
    read leaves its error in the field.
    """
    for place, record in records:
        if isinstance(record, ExtractionError):
            yield place, record
            continue
        path = field_of(record, reading.text_field)
        if isinstance(path, str) and path.strip() and is_path(path):
            yield place, {**record, reading.text_field: files.text(path.strip())}
        else:
            yield place, record


def _below(
    folder: str, names: Sequence[str], names_in: Callable[[str], Mapping[str, str]]
) -> str | None:
    """Return the regular file of that path below the folder, without links; None without one."""
    place = folder
    for name in names:
        exact = os.path.join(place, name)
        if not os.path.lexists(exact):
            exact = os.path.join(place, names_in(place).get(name.casefold(), name))
        if os.path.islink(exact):
            return None
        place = exact
    return place if os.path.isfile(place) else None


def decode(data: bytes, path: str, encoding: str) -> str | ExtractionError:
    """Return the text of a file: UTF-16 and UTF-32 by their byte order mark, else UTF-8, else the
    encoding that is given; the error where it is none of these.
    """
    mark, marked_encoding = byte_order_mark(data)
    first = marked_encoding or "utf-8"
    with suppress(UnicodeDecodeError):
        return data[len(mark) :].decode(first)
    with suppress(UnicodeDecodeError):
        return data.decode(encoding)
    return ExtractionError(
        f"the text file {path} is not {first.upper()}; name its encoding by --encoding, such as "
        "cp1252, or convert it"
    )
