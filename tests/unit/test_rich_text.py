"""RTF as Outlook compresses it. The first two examples are those of MS-OXRTFCP, 3.1."""

from __future__ import annotations

import random
import time

import pytest

from indexer.documents.mail.outlook import decompress_rich_text, rich_text


@pytest.mark.parametrize(
    ("compressed", "text"),
    [
        (
            "2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af3"
            "2068656c090020627705b06c647d0a800fa0",
            b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n",
        ),
        (
            "1a0000001c0000004c5a4675e2d44b51410004205758595a0d6e7d010eb0",
            b"{\\rtf1 WXYZWXYZWXYZWXYZWXYZ}",
        ),
        ("0e000000020000004d454c41000000007b7d", b"{}"),
    ],
)
def test_examples_of_compression(compressed: str, text: bytes) -> None:
    assert decompress_rich_text(bytes.fromhex(compressed)) == text


@pytest.mark.parametrize("place", [8, 12, 20])
def test_damaged_compression_is_refused(place: int) -> None:
    data = bytearray.fromhex("1a0000001c0000004c5a4675e2d44b51410004205758595a0d6e7d010eb0")
    data[place] ^= 1
    with pytest.raises(ValueError, match="rich text"):
        decompress_rich_text(bytes(data))


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (rb"{\rtf1 One\par two\line three\tab four}", "One\ntwo\nthree\tfour"),
        (rb"{\rtf1\ansicpg1251 \'cf\'e0}", "Па"),
        (rb"{\rtf1\ansicpg932 \'83e\'83\'58}", "テス"),
        (rb"{\rtf1{\fonttbl{\f1\fcharset238 Arial;}}\f1 \'b9}", "ą"),
        (rb"{\rtf1{\fonttbl{\f1\fcharset238 Arial;}}{\f1 \'b9}\'e9}", "ąé"),
        (rb"{\rtf1\u8364?1\uc2\u322\'b3b2\uc0\u243 d}", "€1ł2ód"),
        (rb"{\rtf1\u-10179?\u-8704?}", "😀"),
        (rb"{\rtf1 a\{b\}\\c\~d\_e}", "a{b}\\c\xa0d-e"),
        (rb"{\rtf1{\*\htmltag <p>}{\info{\title x}}{\pict\bin4 }}}}a}b}c", "b"),
        (rb"{\rtf1{\field{\*\fldinst HYPERLINK x}{\fldrslt here}} now}", "here now"),
        (b"{\\rtf1 caf\xe9\r\n s}", "café s"),
        (b"", ""),
        (rb"{\rtf1 open {\b not closed", "open not closed"),
        (rb"}}\rtf1 a", "a"),
    ],
)
def test_text_of_rich_text(source: bytes, text: str) -> None:
    assert rich_text(source) == text


@pytest.mark.long
@pytest.mark.parametrize(
    "piece", [b"\\f1\\fcharset0", b'{\\field{\\*\\fldinst{HYPERLINK "a" ', b"{", b"\\'", b"\\u1"]
)
def test_hostile_rich_text_is_read_in_a_moment(piece: bytes) -> None:
    started = time.process_time()
    rich_text(b"{\\rtf1{\\fonttbl" + piece * (1_000_000 // len(piece)))
    assert time.process_time() - started < 20


@pytest.mark.parametrize("seed", range(40))
def test_any_bytes_are_read(seed: int) -> None:
    chance = random.Random(seed)
    data = bytes(chance.choice(b"\\'{}u*par19f \xe9\x00bin-") for _ in range(3000))
    rich_text(data).encode("utf-8")
