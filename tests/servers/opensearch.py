"""OpenSearch, assembled from the jars that the project publishes: the server and eighteen of its
modules.

The jars carry neither the security plugin nor k-NN nor analysis plugins; everything else behaves as
in the distribution.
"""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from servers import cache, java, maven
from servers.engine import Engine, Launch
from servers.process import Server
from servers.settings import yaml

VERSION = "3.8.0"
JDK = 21
HEAP = "512m"
_GROUP = "org.opensearch"
_PLUGINS = "org.opensearch.plugin"

# Module -> its plugin class below org.opensearch.
_MODULES = {
    "aggs-matrix-stats": "search.aggregations.matrix.MatrixAggregationModulePlugin",
    "analysis-common": "analysis.common.CommonAnalysisModulePlugin",
    "cache-common": "cache.common.tier.TieredSpilloverCachePlugin",
    "geo": "geo.GeoModulePlugin",
    "ingest-attachment": "ingest.attachment.IngestAttachmentPlugin",
    "ingest-common": "ingest.common.IngestCommonModulePlugin",
    "ingest-user-agent": "ingest.useragent.IngestUserAgentModulePlugin",
    "lang-expression": "script.expression.ExpressionModulePlugin",
    "lang-mustache": "script.mustache.MustacheModulePlugin",
    "lang-painless": "painless.PainlessModulePlugin",
    "mapper-extras": "index.mapper.MapperExtrasModulePlugin",
    "parent-join": "join.ParentJoinModulePlugin",
    "percolator": "percolator.PercolatorModulePlugin",
    "rank-eval": "index.rankeval.RankEvalModulePlugin",
    "reindex": "index.reindex.ReindexModulePlugin",
    "repository-url": "plugin.repository.url.URLRepositoryModulePlugin",
    "search-pipeline-common": "search.pipeline.common.SearchPipelineCommonModulePlugin",
    "transport-netty4": "transport.Netty4ModulePlugin",
}
_PUBLISHED_AS_CLIENT = {
    "aggs-matrix-stats",
    "lang-mustache",
    "mapper-extras",
    "parent-join",
    "percolator",
    "rank-eval",
    "reindex",
    "transport-netty4",
}
_PAINLESS_EXTENSIONS = {"analysis-common", "ingest-common", "search-pipeline-common"}
# The server marks these as optional, but does not start without them.
_CORE = (
    f"{_GROUP}:opensearch:{VERSION}",
    f"{_GROUP}:opensearch-plugin-classloader:{VERSION}",
    f"{_GROUP}:opensearch-agent-bootstrap:{VERSION}",
    "org.apache.logging.log4j:log4j-core:2.25.4",
    "org.apache.logging.log4j:log4j-api:2.25.4",
    "net.java.dev.jna:jna:5.16.0",
    "org.locationtech.jts:jts-core:1.15.0",
    "org.locationtech.spatial4j:spatial4j:0.7",
)
_FOREIGN = ("-osx-", "-windows-", "-aarch_64")
_LOGGING = """
status = error
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = [%d{ISO8601}][%-5p][%-25c{1.}] %m%n
rootLogger.level = info
rootLogger.appenderRef.console.ref = console
"""
_FLAGS = (
    "-XX:TieredStopAtLevel=1",
    "-Xshare:auto",
    "-Djava.awt.headless=true",
    "-Dfile.encoding=UTF-8",
    "-Djna.nosys=true",
    "-Dio.netty.noUnsafe=true",
    "-Dio.netty.noKeySetOptimization=true",
    "-Dio.netty.recycler.maxCapacityPerThread=0",
    "-Dio.netty.allocator.numDirectArenas=0",
    "-Dlog4j.shutdownHookEnabled=false",
    "-Dlog4j2.disable.jmx=true",
    "--add-modules=jdk.incubator.vector",
    "--enable-native-access=ALL-UNNAMED",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "-Dopensearch.distribution.type=tar",
    "-Dopensearch.bundled_jdk=false",
)


def install() -> Path:
    """Assemble the home once and return it."""
    name = f"opensearch-{VERSION}"
    with cache.installing(name) as fresh:
        if fresh:
            _assemble(fresh)
    home = cache.folder() / name
    with cache.installing(_archive().parent.name) as fresh:
        if fresh:
            _archive_classes(home, fresh)
    return home


def _archive() -> Path:
    """Return the path of the class-data archive for the JDK in use; an archive fits one build of
    one JDK.
    """
    build = java.fingerprint(java.home(JDK))
    return cache.folder() / f"opensearch-{VERSION}-classes-{build}" / "classes.jsa"


