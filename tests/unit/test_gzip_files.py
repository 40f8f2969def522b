"""Files packed by gzip, bzip2 and xz: exact contents, refusal of damaged files and of bombs."""

import bz2
import gzip
import lzma
from pathlib import Path

import pytest
from e2e.command import run_json
from hypothesis import given
from hypothesis import strategies as st

from indexer.documents.base import DEFAULT_LIMITS, Limits
from indexer.documents.extractors import unpack
from indexer.errors import ExtractionError, UnreadableFile
from indexer.stores import open_store

PACKERS = {".GZ": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


@pytest.mark.parametrize("suffix", PACKERS)
@given(st.binary(), st.binary())
def test_what_was_packed_comes_out(suffix: str, first: bytes, second: bytes) -> None:
    packed = PACKERS[suffix](first) + PACKERS[suffix](second)
    unpacked = unpack(packed, f"notes.txt{suffix}", DEFAULT_LIMITS)
    assert unpacked == (first + second, "notes.txt")


def test_other_bytes_are_left_alone() -> None:
    assert unpack(b"plain", "odd.gz", DEFAULT_LIMITS) == (b"plain", "odd.gz")


@pytest.mark.parametrize("suffix", PACKERS)
def test_damaged_and_too_large_ones_are_refused(suffix: str) -> None:
    packed = PACKERS[suffix](b"words " * 1000)
    with pytest.raises(ExtractionError, match="damaged"):
        unpack(packed[:-20], "a.gz", DEFAULT_LIMITS)
    with pytest.raises(ExtractionError, match="damaged"):
        unpack(b"\x1f\x8bnot gzip at all", "a.gz", DEFAULT_LIMITS)
    with pytest.raises(UnreadableFile, match="more than 100 bytes"):
        unpack(packed, "a.gz", Limits(bytes=100))


def test_a_long_changelog_is_indexed_word_for_word(tmp_path: Path) -> None:
    """Repetitive text with distant references, which the extractor garbles when it unpacks the file
    itself.
    """
    lines = [
        f"{n % 28 + 1} January: mend {n * 7919 % 997} of {n % 131}, as reported by {n % 17}"
        for n in range(9000)
    ]
    (tmp_path / "changelog.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    url = f"sqlite:///{tmp_path}/x.db"
    assert run_json("index", tmp_path / "changelog.gz", store=url)["indexed"] == 1
    store = open_store(url)
    [row] = store.scan()
    store.close()
    assert row.text.splitlines() == lines
    assert row.content_type == "text/plain"
