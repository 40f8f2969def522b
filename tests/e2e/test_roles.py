"""Three roles: each runs the commands that the documentation names; others name the missing right.

OpenSearch is behind a gate that allows what the role file lists; Elasticsearch uses its own
security.
"""

import base64
import json
import re
import secrets
import time
import urllib.error
import urllib.request
from contextlib import closing

import pytest
from servers import choosing, secured
from servers.engine import AbsentError
from servers.process import Server
from servers.rights import RoleGate

from indexer.cli import main as cli
from indexer.stores.engine.role_files import has_limits, is_same, roles

NAME = f"nearfold-test-{secrets.token_hex(6)}"
PUT = f"{NAME}-put"  # its roles are put by the command
FIRST = (
    "Ferries leave the harbour at eight in the morning and at six in the evening; "
    "dogs travel free on every one of them."
)
TEXTS = {
    "a": FIRST,
    "b": f"{FIRST} Bicycles do not.",
    "c": "A lighthouse keeper has to climb stairs every night of the year.",
}
READING = (
    ["search", "ferries"],
    ["similar", "FILE"],
    ["match"],
    ["compare", "FILE", "FILE"],
    ["status"],
    ["doctor"],
)
WRITING = (
    ["index", "FOLDER", "--extractor", "plain", "--workers", "1", "--retry"],
    ["group", "--threshold", "0.6"],
    ["delete", "ID"],
)
REINDEXING = ["reindex", "--recipe", "simhash-doc"]
MANAGING = (["install"], ["uninstall"])


@pytest.fixture(scope="module")
def secured_elasticsearch():
    """A server for this module alone."""
    try:
        server = Server(secured.engine(roles("elasticsearch", NAME)))
    except AbsentError as error:
        (pytest.fail if choosing.required() else pytest.skip)(str(error))
    with closing(server):
        server.start()
        yield server.url


@pytest.fixture(params=[pytest.param("opensearch", marks=pytest.mark.slow), "elasticsearch"])
def guarded(request, gates, tmp_path, monkeypatch):
    """A store URL on a server with the three roles; the index is removed afterwards."""
    engine = request.param
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("NEARFOLD_PASSWORD", secured.PASSWORD)
    if engine == "opensearch":
        server = request.getfixturevalue("opensearch_url")
        url = gates(RoleGate, server, roles(engine, NAME)).url
    else:
        server = url = request.getfixturevalue("secured_elasticsearch")
    yield f"{engine}://{url.partition('://')[2]}/{NAME}"
    for path in (f"{NAME}*", f"_index_template/nearfold-{NAME}"):
        login = base64.b64encode(f"root:{secured.PASSWORD}".encode()).decode()
        gone = urllib.request.Request(
            f"{server}/{path}", headers={"Authorization": f"Basic {login}"}, method="DELETE"
        )
        try:
            urllib.request.urlopen(gone, timeout=60).close()
        except urllib.error.HTTPError as error:
            error.close()


@pytest.fixture
def command(guarded, tmp_path, monkeypatch, capsys):
    """A function that runs a command in a role and returns its exit code and output.

    `FILE`, `FOLDER` and `ID` stand for a file, a folder and a document that exist.
    """
    folder = tmp_path / "files"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    placeholders = {"FILE": str(folder / "a.txt"), "FOLDER": str(folder), "ID": "0" * 32}

    def run(role, words):
        monkeypatch.setenv("NEARFOLD_USER", f"nearfold-{NAME}-{role}")
        code = cli.run([*(placeholders.get(word, word) for word in words), "--store", guarded])
        streams = capsys.readouterr()
        return code, streams.out + streams.err

    return run


def test_each_role_does_what_its_line_says_and_no_more(command, tmp_path):
    missing = command("indexer", ["index", "FOLDER", "--extractor", "plain"])
    assert missing[0] == 3
    assert f"PUT {NAME}" in missing[1]
    assert "needs a right that these credentials lack" in missing[1]

    code, output = command("admin", ["install", "--create"])
    assert code in (0, 1), output  # 1: an engine without painless

    for role in ("indexer", "admin"):
        for words in WRITING:
            code, output = command(role, words)
            assert code == (1 if words[0] == "delete" else 0), (
                role,
                words,
                output,
            )  # there is no such document
        (tmp_path / "files" / "a.txt").write_text(f"{FIRST} Nor do cars.", encoding="utf-8")

    for role in ("searcher", "indexer", "admin"):
        for words in READING:
            code, output = command(role, words)
            assert code == 0, (role, words, output)
    assert command("searcher", ["search", "ferries", "--threshold", "0.5"])[1].startswith(
        "2 documents in 1 group"
    )

    (tmp_path / "files" / "d.txt").write_text(
        "Something new that nobody has indexed before today.", encoding="utf-8"
    )
    code, output = command("searcher", WRITING[0])
    assert code in (3, 4), output
    assert "right" in output
    assert "data/write/bulk" in output
    for role in ("searcher", "indexer"):
        for words in MANAGING:
            code, output = command(role, words)
            assert code == 3, (role, words, output)
            assert "needs a right that these credentials lack" in output
            assert re.search(r"403: (GET|PUT|DELETE) _\w+/", output), output

    assert command("admin", ["uninstall"])[0] == 0
    code, output = command("indexer", REINDEXING)
    assert code == 3, output
    assert "needs a right that these credentials lack" in output
    for words in (REINDEXING, ["reindex", "--recipe", "default", "--keep"]):
        code, output = command("admin", words)
        assert code == 0, output
    code, output = command("admin", ["uninstall"])
    assert code == 0, output


