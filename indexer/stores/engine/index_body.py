"""The body that creates an index of an engine, and how a mapping differs from it.

OpenSearch and Elasticsearch take the same body but for the type of one field, a parameter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from indexer import mappings
from indexer.recipe import Recipe
from indexer.stores.engine.analysis import mapping_rules
from indexer.stores.engine.bodies import Body

FORMAT = 1
OF_PARTS = ("near_start", "near_stop")  # fields that only an index with parts needs
# fields that the first indices did not have, and that may be added to them
LATER = ("near_error", "near_file", "near_check")
# how the first indices map fields that nothing searches
_FORMER: Mapping[str, Body] = {
    "near_id": {"type": "keyword"},
    "near_source": {"type": "keyword"},
    "near_simhash": {"type": "long"},
}


def new_index(
    recipe: Recipe,
    metadata_type: str,
    core_analysis: bool,
    shards: int | None,
    replicas: int | None,
) -> Body:
    """Return the body that creates an index.

    With `core_analysis`, it uses only the analysis that every distribution of an engine has.
    """
    body: Body = mappings.load("index.json")
    body["mappings"]["properties"]["metadata"]["type"] = metadata_type
    analysis = "core" if core_analysis else "words_v1"
    about = {
        "format": FORMAT,
        "analysis": analysis,
        "recipe_id": recipe.id,
        "recipe": recipe.settings,
    }
    body["mappings"]["_meta"] = {"nearfold": about}
    if core_analysis:
        body["settings"]["analysis"] = mappings.load("analysis-core.json")
    else:
        body["settings"]["analysis"]["char_filter"]["nearfold_letters"]["mappings"] = (
            mapping_rules()
        )
    settings = body["settings"]["index"]
    if shards is not None:
        settings["number_of_shards"] = shards
    if replicas is not None:
        del settings["auto_expand_replicas"]
        settings["number_of_replicas"] = replicas
    return body


def mapping_problems(mapping: Mapping[str, Any], metadata_type: str) -> tuple[str, ...]:
    """Return why nearfold cannot use a mapping, one sentence a problem; empty where it can.

    An index that `nearfold install` shares with other programs may have fields of theirs.
    """
    if "nearfold" not in mapping.get("_meta", {}):
        return ("it was not made by nearfold (no `_meta.nearfold`)",)
    expected: Body = mappings.load("index.json")["mappings"]["properties"]
    expected["metadata"]["type"] = metadata_type
    actual = mapping.get("properties", {})
    problems = [
        f"field {name} is missing"
        for name in expected
        if name not in actual and name not in OF_PARTS
    ]
    if not mapping["_meta"]["nearfold"].get("shared"):
        problems += [] if mapping.get("dynamic") == "strict" else ["it is not strict (`dynamic`)"]
        problems += [f"field {name} is not nearfold's" for name in actual if name not in expected]
    return (*problems, *field_differences(actual, expected))


def field_differences(actual: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[str]:
    """Yield one sentence for each field that is mapped otherwise than expected.

    A field may be mapped as an earlier nearfold did.
    """
    for name, field in expected.items():
        if name in actual and actual[name] not in (field, _FORMER.get(name)):
            described = describe_field(actual[name])
            yield f"field {name} is {described} instead of {describe_field(field)}"


def is_outdated(mapping: Mapping[str, Any]) -> bool:
    """Return whether an index has fields as an earlier nearfold mapped them, in more bytes.

    False for an index that other programs share, which keeps their fields and pipelines.
    """
    actual = mapping.get("properties", {})
    is_former = any(actual.get(name) == field for name, field in _FORMER.items())
    return is_former and not mapping.get("_meta", {}).get("nearfold", {}).get("shared", False)


def later_fields(properties: Mapping[str, Any]) -> Body:
    """Return the mapping of the fields that an index of an earlier nearfold lacks.

    It is empty for an index without any field of ours.

    >>> list(later_fields({"near_family": {"type": "keyword"}}))
    ['near_error', 'near_file', 'near_check']
    >>> later_fields({"title": {"type": "text"}})
    {}
    """
    if "near_family" not in properties:
        return {}
    present: Body = mappings.load("index.json")["mappings"]["properties"]
    return {name: present[name] for name in LATER if name not in properties}


def describe_field(field: Mapping[str, Any]) -> str:
    """Return a field's type and settings, such as `keyword (doc_values: False)`."""
    kind = str(field.get("type", "object"))
    settings = ", ".join(f"{name}: {value}" for name, value in field.items() if name != "type")
    return f"{kind} ({settings})" if settings else kind
