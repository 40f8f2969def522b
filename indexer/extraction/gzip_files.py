"""Single files compressed with gzip, unpacked before anything reads them.

iscc-tika 0.6.0 garbles files that it unpacks itself: of a changelog of 585 kB, words were lost and
others run together, and not always the same ones. Python's zlib does not.
"""

from __future__ import annotations

import gzip
import io
import zlib

from indexer.errors import ExtractionError, UnreadableFile
from indexer.extraction.base import Limits

_MAGIC = b"\x1f\x8b"


def unpack(data: bytes, name: str, limits: Limits) -> tuple[bytes, str]:
    """Return the content of a gzip file, and its name without `.gz`; other bytes and names
    unchanged.

    Raises `ExtractionError` when it is damaged, `UnreadableFile` when it holds more than
    `limits.bytes`.
    """
    if not data.startswith(_MAGIC):
        return data, name
    try:
        content = gzip.GzipFile(fileobj=io.BytesIO(data)).read(limits.bytes + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise ExtractionError(
            f"the gzip file is damaged ({error}); repair it or leave it out"
        ) from error
    if len(content) > limits.bytes:
        raise UnreadableFile(
            reason=f"unpacked it holds more than {limits.bytes:,} bytes",
            remedy="split it, or leave it out",
        )
    return content, name[:-3] if name.lower().endswith(".gz") else name
