"""The assets of an installation, without a server."""

import dataclasses
import json

import pytest

from indexer import mappings
from indexer.recipe import DEFAULT
from indexer.stores.engine import asset_bodies, index_mapping

OTHER = dataclasses.replace(DEFAULT, name="other_v1", bands=9, rows=13)
FIELDS = mappings.load("index.json")["mappings"]["properties"]


def template(recipe=DEFAULT, signs=True):
    return asset_bodies.index_template(
        recipe, "papers", index_mapping.new_index(recipe, "flat_object", False, 3, None), signs
    )


def assets():
    return [
        asset_bodies.component_template(DEFAULT),
        asset_bodies.attachment_pipeline(DEFAULT),
        asset_bodies.fingerprint_pipeline(DEFAULT),
        asset_bodies.fold_pipeline(),
        *asset_bodies.score_scripts(),
        template(),
    ]


def test_the_component_maps_our_fields_and_no_others():
    mapping = asset_bodies.component_template(DEFAULT).body["template"]["mappings"]
    assert {*mapping} == {"_meta", "properties"}
    assert all(name.startswith("near_") for name in mapping["properties"])
    assert {"near_family", "near_bands", "near_error"} <= {*mapping["properties"]}


def test_component_and_template_together_are_the_mapping_of_nearfold_shared():
    parts = [
        asset.body["template"]["mappings"]
        for asset in (asset_bodies.component_template(DEFAULT), template())
    ]
    assert {**parts[0]["properties"], **parts[1]["properties"]} == {
        **index_mapping.fields_of("pipeline"),
        "metadata": {"type": "flat_object"},
    }
    assert {part["_meta"]["nearfold"]["recipe_id"] for part in parts} == {DEFAULT.id}
    together = {
        "_meta": parts[1]["_meta"],
        "properties": {**parts[0]["properties"], **parts[1]["properties"]},
        "dynamic": "true",
    }
    theirs = {**together, "properties": {**together["properties"], "author": {"type": "keyword"}}}
    assert index_mapping.mapping_problems(theirs, "flat_object") == ()
    del theirs["properties"]["near_family"]
    assert index_mapping.mapping_problems(theirs, "flat_object") == (
        "field near_family is missing",
    )


def test_the_template_is_of_one_index_and_names_the_pipeline_that_is_there():
    body = template().body
    assert (body["index_patterns"], body["composed_of"]) == (["papers"], ["nearfold-default_v3"])
    assert body["template"]["aliases"] == {"papers-write": {}}
    settings = body["template"]["settings"]["index"]
    assert (settings["default_pipeline"], settings["number_of_shards"]) == (
        asset_bodies.fingerprint_pipeline(DEFAULT).name,
        3,
    )
    assert "default_pipeline" not in template(signs=False).body["template"]["settings"]["index"]


@pytest.mark.parametrize("asset", assets(), ids=lambda asset: f"{asset.kind} {asset.name}")
def test_an_asset_is_recognised_in_what_an_engine_answers(asset):
    field = asset.kind.replace(" ", "_")
    stored = {**asset.body, "created_date_millis": 1}
    answer = (
        {f"{field}s": [{"name": asset.name, field: stored}]}
        if "template" in asset.kind
        else {asset.name: stored}
    )
    if asset.kind == "stored script":
        answer = {"_id": asset.name, "found": True, **asset.body}
    assert asset_bodies.is_same(asset, asset_bodies.body_in(asset, json.loads(json.dumps(answer))))
    assert asset_bodies.body_in(asset, {}) is None
    assert not asset_bodies.is_same(asset, {})


def test_another_recipe_makes_other_assets_under_other_names():
    for make, name in (
        (asset_bodies.component_template, "nearfold-"),
        (asset_bodies.fingerprint_pipeline, "nearfold-"),
        (asset_bodies.attachment_pipeline, "nearfold-attachment-"),
    ):
        assert make(OTHER).name == f"{name}other_v1"
        assert not asset_bodies.is_same(make(OTHER), make(DEFAULT).body)
    assert not asset_bodies.is_same(template(OTHER), template().body)
    assert asset_bodies.recipe_in(template(OTHER).body) == OTHER
    assert asset_bodies.recipe_in({"_meta": {}}) is None


def test_fields_of_others_are_problems_only_where_they_bear_our_names():
    fine = {"near_family": FIELDS["near_family"], "text": {"type": "keyword"}}
    assert (
        asset_bodies.field_problems({"properties": fine}) == asset_bodies.field_problems({}) == ()
    )
    wrong = {"near_bands": {"type": "keyword"}}
    assert asset_bodies.field_problems({"properties": wrong}) == (
        "field near_bands is keyword instead of keyword (doc_values: False)",
    )
