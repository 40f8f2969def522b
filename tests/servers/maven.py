"""Jars through Maven: single artifacts, and the runtime class paths of several modules at once."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from servers.engine import AbsentError

_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.9.0"
_HEAD = '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
_TIMEOUT = 900


def copy(coordinates: str, into: Path) -> None:
    """Copy one artifact, written `group:artifact:version[:type]`, into a folder."""
    _run([f"{_PLUGIN}:copy", f"-Dartifact={coordinates}", f"-DoutputDirectory={into}"], into)


def class_paths(modules: Mapping[str, Sequence[str]], build: Path) -> dict[str, list[Path]]:
    """Fetch the runtime class path of every module, each resolved separately, in one run of Maven.

    A module is a list of `group:artifact:version` coordinates; `!group:artifact` after a comma
    excludes a dependency.
    """
    own = "<groupId>local</groupId><artifactId>all</artifactId><version>1</version>"
    names = "".join(f"<module>{name}</module>" for name in modules)
    _write(build, f"{own}<packaging>pom</packaging><modules>{names}</modules>")
    for name, coordinates in modules.items():
        dependencies = f"<dependencies>{''.join(map(_dependency, coordinates))}</dependencies>"
        artifact = f"<artifactId>of-{name}</artifactId><packaging>pom</packaging>"
        _write(build / name, f"<parent>{own}</parent>{artifact}{dependencies}")
    _run(
        [
            f"{_PLUGIN}:copy-dependencies",
            "-DincludeScope=runtime",
            "-DoutputDirectory=${project.basedir}/jars",
        ],
        build,
    )
    return {name: sorted((build / name / "jars").glob("*.jar")) for name in modules}


def _dependency(dependency: str) -> str:
    coordinates, _, excluded = dependency.partition(",!")
    group, artifact, version = escape(coordinates).split(":")
    exclusions = ""
    if excluded:
        from_group, from_artifact = escape(excluded).split(":")
        exclusion = f"<groupId>{from_group}</groupId><artifactId>{from_artifact}</artifactId>"
        exclusions = f"<exclusions><exclusion>{exclusion}</exclusion></exclusions>"
    names = (
        f"<groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>"
    )
    return f"<dependency>{names}{exclusions}</dependency>"


def _write(place: Path, body: str) -> None:
    place.mkdir(parents=True, exist_ok=True)
    (place / "pom.xml").write_text(f"{_HEAD}{body}</project>", encoding="utf-8")


def _run(arguments: Sequence[str], place: Path) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise AbsentError(
            "the servers come through Maven and `mvn` is not on the path; install it, or give a "
            "server's URL"
        )
    try:
        done = subprocess.run(
            [maven, "-B", "-q", *arguments],
            cwd=place,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise AbsentError(
            f"Maven did not finish within {_TIMEOUT} s; check the network and run it again"
        ) from error
    if done.returncode:
        raise AbsentError(
            "Maven could not fetch the jars; check the network. Its output:\n"
            f"{done.stdout[-2000:]}{done.stderr[-2000:]}"
        )
