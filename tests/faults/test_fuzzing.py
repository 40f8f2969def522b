"""Any strings and bytes as input: an answer, or a nearfold error with a remedy, and never anything
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

from indexer.errors import NearfoldError, UsageError
from indexer.extraction.base import Limits
from indexer.extraction.extractors import document_or_task
from indexer.extraction.gzip_files import unpack
from indexer.extraction.mail_charset import is_mail, mark_charset
from indexer.model import Query
from indexer.recipe import DEFAULT, Recipe, recipe_named
from indexer.searching.cursor import parse_token
from indexer.searching.search import SearchOptions, parse_filters, search
from indexer.sketch.codec import pack_slots, signed64, unpack_slots, unsigned64
from indexer.sketch.fingerprint import define, fingerprint, fingerprints
from indexer.stores import open_store
from indexer.stores.address import parse_address
from indexer.stores.base import Store
from indexer.stores.filters import facet_field, metadata_name
from indexer.text.normalisers import NORMALISERS
from indexer.text.tokenisers import TOKENISERS
from indexer.text.tokens import tokens

EXAMPLES = int(os.environ.get("NEARFOLD_FUZZ", "60"))
fuzzed = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
ANY = st.text(st.characters(exclude_categories=()), max_size=80)


def joined(pieces: str, between: str = "") -> st.SearchStrategy[str]:
    """Return pieces of valid input and anything else, in any order."""
    return st.lists(st.sampled_from(pieces.split()) | ANY, max_size=9).map(between.join)


SPELLED = joined(
    "default default_v1 +key: simhash-doc -v2 -loose :stop- en signature-study clauses : ws norm-html sha1 128 fss b4 "
    "baseline winnowing 0 -1 ٣ 999999999999999999999 2-byte-grams"
)
URLS = joined(
    "opensearch elasticsearch sqlite +https :// / // [::1] [ ] :9200 : @ user host , papers ?shards=1 ? & replicas= "
    "99999999999999999999 %00 % %ff # \\ -write ٣"
)
WORDS = joined('" * ( ) AND NOT NEAR( : ^ - { } text: \x00 ferry 近似 \ud800', " ")
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
def damaged(draw: st.DrawFn) -> tuple[str, bytes]:
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
@given(st.binary(max_size=400) | damaged().map(lambda one: one[1]), NAMES)
@example(b"\x1f\x8b\x08\x00", "a.gz")
def test_the_glue_before_an_extractor_takes_any_bytes(data: bytes, name: str) -> None:
    limits = Limits(chars=1000, bytes=100_000)
    with contextlib.suppress(NearfoldError):
        inner, inner_name = unpack(data, name, limits)
        document_or_task(1, inner, inner_name, limits)
    assert isinstance(is_mail(data, name), bool)


@fuzzed
@given(
    st.binary(max_size=400),
    st.lists(
        st.tuples(st.sampled_from(["Content-Type", "Content-Transfer-Encoding", "Subject"]), ANY)
    ),
)
def test_mail_with_any_headers_and_body_can_be_marked(
    body: bytes, headers: list[tuple[str, str]]
) -> None:
    spelled = b"".join(
        f"{name}: {value}\n".encode("utf-8", "surrogatepass") for name, value in headers
    )
    assert isinstance(mark_charset(spelled + b"\n" + body), bytes)
    assert isinstance(mark_charset(EmailMessage().as_bytes() + body), bytes)


@fuzzed
@given(ANY | st.builds(lambda one, times: one * times, ANY, st.integers(1, 50)))
def test_every_tokeniser_and_normaliser_takes_any_text(text: str) -> None:
    for version in ("v1", "v2", "v3", "v4"):
        assert all(isinstance(one, str) and one for one in tokens(text, version))
    for name, normalised in NORMALISERS.items():
        if "html" not in name and "anyascii" not in name:
            assert isinstance(normalised(text), str)
    for tokenise in TOKENISERS.values():
        assert all(isinstance(one, str) for one in tokenise(text))


@fuzzed
@given(st.lists(st.integers(0, 2**32 - 1), max_size=300), st.integers(0, 2**64 - 1))
def test_the_codec_gives_back_what_it_was_given(slots: list[int], bits: int) -> None:
    assert unpack_slots(pack_slots(np.array(slots, dtype=np.uint32))).tolist() == slots
    assert unsigned64(signed64(bits)) == bits and -(2**63) <= signed64(bits) < 2**63


@fuzzed
@given(ANY, st.binary(max_size=600))
def test_any_bytes_as_text_are_signed_alike_by_kernel_and_definition(
    text: str, data: bytes
) -> None:
    for one in (
        text,
        data.decode("utf-8", "surrogateescape"),
        data.decode("utf-16-le", "surrogatepass") if len(data) % 2 == 0 else "",
    ):
        assert fingerprints([one])[0].bands == define([one])[0].bands


@fuzzed
@given(SPELLED)
@example("5-grams:norm:sha1:" + "9" * 5000)
@example("clauses:" + "9" * 5000)
@example("²:norm:sha1:²")
def test_any_spelling_is_a_recipe_that_signs_or_an_error_that_says_what_is_wrong(
    spelled: str,
) -> None:
    try:
        recipe = recipe_named(spelled)
    except UsageError as error:
        assert str(error)
        return
    assert Recipe(**recipe.settings) == recipe and len(recipe.id) == 12
    if not (
        recipe.statistics
        or recipe.key_variable
        or recipe.stop_words
        or "html" in recipe.normaliser
        or "sents" in recipe.features
    ):
        fingerprint("The ferry to Vega leaves from the northern quay.", recipe)


@fuzzed
@given(URLS)
@example("opensearch://[/docs")
@example("opensearch://host:٣/docs")
@example("opensearch://host/docs?shards=" + "9" * 5000)
def test_any_url_is_an_address_or_an_error_of_ours(url: str) -> None:
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
def test_opening_a_store_reads_nothing_and_fails_in_our_words(scheme: str, rest: str) -> None:
    try:
        open_store(scheme + rest).close()
    except NearfoldError as error:
        assert str(error)


@cache
def store() -> Store:
    return library(
        rows(
            {
                "one": "The ferry to Vega leaves from the northern quay.",
                "two": "近似文書を 検出する AND NOT NEAR",
            }
        )
    )


@fuzzed
@given(WORDS)
@example('"')
@example("\x00")
def test_any_words_are_a_query(words: str) -> None:
    page = search(store(), words, SearchOptions(facets=("content_type",)))
    assert 0 <= page.total <= 2
    assert (
        store().search(Query(words, (("path", words), ("metadata.a." + words, words)))).total == 0
    )


@fuzzed
@given(ANY, ANY)
def test_tokens_of_pages_filters_and_fields_are_read_or_refused_in_our_words(
    one: str, other: str
) -> None:
    for parse in (
        lambda: parse_token(one, other),
        lambda: parse_filters([one]),
        lambda: facet_field(one),
        lambda: metadata_name(one),
    ):
        with contextlib.suppress(UsageError):
            parse()


def test_the_fuzzed_formats_are_formats() -> None:
    assert len(ALL_FORMATS) >= 7 and DEFAULT.is_storable
    assert zipped({"a": b""}).startswith(b"PK")
