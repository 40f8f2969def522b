"""The clients of docs/shippers.md fill an index that was installed; every block of the page runs
that is not marked as not run.
"""

import contextlib
import os
import re
import secrets
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command import ROOT
from page_blocks import blocks
from pipelines import call, good, store_url
from servers import cache

from indexer.jobs.install import install, uninstall
from indexer.recipe import DEFAULT
from indexer.stores import open_store

PAGE = (ROOT / "docs" / "shippers.md").read_text(encoding="utf-8")
BLOCKS = {language: blocks("docs/shippers.md", language) for language in ("python", "js")}
ENGINES = {"opensearch": "9200", "elasticsearch": "9201"}
[RSYSLOG] = [text for text in blocks("docs/shippers.md", "text") if text.startswith("# rsyslog")]
PACKAGES = re.search(r"`npm install (.*?)`", PAGE)[1].split()


@pytest.fixture(params=list(ENGINES))
def place(request):
    """The engine, its server and an index that signs the field `message`."""
    server = request.getfixturevalue(f"{request.param}_url")
    index = f"nearfold-test-{secrets.token_hex(6)}"
    store = open_store(store_url(request.param, server, index))
    assert install(store, text_field="message").complete
    yield request.param, server, index
    call("DELETE", f"{server}/{index}")
    uninstall(store)
    store.close()


def check(place, command, language, **options):
    """Run the block of an engine, and check that its documents were signed."""
    engine, server, index = place
    block = BLOCKS[language][list(ENGINES).index(engine)]
    block = block.replace(f"http://localhost:{ENGINES[engine]}", server).replace("papers", index)
    done = subprocess.run(
        [*command, block], capture_output=True, text=True, timeout=120, check=False, **options
    )
    assert (done.returncode, done.stdout.strip()) == (0, "complete"), done.stderr
    hits = good("GET", f"{server}/{index}/_search")["hits"]["hits"]
    assert {hit["_source"]["near_recipe"] for hit in hits} == {DEFAULT.id}
    digests = [hit["_source"]["near_exact"] for hit in hits]
    assert len(digests) == 2 and len({*digests}) == 1, "both have the same words"


def test_python_clients(place):
    check(place, [sys.executable, "-c"], "python")


@pytest.mark.slow
def test_npm_clients(place):
    if shutil.which("npm") is None:
        pytest.skip("no npm")
    check(place, ["node", "-e"], "js", env={**os.environ, "NODE_PATH": str(packages())})


@pytest.mark.slow
def test_rsyslog(place, tmp_path):
    program = shutil.which("rsyslogd", path="/usr/sbin:/sbin:/usr/bin")
    if program is None or not [*Path("/usr/lib").glob("*/rsyslog/omelasticsearch.so")]:
        pytest.skip("no package rsyslog-elasticsearch")
    _, server, index = place
    sentence = "The harbour ferry leaves at eight in the morning. Dogs travel free."
    log, file = tmp_path / "papers.log", tmp_path / "rsyslog.conf"
    log.write_text(f"{sentence}\n{sentence.upper()}\n")
    settings = RSYSLOG.replace("http://localhost:9200", server).replace("/var/log", str(tmp_path))
    settings = settings.replace('searchIndex="papers"', f'searchIndex="{index}"')
    file.write_text(settings.replace("/var/spool/rsyslog", str(tmp_path)))
    command = [program, "-n", "-f", str(file), "-i", str(tmp_path / "pid")]
    with subprocess.Popen(command) as process:
        try:
            until = time.monotonic() + 60
            hits = []
            while len(hits) < 2 and time.monotonic() < until:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=0.2)
                call("POST", f"{server}/{index}/_refresh")
                found = call("GET", f"{server}/{index}/_search")[1]
                hits = found.get("hits", {}).get("hits", [])
        finally:
            process.terminate()
    assert [hit["_source"]["near_recipe"] for hit in hits] == [DEFAULT.id] * 2
    assert len({hit["_source"]["near_exact"] for hit in hits}) == 1, "both have the same words"


def packages() -> Path:
    """Install the npm packages of the page once; return their folder."""
    name = f"npm-{'-'.join(package.rpartition('@')[2] for package in PACKAGES)}"
    with cache.installing(name) as new:
        if new:
            subprocess.run(["npm", "install", "--silent", *PACKAGES], cwd=new, check=True)
    return cache.folder() / name / "node_modules"


def test_clients_that_are_not_run_say_so():
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and "---" not in line]
    run = [line for line in rows[1:9] if "| yes" in line]
    assert len(run) == 3 and all("not run" in line for line in rows[1:9] if line not in run)
    assert [len(programs) for programs in BLOCKS.values()] == [2, 2]
