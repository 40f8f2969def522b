"""Requests to a real engine and its ingest pipelines, and the documents expected from them."""

import base64
import contextlib
import dataclasses
import json
import secrets
import urllib.error
import urllib.request

import pytest

from indexer.fingerprinting.fingerprint import fingerprints, shorten
from indexer.fingerprinting.keys import pack_slots, signed64
from indexer.recipe import DEFAULT
from indexer.stores.engine.ingest_pipeline import pipeline

OTHER = dataclasses.replace(DEFAULT, name="other_v1", bands=40, rows=3)
METADATA = {"opensearch": "flat_object", "elasticsearch": "flattened"}
FERRY = (
    "The harbour ferry leaves at eight in the morning and returns at six in the evening. "
    "Dogs travel free."
)
BREAD = "The price of bread rises every year, and the people who bake it at night earn no more."
NOT_SIGNED = {"text", "near_family", "near_id", "near_provisional"}


def call(method, url, body=None, login=None, tls=None, **more):
    """Return status and JSON of one request; a list of objects, or bytes, is sent as the lines of
    `_bulk`. `login` is the header of a user, `tls` the context of https, `more` other headers.
    """
    kind = "application/x-ndjson" if isinstance(body, (list, bytes)) else "application/json"
    headers = {"Content-Type": kind, **({"Authorization": login} if login else {}), **more}
    request = urllib.request.Request(url, _data(body), headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=120, context=tls) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


def _data(body):
    if body is None or isinstance(body, bytes):
        return body
    if isinstance(body, list):
        return "".join(f"{json.dumps(line)}\n" for line in body).encode()
    return json.dumps(body).encode()


def store_url(engine, server, index):
    """Return the store URL of an index on a server."""
    scheme, address = server.split("://")
    return f"{engine}{'+https' if scheme == 'https' else ''}://{address}/{index}"


def core_analysis(server):
    """Return whether the server has the core analysis alone, without the pattern tokenizer."""
    pattern = {"tokenizer": {"type": "pattern", "pattern": "x"}, "text": "x"}
    return call("POST", f"{server}/_analyze", pattern)[0] == 400


def require_attachments(server):
    """Skip the test where the engine has no attachment processor."""
    for node in good("GET", f"{server}/_nodes/ingest")["nodes"].values():
        if "attachment" not in {processor["type"] for processor in node["ingest"]["processors"]}:
            pytest.skip("this engine has no attachment processor")


def good(method, url, body=None):
    """Return the JSON of a request that must succeed."""
    status, answer = call(method, url, body)
    assert 200 <= status < 300, str(answer)[:2000]
    return answer


def bulk(server, index, documents, *actions, pipeline=""):
    """Send documents in one bulk request; return the ids that the engine gave them, then those of
    the other lines.
    """
    lines = [line for document in documents for line in ({"index": {}}, document)]
    answer = good(
        "POST",
        f"{server}/{index}/_bulk?refresh=true{pipeline and f'&pipeline={pipeline}'}",
        [*lines, *actions],
    )
    assert not answer["errors"], str(answer)[:1000]
    return [next(iter(item.values()))["_id"] for item in answer["items"]]


def sources(server, name):
    """Return the documents by id."""
    hits = good("POST", f"{server}/{name}/_search", {"size": 100})["hits"]["hits"]
    return {hit["_id"]: hit["_source"] for hit in hits}


def shown(server, name, field="near_family"):
    """Return how many hits a client has that collapses on a field."""
    body = {"size": 100, "collapse": {"field": field}}
    return len(good("POST", f"{server}/{name}/_search", body)["hits"]["hits"])


def simulated(server, pipeline, documents):
    """Return each document as the pipeline changes it."""
    body = {"docs": [{"_source": document} for document in documents]}
    answer = good("POST", f"{server}/_ingest/pipeline/{pipeline}/_simulate", body)
    return [item["doc"]["_source"] for item in answer["docs"]]


@contextlib.contextmanager
def installed_pipeline(server, recipe):
    """Yield the name of a pipeline of a recipe on a server."""
    place = f"{server}/_ingest/pipeline/nearfold-test-{secrets.token_hex(6)}"
    good("PUT", place, pipeline(recipe))
    yield place.rpartition("/")[2]
    good("DELETE", place)


def check_agreement(server, name, texts, recipe):
    """Assert that a pipeline signs texts as `fingerprint` does, each as JSON carries it: two halves
    of a surrogate pair side by side are one character there, whatever they were in a Python string.
    """
    texts = json.loads(json.dumps(texts))
    documents = simulated(server, name, [{"text": text} for text in texts])
    for text, document, own in zip(texts, documents, expected(texts, recipe), strict=True):
        assert signed(document) == own, ascii(text[:300])


def signed(source):
    """Return the fields of a document that are a function of its text, without nulls."""
    near = {
        name: value
        for name, value in source.items()
        if name.startswith("near_") and value is not None
    }
    return {name: value for name, value in near.items() if name not in NOT_SIGNED}


def expected(texts, recipe=DEFAULT):
    """Return what `signed` must return for each text."""
    return [near_fields(fingerprint, recipe) for fingerprint in fingerprints(texts, recipe)]


def near_fields(fingerprint, recipe):
    """Return the `near_*` fields of a text with this fingerprint."""
    document = {
        "near_recipe": recipe.id,
        "near_status": fingerprint.status,
        "near_exact": shorten(fingerprint.exact),
        "near_words": fingerprint.words,
        "near_chars": fingerprint.chars,
    }
    if fingerprint.minhash is not None:
        document |= {
            "near_minhash": base64.b64encode(pack_slots(fingerprint.minhash)).decode(),
            "near_bands": list(fingerprint.bands),
        }
    if fingerprint.simhash is not None:
        document |= {
            "near_simhash": signed64(fingerprint.simhash),
            "near_blocks": list(fingerprint.blocks),
        }
    return document


def change_before(monkeypatch, owner, name, changes):
    """Call this function once a client has made changes, the first time."""
    function = getattr(owner, name)

    def late(*arguments):
        monkeypatch.undo()
        changes()
        return function(*arguments)

    monkeypatch.setattr(owner, name, late)
