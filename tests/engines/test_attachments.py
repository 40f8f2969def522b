"""Files sent to a real engine as base64: its Tika reads them, the pipeline signs the text; nothing
is lost.
"""

import base64
import json

import pytest
import samples
from pipelines import bulk, call, expected, good, require_attachments, signed
from servers.proxy import Gate, GateRequest

from indexer.jobs.doctor import doctor
from indexer.jobs.install import install, uninstall
from indexer.recipe import DEFAULT
from indexer.searching.similar import similar
from indexer.stores.engine.asset_bodies import pipeline
from indexer.stores.engine.ingest_pipeline import MAX_UNITS

NAME, SIGNING = "nearfold-attachment-default_v3", "nearfold-default_v3"
TEXT = "\n".join(samples.PARAGRAPHS)
READ = {**samples.formats(), "a.txt": TEXT.encode(), "utf16.txt": TEXT.encode("utf-16")}
for raw in ("a.eml", "a.zip"):  # the engine's Tika neither decodes mail nor looks into archives
    READ.pop(raw)
CHAPTERS = [f"{number}. {' '.join(samples.PARAGRAPHS)}" for number in range(4_000)]


def encoded(file):
    return {"data": base64.b64encode(file).decode()}


@pytest.fixture
def attached(opensearch_index):
    """Send documents through the installed pipeline; return their ids and stored sources."""
    store, index, server = opensearch_index
    require_attachments(server)
    install(store)

    def send(documents, *lines):
        ids = bulk(server, index, documents, *lines, pipeline=NAME)
        return ids, [
            item["_source"]
            for item in good("POST", f"{server}/{index}/_mget", {"ids": ids})["docs"]
        ]

    return send


def test_files_of_every_format_get_the_keys_of_the_text_that_the_engine_reads(
    attached, opensearch_index
):
    store = opensearch_index[0]
    ids, documents = attached([encoded(file) for file in READ.values()])
    keys = [signed(document) for document in documents]
    assert keys == expected([document["text"] for document in documents])
    assert {document["near_status"] for document in keys} == {"complete"}
    for name, document in zip(READ, documents, strict=True):
        assert all(
            " ".join(paragraph.split()[:8]) in " ".join(document["text"].split())
            for paragraph in samples.PARAGRAPHS
        ), name
        assert {"data", "near_attachment"}.isdisjoint(document)
        assert document.get("near_error") is None
        assert ";" not in document["content_type"]
    by_name = dict(zip(READ, documents, strict=True))
    assert [by_name[name]["title"] for name in ("a.docx", "a.html", "a.pdf")] == [samples.TITLE] * 3
    assert by_name["a.pdf"]["content_type"] == "application/pdf"
    match_ids = {match.id for match in similar(store, id=ids[list(READ).index("a.pdf")]).matches}
    assert {
        ids[list(READ).index(name)] for name in ("a.docx", "a.html", "a.odt", "a.rtf", "a.txt")
    } <= match_ids
    assert {check.name: check.verdict for check in doctor(store.url)}["keys"] == "good"


def test_a_text_that_is_longer_than_the_limit_is_cut_and_never_complete(attached):
    longest_text = " ".join(CHAPTERS)[: MAX_UNITS - 2] + "."
    _, documents = attached(
        [
            encoded(text.encode())
            for text in (
                longest_text,
                longest_text + longest_text,
                longest_text + "\U0001f600" * 9,
                "7 " * MAX_UNITS,
            )
        ]
    )
    assert [document["near_status"] for document in documents] == [
        "complete",
        "truncated",
        "truncated",
        "numbers_only",
    ]
    assert [document["text"] for document in documents[:3]] == [
        longest_text,
        longest_text + longest_text[0],
        longest_text,
    ]  # never half a surrogate pair
    for document, signed_text in zip(
        documents, expected([document["text"] for document in documents]), strict=True
    ):
        assert {**signed(document), "near_status": signed_text["near_status"]} == signed_text


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        (samples.pdf(password="secret"), "password"),
        (samples.docx()[:900], "core part"),
        (b"%PDF-1.4\n%%EOF", "root object"),
    ],
    ids=["encrypted", "cut off", "hollow"],
)
def test_a_file_that_cannot_be_read_is_kept_and_marked(attached, file, reason):
    (_, mine), documents = attached(
        [{**encoded(file), "author": "kept"}], {"index": {"_id": "mine"}}, encoded(file)
    )
    for document in documents:
        assert reason in document.pop("near_error")
        assert (document["near_status"], document.get("near_bands"), "data" in document) == (
            "unsigned",
            None,
            False,
        )
    assert documents[0]["author"] == "kept"
    assert (mine, documents[1]["near_family"][:2]) == ("mine", "x:")


