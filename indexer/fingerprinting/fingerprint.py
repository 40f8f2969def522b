"""The core function: a text and a recipe in, sketches and keys out.

Indexing, look-ups, the ingest pipeline and Spark agree because they all use this definition. The
numpy code below is the specification; the compiled kernel, where installed, computes the same bits
faster.
"""

from __future__ import annotations

import base64
import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from indexer.errors import UsageError
from indexer.fingerprinting import keys
from indexer.fingerprinting.hashing import (
    MAX_GRAM,
    distinct_hashes,
    gram_hashes,
    keyed_gram_hashes,
    keyed_word_features,
    word_features,
)
from indexer.fingerprinting.keys import EmbeddedDigests, stored_bits, stored_sketch
from indexer.fingerprinting.minhash import fast_similarity_sketch
from indexer.fingerprinting.normalise import (
    composed_codes,
    count_words,
    decode,
    fold,
    normalised_codes,
    value_symbols,
    word_starts,
)
from indexer.fingerprinting.simhash import simhash
from indexer.model import NO_GAPS, Fingerprint, Row, Status, with_unread
from indexer.recipe import DEFAULT, DEFAULT_V3, KEYED_HASHES, Recipe, key_words

if TYPE_CHECKING:
    from indexer.fingerprinting.rare_terms import CorpusStatistics


try:
    from indexer import _kernel

    if not hasattr(_kernel, "sign"):
        raise ImportError("the kernel was built from an earlier version")
except ImportError:
    _kernel = None  # type: ignore[assignment]

KERNEL_NORMALISERS = ("default_v1", "default_v2")
WORDS = "word_pairs_v1"
SYMBOLS = "symbols_v1"
PACKED = 8  # bits of a slot that is kept in one byte
MAX_SLOTS = 1024
MAX_BLOCKS = 64


