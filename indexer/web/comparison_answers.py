"""Values that pages show, and the API sends as JSON: pairs, versions and families."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from indexer.comparing.blocks_view import Cells, Fact
from indexer.model import Estimate, NewWords
from indexer.web.document_facts import DocumentFacts
from indexer.web.original_kinds import OriginalView


@dataclass(frozen=True, slots=True)
class StepAnswer:
    """The step from `origin`, another document, to a version.

    `dated`: the version has the later date; else the order of the two is not known. `similarity`
    is by `lcs`; `added` and `removed` count words; `redline`, empty unless requested, is the
    whole text as stretches that are `same`, `removed` or `added`.
    """

    origin: str
    dated: bool
    similarity: float
    added: int
    removed: int
    redline: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class VersionAnswer:
    """A text of a family.

    `date` is in milliseconds since 1970 UTC, from the `document` or its `file` (`date_of`).
    `copies`: other documents with the same text, as id and path. `step` is None for the first
    version; `depth` counts steps.
    """

    id: str
    path: str
    words: int
    date: int | None
    date_of: str | None
    copies: tuple[tuple[str, str], ...]
    depth: int
    step: StepAnswer | None


@dataclass(frozen=True, slots=True)
class VersionsAnswer:
    """The versions in a family, each after its probable origin.

    `notes` state the limits of that order.
    """

    family: str
    documents: int
    versions: tuple[VersionAnswer, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FamilyAnswer:
    """A family: its principal (None if it is not in the store), and members by similarity.

    `matrix[i][j]`: the similarity of documents i and j of `compared`, estimated from their slots.
    `measure`: that of the last `group`, None if it is not known here. `versions` is None for a
    family that is too large to be ordered with every request: `/api/versions` does it.
    """

    id: str
    size: int
    principal: DocumentFacts | None
    members: tuple[DocumentFacts, ...]
    compared: tuple[str, ...]
    matrix: tuple[tuple[Estimate | None, ...], ...]
    labels: dict[str, int]
    warnings: tuple[str, ...]
    versions: VersionsAnswer | None
    measure: str | None


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure of two texts by name.

    `low` and `high`: the 95 % interval of an estimate. Values are None without a sketch.
    """

    name: str
    meaning: str
    value: float | None
    other: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class WithoutBoilerplate:
    """S_R with five-word shingles weighted by their rarity in the store, beside plain S_R.

    The weights leave out the text that forms share. `similarity`, `plain` (S_R itself) and
    `common` (the share of the shingles that a tenth or more of the store's texts carry) are None
    until the store's passages are counted (`ready` False), and if there are no other texts
    (`texts` is 0). `note` explains the figure in a sentence.
    """

    ready: bool
    similarity: float | None
    plain: float | None
    common: float | None
    texts: int
    note: str


@dataclass(frozen=True, slots=True)
class MapLink:
    """A segment of the map of a comparison.

    `differing`: the share of it that differs; `first` and `last`: the numbers of the differences
    that begin there, None without one, and `part` that of the part with the first. `moved`: it has
    a moved passage.
    """

    differing: float
    first: int | None
    last: int | None
    part: int
    moved: bool


@dataclass(frozen=True, slots=True)
class ComparisonAnswer:
    """Two documents side by side, one part of them.

    In the texts of `cells`, characters that could mislead a reader are spelled out. `part` counts
    from 1. `first` is the number of the first difference of this part; `passages` counts shared
    passages; `new_words` are those that only A (left) or B (right) has; `map` shows the whole
    texts. `chars`: how many characters of each long text are compared, while the whole texts are
    being compared; None for the whole. `originals`: both files may be there; `views`, where asked
    for, say how each is shown.
    """

    a: DocumentFacts
    b: DocumentFacts
    matching: Literal["literal", "information"]
    words: tuple[int, int]
    measures: tuple[Measure, ...]
    discounted: WithoutBoilerplate
    passages: int
    shared_words: int
    new_words: NewWords
    differences: int
    first: int | None
    part: int
    parts: int
    cells: tuple[Cells, ...]
    facts: tuple[Fact, ...]
    warnings: tuple[str, ...]
    map: tuple[MapLink, ...]
    chars: int | None = None
    views: tuple[OriginalView, ...] = ()
    originals: bool = False


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """A passage of several versions. `readings`: its texts as (change, text) from the first one;
    `cells`: for each version the place of its reading, None if it lacks the passage.
    """

    number: int
    cells: tuple[int | None, ...]
    readings: tuple[tuple[tuple[str, str], ...], ...]


@dataclass(frozen=True, slots=True)
class MatrixAnswer:
    """Versions of a family side by side, a part of their passages in rows.

    `others`: further documents of the family that can be chosen, one of each other text.
    `passages`: all rows; `shared`: those that all versions have in the same words. `cut`: passages
    at the end of long versions are left out. `part` counts from 1.
    """

    family: str
    versions: tuple[DocumentFacts, ...]
    others: tuple[DocumentFacts, ...]
    passages: int
    shared: int
    rows: tuple[MatrixRow, ...]
    cut: bool
    part: int
    parts: int
