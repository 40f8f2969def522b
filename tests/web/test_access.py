"""Logins: of a file, by a token of the run, by a proxy; and what a reader may not do."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner
from sample_library import edited, rows, sentence

from indexer.cli.main import commands
from indexer.errors import UsageError
from indexer.grouping.group import group
from indexer.recipe import DEFAULT
from indexer.review.access import (
    Access,
    Account,
    Login,
    RequireLogin,
    add_account,
    hash_password,
    read_accounts,
)
from indexer.review.safety import Safety, is_local, is_loopback
from indexer.review.serve import ServeOptions
from indexer.stores import open_store
from web.plain_requests import request
from web.test_clients_that_leave import run
from web.watching import ROOT, run_site

PASSWORD = "correct horse battery"
ANNA, BEN = ("anna", "reviewer"), ("ben", "reader")


def basic(name: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()


@pytest.fixture(scope="module")
def small_store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The URL of a store with one family."""
    url = f"sqlite:///{tmp_path_factory.mktemp('access')}/store.db"
    store = open_store(url)
    store.prepare(DEFAULT)
    store.write(rows({f"m{place}": edited(sentence(3), place) for place in range(3)}))
    store.refresh()
    group(store)
    store.close()
    return url


@pytest.fixture(scope="module")
def logins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a reviewer and a reader."""
    path = tmp_path_factory.mktemp("logins") / "logins"
    for name, role in (ANNA, BEN):
        add_account(path, name, role, PASSWORD)  # type: ignore[arg-type]
    return path


@pytest.fixture(scope="module")
def closed_site(small_store: str, logins: Path) -> Iterator[str]:
    """The address of a site that asks for a login."""
    with run_site(small_store, "--auth", str(logins), "--auth-header", "X-Remote-User") as address:
        yield address


@pytest.mark.long
@pytest.mark.parametrize("path", ["/", "/api/search", "/api/token", "/metrics", "/static/base.css"])
def test_nothing_is_answered_without_a_login(closed_site: str, path: str) -> None:
    wrong = ("", "Basic", "Basic !", "Bearer x", basic("anna", "wrong"), basic("eve", PASSWORD))
    for value in wrong:
        headers = {"Authorization": value} if value else {}
        answer = request(closed_site, path, **headers)
        assert answer.status == 401
        assert answer.headers["www-authenticate"].startswith('Basic realm="nearfold"')
        assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert request(closed_site, path, Authorization=basic("anna", PASSWORD)).status == 200 or (
        path == "/metrics"
    )


def test_a_reader_reads_and_does_not_write(closed_site: str) -> None:
    tokens = {}
    for name, _ in (ANNA, BEN):
        headers = {"Authorization": basic(name, PASSWORD)}
        page = request(closed_site, "/family?id=m0", **headers)
        tokens[name] = request(closed_site, "/api/token", **headers)
        assert page.status == 200
        assert ('action="/label"' in page.body.decode()) == (name == "anna")
    assert (tokens["anna"].status, tokens["ben"].status) == (200, 403)
    token = json.loads(tokens["anna"].body)["token"]
    body = json.dumps({"id": ["m0"], "add": ["hot"], "dry_run": True}).encode()
    for name, status in (("anna", 200), ("ben", 403)):
        answer = request(
            closed_site,
            "/api/label",
            "POST",
            body,
            Content_Type="application/json",
            X_Nearfold_Token=token,
            Authorization=basic(name, PASSWORD),
        )
        assert answer.status == status, answer.body


def test_a_proxy_on_this_machine_names_the_user(closed_site: str) -> None:
    assert request(closed_site, "/", X_Remote_User="carl").status == 200
    assert request(closed_site, "/api/token", X_Remote_User="carl").status == 200
    assert request(closed_site, "/api/token", X_Remote_User="ben").status == 403
    assert request(closed_site, "/", X_Remote_User=" ").status == 401


def test_the_header_of_a_proxy_counts_on_connections_from_this_machine_only() -> None:
    access = Access(header="X-Remote-User")
    headers = [(b"x-remote-user", b"carl")]
    for client, login in (
        (("127.0.0.1", 5), Login("carl")),
        (("::ffff:127.0.0.1", 5), Login("carl")),
        (("192.0.2.7", 5), None),
        (None, None),
    ):
        assert access.login({"type": "http", "headers": headers, "client": client}) == login
    twice = {"type": "http", "headers": headers * 2, "client": ("127.0.0.1", 5)}
    assert access.login(twice) is None


@pytest.mark.long
def test_off_this_machine_a_password_is_printed_and_needed(small_store: str) -> None:
    command = [sys.executable, "-m", "indexer", "serve", "--host", "0.0.0.0", "--port", "0"]
    with subprocess.Popen(
        [*command, "--store", small_store],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=ROOT,
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        try:
            address = re.findall(r"at (http://\S+)/ ", line)[0]
            password = re.findall(r"any name, password (\S+)\)", line)[0]
            assert "0.0.0.0" not in address
            assert request(address, "/").status == 401
            login = {"Authorization": basic("anna", password)}
            assert request(address, "/", **login).status == 200
            port = urlsplit(address).port
            local = f"http://127.0.0.1:{port}"
            assert request(local, "/", **login).status == 200
            if not is_loopback(urlsplit(address).hostname or ""):
                forged = request(address, "/", Host=f"127.0.0.1:{port}", **login)
                assert forged.status == 421
                assert request(address, "/", Host=f"localhost:{port}", **login).status == 421
        finally:
            process.terminate()
            process.wait(timeout=20)


@pytest.mark.parametrize(
    ("server", "host", "status"),
    [
        (("192.0.2.1", 8765), "192.0.2.1:8765", 200),
        (("192.0.2.1", 8765), "127.0.0.1:8765", 421),
        (("192.0.2.1", 8765), "localhost:8765", 421),
        (("192.0.2.1", 8765), "evil.example:8765", 421),
        (("2001:db8::1", 8765), "[2001:db8::1]:8765", 200),
        (("127.0.0.1", 8765), "localhost:8765", 200),
        (("127.0.0.1", 80), "localhost", 200),
    ],
)
def test_a_host_is_the_address_that_the_connection_came_to(
    server: tuple[str, int], host: str, status: int
) -> None:
    sent: list[dict] = []

    async def app(scope: object, receive: object, send: object) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})  # type: ignore

    async def send(message: dict) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "GET",
        "path": "/",
        "headers": [(b"host", host.encode())],
        "server": server,
    }
    run(Safety(app, frozenset())(scope, None, send))  # type: ignore[arg-type]
    assert sent[0]["status"] == status


def test_local_addresses() -> None:
    assert is_local(("::1", 1, 0, 0))
    assert not is_local(("10.0.0.1", 1))
    assert not is_local(None)


def test_logins_are_written_by_the_command(tmp_path: Path) -> None:
    path = tmp_path / "logins"
    words = ["--auth", str(path), "--add-login"]
    for name, role in ((*ANNA,), (*BEN,)):
        answer = CliRunner().invoke(
            commands,
            ["serve", *words, name, "--role", role],
            input=f"{PASSWORD}\n{PASSWORD}\n",
            standalone_mode=False,
        )
        assert answer.exception is None, answer.output
    assert {name: one.role for name, one in read_accounts(path).items()} == dict((ANNA, BEN))
    assert path.stat().st_mode & 0o077 == 0
    assert PASSWORD not in path.read_text()
    add_account(path, "anna", "reader", "another one")
    assert [one.role for one in read_accounts(path).values()] == ["reader", "reader"]


@pytest.mark.parametrize(
    "text", ["anna reviewer", "anna boss -", "anna reviewer scrypt:00:00", "a reader -\na reader -"]
)
def test_a_wrong_file_of_logins_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "logins"
    path.write_text(f"# names\n\n{text}\n")
    with pytest.raises(UsageError, match="--add-login NAME"):
        read_accounts(path)


@pytest.mark.parametrize(
    ("name", "password"), [("a b", PASSWORD), ("a:b", PASSWORD), ("", PASSWORD), ("anna", "short")]
)
def test_a_login_that_cannot_be_used_is_refused(tmp_path: Path, name: str, password: str) -> None:
    with pytest.raises(UsageError):
        add_account(tmp_path / "logins", name, "reader", password)
    assert not (tmp_path / "logins").exists()


def test_an_account_without_a_password_is_for_proxies_only(tmp_path: Path) -> None:
    path = tmp_path / "logins"
    path.write_text("ben reader -\n")
    access = Access(read_accounts(path), "X-User")
    headers = [(b"authorization", basic("ben", "").encode())]
    assert access.login({"type": "http", "headers": headers}) is None


def test_a_login_that_is_added_keeps_the_rest_of_the_file(tmp_path: Path) -> None:
    path, link = tmp_path / "logins", tmp_path / "link"
    path.write_text("# the team\n\nben reader -\ncarl reviewer -\n")
    path.chmod(0o640)
    link.symlink_to(path)
    add_account(link, "ben", "reviewer", PASSWORD)
    add_account(link, "anna", "reader", PASSWORD)
    first, empty, ben, *others = path.read_text().splitlines()
    assert (first, empty, others[0]) == ("# the team", "", "carl reviewer -")
    assert ben.startswith("ben reviewer scrypt:")
    assert others[1].startswith("anna reader scrypt:")
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_link_to_a_new_file_stays_one(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "logins")
    add_account(link, "anna", "reader", PASSWORD)
    assert link.is_symlink()
    assert (tmp_path / "logins").stat().st_mode & 0o777 == 0o600


def test_a_name_for_a_proxy_needs_a_login(tmp_path: Path) -> None:
    assert not ServeOptions().access().required
    assert ServeOptions(allow_hosts=["review.example"]).access().token
    assert not ServeOptions(allow_hosts=["review.example"], auth_header="X-User").access().token


def test_a_proxy_with_a_secret_is_believed_by_it_alone(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text("wormwood\n")
    access = ServeOptions(auth_header="X-User", auth_secret=str(path)).access()
    name, peer = (b"x-user", b"carl"), ("127.0.0.1", 5)
    for more, login in (
        ([], None),
        ([(b"x-nearfold-proxy", b"other")], None),
        ([(b"x-nearfold-proxy", b"wormwood")], Login("carl")),
        ([(b"x-nearfold-proxy", b"wormwood")] * 2, None),
    ):
        scope = {"type": "http", "headers": [name, *more], "client": peer}
        assert access.login(scope) == login
    path.write_text("\n")
    for options in (
        ServeOptions(auth_header="X-User", auth_secret=str(path)),
        ServeOptions(auth_secret=str(path)),
    ):
        with pytest.raises(UsageError, match="--auth-secret"):
            options.access()


def test_wrong_passwords_stop_nobody_who_is_logged_in() -> None:
    started, ended = threading.Event(), threading.Event()

    class SlowAccess(Access):
        def checked_login(self, scope: Any) -> Login | None:
            started.set()
            ended.wait(20)
            return None

    async def app(scope: object, receive: object, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    layer = RequireLogin(app, SlowAccess({"anna": Account("anna", "reviewer", "")}, token="key"))

    async def status(password: str) -> int:
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        headers = [(b"authorization", basic("anna", password).encode())]
        scope = {"type": "http", "method": "GET", "headers": headers}
        await layer(scope, None, send)  # type: ignore[arg-type]
        return int(sent[0]["status"])

    async def flood() -> list[int]:
        wrong = [asyncio.create_task(status("wrong")) for _ in range(40)]
        await asyncio.to_thread(started.wait, 20)
        assert await status("key") == 200
        ended.set()
        return [await task for task in wrong]

    assert sorted(asyncio.run(flood())) == [401] * 8 + [429] * 32


def test_two_digests_of_a_password_differ() -> None:
    assert hash_password(PASSWORD) != hash_password(PASSWORD)


def test_half_a_certificate_is_refused(small_store: str, logins: Path) -> None:
    with pytest.raises(UsageError, match="together"):
        CliRunner().invoke(
            commands,
            ["serve", "--store", small_store, "--tls-cert", str(logins)],
            standalone_mode=False,
            catch_exceptions=False,
        )


def test_files_that_are_no_certificate_are_refused(small_store: str, logins: Path) -> None:
    words = ["--store", small_store, "--port", "0", "--tls-cert", str(logins)]
    with pytest.raises(UsageError, match="not a certificate and its key"):
        CliRunner().invoke(
            commands,
            ["serve", *words, "--tls-key", str(logins)],
            standalone_mode=False,
            catch_exceptions=False,
        )
