"""Any strings and bytes as input: a result, or a nearfold error with a remedy, and never anything
else.

`NEARFOLD_FUZZ=20000 python -m pytest tests/faults/test_fuzzing.py` tries that many of each instead
of the few of every run, and `python -m faults --fuzz 60` (in `tests`) each for so many seconds
under atheris.
"""

from __future__ import annotations

import contextlib
import os
from email.message import EmailMessage
from functools import cache

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sample_library import library, rows
from samples import formats, zipped

from indexer.documents.base import Limits, is_mail
from indexer.documents.extractors import document_or_task, unpack
from indexer.documents.tika import mark_charset
from indexer.errors import NearfoldError, UsageError
from indexer.fingerprinting.fingerprint import define, fingerprint, fingerprints
from indexer.fingerprinting.keys import pack_slots, signed64, unpack_slots, unsigned64
from indexer.fingerprinting.normalise import NORMALISERS
from indexer.fingerprinting.tokens import TOKENISERS, tokens
from indexer.model import Query
from indexer.recipe import DEFAULT, Recipe, recipe_named
from indexer.searching.search import SearchOptions, parse_filters, parse_token, search
from indexer.stores import open_store
from indexer.stores.address import parse_address
from indexer.stores.base import Store
from indexer.stores.filters import facet_field, metadata_name

EXAMPLES = int(os.environ.get("NEARFOLD_FUZZ", "60"))
fuzzed = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=80)


def any_order_of(pieces: str, between: str = "") -> st.SearchStrategy[str]:
    """Return a strategy: pieces of valid input and anything else, in any order."""
    return st.lists(st.sampled_from(pieces.split()) | ANY_TEXT, max_size=9).map(between.join)


RECIPE_NAMES = any_order_of(
    "default default_v1 +key: simhash-doc -v2 -loose :stop- en signature-study clauses : ws "
    "norm-html sha1 128 fss b4 baseline winnowing 0 -1 ٣ 999999999999999999999 2-byte-grams"
)
URLS = any_order_of(
    "opensearch elasticsearch sqlite +https :// / // [::1] [ ] :9200 : @ user host , papers "
    "?shards=1 ? & replicas= 99999999999999999999 %00 % %ff # \\ -write ٣"
)
WORDS = any_order_of('" * ( ) AND NOT NEAR( : ^ - { } text: \x00 ferry 近似 \ud800', " ")
ALL_FORMATS = sorted(formats().items())
NAMES = st.sampled_from(
    [
        "a",
        "a.txt",
        "a.csv",
        "a.eml",
        "a.gz",
        "a.html",
        "a.json",
        "a.xml",
        "a.zip",
        ".",
        "\udcff.txt",
    ]
)


@st.composite
def damaged_documents(draw: st.DrawFn) -> tuple[str, bytes]:
    """Return a document of some format, cut, or with bytes changed, removed, doubled."""
    name, data = draw(st.sampled_from(ALL_FORMATS))
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(0, 60)))
        data = (
            data[:start]
            + draw(st.sampled_from([b"", draw(st.binary(max_size=20)), 2 * data[start:end]]))
            + data[end:]
        )
    return name, data


@fuzzed
@given(st.binary(max_size=400) | damaged_documents().map(lambda document: document[1]), NAMES)
@example(b"\x1f\x8b\x08\x00", "a.gz")
def test_the_steps_before_an_extractor_accept_any_bytes(data: bytes, name: str) -> None:
    limits = Limits(chars=1000, bytes=100_000)
    with contextlib.suppress(NearfoldError):
        inner, inner_name = unpack(data, name, limits)
        document_or_task(1, inner, inner_name, limits)
    assert isinstance(is_mail(data, name), bool)


@fuzzed
@given(
    st.binary(max_size=400),
    st.lists(
        st.tuples(
            st.sampled_from(["Content-Type", "Content-Transfer-Encoding", "Subject"]), ANY_TEXT
        )
    ),
)
def test_marking_a_charset_accepts_any_mail(body: bytes, headers: list[tuple[str, str]]) -> None:
    head = b"".join(
        f"{name}: {value}\n".encode("utf-8", "surrogatepass") for name, value in headers
    )
    assert isinstance(mark_charset(head + b"\n" + body), bytes)
    assert isinstance(mark_charset(EmailMessage().as_bytes() + body), bytes)


