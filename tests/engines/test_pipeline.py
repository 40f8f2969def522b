"""The ingest pipeline on a real engine computes what `fingerprint` computes, bit for bit, for any
Unicode.
"""

import base64
import bz2
import dataclasses
import json
import random
import secrets
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pipelines import (
    bulk,
    call,
    check_agreement,
    expected,
    good,
    installed_pipeline,
    signed,
    simulated,
    sources,
)

from indexer.comparing.measures import estimate
from indexer.fingerprinting.fingerprint import fingerprint, shorten
from indexer.fingerprinting.hashing import GAMMA, GRAM_MULTIPLIER, MASK, MIX_ONE, MIX_TWO, mix64
from indexer.fingerprinting.keys import pack_slots, signed64
from indexer.fingerprinting.normalise import UNASSIGNED, codepoint_classes
from indexer.grouping.group import group
from indexer.jobs.install import install, uninstall
from indexer.recipe import DEFAULT_V1, DEFAULT_V2, DEFAULT_V3, recipe_named
from indexer.searching.similar import SimilarOptions, similar
from indexer.stores import open_store
from indexer.stores.engine.ingest_pipeline import MAX_UNITS, pipeline

pytestmark = pytest.mark.engines
TESTS = Path(__file__).parent.parent
CONSORTIUM = Path("/usr/share/unicode/NormalizationTest.txt.bz2")
FOX = "The quick brown fox jumps over the lazy dog"
# of UAX #15's kinds: canonical order, composition and its exclusions, Hangul, compatibility,
# barriers
CASES = [
    "e\u0301\u0323", "e\u0323\u0301", "\u1e9b\u0323", "\u0344", "\u0958", "\u2adc",
    "\u1100\u1161\u11a8", "\uac00\u11a8",
    "\uac01\u11a8", "\u212b\u2126", "ﬁ ﬃ ﷺ", "①㍿㌀", "\u0f73\u0f71\u0f72", "\u0cc6\u0cc2\u0cd5",
    "\u1025\u102e",
    "\U0001d15e\U0001d1c0", "\U0002f800\U0002fa1d", "\u0378\u0301", "e\u0378\u0301",
    "\U00011938\U0001e1ae\u0301",
    "e" + "\u0301\u0323" * 45, "e" + "\u0323" * 29 + "\u0301", "a" + "\u0f73" * 31,
    "\u3099" * 61 + "か\u3099",
    "が\u200d\u3099", "-\n", "-\u00ad \t\n-", "- -\r", "\u2010\u200b\r\n", "--\n\n", "ΑΣ ας Σ",
    "İIıẞ", "\U00010400\U0001e900", "Ⅷ Ⓐ ǅ",
    "\ud800", "a\udc00b", "\udc00\ud800", "\ud83d \ude00", "x\ud83d",
    "\x00\x1f\x7f\x85\u2028\u3000", "\u115f\u3164\ufff0",
    "\ufffe\uffff\U0010ffff", "\ue000\U000f0000", "½ ² ٣", "ไทย ภาษา", "カﾞ ｶﾞ", "\u1bca\u0301",
    "🏳\ufe0f\u200d🌈",
]  # fmt: skip


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
RECIPES = [DEFAULT_V1, DEFAULT_V2, DEFAULT_V3]
of_each_recipe = pytest.mark.parametrize(
    "recipe", RECIPES, ids=lambda recipe: recipe.name, indirect=True
)
of_packed_recipes = pytest.mark.parametrize(
    "recipe", RECIPES[1:], ids=lambda recipe: recipe.name, indirect=True
)


@pytest.fixture(scope="module")
def recipe(request):
    return getattr(request, "param", DEFAULT_V1)


@pytest.fixture(scope="module", params=["opensearch", "elasticsearch"])
def signer(request, recipe):
    """A server and the name of a pipeline on it."""
    server = request.getfixturevalue(f"{request.param}_url")
    with installed_pipeline(server, recipe) as name:
        yield server, name


