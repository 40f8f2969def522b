"""Asking a real engine what its ingest pipeline makes of texts, and what it should have made of
them.
"""

import base64
import dataclasses
import json
import urllib.error
import urllib.request

from indexer.recipe import DEFAULT
from indexer.sketch.codec import pack_slots, signed64
from indexer.sketch.fingerprint import fingerprints

OTHER = dataclasses.replace(DEFAULT, name="other_v1", bands=9, rows=13)
NOT_SIGNED = {"text", "near_family", "near_id", "near_provisional"}


def call(method, url, body=None):
    """Status and JSON of one request; a list of objects goes as lines, as `_bulk` wants them."""
    lines = isinstance(body, list)
    data = (
        None
        if body is None
        else "".join(f"{json.dumps(one)}\n" for one in body)
        if lines
        else json.dumps(body)
    )
    kind = {"Content-Type": "application/x-ndjson" if lines else "application/json"}
    request = urllib.request.Request(url, data and data.encode(), kind, method=method)
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


def good(method, url, body=None):
    """The JSON of a request that must succeed."""
    status, answer = call(method, url, body)
    assert 200 <= status < 300, str(answer)[:2000]
    return answer


def bulk(server, index, documents, *actions, pipeline=""):
    """Documents by one bulk request, with ids of the engine; the ids that they got, and those of
    other lines after them.
    """
    lines = [line for document in documents for line in ({"index": {}}, document)]
    answer = good(
        "POST",
        f"{server}/{index}/_bulk?refresh=true{pipeline and f'&pipeline={pipeline}'}",
        [*lines, *actions],
    )
    assert not answer["errors"], str(answer)[:1000]
    return [next(iter(item.values()))["_id"] for item in answer["items"]]


def simulated(server, pipeline, documents):
    """What the pipeline makes of each document."""
    body = {"docs": [{"_source": document} for document in documents]}
    return [
        one["doc"]["_source"]
        for one in good("POST", f"{server}/_ingest/pipeline/{pipeline}/_simulate", body)["docs"]
    ]


def signed(source):
    """The part of a document that is a function of its text; null is nothing."""
    near = {
        name: value
        for name, value in source.items()
        if name.startswith("near_") and value is not None
    }
    return {name: value for name, value in near.items() if name not in NOT_SIGNED}


def expected(texts, recipe=DEFAULT):
    """What `signed` must be for each text."""
    return [wanted(one, recipe) for one in fingerprints(texts, recipe)]


def wanted(one, recipe):
    document = {
        "near_recipe": recipe.id,
        "near_status": one.status,
        "near_exact": one.exact,
        "near_words": one.words,
        "near_chars": one.chars,
    }
    if one.minhash is not None:
        document |= {
            "near_minhash": base64.b64encode(pack_slots(one.minhash)).decode(),
            "near_simhash": signed64(one.simhash),
            "near_bands": list(one.bands),
            "near_blocks": list(one.blocks),
        }
    return document