class KeyRows(Sequence[tuple[str, ...]]):
    """The keys of n texts, made from one string a text (a blank between keys) each time that a row
    is read.

    Strings of their own for all keys would take most of the time and memory of fingerprinting short
    texts, and callers that compare sketches read none.
    """

    def __init__(self, texts: list[str]) -> None:
        self._texts = texts

    def __len__(self) -> int:
        return len(self._texts)

    @overload
    def __getitem__(self, position: int) -> tuple[str, ...]: ...

    @overload
    def __getitem__(self, position: slice) -> KeyRows: ...

    def __getitem__(self, position: int | slice) -> tuple[str, ...] | KeyRows:
        if isinstance(position, slice):
            return KeyRows(self._texts[position])
        return tuple(self._texts[position].split())

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        return map(tuple, map(str.split, self._texts))

    def array(self, count: int, width: int) -> NDArray[np.bytes_]:
        """Return the keys of all texts, `count` each of up to `width` characters, as
        `Fingerprints.band_array` does.

        No string is made of each key, which takes as long as to fingerprint a short text.
        """
        shape = len(self._texts), count
        size = count * (width + 1)
        if len(next(filter(None, self._texts), "")) not in (0, size - 1):  # some keys are shorter
            rows = [text.split() or [""] * count for text in self._texts]
            return np.array(rows, f"S{width}").reshape(shape)
        joined = "".join([f"{text} " if text else "\0" * size for text in self._texts])
        whole = np.frombuffer(joined.encode(), f"S{width + 1}")
        return whole.reshape(shape).astype(f"S{width}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """The fingerprints of n texts as arrays, one row a text, in order.

    `minhash`: (n, slots) uint32, or uint8 of a recipe that packs slots; `simhash`: (n,) uint64. A
    recipe of rare terms, or of more than 64 bits, has those in `minhash` as `vector` has them.
    Both are zero, and keys are empty, in rows that are not `complete`, but for those that are
    `numbers_only` and have enough words, if the features are of words. A recipe without
    MinHash has no slots; without SimHash the bits are zero. `words` and `chars`: (n,) int64.
    `exact`: SHA-256 of the normalised text; of a recipe with `symbols_v1` of that, and where it has
    words and symbols of value, a line feed and these (`normalise.value_symbols`).
    """

    recipe: Recipe
    minhash: NDArray[Any]
    simhash: NDArray[np.uint64]
    bands: Sequence[tuple[str, ...]]
    blocks: Sequence[tuple[str, ...]]
    status: list[Status]
    exact: list[str]
    words: NDArray[np.int64]
    chars: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.status)

    def __getitem__(self, position: int) -> Fingerprint:
        """Return the fingerprint of one text."""
        fingerprinted = self.is_signed(position)
        return Fingerprint(
            status=self.status[position],
            minhash=self.minhash[position] if fingerprinted and self.recipe.minhash else None,
            vector=self.minhash[position] if fingerprinted and self.recipe.has_vector else None,
            simhash=self._bits(position) if fingerprinted and self.recipe.simhash else None,
            bands=self.bands[position],
            blocks=self.blocks[position],
            exact=self.exact[position],
            words=int(self.words[position]),
            chars=int(self.chars[position]),
        )

    def band_array(self) -> NDArray[np.bytes_]:
        """Return the band keys of all texts, (texts, keys); they are empty where a text has none.

        All arrays of a recipe can be joined: the number and the width of keys are the recipe's.

        >>> fingerprints(["one text after another", "short"]).band_array()[:, :2].tolist()
        [[b'vok81', b'01hp5'], [b'', b'']]
        """
        rows = self.bands
        texts = rows if isinstance(rows, KeyRows) else KeyRows(list(map(" ".join, rows)))
        count = self.recipe.bands or 0 if self.recipe.minhash else 0
        digits = self.recipe.key_digits if _has_batch_form(self.recipe) else None
        return texts.array(count, digits or keys.long_key_width(count))

    def _bits(self, position: int) -> int:
        if self.recipe.has_long_bits:
            return int.from_bytes(self.minhash[position].tobytes(), "big")
        return int(self.simhash[position])

    def is_signed(self, position: int) -> bool:
        """Return whether a text has sketches and keys."""
        pairs = int(self.words[position]) - 1
        return _has_sketch(self.status[position], pairs, self.recipe)


def _has_sketch(status: Status, features: int, recipe: Recipe) -> bool:
    """Return whether a text of this status is signed: numbers are words too.

    `features`: how many a text of numbers only has.
    """
    has_words = recipe.features == WORDS and features >= max(recipe.min_features, 1)
    return status == "complete" or (status == "numbers_only" and has_words)


def kernel_name() -> str:
    """Return which code computes fingerprints: `rust` (compiled) or `numpy` (the definition).

    The bits are the same.
    """
    return "numpy" if _kernel is None else "rust"


def fingerprint(
    text: str, recipe: Recipe = DEFAULT, statistics: CorpusStatistics | None = None
) -> Fingerprint:
    """Fingerprint one text by any recipe. Any `str` is accepted, lone surrogates and NUL included.

    Recipes with corpus weights need `statistics` (`schemes.count_text_features`). Raises
    `UsageError` for a recipe that this version cannot compute.

    >>> fingerprint("").status
    'empty'
    """
    if not _has_batch_form(recipe):
        from indexer.fingerprinting.schemes import fingerprint_by

        return fingerprint_by(recipe, recipe.compared(text), statistics)
    return fingerprints([text], recipe)[0]


def fingerprints(texts: Sequence[str], recipe: Recipe = DEFAULT, threads: int = 1) -> Fingerprints:
    """Fingerprint many texts at once; faster than one by one.

    A text with no normalised character is `empty`, one without letters `numbers_only`, one with
    fewer than the recipe's `min_features` distinct features (one at least) `too_short`: these have
    no sketches and no keys, so they match copies only; but a text of numbers has, if features are
    of words and there are enough. `threads` share the work if the kernel is
    compiled. Raises `UsageError` for a recipe with steps or sizes that this version cannot compute.
    """
    if recipe.left_out:
        texts = [recipe.compared(text) for text in texts]
    if not _has_batch_form(recipe):
        return _fingerprint_each(texts, recipe)
    _check(recipe)
    if not _kernel_computes(recipe):
        return define(texts, recipe)
    return _compiled(texts, recipe, threads)


def define(texts: Sequence[str], recipe: Recipe = DEFAULT) -> Fingerprints:
    """Return `fingerprints` by the numpy definition, even if the kernel is installed."""
    from indexer.fingerprinting.schemes import status_of

    _check(recipe)
    slots, count = _slots(recipe), len(texts)
    is_v2 = recipe.normaliser == "default_v2"
    composed = [composed_codes(text) for text in texts] if is_v2 else []
    codes = [fold(text)[0] for text in composed] or [normalised_codes(text) for text in texts]
    minhash = np.zeros((count, slots), dtype=_slot_type(recipe))
    bits = np.zeros(count, dtype=np.uint64)
    status: list[Status] = []
    fingerprinted: list[bool] = []
    for index, text_codes in enumerate(codes):
        features = _hashes(text_codes, recipe)
        status.append(status_of(text_codes, len(features), recipe))
        fingerprinted.append(_has_sketch(status[index], len(features), recipe))
        if fingerprinted[index]:
            if recipe.minhash:
                minhash[index] = _low_bits(fast_similarity_sketch(features, slots), recipe)
            if recipe.simhash:
                bits[index] = simhash(features)
    bands, blocks = _keys(minhash, bits, fingerprinted, recipe)
    forms = [decode(text_codes) for text_codes in codes]
    if recipe.exact == SYMBOLS:
        forms = [
            _with_symbols(*form) for form in zip(forms, map(value_symbols, composed), strict=True)
        ]
    exact = [hashlib.sha256(form.encode()).hexdigest() for form in forms]
    counts = map(len, map(word_starts, codes)) if is_v2 else map(count_words, texts)
    words = np.fromiter(counts, np.int64, count)
    chars = np.array([len(text_codes) for text_codes in codes], dtype=np.int64)
    return Fingerprints(recipe, minhash, bits, bands, blocks, status, exact, words, chars)


def _kernel_computes(recipe: Recipe) -> bool:
    """Return whether there is a kernel that knows the steps of a recipe; an older one may not."""
    if _kernel is None:
        return False
    return not recipe.exact or "symbols" in str(getattr(_kernel.sign, "__text_signature__", ""))


def _with_symbols(form: str, values: str) -> str:
    return f"{form}\n{values}" if form and values else form


def _compiled(texts: Sequence[str], recipe: Recipe, threads: int) -> Fingerprints:
    """Return `fingerprints` by the compiled kernel."""
    minhash, bits, bands, blocks, status, exact, words, chars = _kernel.sign(
        list(texts),
        width=recipe.width or 1,
        slots=_slots(recipe),
        bands=recipe.bands or 0,
        rows=recipe.rows or 0,
        simhash=recipe.simhash is not None,
        blocks=recipe.blocks or 0,
        min_features=recipe.min_features,
        threads=threads,
        normaliser=KERNEL_NORMALISERS.index(recipe.normaliser) + 1,
        words=recipe.features == WORDS,
        packed=recipe.packed is not None,
        digits=recipe.key_digits or 0,
        key=key_words(recipe.secret) if recipe.secret else None,
        **({"symbols": True} if recipe.exact == SYMBOLS else {}),
    )
    slots: NDArray[Any] = np.frombuffer(minhash, dtype=_slot_type(recipe))
    slots = slots.reshape(len(status), _slots(recipe))
    counts = np.frombuffer(words, dtype=np.int64), np.frombuffer(chars, dtype=np.int64)
    return Fingerprints(
        recipe,
        slots,
        np.frombuffer(bits, dtype=np.uint64),
        KeyRows(bands),
        KeyRows(blocks),
        status,
        exact,
        *counts,
    )


def _hashes(codes: NDArray[np.uint32], recipe: Recipe) -> NDArray[np.uint64]:
    """Return the hashes of the distinct features."""
    width = recipe.width or 1
    key = key_words(recipe.secret) if recipe.secret else None
    if recipe.features == WORDS:
        return keyed_word_features(codes, key) if key else word_features(codes)
    if key:
        return distinct_hashes(keyed_gram_hashes(codes, width, key))
    return distinct_hashes(gram_hashes(codes, width))


def _has_batch_form(recipe: Recipe) -> bool:
    """Return whether the batch form below computes the recipe.

    All others are computed text by text by `indexer.fingerprinting.schemes`.
    """
    hash_names = (*KEYED_HASHES, *KEYED_HASHES.values())
    return recipe.normaliser in KERNEL_NORMALISERS or recipe.feature_hash in hash_names


def _fingerprint_each(texts: Sequence[str], recipe: Recipe) -> Fingerprints:
    """Return `fingerprints` of a recipe that has no batch form.

    Raises `UsageError` when its sketches do not fit arrays and rows.
    """
    if not recipe.is_storable:
        raise UsageError(
            f"recipe {recipe.name} cannot be kept in an index; "
            "`nearfold hash` prints it, or choose another recipe"
        )
    from indexer.fingerprinting.schemes import fingerprint_by

    rows = [fingerprint_by(recipe, text) for text in texts]
    empty = np.zeros(recipe.sketch_width, dtype=_slot_type(recipe))
    sketches = (row.vector if recipe.has_vector else row.minhash for row in rows)
    slots = [empty if sketch is None else sketch for sketch in sketches]
    return Fingerprints(
        recipe,
        np.array(slots, empty.dtype).reshape(len(rows), len(empty)),
        np.array([stored_bits(row) or 0 for row in rows], dtype=np.uint64),
        [row.bands for row in rows],
        [row.blocks for row in rows],
        [row.status for row in rows],
        [row.exact for row in rows],
        np.array([row.words for row in rows], dtype=np.int64),
        np.array([row.chars for row in rows], dtype=np.int64),
    )


def _slot_type(recipe: Recipe) -> type[np.unsignedinteger[Any]]:
    return np.uint8 if recipe.slot_bytes == 1 else np.uint32


def _low_bits(slots: NDArray[np.uint32], recipe: Recipe) -> NDArray[Any]:
    """Return the bits of the slots that are kept."""
    return slots.astype(np.uint8) if recipe.packed else slots


def _slots(recipe: Recipe) -> int:
    return recipe.slots or 0 if recipe.minhash else 0


def _keys(
    minhash: NDArray[Any], bits: NDArray[np.uint64], fingerprinted: list[bool], recipe: Recipe
) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """Return the band keys and block keys of fingerprinted rows; none for the others."""
    every_band = keys.band_keys(minhash, recipe.bands or 0, recipe.rows or 0, recipe.key_digits)
    bands = [
        row if is_fingerprinted else ()
        for row, is_fingerprinted in zip(every_band, fingerprinted, strict=True)
    ]
    if not recipe.blocks:
        return bands, [() for _ in fingerprinted]
    every_block = [keys.block_keys(number, 64, recipe.blocks) for number in bits.tolist()]
    blocks = [
        row if is_fingerprinted else ()
        for row, is_fingerprinted in zip(every_block, fingerprinted, strict=True)
    ]
    return bands, blocks


def _check(recipe: Recipe) -> None:
    """Raise `UsageError` when the recipe cannot be computed, or lacks its key."""
    if recipe.key_variable and not recipe.secret:
        raise UsageError(
            f"recipe {recipe.name} fingerprints with a secret key: "
            f"name the file that holds it by {recipe.key_variable}_FILE"
        )
    by_words = recipe.features == WORDS and recipe.normaliser == "default_v2"
    feature_hash = "word64_v1" if by_words else "gram64_v1"
    if recipe.secret:
        feature_hash = KEYED_HASHES[feature_hash]
    is_valid = {
        "normaliser": recipe.normaliser in KERNEL_NORMALISERS,
        "features": by_words or recipe.features == "chars_v1",
        "width": recipe.width is None if by_words else 1 <= (recipe.width or 0) <= MAX_GRAM,
        "feature_hash": recipe.feature_hash == feature_hash,
        "minhash": recipe.minhash in (None, "fss_v1"),
        "slots": 2 <= (recipe.slots or 0) <= MAX_SLOTS if recipe.minhash else not recipe.slots,
        "bands": 0 <= (recipe.bands or 0) * (recipe.rows or 0) <= (recipe.slots or 0),
        "packed": recipe.packed in (None, PACKED),
        "key_digits": recipe.key_digits is None or 1 <= recipe.key_digits <= keys.LONGEST_KEY,
        "simhash": recipe.simhash in (None, "distinct_v1"),
        "bits": recipe.bits == 64 if recipe.simhash else not recipe.bits,
        "blocks": 0 <= (recipe.blocks or 0) <= (MAX_BLOCKS if recipe.simhash else 0),
        "exact": recipe.exact in ((None, SYMBOLS) if by_words else (None,)),
    }
    invalid = [f"{name} = {getattr(recipe, name)}" for name, valid in is_valid.items() if not valid]
    if invalid:
        raise UsageError(
            f"recipe {recipe.name} asks for {', '.join(invalid)}, "
            "which this version cannot compute; use another recipe"
        )


def content_digest(exact: str, embedded: str) -> str:
    """Return the digest of a text, or of the text and the files and columns in its document, as
    rows keep them.
    """
    if not embedded:
        return exact
    files, columns = EmbeddedDigests.of(embedded)
    parts = " ".join(filter(None, (files, "" if columns == NO_GAPS else columns)))
    return hashlib.sha256(f"{exact} {parts}".encode()).hexdigest() if parts else exact


# Pictographs that say something by themselves, such as ticks, which every recipe leaves out.

_PICTOGRAPHS = re.compile(
    "[\u202d\u202e\u2190\u2191\u2193\u25a1\u25a3\u25b2\u25bc\u25c9\u2610-\u2612"
    "\u2639-\u263b\u26d4\u2705"
    "\u2713-\u2718\u274c\u274e"
    "\u2764\u2b06\u2b07\u2b1b\u2b1c\u2b55\uf0a3\uf0a8\uf0fb-\uf0fe\U0001f44c-\U0001f44e"
    "\U0001f4c8\U0001f4c9\U0001f493-\U0001f49e\U0001f534\U0001f535\U0001f5f4-\U0001f5f9"
    "\U0001f600-\U0001f64f\U0001f6ab\U0001f7e0-\U0001f7eb]"
    "|(?<=[0-9])[\u00b2\u00b3\u00b9\u2070\u2074-\u2079]"
    "|[\u2010\u2011](?<!\\w.)(?=[0-9$\u00a2-\u00a5\u20a0-\u20bf])"
)


def pictographs(text: str) -> list[str]:
    """Return ticks, crosses, thumbs, faces, digits raised after others (10\u00b2), marks that turn
    text (U+202E) and hyphens that are a minus (U+2010, U+2011), which `value_symbols` leaves out,
    each after the number of alphanumeric characters before it.

    >>> pictographs("\u2610 yes \u2611 no"), pictographs("\u2022 yes")
    (['0\u2610', '3\u2611'], [])
    >>> pictographs("\u2011500 or 5\u20116"), pictographs("\u2010 500")
    (['0\u2011'], [])
    """
    if text.isascii() or not _PICTOGRAPHS.search(text):
        return []
    found: list[str] = []
    before = start = 0
    for match in _PICTOGRAPHS.finditer(text):
        between = unicodedata.normalize("NFKC", text[start : match.start()])
        before += sum(map(str.isalnum, between))
        found.append(f"{before}{match[0]}")
        start = match.end()
    return found


def with_pictographs(embedded: str, text: str) -> str:
    """Return what a document holds besides its words, with the pictographs in its text.

    >>> with_pictographs("", "yes"), with_pictographs("", "\u2611 yes")[64:82]
    ('', ' 1 [["unread","pic')
    """
    if not (found := pictographs(text)):
        return embedded
    written = "".join(one[-1] for one in found[:_MAX_PICTOGRAPHS])
    digest = hashlib.sha256(" ".join(found).encode()).hexdigest()
    return with_unread(embedded, f"pictographs {written}", digest)


_MAX_PICTOGRAPHS = 20  # that a name quotes


# Digests as engines store them: a SHA-256 in 43 characters of base64url instead of 64.

_HEXADECIMAL = re.compile("[0-9a-f]{64}")
_SHORT = re.compile("[0-9A-Za-z_-]{43}")
_ESCAPE = "."
_LAST = frozenset("AEIMQUYcgkosw048")  # characters whose two last bits, which are padding, are 0


COPY_DIGITS = 24  # of a digest, by which copies are known: a column of the plugin has no more


def shorten(digest: str) -> str:
    """Return a SHA-256 in lower-case hexadecimal digits as base64url without padding.

    Any other text stays as it is; one that looks shortened, or escaped, gets a full stop in front.

    >>> shorten("00" * 31 + "ff"), shorten("etag 5"), shorten("")
    ('AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAP8', 'etag 5', '')
    >>> shorten("A" * 43) == "." + "A" * 43
    True
    """
    if _HEXADECIMAL.fullmatch(digest):
        return base64.urlsafe_b64encode(bytes.fromhex(digest)).decode("ascii").rstrip("=")
    return f"{_ESCAPE}{digest}" if _SHORT.fullmatch(digest.lstrip(_ESCAPE)) else digest


def lengthen(stored: str) -> str:
    """Return the text that `shorten` made this of; what an earlier nearfold stored stays as it is.

    >>> lengthen(shorten("0f" * 32)) == "0f" * 32 == lengthen("0f" * 32)
    True
    """
    if stored.startswith(_ESCAPE) and _SHORT.fullmatch(stored.lstrip(_ESCAPE)):
        return stored.removeprefix(_ESCAPE)
    if not _SHORT.fullmatch(stored) or stored[-1] not in _LAST:
        return stored
    return base64.urlsafe_b64decode(f"{stored}=").hex()


# Keys of rows: made from their texts, and compared with those that rows have.

_BATCH = 256


def fingerprint_rows(rows: Sequence[Row], recipe: Recipe) -> list[Row]:
    """Return the same rows with the keys of a recipe, in order.

    Rows that could not be fingerprinted on arrival stay unsigned; cut text stays `truncated`;
    family fields stay and become provisional.
    """
    recipe_id = recipe.id
    found = fingerprints([row.text for row in rows], recipe)
    return [_fingerprint_row(row, found[index], recipe_id) for index, row in enumerate(rows)]


def _fingerprint_row(row: Row, fingerprinted: Fingerprint, recipe_id: str) -> Row:
    if row.status == "unsigned":
        return replace(row, recipe=recipe_id, provisional=True)
    stays_truncated = row.status == "truncated" and fingerprinted.status == "complete"
    return replace(
        row,
        recipe=recipe_id,
        status="truncated" if stays_truncated else fingerprinted.status,
        exact=content_digest(fingerprinted.exact, row.embedded),
        words=fingerprinted.words,
        chars=fingerprinted.chars,
        bands=fingerprinted.bands,
        blocks=fingerprinted.blocks,
        minhash=stored_sketch(fingerprinted),
        simhash=stored_bits(fingerprinted),
        provisional=True,
    )


def fresh_rows(rows: Iterable[Row], recipe: Recipe) -> Iterator[tuple[Row, Row]]:
    """Yield each row, in order, with the row that has the keys of its text, and is in no group:
    what it was grouped for was another text.

    Both are one object where the keys are right, and for a row that was never fingerprinted, could
    not be, or was by earlier statistics of an online recipe.
    """
    remaining = iter(rows)
    while batch := list(islice(remaining, _BATCH)):
        for row, fingerprinted in zip(batch, fingerprint_rows(batch, recipe), strict=True):
            is_fingerprinted = row.recipe and row.status != "unsigned"
            is_right = (
                not is_fingerprinted
                or _fingerprint_values(row) == _fingerprint_values(fingerprinted)
                or recipe.has_other_statistics(row.recipe)
            )
            yield row, row if is_right else ungrouped(fingerprinted)


PROVISIONAL = "x:"  # begins the family of a document that is in no group yet


def ungrouped(row: Row) -> Row:
    """Return a row as it arrives where no groups are looked up: in the provisional family of its
    text, with its copies.

    The ingest pipeline gives the same. A family of its own id would still have the members that
    joined it as their principal. What was not read of a document may differ from its copies, and a
    document without text has none.
    """
    if row.status in ("empty", "unsigned") or not row.exact:
        family = own_family(row.id)
    elif row.status == "truncated":
        cut = hashlib.sha256(f"{row.exact} {row.id}".encode()).hexdigest()
        family = f"{PROVISIONAL}{shorten(cut)}"
    else:
        family = f"{PROVISIONAL}{shorten(row.exact)}"
    return replace(
        row,
        parts=None,
        family=family,
        principal=None,
        similarity=None,
        cluster=None,
        provisional=True,
    )


def own_family(id: str) -> str:
    """Return the provisional family of a document that is no copy of any other."""
    return f"{PROVISIONAL}{hashlib.sha256(id.encode()).hexdigest()}"


def current_rows(rows: Iterable[Row], recipe: Recipe) -> Iterator[Row]:
    """Yield each row, in order; of an online recipe with the fingerprint by its current statistics.

    Rows that other numbered statistics fingerprinted are fingerprinted again from their texts, and
    not stored.
    """
    if not recipe.numbered_statistics:
        yield from rows
        return
    current, remaining = recipe.id, iter(rows)
    while batch := list(islice(remaining, _BATCH)):
        older = [
            index
            for index, row in enumerate(batch)
            if row.recipe != current and recipe.has_other_statistics(row.recipe)
        ]
        fingerprinted = (
            fingerprint_rows([batch[position] for position in older], recipe) if older else []
        )
        for index, row in zip(older, fingerprinted, strict=True):
            batch[index] = replace(row, provisional=batch[index].provisional)
        yield from batch


def rows_with_symbols(rows: Iterable[Row], recipe: Recipe) -> Iterator[Row]:
    """Yield each row, in order, with a digest of its text that reads symbols of value.

    Digests of recipes before `default_v3` read none: rows of such a recipe are to be compared by
    these digests, which are not stored.
    """
    if recipe.exact or recipe.normaliser == "none":
        yield from rows
        return
    remaining = iter(rows)
    while batch := list(islice(remaining, _BATCH)):
        for row, exact in zip(batch, _digests_with_symbols(batch, recipe), strict=True):
            is_changed = row.exact and row.chars and exact != row.exact
            yield replace(row, exact=exact) if is_changed else row


def _digests_with_symbols(rows: Sequence[Row], recipe: Recipe) -> list[str]:
    """Return the digests of `default_v3`; of recipes without words, their own with the symbols."""
    if recipe.features == WORDS:
        digest = replace(_DIGEST, left_out=recipe.left_out, approved=recipe.approved)
        found = fingerprints([row.text for row in rows], digest).exact
        return [content_digest(exact, row.embedded) for row, exact in zip(rows, found, strict=True)]
    symbols = (_symbols(recipe.compared(row.text)) for row in rows)
    return [
        hashlib.sha256(_with_symbols(row.exact, values).encode()).hexdigest()
        if values
        else row.exact
        for row, values in zip(rows, symbols, strict=True)
    ]


def _symbols(text: str) -> str:
    """Return `value_symbols` of a text, at once where it can have none."""
    if text.isascii() and not _ASCII_SYMBOL.search(text):
        return ""
    return value_symbols(composed_codes(text))


_ASCII_SYMBOL = re.compile(r"[#$%+<=>]|-[0-9$]")
_DIGEST = replace(
    DEFAULT_V3,
    minhash=None,
    slots=None,
    bands=None,
    rows=None,
    packed=None,
    key_digits=None,
    simhash=None,
    bits=None,
    blocks=None,
)


def _fingerprint_values(row: Row) -> tuple[object, ...]:
    return row.recipe, row.status, row.exact, row.bands, row.blocks, row.minhash, row.simhash


def with_datasketch_slots(row: Row, recipe: Recipe) -> Row:
    """Return a row that has slots under a scheme of datasketch, whatever its text.

    A row with slots, and any under another scheme, is returned as it is; of a text of numbers
    alone, a short or an empty one, the slots are those that copietje stores.
    """
    if row.status not in ("empty", "too_short", "numbers_only") or row.minhash:
        return row
    from indexer.fingerprinting.schemes import datasketch_slots

    slots = datasketch_slots(row.text, recipe)
    return row if slots is None else replace(row, status="complete", minhash=slots)


# Signs between the digits of two short numbers.

SYMBOL_IN_NUMBER = (
    r"(?<!\w)(?<!\w[./:,-])(?<!\d / )\d{1,3}(?: ?[/\u2044] ?|[:-])\d{1,3}"
    r"(?!\w)(?![./:,-]\w)(?! / \d)"
)
_SYMBOL_IN_NUMBER = re.compile(SYMBOL_IN_NUMBER, re.ASCII)
# each has one of these between digits; a set of first characters is found faster than lookbehinds
_SIGN = re.compile(r"[/\u2044:-](?<=[0-9 ].)(?=[0-9 ])")
_DIGITS_BEFORE = re.compile(r"\d{1,3} ?\Z", re.ASCII)
_LONGEST = 4  # characters before a sign: three digits and a blank


def number_symbols(text: str) -> str:
    """Return the fractions, ratios, times and ranges of a text ("1/2", "1:2"), which other texts of
    the same words may have as decimals.

    >>> number_symbols("7 / 8 of 1\u20442"), number_symbols("12/5/2024, 12 / 5 / 2024")
    ('7/8 1/2', '')
    """
    if hasattr(_kernel, "number_symbols"):
        return _kernel.number_symbols(text)
    found = []
    end = 0
    for sign in _SIGN.finditer(text):
        digits = _DIGITS_BEFORE.search(text, max(end, sign.start() - _LONGEST), sign.start())
        match = _SYMBOL_IN_NUMBER.match(text, digits.start()) if digits else None
        if match:
            found.append(match.group().replace(" ", ""))
            end = match.end()
    return " ".join(found).replace("\u2044", "/")
