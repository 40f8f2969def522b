"""OpenSearch, assembled from the jars that the project publishes: the server and eighteen of its
modules.

The jars carry neither the security plugin nor k-NN nor analysis plugins; everything else behaves as
in the distribution. Of 2.x, neither the attachment processor is published, nor a class loader and
policies that its modules need: a jar of ours has them.
"""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from servers import cache, java, maven
from servers.engine import QUICK, Engine, Launch
from servers.process import Server
from servers.settings import yaml

VERSION = os.environ.get("NEARFOLD_OPENSEARCH_VERSION") or "3.8.0"
OLDEST = "2.19.5"
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
_UNPUBLISHED = {"3.4.0": {"cache-common", "ingest-attachment", "search-pipeline-common"}}
_MODULES_OF_OLD = {"geo", "search-pipeline-common"}  # called ModulePlugin in 2.x already
_PAINLESS_EXTENSIONS = {"analysis-common", "ingest-common", "search-pipeline-common"}
# The server marks these as optional, but does not start without them.
_CORE = ("opensearch", "opensearch-plugin-classloader", "opensearch-agent-bootstrap")
_LIBRARIES = (
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
_LOADER = Path(__file__).with_name("ExtendedPluginsClassLoader.java")
_POLICY = "grant { permission java.security.AllPermission; };\n"
_FLAGS = (
    QUICK,
    "-XX:+UseSerialGC",
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


@dataclass(frozen=True, slots=True)
class Release:
    """One release: its version, and what differs between major releases.

    Those of 2.x need a security manager, which Java has before 24; theirs permits everything.
    """

    version: str

    @property
    def is_old(self) -> bool:
        """Whether this is a release of 2.x."""
        return self.version.startswith("2.")

    @property
    def name(self) -> str:
        """The name of its folder in the cache."""
        return f"opensearch-{self.version}"

    @property
    def jdk(self) -> Path:
        """The home of the JDK that runs it. Raises `AbsentError`."""
        return java.home(17, below=24) if self.is_old else java.home(21)

    @property
    def archive(self) -> Path:
        """The path of the class-data archive for the JDK in use; an archive fits one build of one
        JDK.
        """
        build = java.fingerprint(self.jdk)
        return cache.folder() / f"{self.name}-classes-{build}" / "classes.jsa"

    @property
    def core(self) -> list[str]:
        """The coordinates of the server's own jars."""
        names = _CORE[:1] if self.is_old else _CORE
        return [*(f"{_GROUP}:{name}:{self.version}" for name in names), *_LIBRARIES]

    @property
    def modules(self) -> list[str]:
        """The modules that are published as jars."""
        unpublished = (
            {"ingest-attachment"} if self.is_old else _UNPUBLISHED.get(self.version, set())
        )
        return [name for name in _MODULES if name not in unpublished]

    @property
    def flags(self) -> tuple[str, ...]:
        """The options of the JVM."""
        return (*_FLAGS, "-Djava.security.manager=allow") if self.is_old else _FLAGS


def install(release: Release) -> Path:
    """Assemble the home once and return it."""
    with cache.installing(release.name) as fresh:
        if fresh:
            _assemble(release, fresh)
    home = cache.folder() / release.name
    if release.is_old:
        return home
    with cache.installing(release.archive.parent.name) as fresh:
        if fresh:
            _archive_classes(release, home, fresh)
    return home


def _archive_classes(release: Release, home: Path, fresh: Path) -> None:
    """Start once and stop: the JVM writes an archive of the classes it loaded, which saves a third
    of every later start.
    """
    server = Server(replace(engine(release.version), install=lambda: home))
    try:
        server.start()
        server.stop()
        shutil.copy(server.folder / "classes.jsa", fresh)
    finally:
        server.close()


def _assemble(release: Release, home: Path) -> None:
    build = home / "build"
    modules = {name: _coordinates(release, name) for name in release.modules}
    jars = maven.class_paths({"core": release.core, **modules}, build)
    for empty in ("bin", "config", "extensions", "plugins"):
        (home / empty).mkdir()
    _move_jars(jars["core"], home / "lib")
    core = {unversioned(jar) for jar in jars["core"]}
    for name in modules:
        place = home / "modules" / name
        _move_jars((jar for jar in jars[name] if unversioned(jar) not in core), place)
        (place / "plugin-descriptor.properties").write_text(
            _descriptor(release, name), encoding="utf-8"
        )
    if release.is_old:
        _add_unpublished(release, home, build)
    shutil.rmtree(build)


def _add_unpublished(release: Release, home: Path, build: Path) -> None:
    """Write a jar that is found before the server's own, whose policy is for its own modules."""
    compiler = [str(release.jdk / "bin" / "javac"), "-d", str(build / "classes"), str(_LOADER)]
    subprocess.run(compiler, check=True)
    with zipfile.ZipFile(home / "first.jar", "w") as jar:
        jar.writestr("org/opensearch/bootstrap/security.policy", _POLICY)
        for compiled in (build / "classes").rglob("*.class"):
            jar.write(compiled, compiled.relative_to(build / "classes").as_posix())


def _coordinates(release: Release, module: str) -> list[str]:
    artifacts = [f"{module}-client" if module in _PUBLISHED_AS_CLIENT else module]
    if module == "lang-painless":
        artifacts.append("opensearch-scripting-painless-spi")
    # Its pom names an artifact of type pom as if it were a jar; the parsers it stands for are
    # listed beside it.
    without = ",!org.apache.tika:tika-parsers" if module == "ingest-attachment" else ""
    return [f"{_PLUGINS}:{artifact}:{release.version}{without}" for artifact in artifacts]


def _move_jars(jars: Iterable[Path], place: Path) -> None:
    place.mkdir(parents=True)
    for jar in jars:
        if not any(mark in jar.name for mark in _FOREIGN):
            jar.rename(place / jar.name)


def unversioned(jar: Path) -> str:
    """Return an artifact's name without version: `lucene-core` for `lucene-core-10.5.0.jar`."""
    first, *words = jar.stem.split("-")
    name = itertools.takewhile(lambda word: not word[:1].isdigit(), words)
    return "-".join([first, *name])


def _descriptor(release: Release, module: str) -> str:
    plugin = _MODULES[module]
    if release.is_old and module not in _MODULES_OF_OLD:
        plugin = plugin.replace("ModulePlugin", "Plugin")
    extended = "lang-painless" if module in _PAINLESS_EXTENSIONS else ""
    return (
        f"name={module}\n"
        f"description={module}\n"
        f"version={release.version}\n"
        f"opensearch.version={release.version}\n"
        f"java.version={11 if release.is_old else 21}\n"
        f"classname={_GROUP}.{plugin}\n"
        f"extended.plugins={extended}\n"
        "has.native.controller=false\n"
    )


def launch(home: Path, folder: Path, port: int, release: Release = Release(VERSION)) -> Launch:
    """Write a node's configuration and return its command."""
    for part in ("config", "data", "logs", "tmp"):
        (folder / part).mkdir(exist_ok=True)
    (folder / "config" / "opensearch.yml").write_text(yaml(folder, port), encoding="utf-8")
    (folder / "config" / "log4j2.properties").write_text(_LOGGING, encoding="utf-8")
    argv = (
        str(release.jdk / "bin" / "java"),
        f"-Xms{HEAP}",
        f"-Xmx{HEAP}",
        *(release.flags if release.is_old else (*release.flags, _class_data(release, folder))),
        f"-Djava.io.tmpdir={folder / 'tmp'}",
        f"-Dopensearch.path.home={home}",
        f"-Dopensearch.path.conf={folder / 'config'}",
        "-cp",
        f"{home}/first.jar:{home}/lib/*" if release.is_old else f"{home}/lib/*",
        "org.opensearch.bootstrap.OpenSearch",
    )
    return Launch(argv, {})


def _class_data(release: Release, folder: Path) -> str:
    """Return the option of the JVM that reads the class-data archive, or writes it at the end."""
    if release.archive.exists():
        return f"-XX:SharedArchiveFile={release.archive}"
    return f"-XX:ArchiveClassesAtExit={folder / 'classes.jsa'}"


def engine(version: str) -> Engine:
    """Return OpenSearch of a version."""
    release = Release(version)
    return Engine(
        name="OpenSearch",
        variable="NEARFOLD_TEST_OPENSEARCH",
        image=f"opensearchproject/opensearch:{version}",
        container_port=9200,
        container_environment={
            "discovery.type": "single-node",
            "DISABLE_SECURITY_PLUGIN": "true",
            "DISABLE_INSTALL_DEMO_CONFIG": "true",
            "OPENSEARCH_JAVA_OPTS": f"-Xms{HEAP} -Xmx{HEAP}",
            "cluster.routing.allocation.disk.threshold_enabled": "false",
        },
        ready="/_cluster/health?wait_for_status=yellow&timeout=1s",
        install=partial(install, release),
        launch=partial(launch, release=release),
    )


ENGINE = engine(VERSION)
