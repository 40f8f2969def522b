"""A recipe with a secret key signs by the key in the keystore of the node."""

from __future__ import annotations

import base64
from collections.abc import Callable

import pytest
from rest import RequestError, Rest
from servers.with_plugin import SECRET

import indexer

pytestmark = pytest.mark.engines

TEXT = "The ferry to Vega leaves from the northern quay every evening, and dogs travel for free."


@pytest.fixture(scope="module", params=["opensearch", "elasticsearch"])
def engine(request: pytest.FixtureRequest, url_with_plugin: Callable[[str], str]) -> Rest:
    return Rest(url_with_plugin(request.param))


@pytest.mark.parametrize(
    "name", ["default_v3+key:legal", "default_v2+key:legal", "default_v1+key:legal"]
)
def test_sketches_are_keyed(engine: Rest, name: str) -> None:
    engine.create("keyed", {"recipe": name})
    engine.put("keyed", "1", text=TEXT)
    recipe = indexer.recipe_named(name).with_secret(SECRET)
    made = indexer.fingerprint(TEXT, recipe)
    mapping = engine.request("GET", "keyed/_mapping")["keyed"]["mappings"]["properties"]
    near = mapping["text"]["fields"]["near"]
    assert (near["recipe"], near["recipe_id"]) == (name, recipe.id)
    sketch = engine.columns("keyed", "1")[""]
    octets = made.minhash.astype(">u4" if recipe.slot_bytes == 4 else "u1").tobytes()
    assert base64.b64decode(sketch + "=" * (-len(sketch) % 4)) == octets
    query = {"near_duplicate": {"field": "text.near", "like": TEXT}}
    assert [hit["_score"] for hit in engine.search("keyed", query=query)] == [1.0]


def test_the_secret_is_nowhere_to_be_read(engine: Rest) -> None:
    for path in ("_nodes", "_nodes/settings", "_cluster/settings?include_defaults=true"):
        assert SECRET not in str(engine.request("GET", path))


def test_another_key_is_refused(engine: Rest) -> None:
    with pytest.raises(RequestError, match="secret key that the index was made with"):
        engine.create("keyed", {"recipe": "default_v2+key:legal", "recipe_id": "0123456789ab"})