def test_what_is_no_file_is_kept_and_marked(attached):
    _, documents = attached([{"data": "not base64!"}, {"data": 5}, {"data": {"of": "others"}}])
    assert [document["near_status"] for document in documents] == ["unsigned"] * 3
    assert len({document["near_family"] for document in documents}) == 3


def test_documents_without_a_file_are_signed_by_their_text(attached):
    _, documents = attached(
        [
            {"text": TEXT},
            {"text": TEXT, "data": None},
            {"text": TEXT, "near_attachment": {"content": "forged"}},
        ]
    )
    assert [signed(document) for document in documents] == expected([TEXT] * 3)


def test_files_without_text_are_empty_and_families_of_their_own(attached):
    _, documents = attached(
        [
            encoded(file)
            for file in (b"", bytes(range(256)), bytes(range(255)), samples.formats()["a.zip"])
        ]
    )
    assert [document["near_status"] for document in documents] == ["empty"] * 4
    assert len({document["near_family"] for document in documents}) == 4


def test_title_and_type_of_the_client_stay(attached):
    own = {"title": "Mine", "content_type": "application/x-mine", "text": "replaced"}
    _, (document, bare) = attached([{**own, **encoded(samples.docx())}, {**own, **encoded(b"")}])
    assert (document["title"], document["content_type"], document["text"]) == (
        "Mine",
        "application/x-mine",
        TEXT,
    )
    assert signed(bare)["near_exact"] == expected(["replaced"])[0]["near_exact"]


def test_an_index_may_have_it_as_its_default(opensearch_index):
    store, index, server = opensearch_index
    require_attachments(server)
    install(store)
    store.prepare(DEFAULT)
    good("PUT", f"{server}/{index}/_settings", {"index.default_pipeline": NAME})
    again = [change for change in install(store).changes if change.kind != "plugin"]
    assert {change.action for change in again} == {"unchanged"}
    (id,) = bulk(server, index, [encoded(samples.html())])
    assert store.get([id])[id].status == "complete"
    assert uninstall(store).changes[0].action == "updated"
    (settings,) = (
        entry["settings"]["index"] for entry in good("GET", f"{server}/{index}/_settings").values()
    )
    assert "default_pipeline" not in settings


class WithoutProcessor(Gate):
    """An engine without the plugin: it does not know the processor's name."""

    def refusal(self, request: GateRequest) -> tuple[int, str] | None:
        """Return the engine's answer to a pipeline with a processor that it lacks."""
        lacks = b'"attachment"' in request.body and (
            "_simulate" in request.path or NAME in request.path
        )
        return (400, self.answer) if lacks else None


def test_an_engine_without_the_processor_gets_the_rest(gates, stores, opensearch_url):
    body = json.loads(json.dumps(pipeline(SIGNING)).replace('"attachment"', '"attachment_absent"'))
    refused = call("PUT", f"{opensearch_url}/_ingest/pipeline/{NAME}", body)
    assert refused[0] == 400
    gate = gates(WithoutProcessor, opensearch_url)
    gate.answer = refused[1]["error"]["reason"].replace("_absent", "")
    store, index = stores("opensearch", gate.url)
    planned = install(store, dry_run=True)
    done = install(store)
    assert [change.name for change in planned.changes] == [change.name for change in done.changes]
    assert done.complete
    left_out = {
        change.name: change.detail for change in done.changes if change.action == "left out"
    }
    assert left_out[NAME] == "No processor type exists with name [attachment]"
    (id,) = bulk(opensearch_url, index, [{"text": TEXT}])
    assert store.get([id])[id].status == "complete"
