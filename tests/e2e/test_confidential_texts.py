"""A canary in texts, titles, names, queries, passwords and keys never reaches logs or stderr."""

import base64
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from command import ROOT, outcome

TEXT, NAME, QUERY, PASSWORD, KEY = (
    f"canary{word}{number}" for number, word in enumerate(("text", "name", "query", "pass", "key"))
)
SECRETS = (PASSWORD, KEY, base64.b64encode(f"user:{PASSWORD}".encode()).decode().rstrip("="))
BROKEN = f"""
import indexer.searching.similar, indexer.grouping.group, indexer.review.api.store
def broken(*values, **more):
    try:
        raise KeyError(repr((values, more, "{TEXT}")))
    except KeyError as error:
        raise ValueError("{TEXT}") from error
indexer.searching.similar.similar = indexer.grouping.group.gather = broken
indexer.review.api.store.status = broken
"""


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    """Documents with the canary in text, title, metadata and name, of which some cannot be read."""
    folder = tmp_path / f"{NAME}-papers"
    folder.mkdir()
    head = f"<head><title>{TEXT}</title><meta name='author' content='{TEXT}'></head>"
    page = f"<html>{head}<body>{'word ' * 30}{TEXT}</body></html>"
    (folder / f"{NAME}.html").write_text(page)
    for number in range(4):
        (folder / f"{NAME}-{number}.txt").write_text(
            f"The harbour {TEXT} opens at {number} and closes when the tide is out again."
        )
    (folder / f"{NAME}.docx").write_bytes(b"PK\3\4" + TEXT.encode())
    (folder / f"{NAME}.pdf").write_bytes(b"%PDF-1.7\n" + TEXT.encode())
    (folder / f"{NAME}.json").write_text(f'{{"text": "{TEXT}", ')
    return folder


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, str]:
    """An environment with secrets, all events in the log, and a state folder of its own."""
    state = str(tmp_path / "state")
    return {
        "NEARFOLD_LOG": "json:debug",
        "NEARFOLD_USER": "user",
        "NEARFOLD_PASSWORD": PASSWORD,
        "XDG_STATE_HOME": state,
    }


@pytest.fixture
def failing_settings(tmp_path: Path, settings: dict[str, str]) -> dict[str, str]:
    """The same environment for a program that fails with the canary in its exception."""
    (tmp_path / "faulty").mkdir()
    (tmp_path / "faulty" / "sitecustomize.py").write_text(BROKEN)
    return {**settings, "PYTHONPATH": f"{tmp_path}/faulty{os.pathsep}{ROOT}"}


