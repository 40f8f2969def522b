"""Files that other people wrote, from source distributions of packages and from Python's own tests:
what is read of each, as a table (`data/files_of_others.tsv`).

`python tests/files_of_others.py` fetches the distributions and writes the table anew.
"""

from __future__ import annotations

import csv
import hashlib
import os
import subprocess
import sys
import sysconfig
import tarfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent.parent))

from indexer.documents.base import Limits, Task
from indexer.documents.extractors import document_or_task, extractor_pool
from indexer.errors import ExtractionError
from indexer.fingerprinting.fingerprint import fingerprint
from indexer.model import Document, unpack_embedded

TABLE = Path(__file__).parent / "data" / "files_of_others.tsv"
PACKAGES = {
    "html2text": "2025.4.15",
    "mail-parser": "4.8.0",
    "odfpy": "1.4.1",
    "pikepdf": "10.18.0",
    "pypdf": "7.1.1",
    "python-docx": "1.2.0",
    "python-pptx": "1.0.2",
    "tnefparse": "1.4.0",
    "trafilatura": "2.3.1",
}
STANDARD_LIBRARY = "cpython"
FOLDERS = ("cjkencodings", "test_email/data", "xmltestdata")
ENDINGS = (".pdf", ".docx", ".pptx", ".xlsx", ".odt", ".ods", ".odp", ".html", ".tnef", ".rss")
MAILS = "tests/mails/"
MAX_BYTES = 4 << 20
DIGITS = 16


@dataclass(frozen=True)
class Outcome:
    """What is read of one file; `file` and `text` are the first digits of SHA-256 digests."""

    package: str
    path: str
    file: str
    outcome: str
    content_type: str
    chars: int
    text: str
    embedded: int
    warning: str


def cache() -> Path:
    """Return the folder of the source distributions."""
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "nearfold-tests"


def fetch(package: str) -> Path | None:
    """Return the source distribution of a package, fetched once; None where that fails."""
    version = PACKAGES[package]
    names = (package, package.replace("-", "_"))
    paths = [cache() / f"{name}-{version}.tar.gz" for name in names]
    if not any(path.exists() for path in paths):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--no-binary", package, "--dest", str(cache()), f"{package}=={version}"]
        subprocess.run(command, capture_output=True, check=False, timeout=300)
    return next((path for path in paths if path.exists()), None)


def files() -> Iterator[tuple[str, str, bytes]]:
    """Yield package, path and bytes of each file that there is, in order."""
    for package in PACKAGES:
        distribution = fetch(package)
        if distribution is None:
            continue
        with tarfile.open(distribution) as archive:
            members = sorted(archive.getmembers(), key=lambda member: member.name)
            for member in members:
                path = member.name.partition("/")[2]
                is_chosen = path.lower().endswith(ENDINGS) or path.startswith(MAILS)
                if member.isfile() and is_chosen and member.size <= MAX_BYTES:
                    yield package, path, archive.extractfile(member).read()
    tests = Path(sysconfig.get_path("stdlib")) / "test"
    for folder in FOLDERS:
        for path in sorted((tests / folder).rglob("*")):
            if path.is_file() and path.suffix not in (".py", ".pyc"):
                name = path.relative_to(tests).as_posix()
                yield STANDARD_LIBRARY, name, path.read_bytes()


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:DIGITS]


def outcomes(chosen: list[tuple[str, str, bytes]]) -> list[Outcome]:
    """Return what is read of files, in their order."""
    limits = Limits(seconds=120)
    results: dict[int, Document | ExtractionError] = {}
    tasks = []
    for index, (_, path, data) in enumerate(chosen):
        try:
            found = document_or_task(index, data, Path(path).name, limits)
        except ExtractionError as error:
            found = error
        if isinstance(found, Task):
            tasks.append(found)
        else:
            results[index] = found
    with extractor_pool("native", 1, limits, headings=False) as pool:
        results.update(pool.extract_all(tasks))
    return [_outcome(*file, results[index]) for index, file in enumerate(chosen)]


def _outcome(package: str, path: str, data: bytes, result: Document | ExtractionError) -> Outcome:
    if isinstance(result, ExtractionError):
        return Outcome(package, path, digest(data), "failed", "", 0, "", 0, _line(str(result)))
    status = fingerprint(result.text).status
    if result.truncated and status == "complete":
        status = "truncated"
    text = " ".join(result.text.split())
    embedded = len(unpack_embedded(result.embedded))
    values = result.content_type, len(text), digest(text.encode()), embedded
    return Outcome(package, path, digest(data), status, *values, _line("; ".join(result.warnings)))


def _line(text: str) -> str:
    return " ".join(text.split())[:100]


def stored() -> list[Outcome]:
    """Return the outcomes of the table."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    for row in rows:
        row["chars"], row["embedded"] = int(row["chars"]), int(row["embedded"])
    return [Outcome(**row) for row in rows]


def write(found: list[Outcome]) -> None:
    """Write the table."""
    names = [field.name for field in fields(Outcome)]
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names, delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(map(asdict, found))


if __name__ == "__main__":
    cache().mkdir(parents=True, exist_ok=True)
    write(outcomes(list(files())))
