"""Several tenants in one cluster, and readers who may see some of the documents: on the security of
Elasticsearch and of OpenSearch 3.4.
"""

import contextlib
import difflib
import json
import re
import secrets
from functools import partial
from pathlib import Path

import pytest
import saved_object_queries as products
from pipelines import call, good
from secured_engines import (
    PASSWORD,
    SecuredEngine,
    put_opensearch_user,
    secured_opensearch_server,
)
from servers import choosing, elasticsearch
from servers.process import Server
from starlette.testclient import TestClient

from indexer.jobs.install import install, uninstall
from indexer.recipe import DEFAULT
from indexer.review.app import PAGES
from indexer.review.serve import review_application
from indexer.stores import open_store
from indexer.stores.engine import dashboards
from indexer.stores.engine.maintenance import roles

NAME = f"nearfold-test-{secrets.token_hex(6)}"
WHOLE, ALONE = f"{NAME}-whole", f"{NAME}-alone"
LIMITED = {WHOLE: "limited-whole", ALONE: "limited-alone"}
FERRY = (
    "Ferries leave the harbour at eight in the morning and at six in the evening; "
    "dogs travel free on every one of them."
)
PUBLIC = {
    "a": FERRY,
    "c": "A lighthouse keeper has to climb stairs every night of the year.",
    "e": FERRY.replace("eight", "nine"),
    "f": "Bread is dear.",
}
SECRET = {
    "b": f"{FERRY} Zanzibar!",
    "d": "The merger with Zanzibar Shipping is announced on Monday, says the board of ferries.",
    "g": FERRY,
    "h": FERRY.replace("dogs", "cats"),
}
STATISTICS = {"indices:monitor/stats", "monitor"}


@pytest.fixture(scope="module")
def opensearch_server():
    with secured_opensearch_server() as engine:
        yield engine


@pytest.fixture(scope="module")
def elasticsearch_server():
    """Elasticsearch with a trial licence, which limiting documents needs."""
    make = partial(Server, elasticsearch.engine(elasticsearch.COMPLETE))
    with choosing.running(make) as server:
        good("POST", f"{server.url}/_license/start_trial?acknowledge=true")
        root = {"password": PASSWORD, "roles": ["superuser"]}
        good("PUT", f"{server.url}/_security/user/root", root)
        store = f"elasticsearch://127.0.0.1:{server.port}"
        yield SecuredEngine(server.url, store, "root")