def _archive_classes(home: Path, fresh: Path) -> None:
    """Start once and stop: the JVM writes an archive of the classes it loaded, which saves a third
    of every later start.
    """
    server = Server(replace(ENGINE, install=lambda: home))
    try:
        server.start()
        server.stop()
        shutil.copy(server.folder / "classes.jsa", fresh)
    finally:
        server.close()


def _assemble(home: Path) -> None:
    build = home / "build"
    coordinates = {"core": _CORE, **{name: _coordinates(name) for name in _MODULES}}
    jars = maven.class_paths(coordinates, build)
    for empty in ("bin", "config", "extensions", "plugins"):
        (home / empty).mkdir()
    _move_jars(jars["core"], home / "lib")
    core = {_unversioned(jar) for jar in jars["core"]}
    for name in _MODULES:
        place = home / "modules" / name
        _move_jars((jar for jar in jars[name] if _unversioned(jar) not in core), place)
        (place / "plugin-descriptor.properties").write_text(_descriptor(name), encoding="utf-8")
    shutil.rmtree(build)


def _coordinates(module: str) -> list[str]:
    artifacts = [f"{module}-client" if module in _PUBLISHED_AS_CLIENT else module]
    if module == "lang-painless":
        artifacts.append("opensearch-scripting-painless-spi")
    # Its pom names an artifact of type pom as if it were a jar; the parsers it stands for are
    # listed beside it.
    without = ",!org.apache.tika:tika-parsers" if module == "ingest-attachment" else ""
    return [f"{_PLUGINS}:{artifact}:{VERSION}{without}" for artifact in artifacts]


def _move_jars(jars: Iterable[Path], place: Path) -> None:
    place.mkdir(parents=True)
    for jar in jars:
        if not any(mark in jar.name for mark in _FOREIGN):
            jar.rename(place / jar.name)


def _unversioned(jar: Path) -> str:
    """Return an artifact's name without version: `lucene-core` for `lucene-core-10.5.0.jar`."""
    first, *words = jar.stem.split("-")
    name = itertools.takewhile(lambda word: not word[:1].isdigit(), words)
    return "-".join([first, *name])


def _descriptor(module: str) -> str:
    extended = "lang-painless" if module in _PAINLESS_EXTENSIONS else ""
    return (
        f"name={module}\n"
        f"description={module}\n"
        f"version={VERSION}\n"
        f"opensearch.version={VERSION}\n"
        f"java.version={JDK}\n"
        f"classname={_GROUP}.{_MODULES[module]}\n"
        f"extended.plugins={extended}\n"
        "has.native.controller=false\n"
    )


def launch(home: Path, folder: Path, port: int) -> Launch:
    """Write a node's configuration and return its command."""
    for part in ("config", "data", "logs", "tmp"):
        (folder / part).mkdir(exist_ok=True)
    (folder / "config" / "opensearch.yml").write_text(yaml(folder, port), encoding="utf-8")
    (folder / "config" / "log4j2.properties").write_text(_LOGGING, encoding="utf-8")
    archive = _archive()
    classes = (
        f"SharedArchiveFile={archive}"
        if archive.exists()
        else f"ArchiveClassesAtExit={folder / 'classes.jsa'}"
    )
    argv = (
        str(java.home(JDK) / "bin" / "java"),
        f"-Xms{HEAP}",
        f"-Xmx{HEAP}",
        *_FLAGS,
        f"-XX:{classes}",
        f"-Djava.io.tmpdir={folder / 'tmp'}",
        f"-Dopensearch.path.home={home}",
        f"-Dopensearch.path.conf={folder / 'config'}",
        "-cp",
        f"{home}/lib/*",
        "org.opensearch.bootstrap.OpenSearch",
    )
    return Launch(argv, {})


ENGINE = Engine(
    name="OpenSearch",
    variable="NEARFOLD_TEST_OPENSEARCH",
    image=f"opensearchproject/opensearch:{VERSION}",
    container_port=9200,
    container_environment={
        "discovery.type": "single-node",
        "DISABLE_SECURITY_PLUGIN": "true",
        "DISABLE_INSTALL_DEMO_CONFIG": "true",
        "OPENSEARCH_JAVA_OPTS": f"-Xms{HEAP} -Xmx{HEAP}",
        "cluster.routing.allocation.disk.threshold_enabled": "false",
    },
    ready="/_cluster/health?wait_for_status=yellow&timeout=1s",
    install=install,
    launch=launch,
)
