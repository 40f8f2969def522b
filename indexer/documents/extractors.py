"""Extractors by the names of `--extractor`, and the documents that need none."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import zlib
from collections.abc import Callable
from typing import Any, TypeVar

from indexer.documents.base import ExtractorFactory, ExtractorPool, Limits, Task, is_mail_text
from indexer.documents.blobs import unique_name
from indexer.documents.plain_text import (
    PLAIN_IDENTITY,
    TEXT_FORMATS,
    PlainExtractor,
    is_ebcdic,
    plain_document,
)
from indexer.errors import ExtractionError, UnknownName, UnreadableFile
from indexer.model import READ_AS, Document

# Single files compressed with gzip, bzip2 or xz, unpacked before anything reads them.

_PACKERS: tuple[tuple[re.Pattern[bytes], str, Callable[..., Any]], ...] = (
    (re.compile(rb"\x1f\x8b"), ".gz", gzip.open),
    (re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"), ".bz2", bz2.open),
    (re.compile(rb"\xfd7zXZ\0"), ".xz", lzma.open),
)
_OUTLOOK_STORE = b"!BDN"
_FIELD = re.compile(rb"[!-9;-~]+:")


def unpack(data: bytes, name: str, limits: Limits) -> tuple[bytes, str]:
    """Return the content of a file packed by gzip, bzip2 or xz, and its name without `.gz`, `.bz2`
    or `.xz`; other bytes and names unchanged.

    Raises `ExtractionError` when it is damaged, `UnreadableFile` when it holds more than
    `limits.bytes`.
    """
    packer = next((packer for packer in _PACKERS if packer[0].match(data)), None)
    if packer is None:
        return data, name
    _, suffix, opened = packer
    try:
        with opened(io.BytesIO(data)) as file:
            content = file.read(limits.bytes + 1)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise ExtractionError(
            f"the {suffix[1:]} file is damaged ({error}); repair it or leave it out"
        ) from error
    if len(content) > limits.bytes:
        raise UnreadableFile(
            reason=f"unpacked, it has more than {limits.bytes:,} bytes",
            remedy="split it, or leave it out",
        )
    return content, name[: -len(suffix)] if name.lower().endswith(suffix) else name


K = TypeVar("K")

DEFAULT_SERVER = "http://127.0.0.1:9998"
SERVER_VARIABLE = "NEARFOLD_TIKA"


def extractor_named(name: str, headings: bool = False) -> ExtractorFactory:
    """Return the factory of the extractor `native`, `server` or `plain`.

    With `headings` the extractor `native` marks headings too. The environment variable
    NEARFOLD_TIKA names the server's URL; the default is Tika's usual one on this machine. The
    server's version is requested here: raises `ExtractorUnavailable` when it does not respond,
    `MissingExtra` without the client library, `UnknownName` for another name.
    """
    match name:
        case "native":
            from indexer.documents.native import NativeExtractor, StructuredExtractor

            return StructuredExtractor if headings else NativeExtractor
        case "plain":
            return PlainExtractor
        case "server":
            from indexer.documents.tika_server import tika_server

            return tika_server(os.environ.get(SERVER_VARIABLE, DEFAULT_SERVER))
    raise UnknownName("extractor", name, ("native", "server", "plain"))


def document_or_task(key: K, data: bytes, name: str, limits: Limits) -> Document | Task[K]:
    """Return the document of a plain text, and a task for the worker processes for anything else.

    Packed files are unpacked first; raises `ExtractionError` when that fails, and for a store of
    Outlook.
    """
    data, name = unpack(data, name, limits)
    if data.startswith(_OUTLOOK_STORE):
        raise ExtractionError(
            "a store of Outlook (.pst, .ost) holds many mails and is not read; write them to a "
            "folder, such as by `readpst -e -o FOLDER FILE`, then index that"
        )
    if is_ebcdic(data):
        raise ExtractionError(
            "text in EBCDIC is not read; convert it, such as by `iconv -f IBM037 -t UTF-8`"
        )
    return plain_document(data, name, limits) or Task(key, data, name)


def is_outdated(extractor: str, current: str) -> bool:
    """Return whether another version of an extractor in use made a text.

    `extractor` is the identity that is stored with the text, `current` the identity of this run's
    extractor, in addition to plain text. False for one that is not in use, such as a server in a
    run without.

    >>> is_outdated("plain/1", "iscc-tika/0.6.0"), is_outdated("tika/3.2.2", "iscc-tika/0.6.0")
    (True, False)
    """
    of_formats = (format.identity for format in TEXT_FORMATS)
    identities = (PLAIN_IDENTITY, *of_formats, current)
    extractor, _, _ = extractor.partition(READ_AS)
    name = extractor.partition("/")[0]
    return extractor not in identities and name in {item.partition("/")[0] for item in identities}


def name_with_format(path: str, data: bytes) -> str:
    """Return the last part of a path, with the ending `.eml` for a mail whose name does not say so:
    one in `cur` or `new` that has the name of one in a Maildir, and begins with a field; and one
    in the format of `.eml` that is named `.msg`.

    >>> name_with_format("box/cur/1707123600.M1P2.host:2,S", b"X-To: ann\\n\\nYes.")
    '1707123600.M1P2.host:2,S.eml'
    """
    folder, _, name = path.rpartition("/")
    is_in_maildir = folder.rpartition("/")[2] in ("cur", "new")
    if is_in_maildir and unique_name(os.fsencode(name)) and _FIELD.match(data):
        return f"{name}.eml"
    is_named_outlook = name.lower().endswith(".msg")
    return f"{name}.eml" if is_named_outlook and is_mail_text(data) else name


def extractor_pool(
    name: str, workers: int | None, limits: Limits, headings: bool = False
) -> ExtractorPool:
    """Return the pool of `workers` processes (None: one a processor) for an extractor, which is
    chosen as by `extractor_named`.
    """
    from indexer.documents.workers import Pool

    return Pool(extractor_named(name, headings), workers, limits)