@pytest.fixture(params=["elasticsearch", "opensearch"])
def engine(request, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    server = request.getfixturevalue(f"{request.param}_server")
    yield server
    for name in server.call("GET", f"{NAME}*")[1]:
        assert server.call("DELETE", name)[0] == 200


@pytest.fixture(params=["elasticsearch", pytest.param("opensearch", marks=pytest.mark.versions)])
def tenants(request, tmp_path, monkeypatch):
    """An engine with an index of each of two tenants, their users, and an alias of both."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with contextlib.ExitStack() as stack:
        if request.param == "elasticsearch":
            server = request.getfixturevalue("elasticsearch_url")
            root = f"{NAME}-root"
            body = {"password": PASSWORD, "roles": ["superuser"]}
            if call("PUT", f"{server}/_security/user/{root}", body)[0] != 200:
                pytest.skip("the security of this Elasticsearch is off, or it wants credentials")
            stack.callback(call, "DELETE", f"{server}/_security/user/{root}")
            engine = SecuredEngine(server, f"elasticsearch://{server.partition('://')[2]}", root)
        else:
            engine = request.getfixturevalue("opensearch_server")
        indices = (f"{NAME}-acme", f"{NAME}-acme-papers")
        for index in indices:
            with open_as_root(engine, index) as store:
                install(store)
                store.prepare(DEFAULT)
            for name, role in roles(request.param, index).items():
                put_user(engine, name, role)
        added = [{"add": {"index": index, "alias": f"{NAME}-all"}} for index in indices]
        assert engine.call("POST", "_aliases", {"actions": added})[0] == 200
        yield engine, indices
        for index in indices:
            with open_as_root(engine, index) as store:
                uninstall(store)
            assert engine.call("DELETE", index)[0] == 200


def open_as_root(engine, index):
    """Yield a store, opened by the user that may do everything."""
    return open_as(engine, engine.root, index)


@contextlib.contextmanager
def open_as(engine, user, index):
    """Yield a store, opened by a user."""
    with pytest.MonkeyPatch.context() as environment:
        for name, value in engine.environment(user).items():
            environment.setenv(name, value)
        store = open_store(f"{engine.store}/{index}")
    with contextlib.closing(store):
        yield store


def put_user(engine, name, role):
    """Put a user, or a key, with the rights of a role."""
    if "index_permissions" in role:
        put_opensearch_user(engine, name, role)
    else:
        engine.put_key(name, role)


def limited_role(engine, index):
    """Return the role of a searcher who sees public documents, and no statistics of all."""
    kind = engine.store.partition("+")[0].partition(":")[0]
    role = roles(kind, index)[f"nearfold-{index}-searcher"]
    role = json.loads(json.dumps(role))
    (grant,) = role.get("index_permissions") or role["indices"]
    rights = "allowed_actions" if "allowed_actions" in grant else "privileges"
    grant[rights] = [right for right in grant[rights] if right not in STATISTICS]
    query = json.dumps({"term": {"labels": "public"}})
    grant["dls" if rights == "allowed_actions" else "query"] = query
    return role


def write(folder, texts):
    """Write texts as files of a folder, and return it."""
    folder.mkdir()
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def library(engine, tmp_path, capsys):
    """Two indices, `WHOLE` with all documents and `ALONE` with the public ones, a user of each who
    sees public ones, and a function that runs a command as one of them, or as root.
    """
    public, secret = write(tmp_path / "public", PUBLIC), write(tmp_path / "secret", SECRET)

    def run(user, index, *words, code=0):
        result, out, err = engine.run(user, [*map(str, words)], index, capsys)
        assert result == code, (words, out, err)
        return (out + err).replace(index, "INDEX")

    for index, folders in ((WHOLE, (public, secret)), (ALONE, (public,))):
        put_user(engine, LIMITED[index], limited_role(engine, index))
        for folder in folders:
            run(engine.root, index, "index", folder, "--label", folder.name, "--no-families")
    return run, secret


def outputs(run, *words):
    """Return what a command prints for the limited user of each index, without what changes from
    run to run: times, and the manifest.
    """
    shown = []
    for index, user in LIMITED.items():
        out = run(user, index, *words)
        out = re.sub(r'"manifest": .*', "", out)
        shown.append(re.sub(r'"(seconds|next)": ("[^"]*"|[\d.]+)', "", out))
    return shown


def ids_of(run, root):
    """Return the id of each document by the name of its file."""
    found = json.loads(run(root, WHOLE, "search", "", "--fold", "none", "--limit", "50", "--json"))
    assert found["total"] == len(PUBLIC) + len(SECRET)
    return {Path(hit["path"]).stem: hit["id"] for hit in found["hits"]}


def commands(secret, ids):
    """Yield commands that read."""
    for words in (["zanzibar"], ["merger"], ["zanz*"], ["zanzibarr"], ["path:secret"], ["ferries"]):
        for fold in ("live", "family", "none", "types"):
            yield ["search", *words, "--fold", fold, "--json"]
    for field in ("labels", "content_type", "path", "family", "year"):
        yield ["search", "ferries", "--facet", field, "--json"]
    for name in SECRET:
        for measure in ("lcs", "jaccard", "hamming", "grown", "overlap"):
            options = ["--measure", measure, "--threshold", "0.4", "--json"]
            yield ["similar", secret / f"{name}.txt", *options]
        yield ["check", secret / f"{name}.txt", "--json"]
    for name in ("a", "c"):
        yield ["similar", "--id", ids[name], "--json"]
    yield ["versions", ids["a"]]
    for words in (
        ["match", "--threshold", "0.5"],
        ["match", "--contained"],
        ["match", "--complete"],
    ):
        yield [*words, "--json"]
    for words in (["families", "--json"], ["passages", "--json"], ["group", "--dry-run"]):
        yield words
    for words in (["families"], ["consistency", "--json"], ["status"], ["status", "--json"]):
        yield words


@pytest.mark.versions
def test_whoever_sees_some_documents_learns_nothing_of_others(engine, library):
    """Every answer is that of an index without them, but for the engine's scores."""
    run, secret = library
    for index in LIMITED:
        run(engine.root, index, "group", "--within", "labels")
    ids = ids_of(run, engine.root)
    for words in commands(secret, ids):
        shown = [re.sub(r'"score": [\d.]+', "", out) for out in outputs(run, *words)]
        assert shown[0] == shown[1], words
    assert '"total": 2' in run(LIMITED[WHOLE], WHOLE, "search", "ferries", "--json")
    assert '"documents": 4' in run(LIMITED[WHOLE], WHOLE, "status", "--json")


@pytest.mark.versions
def test_an_id_of_a_hidden_document_is_one_of_no_document(engine, library):
    run, _ = library
    ids = ids_of(run, engine.root)
    nobody = "0" * 32
    user = LIMITED[WHOLE]
    for words in (["similar", "--id"], ["versions"], ["compare", ids["a"]]):
        missing = run(user, WHOLE, *words, nobody, code=3)
        for name in SECRET:
            hidden = run(user, WHOLE, *words, ids[name], code=3)
            assert hidden.replace(ids[name], nobody) == missing
    for name, number in (("a", 1), ("b", 0)):
        query = {"query": {"ids": {"values": [ids[name]]}}}
        answer = engine.call("POST", f"{WHOLE}/_search", query, user)[1]
        assert answer["hits"]["total"]["value"] == number
    assert engine.call("GET", f"{WHOLE}/_stats", user=user)[0] == 403


@pytest.mark.versions
def test_what_the_page_says_that_hidden_documents_leave_in_others(engine, library):
    run, _ = library
    for index in LIMITED:
        run(engine.root, index, "group", "--principal", "longest")
    ids = ids_of(run, engine.root)
    listed, alone = outputs(run, "families", "--json")
    assert ids["b"] in listed, "the longest leads"
    assert not any(ids[name] in alone for name in SECRET)
    scores = [
        json.loads(out)["hits"][0]["score"] for out in outputs(run, "search", "ferries", "--json")
    ]
    assert scores[0] < scores[1]


@pytest.mark.versions
def test_dashboards_of_a_limited_user_are_those_of_an_index_without_the_others(engine, library):
    run, _ = library
    panels = []
    for index, user in LIMITED.items():
        run(engine.root, index, "group", "--within", "labels")
        saved = {saved.id: saved.line("kibana") for saved in dashboards.objects(index)}
        fields = json.loads(saved[f"nearfold-{index}-index"]["attributes"]["fields"])
        scripts = {field["name"]: field["script"] for field in fields if field["scripted"]}
        aggregations = []
        for panel in ("totals", "largest", "types", "labels", "folders"):
            body = products.body(saved[f"nearfold-{index}-{panel}"], scripts)
            status, answer = engine.call("POST", f"{index}/_search", body, user)
            assert status == 200 and answer["aggregations"], answer
            aggregations.append(answer["aggregations"])
        panels.append(json.dumps(aggregations, sort_keys=True).replace(index, "INDEX"))
    assert panels[0] == panels[1]


def pages(engine, index, addresses):
    """Return status and text of review pages, opened by the limited user of an index, without what
    changes from site to site: tokens, times and scores.
    """
    with open_as(engine, LIMITED[index], index) as store:
        client = TestClient(review_application(store, frozenset({"testserver"})))
        shown = {}
        for address in addresses:
            answer = client.get(address)
            text = re.sub(r'(name="token" value=|"token": )"[^"]*"', "", answer.text)
            text = re.sub(r'"(score|seconds|next)": ?("[^"]*"|[\d.e-]+)', "", text)
            text = re.sub(r"Read at [^<]*|\d\d:\d\d:\d\d|\d+ (seconds|minutes) ago", "", text)
            shown[address] = answer.status_code, text.replace(index, "INDEX")
    return shown


@pytest.mark.versions
def test_review_pages_of_a_limited_reader_are_those_of_an_index_without_the_others(engine, library):
    run, _ = library
    for index in LIMITED:
        run(engine.root, index, "group", "--within", "labels")
    ids = ids_of(run, engine.root)
    searches = [f"/?q={words}&fold={fold}" for words in ("zanz*", "ferries") for fold in FOLDS]
    addresses = [f"{page.path}?wait=20" for page in PAGES] + searches
    addresses += ["/api/status", "/api/survey?wait=20", "/api/figures?wait=20", "/api/worklist"]
    for page in ("/document", "/family", "/variants", "/versions", "/thread", "/matrix"):
        addresses += [f"{page}?id={ids[name]}&wait=20" for name in ("a", "b", "g")]
    for page in ("/api/discounted", "/compare"):
        addresses += [f"{page}?a={ids['a']}&b={ids[name]}&wait=20" for name in ("e", "b")]
    whole, alone = (pages(engine, index, addresses) for index in (WHOLE, ALONE))
    for address in addresses:
        shown = (whole[address][1].splitlines(), alone[address][1].splitlines())
        assert not [*difflib.unified_diff(*shown, n=0)], address
        hidden = any(ids[name] in address for name in SECRET)
        assert whole[address][0] == 404 if hidden else whole[address][0] < 500, address


FOLDS = ("live", "family", "none")
HIDDEN = {"path": ["path", "title"], "text": ["text"], "text and keys": ["text", "near_*"]}
READING = (
    ["search", "zanzibar", "--json"],
    ["search", "", "--facet", "labels", "--json"],
    ["search", "ferries", "--fold", "family"],
    ["match", "--json"],
    ["families", "--json"],
    ["status", "--json"],
)


@pytest.mark.versions
@pytest.mark.parametrize("hidden", HIDDEN)
def test_a_hidden_field_is_in_no_answer(engine, library, hidden):
    run, secret = library
    run(engine.root, WHOLE, "group")
    id = ids_of(run, engine.root)["b"]
    kind = engine.store.partition("+")[0].partition(":")[0]
    role = json.loads(json.dumps(roles(kind, WHOLE)[f"nearfold-{WHOLE}-searcher"]))
    (grant,) = role.get("index_permissions") or role["indices"]
    if "index_permissions" in role:
        grant["fls"] = [f"~{name}" for name in HIDDEN[hidden]]
    else:
        grant["field_security"] = {"grant": ["*"], "except": HIDDEN[hidden]}
    user = f"without-{hidden.replace(' ', '-')}"
    put_user(engine, user, role)
    out = "".join(
        run(user, WHOLE, *words)
        for words in (*READING, ["show", id], ["versions", id], ["similar", "--id", id, "--json"])
    )
    assert id in out
    if hidden == "path":
        assert "Zanzibar" in out and not re.search(r"\w\.txt", out)
        return
    assert not re.search("zanzibar!|merger|ferries leave|lighthouse", out, re.IGNORECASE)
    found = json.loads(run(user, WHOLE, "similar", secret / "b.txt", "--json"))
    assert found["matches"] == []
    pairs = run(user, WHOLE, "match")
    assert pairs.count("1.000") == (1 if hidden == "text" else 0), "copies have equal keys"


LIMITS_OF_ES = ("query", "field_security")
LIMITS = {
    "documents": {
        "dls": '{"term": {"labels": "public"}}',
        "query": '{"term": {"labels": "public"}}',
    },
    "fields": {
        "fls": ["~path"],
        "field_security": {"grant": ["*"], "except": ["path"]},
    },
    "values": {"masked_fields": ["path"]},
}


@pytest.mark.versions
@pytest.mark.parametrize("limit", LIMITS)
def test_whoever_may_write_and_does_not_see_everything_changes_nothing(engine, library, limit):
    """An engine would let `reindex` replace an index by the part that its user sees."""
    run, secret = library
    kind = engine.store.partition("+")[0].partition(":")[0]
    role = json.loads(json.dumps(roles(kind, WHOLE)[f"nearfold-{WHOLE}-admin"]))
    grants = role.get("index_permissions") or role["indices"]
    names = {"dls", "fls", "masked_fields"} if "index_permissions" in role else LIMITS_OF_ES
    limits = {name: value for name, value in LIMITS[limit].items() if name in names}
    if not limits:
        pytest.skip("Elasticsearch masks no values")
    for grant in grants:
        grant.update(limits)
    user = f"limited-{limit}"
    put_user(engine, user, role)
    id = ids_of(run, engine.root)["a"]
    before = engine.call("GET", f"{WHOLE}*")[1], stored_documents(engine)
    for words in (
        ["reindex", "--recipe", "simhash-doc"],
        ["reindex", "--recipe", "simhash-doc", "--dry-run"],
        ["group"],
        ["label", id, "--label", "seen"],
        ["delete", id],
        ["doctor", "--repair"],
        ["index", secret, "--no-families", "--refresh"],
        ["install"],
    ):
        assert "hidden from these credentials" in run(user, WHOLE, *words, code=3), words
        assert (engine.call("GET", f"{WHOLE}*")[1], stored_documents(engine)) == before, words
    assert run(user, WHOLE, "search", "ferries", "--fold", "none")


@pytest.mark.versions
def test_a_block_of_the_whole_cluster_is_named_before_anything_changes(engine, library):
    run, _ = library
    before = stored_documents(engine)
    for block in ("cluster.blocks.read_only", "cluster.blocks.read_only_allow_delete"):
        assert engine.call("PUT", "_cluster/settings", {"persistent": {block: True}})[0] == 200
        try:
            shown = " ".join(run(engine.root, WHOLE, "doctor").split())
            refused = run(engine.root, WHOLE, "group", code=4)
        finally:
            engine.call("PUT", "_cluster/settings", {"persistent": {block: None}})
        assert f"the cluster refuses changes ({block})" in shown
        assert f"the cluster refuses changes ({block}), so nothing was changed" in refused
        assert stored_documents(engine) == before
    assert run(engine.root, WHOLE, "group")


def stored_documents(engine):
    """Return the documents of the whole index as root sees them."""
    assert engine.call("POST", f"{WHOLE}/_refresh")[0] == 200
    hits = engine.call("POST", f"{WHOLE}/_search", {"size": 100, "version": True})[1]["hits"][
        "hits"
    ]
    return sorted((hit["_id"], hit["_version"], json.dumps(hit["_source"])) for hit in hits)


def test_tenants_share_assets_and_no_document(tenants, tmp_path, capsys):
    """The name of one tenant's index begins with that of the other."""
    engine, indices = tenants
    for number, index in enumerate(indices):
        folder = write(tmp_path / str(number), PUBLIC)
        user = f"nearfold-{index}-indexer"
        for words in (["index", str(folder)], ["group"]):
            code, out, err = engine.run(user, words, index, capsys)
            assert code == 0, out + err
    for own, other in (indices, indices[::-1]):
        for role in ("searcher", "indexer", "admin"):
            user = f"nearfold-{own}-{role}"
            code, out, _ = engine.run(user, ["search", "ferries", "--json"], own, capsys)
            assert (code, json.loads(out)["total"]) == (0, 2)
            for words in (["search", "ferries"], ["status"], ["group"], ["match"]):
                code, out, err = engine.run(user, words, other, capsys)
                assert code == 3
                assert "right" in err and "ferries leave" not in (out + err).lower()
            code, _, err = engine.run(user, ["search", "ferries"], f"{NAME}-all", capsys)
            assert code == 3
    first, second = indices
    code, out, err = engine.run(engine.root, ["uninstall", "--json"], first, capsys)
    assert code == 0, err
    kept = {asset["name"] for asset in json.loads(out)["installed"] if asset["action"] == "kept"}
    assert "nearfold-default_v3" in kept
    new = {"text": FERRY}
    assert engine.call("PUT", f"{second}/_doc/new?refresh=true", new)[0] == 201
    stored = engine.call("GET", f"{second}/_doc/new")[1]["_source"]
    assert stored["near_status"] == "complete"


@pytest.mark.versions
def test_a_dashboard_is_seen_in_its_tenant_alone(opensearch_server):
    """OpenSearch Dashboards sends a tenant as a header, and the engine has an index of each."""
    engine, tenants = opensearch_server, ("acme", "other")
    for tenant in tenants:
        engine.put(f"_plugins/_security/api/tenants/{tenant}", {"description": "of a test"})
        allowed = {"tenant_patterns": [tenant], "allowed_actions": ["kibana_all_write"]}
        rights = ["cluster_composite_ops"]
        role = {"cluster_permissions": rights, "tenant_permissions": [allowed]}
        put_opensearch_user(engine, f"of-{tenant}", role)
    objects = {saved.id: saved.line("opensearch-dashboards") for saved in dashboards.objects(NAME)}
    path, id = ".kibana/_doc", f"nearfold-{NAME}-dashboard"
    write, read = f"{path}/{id}?refresh=true", f"{path}/{id}"
    assert engine.call("PUT", write, objects[id], "of-acme", securitytenant="acme")[0] == 201
    statuses = {
        (user, tenant): engine.call("GET", read, None, f"of-{user}", securitytenant=tenant)[0]
        for user in tenants
        for tenant in tenants
    }
    assert statuses == {
        ("acme", "acme"): 200,
        ("acme", "other"): 403,
        ("other", "acme"): 403,
        ("other", "other"): 404,
    }
    indices = engine.call("GET", ".kibana_*_acme*")[1]
    assert indices and not set(engine.call("GET", ".kibana_*_other*")[1]) & set(indices)
