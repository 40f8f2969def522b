"""Indices whose texts are in a field of another name: signed on arrival, in place, and by another
recipe, in any order.
"""

import base64

import pytest
from pipelines import OTHER, bulk, call, expected, good, require_attachments, signed

from indexer.documents.base import ReadOptions
from indexer.errors import MappingMismatch, StoreError, TextFieldMismatch, UsageError
from indexer.fingerprinting.fingerprint import fingerprint, shorten
from indexer.grouping.group import group
from indexer.jobs.doctor import doctor
from indexer.jobs.index import IndexOptions, index
from indexer.jobs.install import install, uninstall
from indexer.jobs.reindex import reindex
from indexer.recipe import DEFAULT, recipe_named
from indexer.searching.similar import similar
from indexer.stores import open_store

pytestmark = pytest.mark.engines
TEXT = (
    "Ferries leave the harbour at eight in the morning and at six in the evening; "
    "dogs travel free on all of them."
)
BREAD = (
    "A quite different text about the price of bread and the people who pay it every single day."
)
BODY = ReadOptions(text_field="body")
KEYS = expected([TEXT])[0]


@pytest.fixture(autouse=True)
def journals(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def theirs(server, name):
    """Create an index of another program."""
    bulk(server, name, [{"body": TEXT}, {"body": TEXT.upper()}, {"body": BREAD}, {"other": 1}])


def stored_source(server, name, id):
    return good("GET", f"{server}/{name}/_doc/{id}")["_source"]


def keys(document):
    return {name: value for name, value in signed(document).items() if name in KEYS}


def backfilled(store):
    account = index([store.url], store, IndexOptions(reading=BODY))
    return account.indexed, account.unchanged, len(account.failed)


def actions(installation):
    done = [change for change in installation.changes if change.action != "left out"]
    return {(change.kind, change.name): change.action for change in done}


def check(store):
    """Check that new documents are signed by `body`, and that `doctor` finds no fault."""
    server, _, name = store.url.partition("://")[2].rpartition("/")
    server = f"http://{server}"
    (id,) = bulk(server, name, [{"body": TEXT}])
    document = stored_source(server, name, id)
    assert (keys(document), document["near_text_field"]) == (KEYS, "body")
    assert len(similar(store, TEXT).matches) >= 2
    assert {
        finding.name: finding.verdict
        for finding in doctor(store.url)
        if finding.name in ("store", "signed", "keys")
    } == {
        "store": "good",
        "keys": "good",
    }


@pytest.fixture
def shipped(opensearch_index):
    """Yield an index of another program, with an installation for another text field."""
    store, name, server = opensearch_index
    theirs(server, name)
    return store, name, server


def test_installed_first_then_signed_in_place(shipped):
    store, name, server = shipped
    [detail] = [change.detail for change in install(store).changes if change.kind == "index"]
    assert "no field text; --text-field" in detail
    bulk(server, name, [{"body": TEXT}])  # signed by a field that it does not have
    assert backfilled(store) == (5, 0, 0)
    settings = good("GET", f"{server}/{name}/_settings")[name]["settings"]["index"]
    assert settings["default_pipeline"] == "nearfold-default_v3-body"
    assert call("GET", f"{server}/_index_template/nearfold-{name}")[0] == 404
    check(store)
    assert {change.action for change in install(store).changes} == {"unchanged", "left out"}
    uninstall(store)
    for path in (
        "_ingest/pipeline/nearfold-default_v3-body",
        "_component_template/nearfold-default_v3-body",
    ):
        assert call("GET", f"{server}/{path}")[0] == 404


def test_uninstalled_again_then_signed_in_place(shipped):
    store, name, server = shipped
    install(store)
    uninstall(store)
    assert backfilled(store) == (4, 0, 0)
    assert backfilled(store) == (0, 4, 0)
    assert (
        "default_pipeline"
        not in good("GET", f"{server}/{name}/_settings")[name]["settings"]["index"]
    )


def test_signed_in_place_then_installed(shipped):
    store, name, server = shipped
    assert backfilled(store) == (4, 0, 0)
    install(store)
    check(store)
    pipeline = "nearfold-default_v3-body"
    assert (
        good("POST", f"{server}/{name}/_update_by_query?pipeline={pipeline}&refresh=true")[
            "updated"
        ]
        == 5
    )
    statuses = [row.status for row in store.scan()]
    assert sorted(statuses) == ["complete"] * 4 + ["empty"]
    check(store)


def test_installed_with_the_field_then_filled_and_signed(opensearch_index):
    store, name, server = opensearch_index
    install(store, text_field="body")
    assert set(actions(install(store)).values()) == {"unchanged"}
    theirs(server, name)
    assert backfilled(store) == (4, 0, 0)
    check(store)
    field = good("GET", f"{server}/{name}/_mapping/field/body")[name]["mappings"]["body"][
        "mapping"
    ]["body"]
    assert field["type"] == "text"
    with pytest.raises(StoreError, match=r"texts in the field body; .*--text-field body"):
        store.prepare(DEFAULT)


def test_another_field_is_refused_once_a_text_was_signed(shipped):
    store, name, server = shipped
    install(store, text_field="body")
    install(store, text_field="summary")  # nothing was signed
    assert call("GET", f"{server}/_ingest/pipeline/nearfold-default_v3-body")[0] == 404
    install(store, text_field="body")
    bulk(server, name, [{"body": TEXT}])
    before = good("GET", f"{server}/{name}"), good("GET", f"{server}/_ingest/pipeline")
    for field in ("text", "summary"):
        with pytest.raises(
            TextFieldMismatch,
            match=f"by its field body, not {field}: documents.*: 1;.*--text-field body",
        ):
            install(store, text_field=field)
    with pytest.raises(TextFieldMismatch):
        index([store.url], store)
    assert (good("GET", f"{server}/{name}"), good("GET", f"{server}/_ingest/pipeline")) == before


def test_an_index_of_nearfolds_own_keeps_its_field(opensearch_index):
    store, _, _ = opensearch_index
    store.prepare(DEFAULT)
    with pytest.raises(
        TextFieldMismatch, match="fingerprinted by its field text, not body: all its texts are"
    ):
        install(store, text_field="body")
    with pytest.raises(UsageError, match="--create"):
        install(store, text_field="body", create=True)


def test_a_field_inside_an_object_and_a_name_with_capitals(opensearch_index):
    store, name, server = opensearch_index
    documents = [
        {"Page": {"Body": TEXT}, "near_text_field": "forged"},
        {"Page": "no object"},
        {"Page": {"Body": 7}},
    ]
    documents.append(
        {"Page": [{"Body": TEXT[:20]}, {"n": 1}, "other", {"Body": [None, TEXT[20:]]}]}
    )
    install(store, text_field="Page.Body")
    good("PUT", f"{server}/{name}-2", {"mappings": {"properties": {"Page": {"enabled": False}}}})
    pipeline = next(
        change.name for change in install(store).changes if change.kind == "ingest pipeline"
    )
    try:
        ids = bulk(server, f"{name}-2", documents, pipeline=pipeline)
        sources = [stored_source(server, f"{name}-2", id) for id in ids]
    finally:
        call("DELETE", f"{server}/{name}-2")
    assert (keys(sources[0]), sources[0]["near_text_field"]) == (KEYS, "Page.Body")
    assert [source.get("near_status") for source in sources] == [
        "complete",
        None,
        "unsigned",
        "complete",
    ]
    assert sources[2]["near_text_field"] == "Page.Body"
    assert sources[3]["near_exact"] == shorten(fingerprint(f"{TEXT[:20]}\n{TEXT[20:]}").exact)


def test_files_go_into_the_field(opensearch_index):
    store, name, server = opensearch_index
    require_attachments(server)
    install(store, text_field="body")
    data = {"data": base64.b64encode(TEXT.encode()).decode()}
    (id,) = bulk(server, name, [data], pipeline="nearfold-attachment-default_v3-body")
    document = stored_source(server, name, id)
    assert (document["body"].strip(), keys(document)) == (TEXT, KEYS)
    assert "text" not in document


def test_another_recipe_signs_the_same_field(shipped):
    store, name, server = shipped
    install(store, text_field="body")
    (late,) = bulk(server, name, [{"body": TEXT}])
    ids = [row.id for row in store.scan()]
    reindex(store, OTHER)
    documents = {id: stored_source(server, name, id) for id in ids}
    bodies = {id: documents[id].get("body") for id in ids}
    assert {id: signed(documents[id])["near_exact"] for id in ids} == dict(
        zip(
            ids,
            (
                fields["near_exact"]
                for fields in expected([body or "" for body in bodies.values()], OTHER)
            ),
            strict=True,
        )
    )
    assert {
        (document["near_text_field"], document["near_family"] != "")
        for document in documents.values()
    } == {("body", True)}
    (new,) = bulk(server, name, [{"body": TEXT}])
    assert signed(stored_source(server, name, new))["near_bands"] == documents[late]["near_bands"]
    assert {finding.name: finding.verdict for finding in doctor(store.url)}["keys"] == "good"
    uninstall(store, OTHER)


def test_a_recipe_that_no_pipeline_computes_is_refused_while_documents_are_signed_on_arrival(
    shipped,
):
    store, name, server = shipped
    install(store, text_field="body")
    with pytest.raises(UsageError, match="nearfold uninstall --store"):
        reindex(store, recipe_named("simhash-doc"))
    assert call("GET", f"{server}/{name}-000002")[0] == 404
    uninstall(store)
    reindex(store, recipe_named("simhash-doc"))
    assert store.stored_recipe() == recipe_named("simhash-doc")
    assert {finding.name: finding.verdict for finding in doctor(store.url)}["keys"] == "good"


def test_what_was_never_signed_is_counted(shipped):
    store, _, _ = shipped
    install(store)
    [missing] = [finding for finding in doctor(store.url) if finding.name == "signed"]
    assert missing.verdict == "note"
    assert missing.detail.startswith("4 documents never fingerprinted; `nearfold index ")
    assert "doctor" not in missing.detail
    assert {finding.name: finding.detail for finding in doctor(store.url)}["keys"].endswith(
        "in 0 rows"
    )


def test_lone_surrogates_of_other_clients_do_not_stop_a_new_recipe(opensearch_index):
    store, name, server = opensearch_index
    store.prepare(DEFAULT)
    good(
        "PUT",
        f"{server}/{name}/_doc/broken?refresh=true",
        {"text": f"{TEXT} \ud800", "title": "\udfff", "near_recipe": DEFAULT.id},
    )
    reindex(store, OTHER)
    document = stored_source(server, name, "broken")
    assert (document["text"], document["title"]) == (f"{TEXT} \ufffd", "\ufffd")
    assert document["near_exact"] == expected([f"{TEXT} \ud800"], OTHER)[0]["near_exact"]


def test_uninstalling_looks_at_data_streams_too(opensearch_index):
    store, name, server = opensearch_index
    install(store)
    stream = f"{name}-stream"
    template = {"settings": {"index.default_pipeline": "nearfold-default_v3"}}
    good(
        "PUT",
        f"{server}/_index_template/{stream}",
        {"index_patterns": [stream], "data_stream": {}, "priority": 600, "template": template},
    )
    try:
        good(
            "POST", f"{server}/{stream}/_doc", {"@timestamp": "2026-01-01T08:00:00Z", "text": TEXT}
        )
        [kept_changes] = [
            change
            for change in uninstall(store, dry_run=True).changes
            if change.name == "nearfold-default_v3" and change.kind == "ingest pipeline"
        ]
        assert kept_changes.action == "kept"
        assert f".ds-{stream}-000001" in kept_changes.detail
        of_it = open_store(f"opensearch://{server.partition('://')[2]}/{stream}")
        for run in (install, lambda store: index([store.url], store)):
            with pytest.raises(UsageError, match="is a data stream"):
                run(of_it)
        for run in (group, lambda store: similar(store, TEXT)):
            with pytest.raises(MappingMismatch, match="of a data stream whose template"):
                run(of_it)
        of_it.close()
        assert call("GET", f"{server}/_index_template/nearfold-{stream}")[0] == 404
    finally:
        call("DELETE", f"{server}/_data_stream/{stream}")
        call("DELETE", f"{server}/_index_template/{stream}")
