"""Files sent to a real engine as base64: its Tika reads them, the pipeline signs the text; nothing
is lost.
"""

import base64
import json

import pytest
import samples
from pipelines import bulk, call, expected, good, signed
from servers.proxy import Gate, GateRequest

from indexer.operations.doctor import doctor
from indexer.operations.install import install
from indexer.operations.uninstall import uninstall
from indexer.recipe import DEFAULT
from indexer.searching.similar import similar
from indexer.stores.engine.attachments import pipeline
from indexer.stores.engine.painless import MAX_UNITS

NAME, SIGNING = "nearfold-attachment-default_v1", "nearfold-default_v1"
TEXT = "\n".join(samples.PARAGRAPHS)
READ = {**samples.formats(), "a.txt": TEXT.encode(), "utf16.txt": TEXT.encode("utf-16")}
for raw in ("a.eml", "a.zip"):  # the engine's Tika neither decodes mail nor looks into archives
    READ.pop(raw)
CHAPTERS = [f"{number}. {' '.join(samples.PARAGRAPHS)}" for number in range(4_000)]


def encoded(file):
    return {"data": base64.b64encode(file).decode()}


@pytest.fixture
def attached(there):
    """Send documents through the installed pipeline; ids and what is stored."""
    store, index, server = there
    install(store)

    def send(documents, *lines):
        ids = bulk(server, index, documents, *lines, pipeline=NAME)
        return ids, [
            one["_source"] for one in good("POST", f"{server}/{index}/_mget", {"ids": ids})["docs"]
        ]

    return send


def test_files_of_every_format_get_the_keys_of_the_text_that_the_engine_reads(attached, there):
    store = there[0]
    ids, made = attached([encoded(file) for file in READ.values()])
    keys = [signed(one) for one in made]
    assert keys == expected([one["text"] for one in made])
    assert {one["near_status"] for one in keys} == {"complete"}
    for name, one in zip(READ, made, strict=True):
        assert all(
            " ".join(paragraph.split()[:8]) in " ".join(one["text"].split())
            for paragraph in samples.PARAGRAPHS
        ), name
        assert {"data", "near_attachment"}.isdisjoint(one)
        assert one.get("near_error") is None
        assert ";" not in one["content_type"]
    by_name = dict(zip(READ, made, strict=True))
    assert [by_name[name]["title"] for name in ("a.docx", "a.html", "a.pdf")] == [samples.TITLE] * 3
    assert by_name["a.pdf"]["content_type"] == "application/pdf"
    found = {match.id for match in similar(store, id=ids[list(READ).index("a.pdf")]).matches}
    assert {
        ids[list(READ).index(name)] for name in ("a.docx", "a.html", "a.odt", "a.rtf", "a.txt")
    } <= found
    assert {check.name: check.verdict for check in doctor(store.url)}["keys"] == "good"


def test_a_text_that_is_longer_than_the_limit_is_cut_and_never_complete(attached):
    whole = " ".join(CHAPTERS)[: MAX_UNITS - 2] + "."
    _, made = attached(
        [
            encoded(text.encode())
            for text in (whole, whole + whole, whole + "\U0001f600" * 9, "7 " * MAX_UNITS)
        ]
    )
    assert [one["near_status"] for one in made] == [
        "complete",
        "truncated",
        "truncated",
        "numbers_only",
    ]
    assert [one["text"] for one in made[:3]] == [
        whole,
        whole + whole[0],
        whole,
    ]  # never half a surrogate pair
    for one, wanted in zip(made, expected([one["text"] for one in made]), strict=True):
        assert {**signed(one), "near_status": wanted["near_status"]} == wanted


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
    (_, mine), made = attached(
        [{**encoded(file), "author": "kept"}], {"index": {"_id": "mine"}}, encoded(file)
    )
    for one in made:
        assert reason in one.pop("near_error")
        assert (one["near_status"], one.get("near_bands"), "data" in one) == (
            "unsigned",
            None,
            False,
        )
    assert made[0]["author"] == "kept"
    assert (mine, made[1]["near_family"]) == ("mine", "mine")


def test_what_is_no_file_is_kept_and_marked(attached):
    _, made = attached([{"data": "not base64!"}, {"data": 5}, {"data": {"of": "others"}}])
    assert [one["near_status"] for one in made] == ["unsigned"] * 3
    assert len({one["near_family"] for one in made}) == 3


def test_documents_without_a_file_are_signed_by_their_text(attached):
    _, made = attached(
        [
            {"text": TEXT},
            {"text": TEXT, "data": None},
            {"text": TEXT, "near_attachment": {"content": "forged"}},
        ]
    )
    assert [signed(one) for one in made] == expected([TEXT] * 3)


def test_files_without_text_are_empty_and_families_of_their_own(attached):
    _, made = attached(
        [
            encoded(file)
            for file in (b"", bytes(range(256)), bytes(range(255)), samples.formats()["a.zip"])
        ]
    )
    assert [one["near_status"] for one in made] == ["empty"] * 4
    assert len({one["near_family"] for one in made}) == 4


def test_title_and_type_of_the_client_stay(attached):
    own = {"title": "Mine", "content_type": "application/x-mine", "text": "replaced"}
    _, (one, bare) = attached([{**own, **encoded(samples.docx())}, {**own, **encoded(b"")}])
    assert (one["title"], one["content_type"], one["text"]) == ("Mine", "application/x-mine", TEXT)
    assert signed(bare)["near_exact"] == expected(["replaced"])[0]["near_exact"]


def test_an_index_may_have_it_as_its_default(there):
    store, index, server = there
    install(store)
    store.prepare(DEFAULT)
    good("PUT", f"{server}/{index}/_settings", {"index.default_pipeline": NAME})
    assert {change.action for change in install(store).changes} == {"unchanged"}
    (id,) = bulk(server, index, [encoded(samples.html())])
    assert store.get([id])[id].status == "complete"
    assert uninstall(store).changes[0].action == "updated"
    (settings,) = (
        one["settings"]["index"] for one in good("GET", f"{server}/{index}/_settings").values()
    )
    assert "default_pipeline" not in settings


class WithoutProcessor(Gate):
    """The engine as it is without its plugin: the name of the processor is not known to it."""

    def refusal(self, asked: GateRequest) -> tuple[int, str] | None:
        """What the engine answers to a pipeline with a processor that it lacks."""
        lacks = b'"attachment"' in asked.body and ("_simulate" in asked.path or NAME in asked.path)
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
    assert planned == done
    assert done.complete
    left = [change for change in done.changes if change.action == "left out"]
    assert [(change.name, change.detail) for change in left] == [
        (NAME, "No processor type exists with name [attachment]")
    ]
    (id,) = bulk(opensearch_url, index, [{"text": TEXT}])
    assert store.get([id])[id].status == "complete"