class Quoting(BaseHTTPRequestHandler):
    """A search engine that refuses every request and quotes it with its credentials."""

    status = 500

    def answer(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        request = self.rfile.read(length).decode(errors="replace")
        reason = f"failed on {request[:3000]} {TEXT} by {self.headers.get('Authorization')}"
        body = json.dumps(
            {"error": {"type": "refused_exception", "reason": reason}, "status": self.status}
        ).encode()
        self.send_response(self.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = answer  # noqa: N815 - http.server's names

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture(params=[400, 403])
def quoting(request: pytest.FixtureRequest) -> Iterator[str]:
    handler = type("Handler", (Quoting,), {"status": request.param})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def event_lines(printed: str) -> list[str]:
    """Return the events, one per line."""
    return [line for line in printed.splitlines() if line.startswith("{")]


def assert_silent(output: str, *canaries: str) -> None:
    leaks = [line for line in output.splitlines() if any(canary in line for canary in canaries)]
    assert leaks == []


def test_jobs_and_their_failures(papers: Path, tmp_path: Path, settings: dict[str, str]) -> None:
    store = f"sqlite:///{tmp_path}/{NAME}.db"
    runs = [
        outcome("index", papers, store=store, **settings),
        outcome(
            "index",
            papers,
            "--retry",
            store=store,
            NEARFOLD_FAILPOINTS="after_extract:2=error",
            **settings,
        ),
        outcome("group", store=store, NEARFOLD_FAILPOINTS="before_commit:1=error", **settings),
        outcome("group", store=store, **settings),
        outcome("search", QUERY, store=store, **settings),
        outcome("index", tmp_path / NAME, store=store, **settings),
        outcome("similar", "--id", NAME, store=store, **settings),
        outcome("status", "--jobs", store=store, **settings),
        outcome("status", "--jobs", "--json", store=store, **settings),
        outcome("status", "--prometheus", store=store, **settings),
    ]
    events = [line for run in runs for line in event_lines(run.stderr)]
    kinds = {json.loads(line)["event"] for line in events}
    assert kinds >= {"job_began", "job_ended", "document_failed"}
    assert_silent("\n".join(events), TEXT, NAME, QUERY, *SECRETS)
    for run in runs:
        assert_silent(run.stderr, TEXT, *SECRETS)
    for lookup in runs[-3:]:
        assert lookup.returncode == 0
        assert_silent(lookup.stdout, TEXT, NAME, QUERY, *SECRETS)


def test_internal_errors(
    papers: Path, tmp_path: Path, settings: dict[str, str], failing_settings: dict[str, str]
) -> None:
    store = f"sqlite:///{tmp_path}/store.db"
    outcome("index", papers, store=store, **settings)
    for words in (["similar", papers / f"{NAME}-1.txt"], ["group"]):
        crashed = outcome(*words, store=store, **failing_settings)
        assert crashed.returncode == 70
        assert "ValueError" in crashed.stderr
        assert "KeyError" in crashed.stderr
        assert_silent(
            re.sub(r'File ".*?sitecustomize.py".*\n.*\n', "", crashed.stderr), TEXT, NAME, *SECRETS
        )
    assert_silent(outcome("status", "--jobs", store=store, **settings).stdout, TEXT, NAME, *SECRETS)


def test_an_engine_that_quotes_what_it_was_sent(
    quoting: str, papers: Path, settings: dict[str, str]
) -> None:
    for secret in ({}, {"NEARFOLD_API_KEY": KEY, "NEARFOLD_USER": "", "NEARFOLD_PASSWORD": ""}):
        for words in (["index", papers], ["search", QUERY]):
            process = outcome(
                *words, store=f"opensearch://{quoting}/papers", **{**settings, **secret}
            )
            assert process.returncode != 0
            assert process.returncode != 70, process.stderr
            assert_silent("\n".join(event_lines(process.stderr)), TEXT, NAME, QUERY, *SECRETS)


def test_pages(
    papers: Path, tmp_path: Path, settings: dict[str, str], failing_settings: dict[str, str]
) -> None:
    store = f"sqlite:///{tmp_path}/store.db"
    outcome("index", papers, store=store, **settings)
    serving = subprocess.Popen(
        [sys.executable, "-m", "indexer", "serve", "--port", "0"],
        env={**os.environ, **failing_settings, "NEARFOLD_STORE": store},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert serving.stdout is not None
        address = re.search(r"127\.0\.0\.1:\d+", serving.stdout.readline())
        assert address is not None
        paths = (
            f"/?q={QUERY}",
            f"/{QUERY}",
            f"/api/search?q={QUERY}",
            "/api/status",
            f"/compare?a={NAME}&b=x",
            "/metrics",
        )
        for path in paths:
            asking = http.client.HTTPConnection(address[0], timeout=30)
            asking.request("GET", path, headers={"Cookie": PASSWORD})
            answer = asking.getresponse().read().decode()
            asking.close()
    finally:
        serving.send_signal(signal.SIGINT)
        _, stderr = serving.communicate(timeout=30)
    assert "request_failed" in stderr
    assert '"route": "/api/search"' in stderr
    assert f'"status": {500}' in stderr
    assert_silent(
        re.sub(r'File \\".*?sitecustomize.py\\".*?\\n.*?\\n', "", stderr),
        TEXT,
        NAME,
        QUERY,
        *SECRETS,
    )
    assert answer
