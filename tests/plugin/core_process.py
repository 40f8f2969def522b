"""The core of the engine plugin as a process: texts in, fingerprints out."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from servers import java
from servers.engine import QUICK

import plugin

_TIMEOUT = 600


class Line(NamedTuple):
    """A fingerprint as the core prints it; sketches are big-endian hexadecimal digits."""

    status: str
    minhash: str
    simhash: str
    bands: tuple[str, ...]
    blocks: tuple[str, ...]
    exact: str
    words: int
    chars: int


@cache
def classes() -> str:
    """Compile the core and its tests once; return their class path."""
    with plugin.alone():
        plugin.maven(plugin.PLUGIN, "core", "test-compile")
    target = plugin.PLUGIN / "core/target"
    return f"{target / 'classes'}:{target / 'test-classes'}"


def run(program: str, arguments: Sequence[str], lines: Sequence[str]) -> list[str]:
    """Return the lines that a class of the core's tests prints for lines of input."""
    done = subprocess.run(
        [
            str(java.home(17) / "bin/java"),
            *("-Xmx512m", "-XX:+UseSerialGC", QUICK, "-cp", classes()),
            f"org.nearfold.core.{program}",
            *arguments,
        ],
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        check=True,
        text=True,
        timeout=_TIMEOUT,
    )
    return done.stdout.splitlines()


def fingerprints(texts: Sequence[str], recipe: str, *secret: str) -> list[Line]:
    """Return the fingerprints of texts by the core."""
    return [
        _line(printed)
        for printed in run("FingerprintLines", [recipe, *secret], [units(text) for text in texts])
    ]


def units(text: str) -> str:
    """Return the UTF-16 units of a text as hexadecimal digits."""
    return text.encode("utf-16-be", "surrogatepass").hex()


def _line(printed: str) -> Line:
    status, minhash, simhash, bands, blocks, exact, words, chars = printed.split("\t")
    keys = tuple(bands.split()), tuple(blocks.split())
    return Line(status, minhash, simhash, *keys, exact, int(words), int(chars))