def test_nobody_without_credentials(command, monkeypatch):
    monkeypatch.setenv("NEARFOLD_PASSWORD", "battery staple")
    code, output = command("admin", ["status"])
    assert code == 3, output
    assert "NEARFOLD_PASSWORD" in output


def test_a_searcher_cannot_even_group_or_delete(command):
    assert command("admin", ["install", "--create"])[0] in (0, 1)
    assert command("indexer", WRITING[0])[0] == 0
    out = command("indexer", ["search", "lighthouse", "--json"])[1]
    (name,) = [word for word in out.split('"') if len(word) == 32]
    for words in (["delete", name], ["group", "--threshold", "0.6"]):
        code, output = command("searcher", words)
        assert code in (3, 4), output
        assert "right" in output
    assert command("indexer", ["delete", name])[0] == 0


@pytest.fixture
def ask(secured_elasticsearch, monkeypatch, capsys):
    """A function that runs a command and returns its exit code, and the action of each role."""
    monkeypatch.setenv("NEARFOLD_PASSWORD", secured.PASSWORD)
    store = f"elasticsearch://{secured_elasticsearch.partition('://')[2]}/{PUT}"

    def run(user, *words):
        monkeypatch.setenv("NEARFOLD_USER", user)
        code = cli.run([*words, "--store", store, "--json"])
        streams = capsys.readouterr()
        if code not in (0, 1):
            return code, streams.out + streams.err
        pieces = json.loads(streams.out).get("installed", [])
        return code, {
            piece["name"].rpartition("-")[2]: piece["action"]
            for piece in pieces
            if piece["kind"] == "role"
        }

    return run


def test_without_the_right_to_put_roles_nothing_is_installed(ask):
    before = ask("root", "uninstall", "--dry-run")
    for words in (["install", "--roles"], ["uninstall", "--roles"]):
        code, output = ask(f"nearfold-{NAME}-admin", *words)
        assert code == 3, output
        assert (
            f"GET _security/role/nearfold-{PUT}-searcher needs a right that these credentials lack"
            in output
        )
        assert "manage_security" in output
    assert ask("root", "uninstall", "--dry-run") == before


def test_no_system_index_is_requested(secured_elasticsearch, ask):
    """Elasticsearch would warn of it, and a warning is an error here."""

    def call(method, path):
        credentials = base64.b64encode(f"root:{secured.PASSWORD}".encode()).decode()
        login = {"Authorization": f"Basic {credentials}"}
        urllib.request.urlopen(
            urllib.request.Request(f"{secured_elasticsearch}/{path}", headers=login, method=method)
        ).close()

    call("PUT", PUT)
    call(
        "POST", f"{PUT}/_forcemerge?wait_for_completion=false"
    )  # its result goes into the index .tasks
    deadline = time.monotonic() + 30
    while True:
        try:
            call("GET", ".tasks")
            break
        except urllib.error.HTTPError as error:
            error.close()
            assert time.monotonic() < deadline
            time.sleep(0.1)
    call("DELETE", PUT)
    assert ask("root", "uninstall", "--dry-run")[0] == 0


def test_an_engine_without_security_keeps_no_roles(opensearch_url, capsys):
    store = f"opensearch://{opensearch_url.partition('://')[2]}/{PUT}"
    assert cli.run(["install", "--roles", "--dry-run", "--store", store]) == 1
    output = capsys.readouterr().out
    assert re.findall(
        r"^impossible  role \S+-(\w+): no handler found for uri", output, re.MULTILINE
    ) == [
        "searcher",
        "indexer",
        "admin",
    ]
    assert cli.run(["uninstall", "--roles", "--dry-run", "--store", store]) == 0
    assert " role " not in capsys.readouterr().out


def test_what_opensearch_adds_to_a_role_is_no_difference():
    for body in roles("opensearch", NAME).values():
        grants = [
            {"dls": "", "fls": [], "masked_fields": [], **grant}
            for grant in body["index_permissions"]
        ]
        stored = {
            "reserved": False,
            "hidden": False,
            "static": False,
            "tenant_permissions": [],
            **body,
            "index_permissions": grants,
        }
        assert is_same(body, stored)
        assert not has_limits(stored)
        assert not is_same(body, {**stored, "cluster_permissions": ["*"]})
        assert not is_same(body, {**stored, "index_permissions": [*grants, grants[0]]})
        assert has_limits({**stored, "index_permissions": [{**grants[0], "dls": "{}"}]})
