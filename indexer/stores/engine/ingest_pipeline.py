"""The ingest pipeline that fingerprints documents inside a cluster, made from the recipe.

The templates are `mappings/sign.painless` and `mappings/mark.painless`; numbers, sizes and Unicode
tables are those that Python uses. The scripts compute the same bits as `fingerprint`; tests prove
it on a real engine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from string import Template
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer import mappings
from indexer.errors import UsageError
from indexer.fingerprinting import keys
from indexer.fingerprinting.hashing import CODE_BITS, GAMMA, GRAM_MULTIPLIER, MIX_ONE, MIX_TWO
from indexer.fingerprinting.keys import signed64
from indexer.fingerprinting.normalise import (
    BLANK,
    END,
    IDENTIFIER_SCHEMES,
    IGNORABLE,
    KATAKANA,
    LETTER,
    MARK,
    MAX_NONSTARTERS,
    NONSTARTER,
    SEPARATOR,
    SPACING_MARK,
    SYMBOLS,
    UNASSIGNED,
    UNSPACED,
    WORD,
    WORDLESS,
    categories,
    codepoint_classes,
    to_lower,
)
from indexer.fingerprinting.simhash import START
from indexer.recipe import DEFAULT, Recipe
from indexer.stores.engine.search_bodies import Body, index_body
from indexer.stores.fields import FIELDS, OF_GROUPS

MAX_UNITS = 500_000
VERSION = 11
TEXT = "text"  # the field of texts unless another one is named
TEXT_FIELD = "near_text_field"  # names the field of a document whose text is in another one
_BLOCK = 128
_ZERO = 48  # tables are printable: entry n is the character n places after the digit 0
_UNCHANGED = 32
_SECTION = "//# "
_MAX_STEPS = 1_000  # by chance a search of a table that is half empty ends within a hundred
_LANES = 0x0101010101010101
_FAMILIES = OF_GROUPS[1:]  # without the group itself, which the script makes
# Null rather than absent where the id is unknown, for the engine may merge what comes out into a
# document that has them.
_MERGED = (
    "near_minhash", "near_simhash", "near_bands", "near_blocks",
    "near_error", "near_source", "near_extractor", "near_raw", "near_file",
    *_FAMILIES,
)  # fmt: skip
# Values are copied by `convert`: a template would need the engine's module lang-mustache.
_REASON = {"field": "_ingest.on_failure_message", "target_field": "near_error"}


def pipeline(recipe: Recipe = DEFAULT, field: str = TEXT, limit: int = MAX_UNITS) -> Body:
    """Return the body of the ingest pipeline that fingerprints `field`.

    It reads up to `limit` UTF-16 units of the text and of its normal form. A dotted name that no
    field has is a path into objects. A longer text, or one whose fingerprinting fails, is
    marked `unsigned` and keeps no part of a signature. A document that says it is `truncated` stays
    so. Raises `UsageError` for a recipe that the scripts cannot compute.
    """
    _check(recipe)
    return {
        "description": (
            f"nearfold {recipe.name} ({recipe.id}), version {VERSION}: "
            f"near-duplicate keys of `{field}`"
        ),
        "version": VERSION,
        "processors": [
            script(
                fingerprint_script(recipe, limit),
                {
                    **_params(field),
                    "families": list(_FAMILIES),
                    **tables(recipe),
                    **_token_params(recipe),
                },
            )
        ],
        "on_failure": mark_unsigned(recipe, field),
    }


def mark_unsigned(recipe: Recipe, field: str = TEXT) -> list[Body]:
    """Return the processors that mark a document `unsigned`, with the reason."""
    mark = Template(mappings.read("mark.painless")).substitute(recipe=recipe.id)
    marking = script(mark, _params(field))
    marking["script"]["on_failure"] = _mark_without_script(recipe, field)
    return [marking, _copy(**_REASON)]


def _mark_without_script(recipe: Recipe, field: str) -> list[Body]:
    """Return the same by processors that copy no document.

    OpenSearch runs no script on a document with an integer beyond 64 bits. The family is named by
    the time of ingestion in nanoseconds.
    """
    elsewhere = {} if field == TEXT else {TEXT_FIELD: field}
    marks: Body = {
        "near_recipe": recipe.id,
        "near_status": "unsigned",
        "near_provisional": True,
        **elsewhere,
    }
    return [
        {"remove": {"field": _fields(), "ignore_missing": True}},
        _copy("_ingest.timestamp", "near_family"),
        {"gsub": {"field": "near_family", "pattern": "^", "replacement": "x:"}},
        _copy("_id", "near_id"),
        *({"set": {"field": name, "value": value}} for name, value in marks.items()),
        _copy(**_REASON),
    ]


def _copy(field: str, target_field: str) -> Body:
    """Return a processor that copies a value as a string, where there is one."""
    copied = {"field": field, "target_field": target_field, "type": "string"}
    return {"convert": {**copied, "ignore_missing": True}}


def script(source: str, params: Body | None = None) -> Body:
    """Return a processor that runs a script."""
    body: Body = {"lang": "painless", "source": source}
    if params:
        body["params"] = params
    return {"script": body}


def _params(field: str) -> Body:
    return {"field": field, "fields": _fields(), "merged": list(_MERGED)}


# the script leaves them
_OF_CLIENTS = [field.in_engine for field in FIELDS if field.is_later]


def _fields() -> list[str]:
    names = index_body()["mappings"]["properties"]
    near = [name for name in names if name.startswith("near_") and name not in _OF_CLIENTS]
    return [*near, TEXT_FIELD]


def fingerprint_script(recipe: Recipe = DEFAULT, limit: int = MAX_UNITS) -> str:
    """Return the source of the script that fingerprints."""
    numbers = {
        "mix_one": MIX_ONE,
        "mix_two": MIX_TWO,
        "gamma": GAMMA,
        "lanes": _LANES,
        "part_mask": (1 << _part(recipe)) - 1,
        "key_mask": (1 << 5 * (recipe.key_digits or 0)) - 1,
    }
    return Template(_of_version(mappings.read("sign.painless"), recipe)).substitute(
        {name: _long(number) for name, number in numbers.items()},
        **{
            name: getattr(recipe, name)
            for name in ("name", "width", "slots", "bands", "rows", "blocks", "key_digits")
        },
        recipe=recipe.id,
        min_features=max(recipe.min_features, 1),
        gram=_gram(recipe.width or 1),
        part=_part(recipe),
        digits=math.ceil(_part(recipe) / 4),
        limit=limit,
        zero=_ZERO,
        steps=_MAX_STEPS,
        code_bits=CODE_BITS,
        nonstarters=MAX_NONSTARTERS,
        unassigned=UNASSIGNED,
        nonstarter=NONSTARTER,
        ignorable=IGNORABLE,
        blank=BLANK,
        wordless=WORDLESS,
        unspaced=UNSPACED,
        word=(WORD | SPACING_MARK) << _CLASS_BITS,
        letter=LETTER << _CLASS_BITS,
        mark=MARK << _CLASS_BITS,
        katakana=KATAKANA << _CLASS_BITS,
        start=START - (1 << 32),
        symbols=" || ".join(f"code == {code}" for code in sorted(map(ord, SYMBOLS))),
    )


def _part(recipe: Recipe) -> int:
    """Return the bits of a block."""
    return 64 // (recipe.blocks or 1)


def _of_version(template: str, recipe: Recipe) -> str:
    """Return the lines for all recipes and those for the recipe's version and sketches.

    A line `//# v1`, `//# v2`, `//# minhash`, `//# doc`, `//# simhash`, `//# blocks`, `//# symbols`
    or `//# all` says for which the lines after it are.
    """
    versions = {"all", "minhash", "v2" if _is_v2(recipe) else "v1"}
    if _is_doc(recipe):
        versions = {"all", "doc"}
    versions |= {"simhash"} if recipe.simhash else set()
    versions |= {"blocks"} if recipe.blocks else set()
    versions |= {"symbols"} if recipe.exact else set()
    lines, is_kept = [], True
    for line in template.splitlines(keepends=True):
        if line.startswith(_SECTION):
            is_kept = line.removeprefix(_SECTION).strip() in versions
        elif is_kept:
            lines.append(line)
    return "".join(lines)


def _is_v2(recipe: Recipe) -> bool:
    return recipe.normaliser == "default_v2"


def _is_doc(recipe: Recipe) -> bool:
    return recipe.features == _DOC_TOKENS


def _gram(width: int) -> str:
    """Return the expression that packs the `width` code points at i, before mixing."""
    parts = [_long(GAMMA)]
    for position in range(width):
        code = f"((long) codes[i + {position}] << {CODE_BITS * (position % 3)})"
        parts.append(f"{code} * {_long(GRAM_MULTIPLIER)}" if position >= 3 else code)
    return " + ".join(parts)


def _long(number: int) -> str:
    """Return a 64-bit number as a decimal literal.

    Some engines reject hexadecimal literals with the highest bit set.
    """
    return f"{signed64(number)}L"


def tables(recipe: Recipe = DEFAULT) -> dict[str, str]:
    """Return the pinned Unicode tables as strings that a script indexes.

    They hold class bits, and the low 16 bits of lower case or a space. `default_v2` gives the bit
    of blanks to all separators.
    """
    codes = np.arange(END, dtype=np.uint32)
    lower = to_lower()
    low = np.where(lower == codes, np.uint32(_UNCHANGED), lower & np.uint32(0xFFFF))
    classes = codepoint_classes()
    bits: NDArray[Any] = classes % SEPARATOR
    if _is_v2(recipe):
        blank = np.uint8(BLANK)
        bits = np.where(classes & SEPARATOR, bits | blank, bits & ~blank)
    if _is_doc(recipe):
        bits = bits | categories().astype(np.uint32) << _CLASS_BITS
    pages, cells = _two_stages(bits + np.uint32(_ZERO))
    low_pages, low_cells = _two_stages(low)
    return {"pages": pages, "cells": cells, "low_pages": low_pages, "low_cells": low_cells}


def _token_params(recipe: Recipe) -> Body:
    """Return the beginnings of identifiers and the masks of tables of a recipe of tokens."""
    if not _is_doc(recipe):
        return {}
    masks = keys.tables(keys.parse_design(recipe.bits or 0, recipe.tables or ""))
    return {
        "names": [f"{name}:" for name in IDENTIFIER_SCHEMES],
        "masks": [signed64(mask) for mask in masks],
    }


def _two_stages(values: NDArray[np.uint32]) -> tuple[str, str]:
    """Return the number of each block of 128 values, and the distinct blocks joined."""
    numbers: dict[bytes, int] = {}
    blocks: list[NDArray[np.uint32]] = []
    pages = []
    for block in values.reshape(-1, _BLOCK):
        number = numbers.setdefault(block.tobytes(), len(blocks))
        if number == len(blocks):
            blocks.append(block)
        pages.append(number + _ZERO)
    return _text(pages), _text(np.concatenate(blocks).tolist())


def _text(codes: Sequence[int]) -> str:
    return "".join(map(chr, codes))


_NEEDED_V1 = {
    "normaliser": "default_v1",
    "features": "chars_v1",
    "minhash": "fss_v1",
    "simhash": "distinct_v1",
}
_NEEDED_V2 = {
    "features": "word_pairs_v1",
    "feature_hash": "word64_v1",
    "minhash": "fss_v1",
    "packed": 8,
}
_BITS = {"simhash": "distinct_v1", "bits": 64, "tables": None}
_DOC_TOKENS = "tokens_v6"
_NEEDED_DOC = {"normaliser": "none", "feature_hash": "jenkins64_v1", "bits": 64, "stop_words": None}
_CLASS_BITS = 7


def unsupported_settings(recipe: Recipe) -> str:
    """Return the settings that the scripts cannot compute, such as `bits = 32`; empty when none.

    A recipe with a secret key is refused whole: who may read pipelines could read the key.
    """
    if recipe.key_variable:
        return (
            "its secret key would be stored in the cluster, "
            "where everybody who may read pipelines could read it"
        )
    if recipe.statistics:
        return "its corpus statistics lie outside the cluster, where no script can read them"
    if recipe.left_out:
        return "its approved passages lie outside the cluster, where no script can find them"
    needed = _NEEDED_V2 if _is_v2(recipe) else _NEEDED_V1
    if _is_doc(recipe):
        needed = _NEEDED_DOC
    elif recipe.simhash:
        needed = {**needed, **_BITS}
    if recipe.exact:
        needed = {**needed, "exact": "symbols_v1"}
    return ", ".join(
        f"{name} = {getattr(recipe, name)}"
        for name, value in needed.items()
        if getattr(recipe, name) != value
    )


def _check(recipe: Recipe) -> None:
    """Raise `UsageError` when the scripts cannot compute the recipe."""
    if unsupported := unsupported_settings(recipe):
        raise UsageError(
            f"no ingest pipeline can compute recipe {recipe.name} ({unsupported}); "
            f"send documents by `nearfold index`, or choose recipe {DEFAULT.name}, by "
            f"`nearfold reindex --recipe {DEFAULT.name}` first where there is an index"
        )
