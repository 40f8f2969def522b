"""Three roles: each runs the commands that the documentation names; others name the missing right.

Elasticsearch and OpenSearch 3.4 use their own security, with roles and users put by its API; a
newer OpenSearch is behind a gate that allows what the role file lists.
"""

import json
import re
import secrets
import time
from contextlib import closing

import pytest
from pipelines import call, good
from secured_engines import (
    PASSWORD,
    SecuredEngine,
    put_opensearch_user,
    secured_opensearch_server,
)
from servers.rights import RoleGate

from indexer.cli import main
from indexer.cli.exit_codes import EXIT_STOPPED, exit_code_of
from indexer.errors import ExpiredCredentials, StoreError, StoreStopped
from indexer.grouping.group import group
from indexer.jobs.arrival import follow_once
from indexer.jobs.index import index as run_index
from indexer.jobs.install import install
from indexer.jobs.reindex import reindex
from indexer.jobs.repair import repair
from indexer.recipe import DEFAULT, DEFAULT_V2
from indexer.review.site import SearchLog
from indexer.searching.search import search
from indexer.stores import open_store
from indexer.stores.engine.bulk import Sender
from indexer.stores.engine.maintenance import has_limits, is_same_role, roles
from indexer.stores.maintenance import LoggedSearch

NAME = f"nearfold-test-{secrets.token_hex(6)}"
PUT = f"{NAME}-put"  # its roles are put by the command
ROOT = f"{NAME}-root"
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
def secured_elasticsearch(elasticsearch_url):
    """Elasticsearch with the roles of the index `NAME`, each with a key: to users it gives what
    requests without credentials may, which is everything.
    """
    if call("GET", f"{elasticsearch_url}/_security/_authenticate")[0] != 200:
        pytest.skip("the security of this Elasticsearch is off, or it wants credentials")
    store = f"elasticsearch://{elasticsearch_url.partition('://')[2]}"
    root = {"password": PASSWORD, "roles": ["superuser"]}
    good("PUT", f"{elasticsearch_url}/_security/user/{ROOT}", root)
    server = SecuredEngine(elasticsearch_url, store, ROOT)
    for name, body in roles("elasticsearch", NAME).items():
        server.put_key(name, body)
    yield server
    good("DELETE", f"{elasticsearch_url}/_security/user/{ROOT}")


@pytest.fixture(scope="module")
def secured_opensearch():
    """OpenSearch with its security plugin, TLS, and the same roles and users."""
    with secured_opensearch_server() as engine:
        for name, body in roles("opensearch", NAME).items():
            put_opensearch_user(engine, name, body)
        yield engine


ENGINES = ["elasticsearch", pytest.param("opensearch", marks=pytest.mark.versions)]


@pytest.fixture(params=ENGINES)
def secured_engine(request):
    """An engine with its own security."""
    return request.getfixturevalue(f"secured_{request.param}")


