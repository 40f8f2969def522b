"""OpenSearch with its k-NN plugin.

The plugin carries no native libraries, so vectors need the engine `lucene`. What it takes from the
gRPC module, which is not published, is Guava and the names of three types.
"""

from __future__ import annotations

import shutil
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path

from servers import maven, opensearch, plugins

VERSION = plugins.VERSION
_PLUGIN = "opensearch-knn"
_GUAVA = ("com.google.guava:guava:33.2.1-jre", "com.google.guava:failureaccess:1.0.2")
_GRPC = {
    "transport/grpc/spi/QueryBuilderProtoConverter": "interface QueryBuilderProtoConverter {}",
    "transport/grpc/spi/QueryBuilderProtoConverterRegistry": (
        "interface QueryBuilderProtoConverterRegistry {}"
    ),
    "protobufs/QueryContainer": "class QueryContainer { public enum QueryContainerCase { KNN } }",
}  # types that its classes name, and use for requests by gRPC only


def install() -> Path:
    """Add the plugin to a copy of the server, once, and return its home."""
    return plugins.install(_PLUGIN, f"opensearch-{VERSION}-knn", _complete)


def _complete(home: Path) -> None:
    """Add what the plugin takes from the gRPC module."""
    place = home / "plugins" / _PLUGIN
    for library in _GUAVA:
        maven.copy(library, place)
    _write_grpc(place / "grpc-types.jar", home / "build")


def _write_grpc(jar: Path, build: Path) -> None:
    """Compile the types of `_GRPC` into a jar."""
    sources = []
    for name, body in _GRPC.items():
        source = build / "sources" / "org" / "opensearch" / f"{name}.java"
        source.parent.mkdir(parents=True, exist_ok=True)
        package = f"org.opensearch.{name.rpartition('/')[0].replace('/', '.')}"
        source.write_text(f"package {package};\npublic {body}\n", encoding="utf-8")
        sources.append(str(source))
    compiler = opensearch.Release(VERSION).jdk / "bin" / "javac"
    subprocess.run([str(compiler), "-d", str(build / "classes"), *sources], check=True)
    with zipfile.ZipFile(jar, "w") as archive:
        for compiled in (build / "classes").rglob("*.class"):
            archive.write(compiled, compiled.relative_to(build / "classes").as_posix())
    shutil.rmtree(build)


ENGINE = replace(
    opensearch.engine(VERSION), variable="NEARFOLD_TEST_KNN_OPENSEARCH", install=install
)
