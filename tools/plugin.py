"""Build the engine plugin, and the Unicode tables of its core.

    python tools/plugin.py                      # the zips of both engines' current versions
    python tools/plugin.py opensearch 3.0.0     # one zip
    python tools/plugin.py --matrix             # every version of VERSIONS
    python tools/plugin.py --matrix --engines   # and tests in every engine, some 6 minutes
    python tools/plugin.py --tables             # write unicode-13.0.txt again

Zips with checksums are written to `target/plugin`. Maven and a JDK 21 or later are needed.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import runpy
import shutil
import subprocess
import sys
import tempfile
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLUGIN = ROOT / "plugin"
OUTPUT = ROOT / "target/plugin"
TABLES = PLUGIN / "core/src/main/resources/org/nearfold/core/text/unicode-13.0.txt"
CLASSES = ("UNASSIGNED", "NONSTARTER", "IGNORABLE", "BLANK", "WORDLESS", "UNSPACED", "SEPARATOR")
CATEGORIES = ("WORD", "SPACING_MARK", "LETTER", "MARK", "DIGIT", "KATAKANA")
WIDTH = 110
_TIMEOUT = 900

sys.path.append(str(ROOT / "tests"))
from servers.engine import QUICK  # noqa: E402

HANGUL = range(0xAC00, 0xD7A4)


def tables() -> str:
    """Return the text of `unicode-13.0.txt`.

    Classes and categories are those of the Python package. Decompositions come from the running
    Python for the code points that Unicode 13.0 assigns: those never change.
    """
    package = _pinned("unicode13.py"), _pinned("unicode13_categories.py")
    lines = [
        "# Unicode 13.0, pinned; written by tools/plugin.py --tables, never edited.",
        "# A line has the name of a table and entries; lines of one name belong together.",
    ]
    for pinned, names in zip(package, ((*CLASSES, "LOWER"), CATEGORIES), strict=True):
        for name in names:
            lines += _lines(name, pinned[name].split())
    assigned = _assigned(package[0]["UNASSIGNED"])
    lines += _lines("COMBINING", _combining(assigned))
    lines += _lines("DECOMPOSE", _decompositions(assigned))
    lines += _lines("COMPOSE", _compositions(assigned))
    return "\n".join(lines) + "\n"


def _pinned(name: str) -> dict[str, str]:
    (path,) = (ROOT / "indexer").rglob(name)
    return runpy.run_path(str(path))


def _lines(name: str, entries: list[str]) -> Iterator[str]:
    line = name
    for entry in entries:
        if len(line) + len(entry) >= WIDTH:
            yield line
            line = name
        line += f" {entry}"
    yield line


def _assigned(unassigned: str) -> list[int]:
    missing: set[int] = set()
    for word in unassigned.split():
        first, _, last = word.partition("-")
        missing.update(range(int(first, 16), int(last or first, 16) + 1))
    return [code for code in range(0x110000) if code not in missing]


def _combining(assigned: list[int]) -> list[str]:
    """Return runs of code points with the same combining class, `first-last:class`."""
    runs: list[list[int]] = []
    for code in assigned:
        number = unicodedata.combining(chr(code))
        if number and runs and runs[-1][1] == code - 1 and runs[-1][2] == number:
            runs[-1][1] = code
        elif number:
            runs.append([code, code, number])
    return [f"{first:X}-{last:X}:{number}" for first, last, number in runs]


def _decompositions(assigned: list[int]) -> list[str]:
    """Return the full compatibility decompositions, `code:first.second`, without Hangul."""
    entries = []
    for code in assigned:
        if code in HANGUL or 0xD800 <= code < 0xE000:
            continue
        whole = unicodedata.normalize("NFKD", chr(code))
        if whole != chr(code):
            entries.append(f"{code:X}:" + ".".join(f"{ord(letter):X}" for letter in whole))
    return entries


def _compositions(assigned: list[int]) -> list[str]:
    """Return the pairs that NFC composes, `first.second:composed`, without Hangul."""
    entries = []
    for code in assigned:
        parts = unicodedata.decomposition(chr(code)).split()
        is_pair = len(parts) == 2 and not parts[0].startswith("<")
        if is_pair and unicodedata.normalize("NFC", chr(code)) == chr(code):
            entries.append(f"{parts[0].lstrip('0')}.{parts[1].lstrip('0')}:{code:X}")
    return entries


# Of each engine the versions that zips are built for, the current one first. A zip of OpenSearch
# 3.x is compiled against its oldest version and serves all; Elasticsearch wants its exact version.
VERSIONS = {
    "opensearch": ("3.8.0", "3.4.0", "3.0.0", "2.19.5"),
    "elasticsearch": ("9.4.3", "9.5.3", "8.19.21"),
}


@dataclass(frozen=True, slots=True)
class Target:
    """One zip: the engine, its version, and the properties of Maven that differ."""

    engine: str
    version: str

    @property
    def is_old(self) -> bool:
        """True where the engine has Lucene 9 and runs on Java 17."""
        return self.version.startswith(("2.", "8."))

    @property
    def properties(self) -> dict[str, str]:
        """The properties that the build gets."""
        given = {f"{self.engine}.version": self.compiled}
        if self.engine == "elasticsearch":
            given["server.lib"] = str(_server(self.version) / "lib")
        if self.engine == "opensearch" and self.is_old:
            given["opensearch.compatibility"] = f"opensearch.version={self.version}"
        if self.is_old:
            given |= {
                "elasticsearch.sources": "es8",
                "lucene.version": "9.12.1",
                "lucene.sources": "lucene9",
                "engine.release": "17",
            }
        return given

    @property
    def compiled(self) -> str:
        """The version of the engine that the zip is compiled against."""
        is_range = self.engine == "opensearch" and not self.is_old
        return "3.0.0" if is_range else self.version

    @property
    def path(self) -> Path:
        """The zip: one for all of OpenSearch 3.x."""
        return OUTPUT / f"nearfold-{self.engine}-{self.compiled}.zip"


def archive(engine: str, version: str | None = None) -> Path:
    """Return the zip of an engine, built once. Raises `CalledProcessError` when Maven fails.

    It is built again when a source is newer.
    """
    target = Target(engine, version or VERSIONS[engine][0])
    newest = max(
        path.stat().st_mtime
        for path in PLUGIN.rglob("*")
        if path.is_file() and "target" not in path.relative_to(PLUGIN).parts
    )
    with alone():
        if not target.path.exists() or target.path.stat().st_mtime < newest:
            build(target)
    return target.path


def build(target: Target, tests: bool = False) -> None:
    """Build one zip from a copy of the sources, and write its checksum beside it.

    Raises `CalledProcessError` when Maven fails.
    """
    given = [f"-D{name}={value}" for name, value in target.properties.items()]
    with tempfile.TemporaryDirectory(prefix="nearfold-plugin-") as folder:
        sources = Path(folder) / "plugin"
        shutil.copytree(PLUGIN, sources, ignore=shutil.ignore_patterns("target"))
        shutil.copy(ROOT / "LICENSE", folder)
        maven(sources, f"core,lucene,{target.engine}", "package", *given, tests=tests)
        OUTPUT.mkdir(parents=True, exist_ok=True)
        built = sources / target.engine / f"target/nearfold-{target.engine}.zip"
        shutil.copyfile(built, target.path)
    digest = hashlib.sha512(target.path.read_bytes()).hexdigest()
    target.path.with_suffix(".zip.sha512").write_text(f"{digest}  {target.path.name}\n")


def maven(folder: Path, modules: str, phase: str, *given: str, tests: bool = False) -> None:
    """Run a phase of Maven in some modules. Raises `CalledProcessError` when it fails."""
    skipped = [] if tests else ["-DskipTests"]
    subprocess.run(
        ["mvn", "-B", "-q", "-pl", modules, phase, *skipped, *given],
        cwd=folder,
        env={"MAVEN_OPTS": QUICK, **os.environ, "JAVA_HOME": str(_java_home())},
        check=True,
        timeout=_TIMEOUT,
    )


@contextmanager
def alone() -> Iterator[None]:
    """Keep other processes from building at the same time."""
    OUTPUT.mkdir(parents=True, exist_ok=True)
    with (OUTPUT / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _server(version: str) -> Path:
    """Return the home of a server of Elasticsearch: not each version's jars are published."""
    from servers import elasticsearch

    return elasticsearch.install(version)


def _java_home() -> Path:
    """Return the home of a JDK 21 or later."""
    from servers import java

    return java.home(21)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("engine", nargs="?", choices=tuple(VERSIONS))
    parser.add_argument("version", nargs="?")
    parser.add_argument("--matrix", action="store_true", help="build every version")
    parser.add_argument("--engines", action="store_true", help="then test all of them in engines")
    parser.add_argument("--tables", action="store_true", help="write the Unicode tables")
    arguments = parser.parse_args()
    if arguments.tables:
        TABLES.write_text(tables(), encoding="ascii")
        return
    if arguments.engine:
        version = arguments.version or VERSIONS[arguments.engine][0]
        targets = [Target(arguments.engine, version)]
    else:
        count = None if arguments.matrix else 1
        targets = [
            Target(engine, version)
            for engine, versions in VERSIONS.items()
            for version in versions[:count]
        ]
    for path, target in {target.path: target for target in targets}.items():
        build(target, tests=True)
        print(path)
    if arguments.engines:
        tests = ["tests/plugin/test_engines.py", "-m", "versions or not versions"]
        subprocess.run([sys.executable, "-m", "pytest", *tests], cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
