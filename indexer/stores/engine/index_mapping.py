"""The body that creates an index of an engine, and how a mapping differs from it.

OpenSearch and Elasticsearch take the same body but for the type of one field, a parameter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from indexer import mappings
from indexer.fingerprinting.normalise import ranges
from indexer.recipe import Recipe
from indexer.stores.engine.ingest_pipeline import TEXT
from indexer.stores.engine.search_bodies import Body, index_body
from indexer.stores.fields import FIELDS
from indexer.stores.maintenance import Layout
from indexer.stores.query_syntax import is_mark

# Analysis of texts in an engine: its standard tokeniser after a character filter.

# Thai, Lao, Burmese, Khmer, Katakana
APART = """
E00-EFF 1000-109F 1780-17FF 3031-3035 309B-309C 30A0-30FF 31F0-31FF FF66-FF9F
1B000 1B164-1B167
"""
# Word_Break is MidLetter, MidNum, MidNumLet, Single_Quote or ExtendNumLet
JOINERS = """
27 2C 2E 3A 3B 5F B7 37E 387 55F 589 5F4 60C 60D 66C 7F8 2018-2019 2024 2027
202F 203F-2040 2044 2054
FE10 FE13-FE14 FE33-FE34 FE4D-FE50 FE52 FE54-FE55 FF07 FF0C FF0E FF1A-FF1B FF3F
"""
# combining marks that follow Latin letters in decomposed text, and characters without width
MARKS = "AD 300-36F 61C 180B-180E 200B-200F 202A-202E 2060-2064 2066-206F FE00-FE0F FEFF"


def mapping_rules() -> list[str]:
    """Return the rules of a `mapping` character filter.

    They put a space before letters of `APART`, replace joiners by a space, and drop marks.

    >>> mapping_rules()[0]
    '\\\\u0E00 => \\\\u0020\\\\u0E00'
    """
    apart = [
        rf"{_escape(code)} => \u0020{_escape(code)}"
        for code in _codes(APART)
        if not is_mark(chr(code))
    ]
    joiners = [rf"{_escape(code)} => \u0020" for code in _codes(JOINERS)]
    marks = [rf"{_escape(code)} => " for code in _codes(MARKS)]
    return apart + joiners + marks


def _codes(table: str) -> Iterator[int]:
    for first, last in ranges(table):
        yield from range(first, last + 1)


def _escape(code: int) -> str:
    """Return the notation of a character in a rule: `\\u` and four digits a UTF-16 unit."""
    units = chr(code).encode("utf-16-be").hex().upper()
    return "".join(rf"\u{units[start : start + 4]}" for start in range(0, len(units), 4))


FORMAT = 1
# fields that only an index with parts needs
OF_PARTS = tuple(field.in_engine for field in FIELDS if field.of_parts)
# fields that the first indices did not have, and that may be added to them
LATER = (
    "near_error", "near_file", "near_check",
    *(field.in_engine for field in FIELDS if field.is_later),
)  # fmt: skip
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
    layout: Layout = "pipeline",
) -> Body:
    """Return the body that creates an index.

    With `core_analysis`, it uses only the analysis that every distribution of an engine has.
    """
    body: Body = index_body()
    properties = body["mappings"]["properties"] = fields_of(layout)
    properties["metadata"]["type"] = metadata_type
    if layout == "plugin":
        properties[TEXT]["fields"] = {NEAR: near_definition(recipe)}
    analysis = "core" if core_analysis else "words_v2"
    about = {
        "format": FORMAT,
        "analysis": analysis,
        "recipe_id": recipe.id,
        "recipe": recipe.settings,
        "attachments": True,
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


GROUPED = "near_grouped"  # the digest of the text that a document had when it got its group
# what the plugin makes of a text at every write
MADE_BY_PLUGIN = (
    "near_recipe", "near_words", "near_chars", "near_bands", "near_blocks", "near_minhash",
    "near_simhash", "near_terms", "near_rare",
)  # fmt: skip


def fields_of(layout: Layout) -> Body:
    """Return the mapping of every field of an index, but for the sub-field of the plugin."""
    properties: Body = index_body()["mappings"]["properties"]
    if layout == "pipeline":
        return properties
    kept = {name: body for name, body in properties.items() if name not in MADE_BY_PLUGIN}
    return {**kept, GROUPED: {"type": "keyword", "index": False}}


def near_definition(recipe: Recipe) -> Body:
    """Return the mapping of the plugin's sub-field, which refuses another recipe than this."""
    return {"type": NEAR_DUPLICATE, "recipe": recipe.name, "recipe_id": recipe.id}


