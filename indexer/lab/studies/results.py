"""The values of a study: how signatures spread, their cost, neighbours and collisions."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Account:
    """The number of documents that were read, and of each outcome; `studied` have signatures.

    `failed`: could not be read; `empty`: without any text; `copies`: have the text of an earlier
    document; `numbers_only` and `too_short` (under four characters) have no signature by any
    method. A study that keeps duplicates signs texts of numbers alone too: they are `studied`.
    `octets` are counted in the studied texts.
    """

    documents: int
    failed: int
    empty: int
    copies: int
    numbers_only: int
    too_short: int
    studied: int
    octets: int


@dataclass(frozen=True, slots=True)
class CollisionSimilarity:
    """The similarity of documents with one signature: the first two of at most 100 signatures.

    `mean`: the mean Jaccard similarity of their features; `unlike`: the fraction of pairs that have
    less than half in common. Both are None where no signature is shared.
    """

    method: str
    bits: int
    pairs: int
    mean: float | None
    unlike: float | None


@dataclass(frozen=True, slots=True)
class Seconds:
    """The seconds to sign a text on one processor: mean and standard deviation over `texts`."""

    method: str
    bits: int
    texts: int
    mean: float
    deviation: float
    megabytes_a_second: float


@dataclass(frozen=True, slots=True)
class Spread:
    """The signatures of a method at one length.

    `unique`: how many there are; `collisions`: the mean number of documents of each (itself
    included), with its standard deviation; `most`: the largest number.
    """

    method: str
    bits: int
    unique: int
    collisions: float
    deviation: float
    most: int


@dataclass(frozen=True, slots=True)
class Near:
    """The number of documents with 0, 1, ... 10 neighbours within a distance; the last number is of
    those with more.
    """

    method: str
    bits: int
    distance: int
    documents: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Sample:
    """Weighted TopSig by the statistics of `documents` of all documents.

    `unique`: unique signatures by length. `differing`: the mean number of bits, of 64, in which a
    signature differs from that by all statistics; `close`: the fraction of documents for which
    these are at most 3. `pairs`: the pairs of documents within 3 bits of each other by these or by
    all statistics; `same_pairs`: the fraction of them that is so by both, 1 without any.
    """

    documents: int
    unique: dict[int, int]
    differing: float
    close: float
    pairs: int
    same_pairs: float


@dataclass(frozen=True, slots=True)
class Arrival:
    """Weighted TopSig of the documents from position `first` to `last`, by the statistics at their
    arrival; `differing` and `close` as in `Sample`.
    """

    first: int
    last: int
    differing: float
    close: float


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers to the questions that the signature study left open.

    `samples` ascend to all documents; `online`: unique signatures by length of documents that are
    signed as they arrive; `arrivals` in order.
    """

    samples: tuple[Sample, ...]
    online: dict[int, int]
    arrivals: tuple[Arrival, ...]


@dataclass(frozen=True, slots=True)
class StudyResult:
    """The measurements of a study of the folder or the store `source`.

    `features`: distinct 4-grams of all studied texts. `counted`: the documents of Table 2 and
    Figures 1 to 3: with `keep_duplicates` every document that could be read, those without a
    signature by the trivial one, 0; else each studied text once.
    """

    source: str
    account: Account
    features: int
    bits: tuple[int, ...]
    spreads: tuple[Spread, ...]
    seconds: tuple[Seconds, ...]
    alike: tuple[CollisionSimilarity, ...]
    near: tuple[Near, ...]
    answers: Answers
    keep_duplicates: bool
    counted: int
