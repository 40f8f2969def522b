"""Mappings and settings that `engine_bytes.py` tries beside those that nearfold uses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from indexer.recipe import DEFAULT

Document: TypeAlias = dict[str, Any]
SLOTS_IN_BAND = 3
BANDS = 42
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Index:
    """Settings and mapping of an index, and what is done to a document that it gets."""

    settings: dict[str, Any]
    mapping: dict[str, Any]
    change: Callable[[Document], Document] = lambda document: document


Trial: TypeAlias = Callable[[Index, str], Index | None]


def as_it_is(made: Index, engine: str) -> Index:
    return made


def best_compression(made: Index, engine: str) -> Index:
    return replace(made, settings={**made.settings, "codec": "best_compression"})


def zstd(made: Index, engine: str) -> Index:
    return replace(made, settings={**made.settings, "codec": "zstd_no_dict"})


def derived_keys(made: Index, engine: str) -> Index:
    """Keys that the engine's analysis makes of the slots.

    Base64 spells three slots of a byte, a band, by four characters. The text field copies its value
    into the column: below a binary field, which reads it first, it would index nothing.
    """
    groups = "".join("(.{4})" for _ in range(BANDS))
    spelled = " ".join(f"{_LETTERS[place]}${place + 1}" for place in range(BANDS))
    analysis = dict(made.settings["analysis"])
    analysis["char_filter"] = {
        **analysis.get("char_filter", {}),
        "near_slots": {
            "type": "pattern_replace",
            "pattern": f"^{groups}.*$",
            "replacement": spelled,
        },
    }
    analysis["analyzer"] = {
        **analysis["analyzer"],
        "near_slots": {
            "type": "custom",
            "char_filter": ["near_slots"],
            "tokenizer": "whitespace",
        },
    }
    slots = {
        "type": "text",
        "analyzer": "near_slots",
        "index_options": "docs",
        "norms": False,
        "copy_to": ["near_minhash"],
    }
    properties = {**made.mapping["properties"], "near_slots": slots}

    def change(document: Document) -> Document:
        names = {"near_minhash": "near_slots"}
        kept = without(document, "near_bands")
        return {names.get(name, name): value for name, value in kept.items()}

    return Index(
        {**made.settings, "analysis": analysis},
        {**made.mapping, "properties": properties},
        change,
    )


def derived_keys_compressed(made: Index, engine: str) -> Index:
    return best_compression(derived_keys(made, engine), engine)


def joined_keys(made: Index, engine: str) -> Index:
    """All keys as one text, separated by blanks."""
    joined = {"type": "text", "analyzer": "whitespace", "index_options": "docs", "norms": False}
    properties = {**made.mapping["properties"], "near_bands": joined}

    def change(document: Document) -> Document:
        bands = document.get("near_bands")
        return {**document, "near_bands": " ".join(bands)} if bands else document

    return Index(made.settings, {**made.mapping, "properties": properties}, change)


def unspaced_keys(made: Index, engine: str) -> Index:
    """All keys as one text without blanks, cut into keys by the engine; they have one length."""
    analysis = dict(made.settings["analysis"])
    cut = {"type": "simple_pattern", "pattern": "." * (DEFAULT.key_digits or 0)}
    analysis["tokenizer"] = {**analysis.get("tokenizer", {}), "near_keys": cut}
    by_cut = {"type": "custom", "tokenizer": "near_keys"}
    analysis["analyzer"] = {**analysis["analyzer"], "near_keys": by_cut}
    keys = {"type": "text", "analyzer": "near_keys", "index_options": "docs", "norms": False}
    properties = {**made.mapping["properties"], "near_bands": keys}

    def change(document: Document) -> Document:
        bands = document.get("near_bands")
        return {**document, "near_bands": "".join(bands)} if bands else document

    return Index(
        {**made.settings, "analysis": analysis},
        {**made.mapping, "properties": properties},
        change,
    )


def digest_in_index(made: Index, engine: str) -> Index:
    """The digest of the text without a column."""
    digest = {"type": "keyword", "doc_values": False}
    properties = {**made.mapping["properties"], "near_exact": digest}
    return replace(made, mapping={**made.mapping, "properties": properties})


def unspaced_keys_and_digest(made: Index, engine: str) -> Index:
    return digest_in_index(unspaced_keys(made, engine), engine)


def derived_keys_and_digest(made: Index, engine: str) -> Index:
    return digest_in_index(derived_keys(made, engine), engine)


def excluded(made: Index, engine: str) -> Index:
    """Slots and keys left out of `_source`; a partial update loses them."""
    mapping = {**made.mapping, "_source": {"excludes": ["near_minhash", "near_bands"]}}
    return replace(made, mapping=mapping)


def excluded_unrecovered(made: Index, engine: str) -> Index | None:
    if engine != "opensearch":
        return None
    mapping = {
        **made.mapping,
        "_source": {
            "excludes": ["near_minhash", "near_bands"],
            "recovery_source_enabled": False,
        },
    }
    return replace(made, mapping=mapping)


def rebuilt(made: Index, engine: str) -> Index:
    """No `_source`; the engine makes one from its fields (derived, synthetic)."""
    properties = dict(made.mapping["properties"])
    properties = {
        name: definition
        for name, definition in properties.items()
        if name not in ("near_unsearchable", "metadata")
    }
    for name in ("title", "text"):
        properties[name] = {**properties[name], "store": True}
    for name in ("near_bands", "near_blocks", "near_terms", "near_rare"):
        properties[name] = {"type": "keyword"}
    mapping = {**made.mapping, "properties": properties}
    setting = (
        {"derived_source": {"enabled": True}}
        if engine == "opensearch"
        else {"mapping": {"source": {"mode": "synthetic"}}}
    )
    return Index(
        {**made.settings, **setting},
        mapping,
        lambda document: without(document, "metadata", "near_unsearchable"),
    )


def rebuilt_derived_keys(made: Index, engine: str) -> Index:
    return rebuilt(derived_keys(made, engine), engine)


def without(document: Document, *names: str) -> Document:
    return {name: value for name, value in document.items() if name not in names}


TRIALS: dict[str, Trial] = {
    "as it is": as_it_is,
    "best_compression": best_compression,
    "zstd": zstd,
    "keys as one text": joined_keys,
    "keys as one text without blanks": unspaced_keys,
    "the digest of the text without a column": digest_in_index,
    "the two together": unspaced_keys_and_digest,
    "keys by analysis of the slots": derived_keys,
    "the same, best_compression": derived_keys_compressed,
    "by analysis, and the digest without a column": derived_keys_and_digest,
    "slots and keys out of _source": excluded,
    "the same, without recovery source": excluded_unrecovered,
    "_source rebuilt from fields (derived or synthetic)": rebuilt,
    "the same, keys by analysis of the slots": rebuilt_derived_keys,
}
