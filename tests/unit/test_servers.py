"""The machinery that starts servers: tried here on a small server of our own, on the real ones in
tests/engines.
"""

from __future__ import annotations

import base64
import http.client
import os
import shutil
import signal
import ssl
import subprocess
import sys
import textwrap
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

import pytest
from servers import (
    cache,
    containers,
    elasticsearch,
    java,
    maven,
    opensearch,
    process,
    settings,
    tika,
)
from servers.choosing import ENGINES, Session, obtain, required
from servers.engine import AbsentError, Engine, Launch

_TINY = textwrap.dedent(
    """
    import http.server, os, pathlib, sys
    visits = pathlib.Path("visits")
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            if self.path == "/visit":
                visits.write_text(visits.read_text() + "x" if visits.exists() else "x")
            self.send_response(200)
            self.end_headers()
            self.wfile.write((visits.read_text() if visits.exists() else "").encode())
    http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
    """
)


def interpreter() -> str:
    """Return a Python that the servers' user can run.

    This one, or the system's if this one is in root's home.
    """
    try:
        return str(cache.reachable(Path(sys.executable).resolve()))
    except AbsentError:
        return shutil.which("python3", path=os.defpath) or sys.executable


def tiny_engine(home: Path) -> Engine:
    """Return a small server that stores a file and is started as the real ones are."""

    def launch(_: Path, folder: Path, port: int) -> Launch:
        (folder / "tiny.py").write_text(_TINY, encoding="utf-8")
        return Launch((interpreter(), "tiny.py", str(port)), {})

    return Engine("Tiny", "NEARFOLD_TEST_TINY", "", 0, {}, "/", lambda: home, launch)


@pytest.fixture
def tiny(tmp_path):
    server = process.Server(tiny_engine(tmp_path))
    yield server
    server.close()


def get(url: str, **headers: str) -> tuple[int, str]:
    return ask("GET", url, None, **headers)