def with_near(mapping: Mapping[str, Any], field: str, recipe: Recipe) -> Body:
    """Return the properties that add the plugin's sub-field to a field of texts, which may lie in
    objects, and may not be mapped yet.

    >>> from indexer.recipe import DEFAULT
    >>> body = {"properties": {"page": {"properties": {"body": {"type": "keyword"}}}}}
    >>> with_near(body, "page.body", DEFAULT)["page"]["properties"]["body"]["fields"].keys()
    dict_keys(['near'])
    """
    properties = mapping.get("properties", {})
    first, dot, rest = field.partition(".")
    if field not in properties and dot:
        inner = properties.get(first, {})
        of_inner = {**inner.get("properties", {}), **with_near(inner, rest, recipe)}
        return {first: {**inner, "properties": of_inner}}
    definition = properties.get(field, {"type": "text"})
    fields = {**definition.get("fields", {}), NEAR: near_definition(recipe)}
    return {field: {**definition, "fields": fields}}


def properties_of_next(
    mapping: Mapping[str, Any], field: str, recipe: Recipe, layout: Layout
) -> Body:
    """Return the properties of an index without the fields of any layout, and, with the plugin's,
    with its sub-field.

    >>> from indexer.recipe import DEFAULT
    >>> before = {"properties": {"text": {"type": "text"}, "near_bands": {"type": "keyword"}}}
    >>> after = properties_of_next(before, "text", DEFAULT, "plugin")
    >>> near_field({"properties": after})
    'text.near'
    >>> properties_of_next({"properties": after}, "text", DEFAULT, "pipeline")
    {'text': {'type': 'text'}}
    """
    kept = {
        name: definition
        for name, definition in mapping.get("properties", {}).items()
        if name not in (*MADE_BY_PLUGIN, GROUPED)
    }
    if near_field(mapping) is not None:
        kept = _without_near(kept, field)
    return (
        {**kept, **with_near({"properties": kept}, field, recipe)} if layout == "plugin" else kept
    )


def _without_near(properties: Mapping[str, Any], field: str) -> Body:
    """Return the properties without sub-fields of the plugin below a field of texts."""
    first, dot, rest = field.partition(".")
    if field not in properties and dot:
        inner = properties[first]
        return {
            **properties,
            first: {**inner, "properties": _without_near(inner["properties"], rest)},
        }
    definition = properties[field]
    fields = {
        name: subfield
        for name, subfield in definition.get("fields", {}).items()
        if subfield.get("type") != NEAR_DUPLICATE
    }
    plain = {name: value for name, value in definition.items() if name != "fields"}
    return {**properties, field: {**plain, "fields": fields} if fields else plain}


def mapping_problems(mapping: Mapping[str, Any], metadata_type: str) -> tuple[str, ...]:
    """Return why nearfold cannot use a mapping, one sentence a problem; empty where it can.

    An index that `nearfold install` opened to other programs may have fields of theirs, and add
    those of new documents.
    """
    if "nearfold" not in mapping.get("_meta", {}):
        return ("it was not made by nearfold (no `_meta.nearfold`)",)
    expected = fields_of(layout_of(mapping))
    expected["metadata"]["type"] = metadata_type
    actual = mapping.get("properties", {})
    problems = [
        f"field {name} is missing"
        for name in expected
        if name not in actual and name not in OF_PARTS
    ]
    if not (is_shared_mapping(mapping) or has_clients({"mappings": mapping})):
        problems += [] if mapping.get("dynamic") == "strict" else ["it is not strict (`dynamic`)"]
        problems += [f"field {name} is not nearfold's" for name in actual if name not in expected]
    return (*problems, *field_differences(actual, expected))


