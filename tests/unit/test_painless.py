"""The signing script without a server: its tables, its size, and that its version changes with
it.
"""

import dataclasses
import hashlib
import json

import numpy as np
import pytest

from indexer.errors import UsageError
from indexer.fingerprinting.normalise import END, SEPARATOR, codepoint_classes, to_lower
from indexer.recipe import DEFAULT_V1, DEFAULT_V3, recipe_named
from indexer.stores.engine import asset_bodies, ingest_pipeline

# A change of the scripts or tables is a new version.
SIGNING, ATTACHING = {11: "1e369aae1a6a6217"}, {7: "a217631ce7998f5f"}


def read(pages, cells):
    """Return the table that two strings encode, entry by entry as the script reads it."""
    numbers = np.array([ord(page) - 48 for page in pages])
    blocks = np.array([ord(cell) for cell in cells]).reshape(-1, 128)
    return blocks[numbers].ravel()


def test_tables_say_of_every_code_point_what_the_pinned_ones_say():
    tables = ingest_pipeline.tables(DEFAULT_V1)
    bits = codepoint_classes() % SEPARATOR
    assert np.array_equal(read(tables["pages"], tables["cells"]) - 48, bits)
    codes = np.arange(END)
    low = read(tables["low_pages"], tables["low_cells"])
    assert np.array_equal(np.where(low == 32, codes, (codes & ~0xFFFF) + low), to_lower())


def test_tables_are_text_that_json_can_carry():
    for table in ingest_pipeline.tables(DEFAULT_V1).values():
        assert json.loads(json.dumps(table).encode()) == table.encode().decode()


def test_the_source_fits_an_inline_script():
    wide = dataclasses.replace(DEFAULT_V1, width=6, slots=1024)
    for recipe in (DEFAULT_V1, wide, DEFAULT_V3, recipe_named("simhash-doc-v6")):
        source = ingest_pipeline.fingerprint_script(recipe)
        assert len(source.encode()) < 65_535 // 3
        assert "$" not in source


@pytest.mark.parametrize(
    ("body", "version"),
    [
        (ingest_pipeline.pipeline(DEFAULT_V1), SIGNING),
        (asset_bodies.pipeline("nearfold-default_v1", DEFAULT_V1), ATTACHING),
    ],
    ids=["signing", "attaching"],
)
def test_a_version_names_one_pipeline(body, version):
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:16]
    assert {body["version"]: digest} == version


def test_numbers_are_signed_decimals():
    source = ingest_pipeline.fingerprint_script(DEFAULT_V1)
    assert "-7046029254386353131L" in source
    assert "0x" not in source


@pytest.mark.parametrize("name", ["simhash-doc", "ws:norm-html:sha1:128", "clauses"])
def test_other_recipes_are_refused_with_the_way_forward(name):
    with pytest.raises(UsageError, match="nearfold reindex --recipe default_v3"):
        ingest_pipeline.pipeline(recipe_named(name))