@fuzzed
@given(ANY_TEXT | st.builds(lambda text, times: text * times, ANY_TEXT, st.integers(1, 50)))
def test_every_tokeniser_and_normaliser_accepts_any_text(text: str) -> None:
    for version in ("v1", "v2", "v3", "v4", "v5", "v6"):
        assert all(isinstance(token, str) and token for token in tokens(text, version))
    for name, normalised in NORMALISERS.items():
        if "html" not in name and "anyascii" not in name:
            assert isinstance(normalised(text), str)
    for tokenise in TOKENISERS.values():
        assert all(isinstance(token, str) for token in tokenise(text))


@fuzzed
@given(st.lists(st.integers(0, 2**32 - 1), max_size=300), st.integers(0, 2**64 - 1))
def test_the_codec_round_trips(slots: list[int], bits: int) -> None:
    assert unpack_slots(pack_slots(np.array(slots, dtype=np.uint32))).tolist() == slots
    assert unsigned64(signed64(bits)) == bits and -(2**63) <= signed64(bits) < 2**63


@fuzzed
@given(ANY_TEXT, st.binary(max_size=600))
def test_kernel_and_definition_agree_on_any_text(text: str, data: bytes) -> None:
    texts = [text, data.decode("utf-8", "surrogateescape")]
    if len(data) % 2 == 0:
        texts.append(data.decode("utf-16-le", "surrogatepass"))
    for any_text in texts:
        assert fingerprints([any_text])[0].bands == define([any_text])[0].bands


@fuzzed
@given(RECIPE_NAMES)
@example("5-grams:norm:sha1:" + "9" * 5000)
@example("clauses:" + "9" * 5000)
@example("²:norm:sha1:²")
def test_any_recipe_name_gives_a_recipe_or_a_usage_error(
    name: str,
) -> None:
    try:
        recipe = recipe_named(name)
    except UsageError as error:
        assert str(error)
        return
    assert Recipe(**recipe.settings) == recipe and len(recipe.id) == 12
    needs_more = recipe.statistics or recipe.key_variable or recipe.stop_words
    is_slow = "html" in recipe.normaliser or "sents" in recipe.features
    if not needs_more and not is_slow:
        fingerprint("The ferry to Vega leaves from the northern quay.", recipe)


@fuzzed
@given(URLS)
@example("opensearch://[/docs")
@example("opensearch://host:٣/docs")
@example("opensearch://host/docs?shards=" + "9" * 5000)
def test_any_url_gives_an_address_or_a_usage_error(url: str) -> None:
    try:
        result = parse_address(url, {})
    except UsageError as error:
        assert str(error)
    else:
        assert result.hosts and result.index and all(0 < port < 65536 for _, port in result.hosts)


@fuzzed
@given(st.sampled_from(["opensearch", "elasticsearch+https", "postgres", ""]), URLS)
def test_no_error_repeats_the_password_of_a_url(scheme: str, rest: str) -> None:
    with pytest.raises(UsageError) as caught:
        open_store(f"{scheme}://ada:hunter2@{rest}")
    assert "hunter2" not in str(caught.value)


@fuzzed
@given(
    st.sampled_from(["opensearch://", "elasticsearch+https://", "", "sqlite:", "sqlite:///"]), URLS
)
def test_opening_a_store_at_any_url_works_or_raises_a_nearfold_error(
    scheme: str, rest: str
) -> None:
    try:
        open_store(scheme + rest).close()
    except NearfoldError as error:
        assert str(error)


@cache
def store() -> Store:
    english = "The ferry to Vega leaves from the northern quay."
    japanese = "近似文書を 検出する AND NOT NEAR"
    return library(rows({"one": english, "two": japanese}))


@fuzzed
@given(WORDS)
@example('"')
@example("\x00")
def test_any_words_are_a_valid_query(words: str) -> None:
    page = search(store(), words, SearchOptions(facets=("content_type",)))
    assert 0 <= page.total <= 2
    filters = (("path", words), ("metadata.a." + words, words))
    assert store().search(Query(words, filters)).total == 0


@fuzzed
@given(ANY_TEXT, ANY_TEXT)
def test_page_tokens_filters_and_fields_are_parsed_or_refused(text: str, query: str) -> None:
    for parse in (
        lambda: parse_token(text, query),
        lambda: parse_filters([text]),
        lambda: facet_field(text),
        lambda: metadata_name(text),
    ):
        with contextlib.suppress(UsageError):
            parse()


def test_the_fuzzed_formats_are_formats() -> None:
    assert len(ALL_FORMATS) >= 7 and DEFAULT.is_storable
    assert zipped({"a": b""}).startswith(b"PK")