def agree(signer, texts, recipe=DEFAULT_V1):
    """The pipeline signs texts as `fingerprint` does."""
    check_agreement(*signer, texts, recipe)


@of_each_recipe
def test_golden_vectors(signer, recipe):
    """Against the file itself rather than against this machine's `fingerprint`."""
    golden = json.loads((TESTS / f"golden/{recipe.name}.json").read_text(encoding="ascii"))
    cases = json.loads((TESTS / "golden/texts.json").read_text(encoding="ascii"))
    texts = {
        case["name"]: case["text"] * case.get("times", 1)
        for case in cases
        if case["name"] in golden and not case.get("settings")
    }
    assert len(texts) > 50
    documents = simulated(*signer, [{"text": text} for text in texts.values()])
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
        pytest.param(DEFAULT_V1, "{0}", id="alone", marks=pytest.mark.slow),
        pytest.param(DEFAULT_V1, "e{0}", id="after e", marks=pytest.mark.slow),
        pytest.param(DEFAULT_V1, "{0}\u0301", id="before an accent", marks=pytest.mark.slow),
        pytest.param(DEFAULT_V1, "{0}\u1161", id="before a vowel", marks=pytest.mark.slow),
        pytest.param(DEFAULT_V2, "e{0}x e-\n{0}", id="v2 after a letter", marks=pytest.mark.slow),
        pytest.param(DEFAULT_V2, "近{0}x 近-\n{0}", id="v2 after Han", marks=pytest.mark.slow),
        pytest.param(DEFAULT_V3, "e{0}x e-\n{0}", id="v3 after a letter"),
        pytest.param(DEFAULT_V3, "近{0}x 近-\n{0}", id="v3 after Han", marks=pytest.mark.slow),
    ],
    indirect=["recipe"],
)
def test_every_code_point(signer, recipe, around):
    """Assigned or not, private, non-character: each between spaces, beside a letter, a mark, a
    jamo, and at a line end behind a hyphen.
    """
    codes = [*range(0xD800), *range(0xE000, 0x110000)]
    texts = [
        " ".join(around.format(chr(code)) for code in codes[start : start + 4000])
        for start in range(0, len(codes), 4000)
    ]
    for start in range(0, len(texts), 40):
        agree(signer, texts[start : start + 40], recipe)


@of_each_recipe
def test_cases_of_our_own(signer, recipe):
    pairs = (f"{case} and {other}" * 3 for case in CASES for other in CASES[::7])
    within = (f"{FOX} {case} {FOX}" for case in CASES)
    around = [f"a{between}b 近{between}似 é{between}1" for between in BETWEEN]
    quoted = [f"> {FOX},\n> {FOX.upper()}!\n| {FOX} |" * times for times in (1, 2, 40)]
    agree(signer, [*CASES, *pairs, *within, *around, *quoted], recipe)


@of_packed_recipes
def test_signs_of_value(signer, recipe):
    parts = [*"-+<=>#%$€°× a5\n近", "\u2212", "\u2013", "-\n", "\u0338"]
    chance = random.Random(9)
    agree(signer, [FOX + "".join(chance.choices(parts, k=60)) + FOX for _ in range(200)], recipe)


@of_each_recipe
def test_texts_of_every_size(signer, recipe):
    """Around the widths and slots where loops begin and end, up to the longest text that is
    signed.
    """
    chance = random.Random(7)
    words = [f"{chance.getrandbits(chance.choice([8, 16, 40])):x}" for _ in range(110_000)]
    joined = " ".join(words)
    sizes = (1, 3, 4, 5, 11, 12, 13, 40, 255, 256, 259, 260, 514, 5_000, 70_000, MAX_UNITS)
    long = ("x" * MAX_UNITS, "\u00a0" * MAX_UNITS, "- " * 90_000, "ab " * 30_000)
    longer = ("abcdefghijk" * 9_000, "ß" * 100_000, "近似" * 20_000)
    agree(signer, [*(joined[:size] for size in sizes), *long, *longer], recipe)


