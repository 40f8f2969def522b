"""English documents of any number, from texts of the machine: stretches of 60 to 400 words."""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from key_layouts import read_text

SEED = 20
SHORTEST, LONGEST = 60, 400  # words of a stretch
_COMMON = "the a an of to and in is for be or with that this it are as by on not"
COMMON = frozenset(_COMMON.split())
COMMON_SHARE = 0.04

_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_QUOTED = re.compile(r'"""(.*?)"""', re.DOTALL)
_BREAK = re.compile(r"^[.'](?:PP|P|LP|SH|SS|TP|IP|HP|Pp|Sh|Ss|It|RS|RE|sp)\b.*", re.MULTILINE)
_HIDDEN = re.compile(r"<(script|style)\b.*?</\1>", re.DOTALL)
_BLOCK = re.compile(r"</?(?:p|div|h\d|li|tr|td|dl|dt|dd|ul|section|pre|br|hr)\b[^>]*>")
_TAG = re.compile(r"<[^<>]*>")
_REQUEST = re.compile(r"^[.'][A-Za-z\\\"]*[ \t]*|\\f(?:\[\w*\]|\(..|.)|\\&", re.MULTILINE)
_MANUAL = re.compile(r"\.[1-9][a-z]*(?:\.gz)?$")

Random = np.random.Generator


@dataclass(frozen=True, slots=True)
class Stretch:
    """A document: its text, the number of its file and folder, and how often the file was cut."""

    text: str
    file: int
    folder: int
    cut: int


def stretches(folders: list[Path], cuts: int) -> Iterator[Stretch]:
    """Yield the distinct English stretches, files in an order without meaning."""
    paths = [
        (path, number)
        for number, folder in enumerate(folders)
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    ]
    paths.sort(key=lambda item: hashlib.sha256(str(item[0]).encode()).digest())
    seen: set[bytes] = set()
    for file, (path, folder) in enumerate(paths):
        parts = _paragraphs(path)
        for cut in range(cuts):
            for text in _cut(parts, cut, np.random.default_rng((SEED, file, cut))):
                digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
                if digest not in seen and is_english(text):
                    seen.add(digest)
                    yield Stretch(text, file, folder, cut)


def is_english(text: str) -> bool:
    split = text.lower().split()
    return sum(map(COMMON.__contains__, split)) >= COMMON_SHARE * len(split)


def _paragraphs(path: Path) -> list[tuple[str, int]]:
    """Return the paragraphs of a file with their words; long ones by lines, very long lines not."""
    text = read_text(path) or ""
    if path.suffix == ".py":
        text = "\n\n".join(_QUOTED.findall(text))
    elif path.suffix in (".html", ".htm"):
        text = html.unescape(_TAG.sub("", _BLOCK.sub("\n\n", _HIDDEN.sub("", text))))
    elif _MANUAL.search(path.name):
        text = _REQUEST.sub("", _BREAK.sub("\n", text)).replace("\\-", "-")
    parts = []
    for paragraph in _PARAGRAPH.split(text):
        size = len(paragraph.split())
        lines = [paragraph] if size <= LONGEST else paragraph.split("\n")
        parts += [(line, len(line.split())) for line in lines]
    return [(part, size) for part, size in parts if 0 < size <= LONGEST]


def _cut(parts: list[tuple[str, int]], skipped: int, rng: Random) -> Iterator[str]:
    """Yield stretches of whole paragraphs, after the first `skipped`; lengths even in logarithm."""
    stretch: list[str] = []
    size = 0
    wanted = _length(rng)
    for part, more in parts[skipped:]:
        if stretch and size + more > LONGEST:
            if size >= SHORTEST:
                yield "\n\n".join(stretch)
            stretch, size = [], 0
        stretch.append(part)
        size += more
        if size >= wanted:
            yield "\n\n".join(stretch)
            stretch, size, wanted = [], 0, _length(rng)


def _length(rng: Random) -> float:
    return float(np.exp(rng.uniform(np.log(SHORTEST), np.log(LONGEST * 0.75))))