@pytest.fixture(params=[*ENGINES, pytest.param("gate", marks=pytest.mark.slow)])
def guarded(request, gates, tmp_path, monkeypatch):
    """A server with the three roles; the index is removed afterwards."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    if request.param == "gate":
        server = request.getfixturevalue("opensearch_url")
        gate = gates(RoleGate, server, roles("opensearch", NAME))
        engine = SecuredEngine(server, f"opensearch://{gate.url.partition('://')[2]}")
    else:
        engine = request.getfixturevalue(f"secured_{request.param}")
    yield engine
    for name in engine.call("GET", f"{NAME}*")[1]:
        engine.call("DELETE", name)
    engine.call("DELETE", f"_index_template/nearfold-{NAME}")


@pytest.fixture
def command(guarded, tmp_path, capsys):
    """A function that runs a command in a role and returns its exit code and output.

    `FILE`, `FOLDER` and `ID` stand for a file, a folder and a document that exist.
    """
    folder = tmp_path / "files"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    placeholders = {"FILE": str(folder / "a.txt"), "FOLDER": str(folder), "ID": "0" * 32}

    def run(role, words):
        words = [placeholders.get(word, word) for word in words]
        code, out, err = guarded.run(f"nearfold-{NAME}-{role}", words, NAME, capsys)
        return code, out + err

    return run


def test_each_role_does_what_its_line_says_and_no_more(command, tmp_path):
    missing = command("indexer", ["index", "FOLDER", "--extractor", "plain"])
    assert missing[0] == 3
    assert f"PUT {NAME}" in missing[1]
    assert "needs a right that these credentials lack" in missing[1]

    code, output = command("admin", ["install", "--create"])
    assert code == 0, output

    for role in ("indexer", "admin"):
        for words in WRITING:
            code, output = command(role, words)
            assert code == (3 if words[0] == "delete" else 0), (
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


RECORDS = 600  # several batches


@pytest.fixture
def expiring(secured_engine, tmp_path, monkeypatch):
    """An engine, a role, and a function that opens a store as the user of that role, with new
    credentials.
    """
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    kind = secured_engine.store.partition("+")[0].partition(":")[0]
    index, user = f"{NAME}-expiring", f"nearfold-{NAME}-expiring-admin"
    role = roles(kind, index)[user]
    opened = []

    def login():
        if kind == "opensearch":
            put_opensearch_user(secured_engine, user, role)
        else:
            secured_engine.put_key(user, role)
        for name, value in secured_engine.environment(user).items():
            monkeypatch.setenv(name, value)
        opened.append(open_store(f"{secured_engine.store}/{index}"))
        return opened[-1]

    yield secured_engine, user, login
    for store in opened:
        store.close()
    for name in secured_engine.call("GET", f"{index}*")[1]:
        secured_engine.call("DELETE", name)
    secured_engine.call("DELETE", f"_index_template/nearfold-{index}")


def test_credentials_that_expire_stop_a_job_and_new_ones_resume_it(expiring, tmp_path, monkeypatch):
    engine, user, login = expiring
    file = tmp_path / "records.jsonl"
    texts = [f"{FIRST} Number {number % 300} of the fleet." for number in range(RECORDS)]
    file.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    outcomes = []

    def expire(outcome):
        if not outcomes:
            engine.expire(user)
        outcomes.append(outcome)

    with pytest.raises(StoreStopped, match="no longer accepts the credentials") as stopped:
        run_index(file, login(), progress=expire)
    assert re.search("NEARFOLD_API_KEY.*run the same command again", str(stopped.value))
    assert exit_code_of(stopped.value) == EXIT_STOPPED
    store = login()
    account = run_index(file, store)
    assert (account.seen, account.failed, store.counts().documents) == (RECORDS, (), RECORDS)
    assert account.unchanged > 0

    assign = type(store.families).assign

    def expire_and_assign(*arguments):
        engine.expire(user)
        return assign(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(type(store.families), "assign", expire_and_assign)
        with pytest.raises(StoreStopped, match="no longer accepts the credentials"):
            group(store)
    store = login()
    group(store)
    assert repair(store) == () and store.counts().documents == RECORDS

    engine.expire(user)
    for read in (store.counts, lambda: search(store, "ferries")):
        with pytest.raises(StoreStopped, match="no longer accepts the credentials"):
            read()


def test_credentials_that_expire_end_reindex_and_the_follower(expiring, monkeypatch):
    """New ones are read at the start of a command, so a follower would wait for ever."""
    engine, user, login = expiring
    store = login()
    install(store)
    store.prepare(DEFAULT)
    index = store.address.index
    for number in range(3):
        document = {"text": f"{FIRST} Number {number} of the fleet."}
        assert engine.call("PUT", f"{index}/_doc/{number}?refresh=true", document)[0] == 201
    send = Sender.send

    def expire_and_send(*arguments):
        engine.expire(user)
        return send(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(Sender, "send", expire_and_send)
        for job in (follow_once, lambda store: reindex(store, DEFAULT_V2)):
            with pytest.raises(ExpiredCredentials, match="no longer accepts the credentials"):
                job(login())
        assert main.run(["group", "--follow", "--store", login().url]) == EXIT_STOPPED
    store = login()
    assert follow_once(store).placed == 3
    assert reindex(store, DEFAULT_V2).copied == 3
    assert store.counts().documents == 3


def test_nobody_without_credentials(command):
    code, output = command("nobody", ["status"])
    assert code == 3, output
    assert "NEARFOLD_PASSWORD" in output


def test_a_searcher_cannot_even_group_or_delete(command):
    assert command("admin", ["install", "--create"])[0] == 0
    assert command("indexer", WRITING[0])[0] == 0
    out = command("indexer", ["search", "lighthouse", "--json"])[1]
    (name,) = [word for word in out.split('"') if len(word) == 32]
    for words in (["delete", name], ["group", "--threshold", "0.6"]):
        code, output = command("searcher", words)
        assert code in (3, 4), output
        assert "right" in output
    assert command("indexer", ["delete", name])[0] == 0


def test_who_may_index_may_log_searches(secured_engine, monkeypatch):
    log = f"nearfold-searches-{NAME}"
    for role in ("searcher", "indexer"):
        for name, value in secured_engine.environment(f"nearfold-{NAME}-{role}").items():
            monkeypatch.setenv(name, value)
        with closing(open_store(f"{secured_engine.store}/{NAME}")) as store:
            if role == "searcher":
                with pytest.raises(StoreError, match="needs a right that these credentials lack"):
                    SearchLog(store, 30)
            else:
                SearchLog(store, 30)
                store.maintenance.log_search(LoggedSearch(2, 1, "family", None))
    secured_engine.call("POST", f"{log}/_refresh")
    assert secured_engine.call("GET", f"{log}/_count")[1]["count"] == 1
    secured_engine.call("DELETE", log)


@pytest.fixture
def ask(secured_engine, capsys):
    """A function that runs a command and returns its exit code, and the action of each role."""

    def run(user, *words, index=PUT):
        code, out, err = secured_engine.run(user, [*words, "--json"], index, capsys)
        if code not in (0, 1):
            return code, out + err
        assets = json.loads(out).get("installed", [])
        return code, {
            asset["name"].rpartition("-")[2]: asset["action"]
            for asset in assets
            if asset["kind"] == "role"
        }

    return run


def test_without_the_right_to_put_roles_nothing_is_installed(ask, secured_engine):
    root = secured_engine.root
    is_opensearch = secured_engine.store.startswith("opensearch")
    place = "_plugins/_security/api/roles" if is_opensearch else "_security/role"
    before = ask(root, "uninstall", "--dry-run", index=NAME)
    for words in (["install", "--roles"], ["uninstall", "--roles"]):
        code, output = ask(f"nearfold-{NAME}-admin", *words, index=NAME)
        assert code == 3, output
        assert (
            f"GET {place}/nearfold-{NAME}-searcher needs a right that these credentials lack"
            in output
        )
        assert is_opensearch or "manage_security" in output
    assert ask(root, "uninstall", "--dry-run", index=NAME) == before


def test_who_may_put_roles_puts_them_once_and_removes_them(ask, secured_engine):
    for action, words in (
        ("created", ["install"]),
        ("unchanged", ["install"]),
        ("removed", ["uninstall"]),
    ):
        assert ask(secured_engine.root, *words, "--roles") == (
            0,
            dict.fromkeys(("searcher", "indexer", "admin"), action),
        )


def test_a_role_of_others_is_neither_replaced_nor_removed(ask, secured_engine):
    is_opensearch = secured_engine.store.startswith("opensearch")
    place = "_plugins/_security/api/roles" if is_opensearch else "_security/role"
    path = f"{place}/nearfold-{PUT}-searcher"
    grants = "index_permissions" if is_opensearch else "indices"
    grant = {"index_patterns": ["theirs"], "allowed_actions": ["read"]}
    if not is_opensearch:
        grant = {"names": ["theirs"], "privileges": ["read"]}
    theirs = {"description": "theirs", grants: [grant]}
    assert secured_engine.call("GET", path)[0] == 404
    assert secured_engine.call("PUT", path, theirs)[0] in (200, 201)
    try:
        before = secured_engine.call("GET", path)
        for words, others in (("install", "created"), ("uninstall", "removed")):
            _, actions = ask(secured_engine.root, words, "--roles")
            assert actions == {"searcher": "kept", "indexer": others, "admin": others}
        assert secured_engine.call("GET", path) == before
    finally:
        secured_engine.call("DELETE", path)


@pytest.mark.parametrize("secured_engine", ["elasticsearch"], indirect=True)
def test_no_system_index_is_requested(secured_elasticsearch, ask):
    """Elasticsearch would warn of it, and a warning is an error here."""
    server = secured_elasticsearch
    assert server.call("PUT", PUT)[0] == 200
    # Its result goes into the index .tasks.
    server.call("POST", f"{PUT}/_forcemerge?wait_for_completion=false")
    deadline = time.monotonic() + 30
    while server.call("GET", ".tasks")[0] != 200:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    server.call("DELETE", PUT)
    assert ask(server.root, "uninstall", "--dry-run")[0] == 0


def test_a_searcher_may_ask_for_the_version_and_may_not_change_segments(secured_engine):
    searcher = f"nearfold-{NAME}-searcher"
    assert secured_engine.call("PUT", NAME)[0] == 200
    for verb, status in (("_refresh", 200), ("_flush", 403), ("_forcemerge", 403)):
        assert secured_engine.call("POST", f"{NAME}/{verb}", user=searcher)[0] == status
    assert secured_engine.call("GET", "", user=searcher)[1]["version"]["number"]
    secured_engine.call("DELETE", NAME)


def test_a_role_of_one_index_reads_no_other(secured_engine):
    assert secured_engine.call("PUT", PUT)[0] == 200
    for role in ("searcher", "indexer", "admin"):
        user = f"nearfold-{NAME}-{role}"
        assert secured_engine.call("POST", f"{PUT}/_search", user=user)[0] == 403
    secured_engine.call("DELETE", PUT)


def test_a_reader_of_an_alias_needs_no_right_to_refresh_but_to_read_each_index(
    secured_engine, tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    kind = secured_engine.store.partition("+")[0].partition(":")[0]
    alias, viewer = f"{NAME}-view", f"nearfold-{NAME}-viewer"
    grant_names = ("index_permissions", "index_patterns", "allowed_actions")
    grants, names, actions = (
        grant_names if kind == "opensearch" else ("indices", "names", "privileges")
    )
    role = roles(kind, alias)[f"nearfold-{alias}-searcher"]
    for grant in role[grants]:
        # a point in time of Elasticsearch belongs to the index
        grant[names] = [alias] if kind == "opensearch" else [alias, PUT]
        grant[actions].remove("indices:admin/refresh*")
    if kind == "opensearch":
        put_opensearch_user(secured_engine, viewer, role)
    else:
        secured_engine.put_key(viewer, role)
    folder = tmp_path / "files"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    index = ["index", str(folder), "--extractor", "plain", "--workers", "1"]
    assert secured_engine.run(secured_engine.root, index, PUT, capsys)[0] == 0
    shown = {"filter": {"prefix": {"path": str(folder / "a")}}}
    secured_engine.put(f"{PUT}/_alias/{alias}", shown)
    code, out, err = secured_engine.run(viewer, ["search", "ferries", "--json"], alias, capsys)
    assert code == 0, err
    (hit,) = json.loads(out)["hits"]
    code, out, err = secured_engine.run(viewer, ["similar", "--id", hit["id"]], alias, capsys)
    assert code == 0 and "no near duplicates found" in out + err, out + err
    assert secured_engine.run(secured_engine.root, index, f"{PUT}-other", capsys)[0] == 0
    secured_engine.put(f"{PUT}-other/_alias/{alias}", {})
    if kind == "opensearch":  # which lets whoever may read an alias read all of its indices
        code, _, err = secured_engine.run(viewer, ["search", "ferries"], alias, capsys)
        assert code == 3 and "give --store one of them" in err
        role[grants][0][names] = [PUT]
        secured_engine.put(f"_plugins/_security/api/roles/{viewer}", role)
    code, _, err = secured_engine.run(viewer, ["search", "ferries"], alias, capsys)
    assert code == 3 and "403" in err
    for name in secured_engine.call("GET", f"{PUT}*")[1]:
        secured_engine.call("DELETE", name)


def test_an_engine_without_security_keeps_no_roles(opensearch_url, capsys):
    store = f"opensearch://{opensearch_url.partition('://')[2]}/{PUT}"
    assert main.run(["install", "--roles", "--dry-run", "--store", store]) == 1
    output = capsys.readouterr().out
    assert re.findall(
        r"^impossible  role \S+-(\w+): no handler found for uri", output, re.MULTILINE
    ) == [
        "searcher",
        "indexer",
        "admin",
    ]
    assert main.run(["uninstall", "--roles", "--dry-run", "--store", store]) == 0
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
        assert is_same_role(body, stored)
        assert not has_limits(stored)
        assert not is_same_role(body, {**stored, "cluster_permissions": ["*"]})
        assert not is_same_role(body, {**stored, "index_permissions": [*grants, grants[0]]})
        assert has_limits({**stored, "index_permissions": [{**grants[0], "dls": "{}"}]})
