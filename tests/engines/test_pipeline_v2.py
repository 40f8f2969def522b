"""The ingest pipelines of `default_v2` and `default_v3` on a real engine compute what `fingerprint`
computes.
"""

import base64
import json
import random
import secrets
from pathlib import Path

import pytest
from pipelines import call, check_agreement, expected, good, installed_pipeline, signed, simulated
from test_pipeline import CASES, FOX

from indexer.comparing.measures import estimate
from indexer.fingerprinting.fingerprint import fingerprint, shorten
from indexer.fingerprinting.keys import pack_slots, signed64
from indexer.jobs.install import install, uninstall
from indexer.recipe import DEFAULT_V1, DEFAULT_V2, DEFAULT_V3
from indexer.searching.similar import SimilarOptions, similar
from indexer.stores import open_store
from indexer.stores.engine.ingest_pipeline import MAX_UNITS

pytestmark = pytest.mark.engines
TESTS = Path(__file__).parent.parent
BETWEEN = [
    "-\n",
    "- \t\r\n  ",
    "-\n\n",
    "-\r\r",
    "\u2010\n",
    " ",
    "",
    "--\n",
    "-\u200b\n",
    "。",
    "_",
]


@pytest.fixture(scope="module", params=["opensearch", "elasticsearch"])
def server(request):
    return request.getfixturevalue(f"{request.param}_url")


@pytest.fixture(scope="module", params=[DEFAULT_V2, DEFAULT_V3], ids=lambda recipe: recipe.name)
def recipe(request):
    return request.param


@pytest.fixture(scope="module")
def signer(server, recipe):
    """A server, the name of a pipeline on it, and its recipe."""
    with installed_pipeline(server, recipe) as name:
        yield server, name, recipe


def agree(signer, texts):
    """The pipeline signs texts as `fingerprint` does."""
    server, name, recipe = signer
    check_agreement(server, name, texts, recipe)


@pytest.mark.parametrize(
    "recipe", [DEFAULT_V1, DEFAULT_V2, DEFAULT_V3], ids=lambda recipe: recipe.name, indirect=True
)
def test_golden_vectors(signer):
    """Against the file itself rather than against this machine's `fingerprint`."""
    *pipeline, recipe = signer
    golden = json.loads((TESTS / f"golden/{recipe.name}.json").read_text(encoding="ascii"))
    cases = json.loads((TESTS / "golden/texts.json").read_text(encoding="ascii"))
    texts = {
        case["name"]: case["text"] * case.get("times", 1)
        for case in cases
        if case["name"] in golden and not case.get("settings")
    }
    assert len(texts) > 50
    documents = simulated(*pipeline, [{"text": text} for text in texts.values()])
    for name, document in zip(texts, documents, strict=True):
        vector = golden[name]
        packed = vector["minhash"] and base64.b64encode(bytes.fromhex(vector["minhash"])).decode()
        assert document.get("near_minhash") == packed, name
        assert document.get("near_bands", []) == vector["bands"], name
        assert document["near_exact"] == shorten(vector["exact"]), name
        for field in ("status", "words", "chars"):
            assert document[f"near_{field}"] == vector[field], name
        bits = vector["simhash"] and signed64(int(vector["simhash"], 16))
        assert document.get("near_simhash") == bits, name
        assert document.get("near_blocks", []) == vector["blocks"], name


@pytest.mark.parametrize(
    ("recipe", "around"),
    [
        pytest.param(DEFAULT_V2, "e", id="default_v2-after a letter", marks=pytest.mark.slow),
        pytest.param(DEFAULT_V2, "近", id="default_v2-after Han", marks=pytest.mark.slow),
        pytest.param(DEFAULT_V3, "e", id="default_v3-after a letter"),
        pytest.param(DEFAULT_V3, "近", id="default_v3-after Han", marks=pytest.mark.slow),
    ],
    indirect=["recipe"],
)
def test_every_code_point(signer, around):
    """Each between letters, and at a line end behind a hyphen."""
    codes = [*range(0xD800), *range(0xE000, 0x110000)]
    texts = [
        " ".join(
            f"{around}{chr(code)}x {around}-\n{chr(code)}" for code in codes[start : start + 4000]
        )
        for start in range(0, len(codes), 4000)
    ]
    for start in range(0, len(texts), 40):
        agree(signer, texts[start : start + 40])


