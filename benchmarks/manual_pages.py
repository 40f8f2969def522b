"""Hold the text of manual pages against what `groff` or `mandoc` prints of them.

    python benchmarks/manual_pages.py FOLDER ... [--by groff|mandoc] [--pages N] [--seed N]

Prints a line a language (the folder above `man1` to `man8`): pages, and the mean, least and 5th
percentile of the words in order (`lcs`) of the text that nearfold reads and of the printed page
without its first and last line; the same mean for the source as it stands; then the ten worst
pages. Pages that only refer to another one are left out.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import subprocess
from collections import defaultdict
from pathlib import Path

from indexer.extraction.base import DEFAULT_LIMITS
from indexer.extraction.gzip_files import unpack
from indexer.extraction.plain import plain_document
from indexer.similarity.lcs import lcs
from indexer.text.words import words

_COMMANDS = {
    "groff": "groff -K utf8 -t -e -mandoc -Tutf8 -rHY=0 -rLL=1000n -P-c",
    "mandoc": "mandoc -K utf-8 -T utf8 -O width=500",
}
_STYLE = re.compile(r".\x08|\x1b\[[\d;]*m")
_REFERENCE = re.compile(r"(?:[.']\\\".*\n|\s)*[.']so ")


def pages(folder: Path, number: int, seed: int) -> list[Path]:
    """Return a random sample of the files of the sections below a folder."""
    files = sorted(path for path in folder.glob("man*/*") if path.is_file())
    return random.Random(seed).sample(files, min(number, len(files)))


def printed(source: str, renderer: str) -> str:
    """Return what a renderer prints, without its head line, foot line and styles."""
    command = _COMMANDS[renderer].split()
    result = subprocess.run(command, input=source.encode(), capture_output=True, check=False)
    text = _STYLE.sub("", result.stdout.decode("utf-8", "replace"))
    return "\n".join(text.strip("\n").split("\n")[1:-1])


def agreement(path: Path, renderer: str) -> tuple[float, float] | None:
    """Return `lcs` to the printed page of the text read, and of the source."""
    data, _ = unpack(path.read_bytes(), path.name, DEFAULT_LIMITS)
    document = plain_document(data, "page", DEFAULT_LIMITS)
    try:
        source = data.decode()
    except UnicodeDecodeError:
        return None
    if document is None or _REFERENCE.match(source):
        return None
    page = words(printed(source, renderer))
    return lcs(words(document.text), page), lcs(words(source), page)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--by", choices=sorted(_COMMANDS), default="groff")
    parser.add_argument("--pages", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    found: dict[str, list[tuple[float, float, Path]]] = defaultdict(list)
    for folder in options.folders:
        for path in pages(folder, options.pages, options.seed):
            if values := agreement(path, options.by):
                found[folder.name].append((*values, path))
    print(f"{'':8} {'pages':>5} {'mean':>6} {'least':>6} {'5 %':>6} {'source':>6}")
    every = sorted(item for items in found.values() for item in items)
    for name, items in [*found.items(), ("all", every)]:
        read = sorted(item[0] for item in items)
        source = statistics.fmean(item[1] for item in items)
        figures = statistics.fmean(read), read[0], read[len(read) // 20], source
        print(f"{name:8} {len(read):5}", *(f"{figure:6.4f}" for figure in figures))
    for value, _, path in every[:10]:
        print(f"{value:.3f} {path}")


if __name__ == "__main__":
    main()
