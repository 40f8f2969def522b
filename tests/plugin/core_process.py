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
        [*_java(program), *arguments],
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        check=True,
        text=True,
        timeout=_TIMEOUT,
    )
    return done.stdout.splitlines()


def _java(program: str) -> tuple[str, ...]:
    options = ("-Xmx512m", "-XX:+UseSerialGC", QUICK, "-cp", classes())
    return (str(java.home(17) / "bin/java"), *options, f"org.nearfold.core.{program}")


class CoreProcess:
    """The core in a process that fingerprints text after text, until it is closed."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            _java("FingerprintLines"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def fingerprints(self, texts: Sequence[str], recipe: str, secret: str = "") -> list[Line]:
        """Return the fingerprints of texts by the core."""
        return [self._fingerprint(f"{recipe}\t{secret}\t{units(text)}\n") for text in texts]

    def _fingerprint(self, line: str) -> Line:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(line)
        self._process.stdin.flush()
        return _line(self._process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        self._process.communicate(timeout=_TIMEOUT)


def units(text: str) -> str:
    """Return the UTF-16 units of a text as hexadecimal digits."""
    return text.encode("utf-16-be", "surrogatepass").hex()


def _line(printed: str) -> Line:
    status, minhash, simhash, bands, blocks, exact, words, chars = printed[:-1].split("\t")
    keys = tuple(bands.split()), tuple(blocks.split())
    return Line(status, minhash, simhash, *keys, exact, int(words), int(chars))