@of_packed_recipes
def test_a_signature_of_another_recipe_does_not_survive(signer, recipe):
    stale = {"near_simhash": 1, "near_blocks": ["00aa"], "near_minhash": "AAAA", "near_rare": ["x"]}
    (document,) = simulated(*signer, [{"text": FOX, **stale}])
    assert signed(document) == expected([FOX], recipe)[0]


@of_packed_recipes
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


def test_examples(signer):
    files = [*(TESTS.parent / "examples").glob("*.txt"), *(TESTS.parent / "examples").glob("*.md")]
    texts = [file.read_text(encoding="utf-8") for file in files]
    assert len(texts) > 5
    agree(signer, [*texts, *(text * 40 for text in texts)])


@pytest.mark.skipif(
    not CONSORTIUM.exists(), reason="no NormalizationTest of the package unicode-data"
)
def test_cases_of_the_unicode_consortium(signer):
    lines = bz2.decompress(CONSORTIUM.read_bytes()).decode().splitlines()
    columns = [line.split("#")[0].split(";")[:5] for line in lines if line[:1].isalnum()]
    forms = [
        "\n".join("".join(chr(int(code, 16)) for code in form.split()) for form in row)
        for row in columns
    ]
    assert len(forms) > 18_000
    agree(signer, ["\n".join(forms[start : start + 50]) for start in range(0, len(forms), 50)])


ANY = st.text(st.characters(exclude_categories=()), max_size=40)
TRICKY = st.text(st.sampled_from([*"".join(CASES), *"aZ 9.\t\n-"]), max_size=80)


@settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(st.one_of(ANY, TRICKY), min_size=20, max_size=60))
def test_any_text(signer, texts):
    agree(signer, texts)


def test_random_sequences(signer):
    """Long texts of characters that compose, reorder, vanish or separate, more of them than
    hypothesis would try.
    """
    chance = random.Random(13)
    bits = codepoint_classes()
    pools = [np.flatnonzero(bits & bit).tolist() for bit in (1, 2, 4, 8)]
    pools += [
        list(range(0x1100, 0x1200)),
        list(range(0x20, 0x250)),
        list(range(0xAC00, 0xAD00)),
        list(range(0x110000)),
    ]
    texts = [
        "".join(
            chr(chance.choice(chance.choice(pools))) for _ in range(chance.choice([5, 60, 2000]))
        )
        for _ in range(600)
    ]
    agree(signer, texts)


def test_another_recipe_of_the_same_kind(opensearch_url):
    recipe = dataclasses.replace(
        DEFAULT_V1, name="other", width=6, slots=64, bands=8, rows=8, blocks=5, min_features=3
    )
    name, texts = (
        f"nearfold-test-{secrets.token_hex(6)}",
        [*CASES, "The quick brown fox jumps over the lazy dog"],
    )
    good("PUT", f"{opensearch_url}/_ingest/pipeline/{name}", pipeline(recipe))
    try:
        documents = simulated(opensearch_url, name, [{"text": text} for text in texts])
        assert [signed(document) for document in documents] == expected(texts, recipe)
    finally:
        good("DELETE", f"{opensearch_url}/_ingest/pipeline/{name}")