def field_differences(actual: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[str]:
    """Yield one sentence for each field that is mapped otherwise than expected.

    A field may be mapped as an earlier nearfold did, and may have more `fields`, such as one of
    the engine's plugin, which the engine fills from the same value.
    """
    for name, field in expected.items():
        former = _FORMER.get(name, field)
        if name in actual and actual[name] != former and _own(actual[name], field) != field:
            described = describe_field(actual[name])
            yield f"field {name} is {described} instead of {describe_field(field)}"


def fields_of_others(mapping: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a sentence for each field that has a name of nearfold's, and another mapping."""
    expected = {
        name: field for name, field in fields_of("pipeline").items() if name.startswith("near_")
    }
    return tuple(field_differences(mapping.get("properties", {}), expected))


def _own(actual: Mapping[str, Any], expected: Mapping[str, Any]) -> Body:
    """Return the mapping of a field without `fields` that are not expected."""
    known = expected.get("fields", {})
    fields = {name: field for name, field in actual.get("fields", {}).items() if name in known}
    own = {name: value for name, value in actual.items() if name != "fields"}
    return {**own, "fields": fields} if fields else own


def is_outdated(mapping: Mapping[str, Any]) -> bool:
    """Return whether an index has fields as an earlier nearfold mapped them, in more bytes, or its
    analysis of texts.

    False for an index that other programs share, which keeps their fields and pipelines.
    """
    actual = mapping.get("properties", {})
    about = mapping.get("_meta", {}).get("nearfold", {})
    is_former = any(actual.get(name) == field for name, field in _FORMER.items())
    return (is_former or about.get("analysis") == "words_v1") and not about.get("shared", False)


def later_fields(properties: Mapping[str, Any]) -> Body:
    """Return the mapping of the fields that an index of an earlier nearfold lacks.

    It is empty for an index without any field of ours.

    >>> list(later_fields({"near_family": {"type": "keyword"}}))
    ['near_error', 'near_file', 'near_check', 'near_embedded', 'near_date', 'near_custodian', \
'near_ocr']
    >>> later_fields({"title": {"type": "text"}})
    {}
    """
    if "near_family" not in properties:
        return {}
    present: Body = index_body()["mappings"]["properties"]
    return {name: present[name] for name in LATER if name not in properties}


def describe_field(field: Mapping[str, Any]) -> str:
    """Return a field's type and settings, such as `keyword (doc_values: False)`."""
    kind = str(field.get("type", "object"))
    settings = ", ".join(f"{name}: {value}" for name, value in field.items() if name != "type")
    return f"{kind} ({settings})" if settings else kind


# Facts about an index from its mapping: where texts are, and who writes it.

FIELD_LIMIT = "index.mapping.total_fields.limit"
_FIELDS = 1_000  # the limit where an index does not say
# Types of fields that hold other fields without naming them.
OBJECT_TYPES = ("object", "nested", "flattened", "flat_object")
WRITE_ALIAS = (
    "write_alias"  # in `_meta` of an index that others share: the alias that nearfold made
)


def text_field(mapping: Mapping[str, Any]) -> str | None:
    """Return the field whose texts are fingerprinted in an index or by a template, as its `_meta`
    says; None without `_meta` of nearfold.

    >>> text_field({"_meta": {"nearfold": {"text_field": "body"}}})
    'body'
    >>> text_field({"_meta": {"nearfold": {}}}), text_field({})
    ('text', None)
    """
    facts = mapping.get("_meta", {}).get("nearfold")
    return None if facts is None else facts.get("text_field", TEXT)


NEAR_DUPLICATE = "near_duplicate"  # the type of that sub-field
NEAR = "near"  # its name in an index that nearfold made


def near_field(mapping: Mapping[str, Any]) -> str | None:
    """Return the field of the plugin below the texts of an index with the plugin's layout; None for
    an index with the pipeline's layout, which may have such a field for its searches alone.

    >>> text = {"type": "text", "fields": {"near": {"type": "near_duplicate"}}}
    >>> near_field({"properties": {"text": text}})
    'text.near'
    >>> near_field({"properties": {"text": text, "near_bands": {"type": "keyword"}}}) is None
    True
    """
    if "near_bands" in mapping.get("properties", {}):
        return None
    text = text_field(mapping) or TEXT
    definition = dict(leaf_fields(mapping)).get(text, {})
    for name, subfield in definition.get("fields", {}).items():
        if subfield.get("type") == NEAR_DUPLICATE:
            return f"{text}.{name}"
    return None


def layout_of(mapping: Mapping[str, Any]) -> Layout:
    """Return the layout of an index, as its mapping has it."""
    return "pipeline" if near_field(mapping) is None else "plugin"


def is_shared_mapping(mapping: Mapping[str, Any]) -> bool:
    """Return whether other programs write into an index too, as its `_meta` says.

    False for an index that nearfold created for itself.
    """
    return bool(mapping.get("_meta", {}).get("nearfold", {}).get("shared", False))


CLIENTS = "clients"  # in `_meta`: `install` was run for an index, so clients may change its texts


def has_clients(index: Mapping[str, Any]) -> bool:
    """Return whether clients may change texts in an index, perhaps without their keys.

    True for an index that other programs share, and for one of nearfold's own that `install` was
    run for, or that has a pipeline.

    >>> has_clients({"mappings": {"_meta": {"nearfold": {"clients": True}}}})
    True
    >>> has_clients({"settings": {"index": {"default_pipeline": "_none"}}})
    False
    """
    mapping = index.get("mappings", {})
    facts = mapping.get("_meta", {}).get("nearfold", {})
    pipeline = index.get("settings", {}).get("index", {}).get("default_pipeline", "_none")
    is_open = layout_of(mapping) == "plugin" or pipeline != "_none"
    return is_shared_mapping(mapping) or bool(facts.get(CLIENTS)) or is_open


def changed_meta(mapping: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the `_meta` of a mapping with changes in nearfold's part; None takes a value out.

    >>> changed_meta({"_meta": {"owner": "ann", "nearfold": {"a": 1, "b": 2}}}, {"a": None, "c": 3})
    {'owner': 'ann', 'nearfold': {'b': 2, 'c': 3}}
    """
    meta = mapping["_meta"]
    kept = {name: value for name, value in meta["nearfold"].items() if name not in changes}
    new = {name: value for name, value in changes.items() if value is not None}
    return {**meta, "nearfold": {**kept, **new}}


def write_alias_of(index: str) -> str:
    """Return the alias for writes that an index of this name gets.

    >>> write_alias_of("papers")
    'papers-write'
    """
    return f"{index}-write"


def own_write_alias(name: str, mapping: Mapping[str, Any]) -> str | None:
    """Return the alias for writes that nearfold itself gave to an index of this name; None where
    it gave none, or an earlier nearfold gave one to an index that other programs share.

    >>> own_write_alias("papers", {"_meta": {"nearfold": {}}})
    'papers-write'
    >>> own_write_alias("papers", {"_meta": {"nearfold": {"shared": True}}}) is None
    True
    """
    if not is_shared_mapping(mapping):
        return write_alias_of(name)
    alias: str | None = mapping["_meta"]["nearfold"].get(WRITE_ALIAS)
    return alias


def given_aliases(name: str, index: Mapping[str, Any]) -> dict[str, Any]:
    """Return the aliases of an index, with their settings, but for the one that nearfold itself
    gave to it for writes.

    `index`: its aliases and its mapping, as an engine returns them.
    """
    own_alias = own_write_alias(name, index["mappings"])
    return {alias: body for alias, body in index.get("aliases", {}).items() if alias != own_alias}


def has_own_analysis(mapping: Mapping[str, Any]) -> bool:
    """Return whether nearfold made an index, with its own analysis of texts.

    False for an analysis of what every distribution of an engine has, which keeps `don't` whole.
    `words_v1`, of indices of an earlier nearfold, separates words at characters without width.
    """
    analysis = mapping.get("_meta", {}).get("nearfold", {}).get("analysis")
    return analysis in ("words_v1", "words_v2")


def is_adopted(mapping: Mapping[str, Any]) -> bool:
    """Return whether another program made an index, which got the `near_*` fields later, if at all.

    False where nearfold made it, itself or by its index template.

    >>> is_adopted({}), is_adopted({"_meta": {"nearfold": {"analysis": "words_v1"}}})
    (True, False)
    """
    return "analysis" not in mapping.get("_meta", {}).get("nearfold", {})


def blocks_of(description: Mapping[str, Any]) -> list[str]:
    """Return the settings by which an index refuses writes or changes, sorted.

    >>> blocks_of({"settings": {"index": {"blocks": {"write": "true", "read_only": "false"}}}})
    ['index.blocks.write']
    """
    blocks = description.get("settings", {}).get("index", {}).get("blocks", {})
    return [f"index.blocks.{name}" for name, value in sorted(blocks.items()) if value == "true"]


def field_limit(description: Mapping[str, Any]) -> int:
    """Return how many fields the mapping of an index may have.

    >>> field_limit({"settings": {"index": {"mapping": {"total_fields": {"limit": "50"}}}}})
    50
    >>> field_limit({})
    1000
    """
    settings = description.get("settings", {}).get("index", {}).get("mapping", {})
    return int(settings.get("total_fields", {}).get("limit", _FIELDS))


def fields_left(description: Mapping[str, Any], added: int) -> int:
    """Return how many more fields an index may have once these are added; below 0 if too few.

    >>> fields_left({"mappings": {"properties": {"text": {}}}}, 30)
    969
    """
    return field_limit(description) - count_fields(description.get("mappings", {})) - added


def count_fields(mapping: Mapping[str, Any]) -> int:
    """Return the number of fields of a mapping by which engines limit it: objects, and fields in
    fields, count too.

    >>> count_fields({"properties": {"page": {"properties": {"body": {"type": "text"}}}}})
    2
    >>> count_fields({"properties": {"text": {"type": "text", "fields": {"raw": {}}}}})
    2
    """
    properties = mapping.get("properties", {})
    inner = sum(count_fields(field) + len(field.get("fields", {})) for field in properties.values())
    return len(properties) + inner + len(mapping.get("runtime", {}))


def may_hold(mapping: Mapping[str, Any], field: str) -> bool:
    """Return whether documents of an index may have a text in this field; also True where its
    mapping does not say.

    >>> theirs = {"properties": {"page": {"properties": {"body": {"type": "text"}}}}}
    >>> may_hold(theirs, "page.body"), may_hold(theirs, "body"), may_hold({}, "body")
    (True, False, True)
    >>> may_hold({**theirs, "dynamic": "false"}, "body")
    True
    """
    properties = {
        name: definition
        for name, definition in mapping.get("properties", {}).items()
        if not name.startswith("near_")
    }
    first, dot, rest = field.partition(".")
    if field in properties or not properties or mapping.get("enabled") is False:
        return True
    if dot and first in properties:
        inner = properties[first]
        if "properties" in inner:
            return may_hold(inner, rest)
        return inner.get("type", "object") in OBJECT_TYPES
    return mapping.get("dynamic") in (False, "false", "runtime")


def leaf_fields(mapping: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield path and definition of each field that is not an object with fields of its own."""
    for name, definition in mapping.get("properties", {}).items():
        path = f"{prefix}{name}"
        if "properties" in definition:
            yield from leaf_fields(definition, f"{path}.")
        else:
            yield path, definition