def test_cases_of_our_own(signer):
    around = [f"a{between}b 近{between}似 é{between}1" for between in BETWEEN]
    quoted = [f"> {FOX},\n> {FOX.upper()}!\n| {FOX} |" * times for times in (1, 2, 40)]
    agree(signer, [*CASES, *(f"{FOX} {case} {FOX}" for case in CASES), *around, *quoted])


def test_signs_of_value(signer):
    parts = [*"-+<=>#%$€°× a5\n近", "\u2212", "\u2013", "-\n", "\u0338"]
    chance = random.Random(9)
    agree(signer, [FOX + "".join(chance.choices(parts, k=60)) + FOX for _ in range(200)])


def test_texts_of_every_size(signer):
    chance = random.Random(7)
    words = [f"{chance.getrandbits(chance.choice([8, 16, 40])):x}" for _ in range(90_000)]
    joined = " ".join(words)
    texts = [joined[:size] for size in (1, 5, 12, 40, 255, 514, 5_000, 70_000, MAX_UNITS)]
    agree(
        signer,
        [*texts, "ab " * 30_000, "x" * MAX_UNITS, "ß" * 100_000, "近似" * 20_000, "- " * 90_000],
    )


def test_a_signature_of_another_recipe_does_not_survive(signer):
    stale = {"near_simhash": 1, "near_blocks": ["00aa"], "near_minhash": "AAAA", "near_rare": ["x"]}
    *pipeline, recipe = signer
    (document,) = simulated(*pipeline, [{"text": FOX, **stale}])
    assert signed(document) == expected([FOX], recipe)[0]


def test_an_installed_index_answers_and_scores(opensearch_url, recipe):
    index = f"nearfold-test-{secrets.token_hex(6)}"
    store = open_store(f"opensearch://{opensearch_url.partition('://')[2]}/{index}?replicas=0")
    install(store, recipe)
    texts = {
        "same": f"> {FOX}.",
        "near": FOX.replace("lazy", "idle"),
        "other": "Ferries leave the harbour at eight in the morning and at six in the evening",
    }
    lines = [
        part for id, text in texts.items() for part in ({"index": {"_id": id}}, {"text": text})
    ]
    try:
        good("POST", f"{opensearch_url}/{index}/_bulk?refresh=true", lines)
        assert store.stored_recipe() == recipe
        matches = similar(store, FOX, SimilarOptions(threshold=0.3)).matches
        assert [match.id for match in matches] == ["same", "near"]
        query = fingerprint(FOX, recipe)
        if recipe.simhash:
            bits = similar(store, FOX, SimilarOptions(threshold=0.9, measure="hamming")).matches
            assert [(match.id, match.similarity) for match in bits] == [("same", 1.0)]
        minhash = base64.b64encode(pack_slots(query.minhash)).decode()
        script = {"id": "nearfold-minhash8-v1", "params": {"minhash": minhash}}
        body = {"query": {"script_score": {"query": {"match_all": {}}, "script": script}}}
        hits = good("POST", f"{opensearch_url}/{index}/_search", body)["hits"]["hits"]
        assert {hit["_id"]: hit["_score"] for hit in hits} == {
            id: pytest.approx(
                estimate(query.minhash, fingerprint(text, recipe).minhash, 8).similarity
            )
            for id, text in texts.items()
        }
    finally:
        call("DELETE", f"{opensearch_url}/{index}")
        uninstall(store, recipe)
        store.close()