def test_what_is_not_signed_is_marked_and_keeps_nothing_of_a_signature(signer):
    stale = {
        "near_bands": ["00aa"],
        "near_minhash": "AAAA",
        "near_status": "complete",
        "near_cluster": "c",
        "title": "kept",
    }
    documents = [
        {"text": text, **stale}
        for text in ("x" * (MAX_UNITS + 1), "\ufdfa" * (MAX_UNITS // 18 + 1), ["a", 1], {"a": 1})
    ]
    answers = simulated(*signer, documents)
    reasons = ["500001 UTF-16 units", "normal form of the text", "no string", "no string"]
    for document, answer, reason in zip(documents, answers, reasons, strict=True):
        assert answer["text"] == document["text"]
        assert answer["title"] == "kept"
        assert reason in answer.pop("near_error")
        assert signed(answer) == {"near_recipe": DEFAULT_V1.id, "near_status": "unsigned"}
        assert answer["near_family"].startswith("x:")


def test_fields_that_a_client_sends_do_not_survive(signer):
    (document,) = simulated(
        *signer,
        [
            {
                "text": "12",
                "near_bands": ["00aa"],
                "near_cluster": "c",
                "near_error": "e",
                "near_raw": "r",
            }
        ],
    )
    assert signed(document) == expected(["12"], DEFAULT_V1)[0]


def test_a_text_that_its_sender_cut_is_not_called_complete(signer):
    text = "The quick brown fox jumps over the lazy dog"
    documents = simulated(
        *signer, [{"text": value, "near_status": "truncated"} for value in (text, "12", "")]
    )
    assert [signed(document) for document in documents] == [
        {**expected([text], DEFAULT_V1)[0], "near_status": "truncated"},
        *expected(["12", ""], DEFAULT_V1),
    ]


def test_no_text_is_an_empty_one(signer):
    documents = simulated(*signer, [{"title": "none"}, {"text": None}, {"text": ""}])
    assert [signed(document) for document in documents] == expected([""] * 3, DEFAULT_V1)


def test_a_list_of_texts_is_one_text_an_element_a_line(signer):
    text = "The quick brown fox jumps over\nthe lazy dog"
    documents = simulated(
        *signer,
        [
            {"text": value}
            for value in (text.split("\n"), [None, *text.split("\n"), None], [], [None])
        ],
    )
    texts = [text, text, "", ""]
    assert [signed(document) for document in documents] == expected(texts, DEFAULT_V1)
    (document,) = simulated(*signer, [{"text": ["x" * (MAX_UNITS // 2)] * 2}])
    assert "500001 UTF-16 units" in document["near_error"]


def test_hostile_runs_are_signed_in_time(signer):
    """Marks in the wrong order, hyphens before blanks, long expansions: the work grows with the
    length alone.
    """
    runs = [
        "\u0301\u0323",
        "\u0f73\u0301",
        "e\u0323\u0301",
        "\u0378\u0301",
        "-",
        "- ",
        "-\u200b",
        "\u1161",
        "\u0344",
    ]
    texts = [("é" + run * (100_000 // len(run)) + "\n") for run in runs]
    agree(signer, [*texts, "-" + " " * (MAX_UNITS - 1), "\ufdfa" * (MAX_UNITS // 18)])


def test_documents_without_text_or_signature_are_never_one_family(signer):
    server, name = signer
    index = f"nearfold-test-{secrets.token_hex(6)}"
    documents = [
        {"title": "a"},
        {"title": "b"},
        {"text": " ", "title": "c"},
        {"text": [1]},
        {"text": [2]},
    ]
    lines = [line for document in documents for line in ({"index": {}}, document)]
    try:
        good("POST", f"{server}/{index}/_bulk?pipeline={name}&refresh=true", lines)
        hits = good("GET", f"{server}/{index}/_search")["hits"]["hits"]
        assert len({hit["_source"]["near_family"] for hit in hits}) == len(documents)
        assert {hit["_source"]["near_provisional"] for hit in hits} == {True}
    finally:
        call("DELETE", f"{server}/{index}")


def test_integers_that_no_script_may_see_are_indexed_and_marked(signer):
    """OpenSearch copies a document for a script, and cannot copy an integer beyond 64 bits;
    Elasticsearch can.
    """
    server, name = signer
    index, documents = (
        f"nearfold-test-{secrets.token_hex(6)}",
        [{"text": FOX, "n": 1 << 63}, {"text": FOX, "n": 1 << 63}],
    )
    try:
        good("PUT", f"{server}/{index}", {"mappings": {"dynamic": False}})
        stale = (
            {"index": {"_id": "one"}},
            {"n": [{"m": 1 << 63}], "near_bands": ["00aa"], "near_error": "e"},
        )
        ids = bulk(server, index, documents, *stale, pipeline=name)
        sources = [
            item["_source"]
            for item in good("POST", f"{server}/{index}/_mget", {"ids": ids})["docs"]
        ]
        assert [source["n"] for source in sources[:2]] == [1 << 63] * 2
        assert len({source["near_family"] for source in sources}) == (
            3 if sources[0]["near_status"] == "unsigned" else 2
        )
        assert (sources[2]["near_family"][:2], sources[2]["near_id"]) == ("x:", "one")
        for source in sources:
            if source["near_status"] == "unsigned":
                assert "BigInteger" in source.pop("near_error")
                assert signed(source) == {"near_recipe": DEFAULT_V1.id, "near_status": "unsigned"}
    finally:
        call("DELETE", f"{server}/{index}")


def test_an_update_that_may_insert_leaves_no_part_of_an_older_signature(signer):
    """`doc_as_upsert` sends the part of the document through the pipeline, without its id, and
    merges what comes out.
    """
    server, name = signer
    index = f"nearfold-test-{secrets.token_hex(6)}"

    def updated(part):
        lines = [{"update": {"_id": "one"}}, {"doc": part, "doc_as_upsert": True}]
        assert not good("POST", f"{server}/{index}/_bulk?refresh=true", lines)["errors"]
        return good("GET", f"{server}/{index}/_doc/one")["_source"]

    try:
        good("PUT", f"{server}/{index}", {"settings": {"index.default_pipeline": name}})
        assert signed(updated({"text": FOX})) == expected([FOX], DEFAULT_V1)[0]
        family = {
            "near_family": "two",
            "near_principal": False,
            "near_similarity": 0.9,
            "near_cluster": "two",
        }
        good("POST", f"{server}/{index}/_bulk", [{"update": {"_id": "one"}}, {"doc": family}])
        part = updated({"title": "new"})
        assert (part["title"], part["near_provisional"], part["near_family"][:2]) == (
            "new",
            True,
            "x:",
        )
        assert signed(part) == expected([FOX], DEFAULT_V1)[0]
        assert signed(updated({"text": "12"})) == expected(["12"], DEFAULT_V1)[0]
        marked = updated({"text": True})
        assert "no string" in marked.pop("near_error")
        assert signed(updated({"text": FOX})) == expected([FOX], DEFAULT_V1)[0]
        assert signed(updated({"text": None})) == expected([""], DEFAULT_V1)[0]
    finally:
        call("DELETE", f"{server}/{index}")


def test_a_text_made_to_collide_is_marked_in_time(signer):
    text = colliding(1_500)
    (document,) = simulated(*signer, [{"text": text}])
    assert (document["near_status"], "slow" in document["near_error"]) == ("unsigned", True)
    assert expected([text], DEFAULT_V1)[0]["near_status"] == "complete"


def unmixed(value):
    """Return the value that `mix64` maps to `value`."""
    for shift, factor in ((31, MIX_TWO), (27, MIX_ONE), (30, 1)):
        unshifted = value
        for _ in range(2):
            unshifted = value ^ (unshifted >> shift)
        value = unshifted * pow(factor, -1, 1 << 64) & MASK
    return value


def colliding(count):
    """A text with `count` runs of four code points whose hashes agree in their low 20 bits;
    normalising changes none.
    """
    bits, runs, chance = codepoint_classes(), [], random.Random(3)
    assert unmixed(mix64(12345)) == 12345
    while len(runs) < count:
        last = chance.randrange(0x40000, 0xE0000)
        packed = (unmixed(chance.getrandbits(44) << 20) - GAMMA - GRAM_MULTIPLIER * last) & MASK
        codes = [packed & 0x1FFFFF, packed >> 21 & 0x1FFFFF, packed >> 42, last]
        if all(0x40000 <= code < 0xE0000 and bits[code] & UNASSIGNED for code in codes):
            runs.append("".join(map(chr, codes)))
    return "".join(runs) + "letters"


def test_bulk_with_ids_and_without(signer):
    server, name = signer
    index = f"nearfold-test-{secrets.token_hex(6)}"
    texts = [
        *CASES[:20],
        "",
        "x" * (MAX_UNITS + 1),
        "The quick brown fox jumps over the lazy dog",
        "The quick brown fox jumps over the lazy dog",
    ]
    lines = [line for text in texts for line in ({"index": {}}, {"text": text})]
    try:
        good("PUT", f"{server}/{index}", {"mappings": {"dynamic": False}})
        answer = good(
            "POST",
            f"{server}/{index}/_bulk?pipeline={name}&refresh=true",
            [*lines, {"index": {"_id": "one"}}, {"text": "one"}],
        )
        assert not answer["errors"]
        ids = [item["index"]["_id"] for item in answer["items"]]
        docs = good("POST", f"{server}/{index}/_mget", {"ids": ids})["docs"]
        assert len(docs) == len(texts) + 1
        for doc, text, signed_text in zip(docs, texts, expected(texts, DEFAULT_V1), strict=False):
            if len(text) > MAX_UNITS:
                assert doc["_source"]["near_status"] == "unsigned"
                continue
            assert signed(doc["_source"]) == signed_text
            if text:
                assert doc["_source"]["near_family"] == f"x:{signed_text['near_exact']}"
            assert "near_id" not in doc["_source"]
        assert docs[-1]["_source"] == {
            "text": "one",
            **expected(["one"], DEFAULT_V1)[0],
            "near_family": f"x:{expected(['one'], DEFAULT_V1)[0]['near_exact']}",
            "near_id": "one",
            "near_provisional": True,
        }
    finally:
        call("DELETE", f"{server}/{index}")


ADDRESSES = [
    *("http://пример.рф/путь?ключ=да", "почта@пример.рф", "www.例え.jp/例え文字", "a@b_c.de"),
    *("https://example.org/a?b=c", "me@example.org", "10.1000/182", "10.123/45", "DOI:10.1/x"),
    *("mailto:me", "xmailto:me", "WWW.example.org", "wwww.example", "a://b", "://x", "é://x"),
    *("123e4567-e89b-12d3-a456-426614174000", "0123456789abcdef" * 2, "0123456789abcdef" * 2 + "g"),
    *("me@host", "me@host.", "me@host.de.", "@a.b", "a@b@c.de", "x+y://z", "a.b@c-d.e_f.gh"),
    *(
        "/wiki/Fähre",
        "http://x/例",
        "http://x例え",
        "ไทยカタカナ東京e\u0301",
        "हिन्दी",
        "١٢",
        "a1",
        "1 2",
    ),
]


def test_tokens_of_simhash_doc_are_signed_by_the_engine(server):
    recipe = recipe_named("simhash-doc-v6-loose")
    chance = random.Random(6)
    golden = json.loads((TESTS / "golden/texts.json").read_text(encoding="ascii"))
    texts = [case["text"] * case.get("times", 1) for case in golden]
    texts = [text for text in texts if len(text) < 100_000]
    pieces = [*ADDRESSES, *" \t\n.,;:/(", "word", "Слово", "近似", "ﬁ", "Ａ", "\u200b", "ß"]
    texts += ["".join(chance.choices(pieces, k=chance.randint(1, 30))) for _ in range(200)]
    with installed_pipeline(server, recipe) as pipeline:
        for start in range(0, len(texts), 100):
            check_agreement(server, pipeline, texts[start : start + 100], recipe)


def test_an_index_of_simhash_doc_takes_texts_of_any_client(stores, engine, server):
    store, name = stores(engine, server)
    recipe = recipe_named("simhash-doc-v6")
    install(store, recipe, create=True)
    text = f"{FOX} near http://пример.рф/путь and barks"
    moved = text.replace("путь", "новый")
    ids = bulk(server, name, [{"text": text}, {"text": moved}, {"text": "other words"}])
    found = similar(store, id=ids[0])
    assert [match.id for match in found.matches] == [ids[1]]
    assert found.matches[0].measure == "hamming" and found.matches[0].similarity == 1.0
    group(store)
    families = {document["near_family"] for document in sources(server, name).values()}
    assert len(families) == 2
    uninstall(store, recipe)