def ask(method: str, url: str, body: str | None, **headers: str) -> tuple[int, str]:
    where = urlsplit(url)
    connection = http.client.HTTPConnection(where.hostname, where.port, timeout=10)
    try:
        connection.request(method, where.path or "/", body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def alive(pid: int) -> bool:
    """Return whether a process exists and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # gone before or while it is read
        return False


def gone_within(seconds: float, pid: int) -> bool:
    deadline = time.monotonic() + seconds
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not alive(pid)


def test_server_keeps_port_and_data_over_kill_and_restart(tiny):
    tiny.start()
    url, first = tiny.url, tiny.pid
    assert get(url + "/visit") == (200, "x")
    tiny.kill()
    assert not process.answers(tiny.port, "/")
    tiny.start()
    assert tiny.url == url
    assert tiny.pid != first
    assert get(url + "/visit") == (200, "xx")
    tiny.restart()
    assert get(url) == (200, "xx")


def test_stopped_server_starts_again(tiny):
    tiny.start()
    tiny.stop()
    assert not alive(tiny.pid)
    tiny.start()
    assert get(tiny.url)[0] == 200


def test_start_of_a_running_server_changes_nothing(tiny):
    tiny.start()
    first = tiny.pid
    tiny.start()
    assert tiny.pid == first


def test_paused_server_goes_on(tiny):
    tiny.start()
    tiny.pause()
    connection = http.client.HTTPConnection("127.0.0.1", tiny.port, timeout=0.3)
    connection.request("GET", "/")
    with pytest.raises(TimeoutError):
        connection.getresponse()
    connection.close()
    tiny.resume()
    assert get(tiny.url)[0] == 200


def test_close_ends_the_server_and_removes_its_data(tiny):
    tiny.start()
    pid = tiny.pid
    tiny.close()
    assert not alive(pid)
    assert not tiny.folder.exists()
    tiny.close()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_server_does_not_run_as_root(tiny):
    tiny.start()
    assert os.geteuid() != 0 or Path(f"/proc/{tiny.pid}").stat().st_uid != 0


def test_failed_start_shows_the_log(tmp_path):
    engine = tiny_engine(tmp_path)
    failing = Engine(
        "Tiny",
        "",
        "",
        0,
        {},
        "/",
        engine.install,
        lambda *_: Launch(("sh", "-c", "echo it broke; exit 3"), {}),
    )
    server = process.Server(failing)
    with pytest.raises(process.StartError, match="ended while it started:\nit broke"):
        server.start()
    server.close()


_OWNER = """
import pathlib, sys, time
sys.path[:0] = {paths!r}
from test_servers import tiny_engine
from servers.process import Server
server = Server(tiny_engine(pathlib.Path({home!r})))
server.start()
print(server.pid, server.supervisor_pid, server.folder, flush=True)
time.sleep(60)
"""


@pytest.fixture
def owner(tmp_path):
    """Start a process that starts a server.

    Yield its Popen, the server's pid, the supervisor's pid and the folder.
    """
    here = Path(__file__).parent
    script = _OWNER.format(paths=[str(here), str(here.parent)], home=str(tmp_path))
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True
    ) as started:
        pid, supervisor, folder = started.stdout.readline().split()
        yield started, int(pid), int(supervisor), Path(folder)
        started.kill()


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_server_ends_with_the_process_that_started_it(owner, number):
    started, pid, supervisor, folder = owner
    assert alive(pid)
    started.send_signal(number)
    assert gone_within(5, pid)
    assert gone_within(5, supervisor)
    assert not folder.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="parent-death signals are Linux's")
def test_server_ends_with_its_supervisor(owner):
    _, pid, supervisor, folder = owner
    os.kill(supervisor, signal.SIGKILL)
    assert gone_within(5, pid)
    shutil.rmtree(folder)


def test_url_from_the_environment_comes_first_and_is_left_alone(monkeypatch, tmp_path):
    monkeypatch.setenv("NEARFOLD_TEST_TINY", "http://127.0.0.1:9/")
    running = obtain(tiny_engine(tmp_path))
    assert running.url == "http://127.0.0.1:9"
    running.close()


def test_session_starts_once_and_ends_what_it_started(tmp_path):
    session = Session()
    engine = tiny_engine(tmp_path)
    session.begin(engine)
    url = session.url(engine)
    assert session.url(engine) == url
    assert get(url)[0] == 200
    session.close()
    with pytest.raises(ConnectionRefusedError):
        get(url)


def test_an_absent_engine_is_reported_every_time(tmp_path):
    def install() -> Path:
        raise AbsentError("nothing here")

    engine = Engine(
        "Tiny", "NEARFOLD_TEST_TINY", "", 0, {}, "/", install, tiny_engine(tmp_path).launch
    )
    session = Session()
    for _ in range(2):
        with pytest.raises(AbsentError, match="nothing here"):
            session.url(engine)
    session.close()


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, False),
        ({"CI": "true"}, True),
        ({"CI": "false"}, False),
        ({"NEARFOLD_REQUIRE_ENGINES": "1"}, True),
    ],
)
def test_engines_are_required_in_ci(monkeypatch, environment, expected):
    for name in ("CI", "NEARFOLD_REQUIRE_ENGINES"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert required() is expected


def test_cache_is_filled_once_and_all_at_once(monkeypatch, tmp_path):
    monkeypatch.setattr(cache, "folder", lambda: tmp_path)
    with cache.installing("thing") as fresh:
        (fresh / "jar").write_text("bytes")
        (fresh / "jar").chmod(0o600)
        assert not (tmp_path / "thing").exists()
    assert (tmp_path / "thing" / "jar").stat().st_mode & 0o444 == 0o444
    with cache.installing("thing") as fresh:
        assert fresh is None


def test_failed_installation_leaves_nothing(monkeypatch, tmp_path):
    monkeypatch.setattr(cache, "folder", lambda: tmp_path)
    with pytest.raises(AbsentError), cache.installing("thing") as fresh:
        (fresh / "half").write_text("")
        raise AbsentError("no network")
    assert [path.name for path in tmp_path.iterdir()] == ["thing.lock"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs servers as another user")
def test_closed_cache_is_named(monkeypatch, tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    monkeypatch.setenv("NEARFOLD_SERVERS", str(closed / "servers"))
    with pytest.raises(AbsentError, match=r"closed to other users.*NEARFOLD_SERVERS"):
        cache.folder()


def fake_jdk(place: Path, version: str) -> None:
    (place / "bin").mkdir(parents=True)
    (place / "bin" / "java").write_text("")
    (place / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')


def test_newest_jdk_is_chosen(monkeypatch, tmp_path):
    for name, version in {"a": "1.8.0_402", "b": "25.0.1", "c": "9.0.4"}.items():
        fake_jdk(tmp_path / name, version)
    monkeypatch.setattr(java, "_places", tmp_path.iterdir)
    assert java.home(21) == tmp_path / "b"


def test_old_jdk_is_named(monkeypatch, tmp_path):
    fake_jdk(tmp_path / "a", "17.0.2")
    monkeypatch.setattr(java, "_places", tmp_path.iterdir)
    with pytest.raises(AbsentError, match="JDK 21 or later is needed and the newest here is 17"):
        java.home(21)


def test_missing_maven_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(AbsentError, match="`mvn` is not on the path"):
        maven.copy("a:b:1", tmp_path)


def test_ports_are_free_and_differ():
    ports = {settings.free_port() for _ in range(20)}
    assert len(ports) > 1
    assert all(20000 <= port < 32000 for port in ports)


@pytest.mark.parametrize("engine", ENGINES.values(), ids=list(ENGINES))
def test_images_are_pinned_to_the_version_of_the_jars(engine):
    version = {
        "OpenSearch": opensearch.VERSION,
        "Elasticsearch": elasticsearch.VERSION,
        "Tika": f"{tika.VERSION}.0",
    }[engine.name]
    assert engine.image.endswith(f":{version}")
    assert containers.loopback(engine.container_port) == {
        f"{engine.container_port}/tcp": ("127.0.0.1", None)
    }


class _Upstream(BaseHTTPRequestHandler):
    def _echo(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        answer = f"{self.command} {self.path} {body} {self.headers.get('Authorization')}".encode()
        self.send_response(201)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer)

    do_GET = do_HEAD = do_POST = _echo  # noqa: N815

    def log_message(self, *_: object) -> None:
        """Stay quiet."""


@pytest.fixture
def upstream():
    upstream = ThreadingHTTPServer(("127.0.0.1", 0), _Upstream)
    thread = Thread(target=upstream.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield f"http://127.0.0.1:{upstream.server_address[1]}"
    upstream.shutdown()
    upstream.server_close()
    thread.join()


@pytest.fixture
def gate(auth_proxy, upstream):
    return auth_proxy(upstream)


def basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


@pytest.mark.parametrize(
    ("method", "path", "authorization", "status"),
    [
        ("POST", "/x/_doc", basic("writer", "correct horse"), 201),
        ("POST", "/x/_doc", "ApiKey bmVhcmZvbGQ6c2VjcmV0", 201),
        ("GET", "/x", basic("reader", "correct horse"), 201),
        ("POST", "/x/_search", basic("reader", "correct horse"), 201),
        ("POST", "/x/_doc", basic("reader", "correct horse"), 403),
        ("GET", "/x", basic("writer", "wrong"), 401),
        ("GET", "/x", "ApiKey wrong", 401),
        ("GET", "/x", "", 401),
    ],
)
def test_auth_proxy_lets_the_right_ones_pass(gate, method, path, authorization, status):
    answer_status, answer = ask(method, gate.url + path, "body", Authorization=authorization)
    assert answer_status == status
    assert (
        answer == f"{method} {path} body None" if status == 201 else "security_exception" in answer
    )


def test_auth_proxy_answers_head_without_a_body(gate):
    assert ask("HEAD", gate.url + "/x", None, Authorization=basic("writer", "correct horse")) == (
        201,
        "",
    )


def test_auth_proxy_speaks_tls_that_only_its_authority_vouches_for(auth_proxy, upstream, tmp_path):
    gate = auth_proxy(upstream, tls=tmp_path / "authority.pem")
    for trusted, expected in ((tmp_path / "authority.pem", 401), (None, None)):
        context = ssl.create_default_context(cafile=trusted)
        connection = http.client.HTTPSConnection(
            "127.0.0.1", gate.port, timeout=10, context=context
        )
        try:
            connection.request("GET", "/")
            assert connection.getresponse().status == expected
        except ssl.SSLCertVerificationError:
            assert expected is None
        finally:
            connection.close()
