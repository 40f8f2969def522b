"""Archives that hold nothing but themselves, however often they are unpacked.

After Russ Cox, "Zip Files All The Way Down" (research.swtch.com/zip, 2010): a program for
Lempel-Ziv with two instructions, "print these n bytes" and "repeat the last n bytes", that prints
itself with a head before it and a tail behind it. The program here is put together anew, from
instructions of several lengths:

    instruction          prints            what is printed, and what has to follow
    L(head+5) head L     head L            L stands for itself
    A = repeat that      head L            as much as there is, but for A
    print A, print a1    A a1              a1 = print A; a2 = print a1
    b [A a2 a1 b]        A a2 a1 b         b = print 4 pieces
    c = repeat 4         A a2 a1 b         as much as there is, but for c
    b [c b c b], c       c b c b c b c b   one b more than there is, so a b comes next,
                                           which may print anything:
    b [.. g B], g        .. g B g B        g = repeat two pieces; so a B comes next,
                                           which may print more:
    B [.. d tail], d     .. d tail d tail  d = repeat that, and the end

The checksum of the whole stands in its own head and tail: four free bytes make it what it says
there.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable

NAME = b"quine.zip"
CHECKSUM = 0x6E666F6C  # any
_LENGTHS = [
    (3, 257, 0),
    (11, 265, 1),
    (19, 269, 2),
    (35, 273, 3),
    (67, 277, 4),
    (131, 281, 5),
]  # from, code, bits added
_DISTANCES = [(1, 0, 0), (5, 4, 1), (9, 6, 2), (17, 8, 3), (33, 10, 4), (65, 12, 5), (129, 14, 6)]
_END = "0" * 7  # the code that ends a block
_LONG = 11  # bytes of A
_SHORT = 8  # bytes of c and g


def gzip_quine() -> bytes:
    """Return a gzip file that unpacks to itself."""
    head = b"\x1f\x8b\x08" + bytes(6) + b"\xff"
    return _quine(lambda packed, size: (head, struct.pack("<II", CHECKSUM, size)))


def zip_quine() -> bytes:
    """Return a zip archive of one file, which is the archive."""

    def around(packed: int, size: int) -> tuple[bytes, bytes]:
        facts = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 33, CHECKSUM, packed, size, len(NAME), 0)
        head = b"PK\x03\x04" + facts + NAME
        entry = (
            b"PK\x01\x02"
            + struct.pack("<H", 20)
            + facts
            + struct.pack("<HHHII", 0, 0, 0, 0, 0)
            + NAME
        )
        return head, entry + b"PK\x05\x06" + struct.pack(
            "<HHHHIIH", 0, 0, 1, 1, len(entry), len(head) + packed, 0
        )

    return _quine(around)


def _quine(around: Callable[[int, int], tuple[bytes, bytes]]) -> bytes:
    """`around(packed, whole)`: what stands before and behind a program of so many bytes, in a file
    of so many.
    """
    head, tail = around(0, 0)
    packed = len(_program(head, tail, bytes(4)))
    head, tail = around(packed, len(head) + packed + len(tail))

    def file(free: bytes) -> bytes:
        return head + _program(head, tail, free) + tail

    return file(
        _forge_checksum(
            lambda free: zlib.crc32(file(free.to_bytes(4, "little"))), CHECKSUM
        ).to_bytes(4, "little")
    )


def _program(head: bytes, tail: bytes, free: bytes) -> bytes:
    """Return the instructions, as blocks of deflate that begin and end with a byte."""
    begin = head + _print(len(head) + 5)
    a = _repeat(len(begin), _LONG)
    a1, a2, b, c = (
        _print(_LONG),
        _print(5),
        _print(2 * _SHORT + 10),
        _repeat(2 * _SHORT + 10, _SHORT),
    )
    d = _last(len(tail))
    g, more = _repeat(_SHORT + 5, _SHORT), _print(len(free) + len(d) + len(tail))
    padding = bytes(_SHORT + 5) + g + more
    caught_up = [_print(len(begin)), begin, a, a1, a, a2, a1, b, a, a2, a1, b, c]
    return b"".join([*caught_up, b, c, b, c, b, c, b, padding, g, more, free, d, tail, d])


def _print(size: int) -> bytes:
    """Return a stored block that announces so many bytes, which come next."""
    return b"\x00" + struct.pack("<HH", size, 0xFFFF ^ size)


def _repeat(count: int, size: int) -> bytes:
    """Return a block of `size` bytes that repeats the last `count` bytes.

    Copies, empty blocks, and an empty stored block to end a byte.
    """
    for first in (count, *range(3, count - 2)):
        copies = [length for length in (first, count - first) if length]
        bits = "010" + "".join(_copy(length, count) for length in copies) + _END
        while len(bits) + 3 <= 8 * (size - 4):
            if len(bits) + 3 > 8 * (size - 5):
                return _bytes(bits + "000") + struct.pack("<HH", 0, 0xFFFF)
            bits += "010" + _END
    raise ValueError(f"{count} bytes cannot be repeated in {size}")


def _last(tail: int) -> bytes:
    """Return the last instruction: itself and the tail again."""
    return next(
        block
        for size in range(3, 9)
        if len(block := _bytes("110" + _copy(size + tail, size + tail) + _END)) == size
    )


def _copy(length: int, distance: int) -> str:
    """Return a pair of length and distance in the fixed codes.

    Codes first bit first, extra bits last bit first.
    """
    start, code, extra = max(entry for entry in _LENGTHS if entry[0] <= length)
    code, rest = code + ((length - start) >> extra), (length - start) & ((1 << extra) - 1)
    bits = f"{code - 256:07b}" if code < 280 else f"{code - 280 + 0b11000000:08b}"
    start, far, more = max(entry for entry in _DISTANCES if entry[0] <= distance)
    far, left = far + ((distance - start) >> more), (distance - start) & ((1 << more) - 1)
    return bits + _backwards(rest, extra) + f"{far:05b}" + _backwards(left, more)


def _backwards(number: int, bits: int) -> str:
    return f"{number:0{bits}b}"[::-1] if bits else ""


def _bytes(bits: str) -> bytes:
    return bytes(int(bits[place : place + 8][::-1], 2) for place in range(0, len(bits), 8))


def _forge_checksum(checksum: Callable[[int], int], target: int) -> int:
    """Return the 32 bits for which an affine function of them gives the target, by elimination."""
    zero = checksum(0)
    rows: dict[int, tuple[int, int]] = {}
    for bit in range(32):
        image, source_bits = checksum(1 << bit) ^ zero, 1 << bit
        while image and image.bit_length() in rows:
            pivot, source = rows[image.bit_length()]
            image, source_bits = image ^ pivot, source_bits ^ source
        rows[image.bit_length()] = (image, source_bits)
    left, solution = target ^ zero, 0
    while left:
        pivot, source = rows[left.bit_length()]
        left, solution = left ^ pivot, solution ^ source
    return solution
