"""The compiled kernel: the same bits as `indexer.fingerprinting.fingerprint.define`, in Rust."""

from indexer.model import Status

def sign(
    texts: list[str],
    *,
    width: int,
    slots: int,
    bands: int,
    rows: int,
    simhash: bool,
    blocks: int,
    min_features: int,
    threads: int = 1,
    key: tuple[int, int] | None = None,
    normaliser: int = 1,
    words: bool = False,
    packed: bool = False,
    digits: int = 0,
    symbols: bool = False,
) -> tuple[
    bytearray,
    bytearray,
    list[str],
    list[str],
    list[Status],
    list[str],
    bytearray,
    bytearray,
]:
    """Fingerprint texts, normalised by version 1 or 2 of `default`.

    The other steps: `chars_v1`, `gram64_v1` (with a key `sip24_v1`), `fss_v1` and `distinct_v1`;
    with `words` the features are `word_pairs_v1` (with a key `sip24_pairs_v1`), with `packed` slots
    have 8 bits; `digits` are those of a short band key, 0 for long ones; with `symbols` digests
    read the symbols of value, too (`symbols_v1`). Returns, one row a text: MinHash (`slots` numbers
    a row, uint8 if packed, else uint32; none when that is 0), SimHash (uint64; zero unless
    `simhash`), band keys, block keys, status, SHA-256, words and chars (int64). The keys of a text
    are one string, with a blank between them. Numbers are in native byte order. The interpreter's
    lock is released meanwhile; `threads` share the work. Settings out of range raise `ValueError`.
    """

def differ_at_most(
    address: int, maps: int, words: int, left: bytes, right: bytes, most: bytes
) -> bytes:
    """Return for each pair if its parity maps differ in at most `most` bits: one byte, 1 or 0.

    `address` is that of a (maps, words) array of uint64, which the caller keeps alive; `left`,
    `right` and `most` are int32. Raises `ValueError` for a place beyond the maps.
    """

def near_sketches(left: bytes, right: bytes, width: int, least: int) -> bytes:
    """Return the pairs of sketches with at least `least` equal slots, by the places in `left`, then
    in `right`: (n, 3) uint32 of both places and the equal slots, in native byte order.

    Sketches have `width` slots of a byte each, one after the other. Raises `ValueError` for arrays
    that are not whole sketches, or of 4 GB.
    """

def near_in_buckets(
    sketches: bytes, width: int, keys: bytes, bands: int, open: bytes, least: int
) -> tuple[bytes, int]:
    """Return the pairs of sketches that share a key and have at least `least` equal slots, as
    `near_sketches` does, and how many pairs share a key.

    A sketch has `bands` keys, which are uint64, and as many bytes `open`. A pair is looked at in
    the first band whose key it shares, if both are open there (not 0). Raises `ValueError` for
    arrays that are not whole sketches, or of unlike numbers.
    """

def spaced_words(text: str) -> str:
    """Return the folded spellings of `indexer.comparing.words` in order, with blanks between."""

def ascii_words(text: str, joined: bool) -> tuple[list[str], bytes, bytes, bytes]:
    """Return the words of ASCII, of whose letters and digits none is left out: the vocabulary, the
    number of each word in it, and where each begins and ends, uint32 in native byte order.

    With `joined` they are `indexer.comparing.words.words`, else runs of letters and digits.
    """

def common_runs(a: bytes, b: bytes, max_cells: int) -> list[tuple[int, int, int]] | None:
    """Return the runs of a longest common subsequence of two texts of numbered words, in order:
    the first word in either text, and the words; `indexer.comparing.alignment.common_runs` is the
    definition.

    Numbers are int64; negative ones are words that the other text lacks. None where more than
    `max_cells` pairs of words are to be compared.
    """

def words_in_common(
    text: str, others: list[str], least: float
) -> list[tuple[int, int, tuple[int, int], int] | None]:
    """Return for each of other texts what it has in common with one, in `normal_words`.

    The words of the longest common subsequence, 0 if they are less than the share `least` of the
    longer text's; the words that both have, each counted as often as both have it; the words of
    either text; how much oftener a word comes in the one than in the other, at most. None for a
    pair of texts of some 8,000 words or more.
    """

class WordNumbers:
    """The numbers of words, from 0 in the order in which they come first.

    Each method returns the number of each word, uint32 in native byte order, and the new words.
    """

    def __init__(self) -> None: ...
    def of_text(self, text: str) -> tuple[bytes, list[str]]:
        """Number the words of a text, as `spaced_words` returns them."""

    def of_words(self, words: list[str]) -> tuple[bytes, list[str]]:
        """Number these words."""

def number_symbols(text: str) -> str:
    """Return `indexer.fingerprinting.fingerprint.number_symbols`."""
