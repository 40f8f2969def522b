"""The measure, the thresholds and the principals that hold where none is given, by purpose.

docs/lab/013-default-measure.md has the evidence, 018-who-leads.md for principals, and
019-what-folding-hides.md for replacements.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

MEASURE = "lcs"  # one of `MEASURE_NAMES`
MISREAD = "lcs_misread"  # instead of it if one of two texts is a scan
REVIEW = 0.8  # minimum similarity of pairs that people review
FOLD = 0.9  # minimum similarity of documents that are folded (hidden), and of families
MAX_REPLACED = 2  # how often one word may replace another before folding by `lcs` refuses
OVERLAP = 0.8  # minimum terminology of clauses that are fuzzy duplicates
PRINCIPAL = "original"  # the default order of principals, see `GroupOptions`
RECALL = 0.998  # minimum fraction of the pairs at a threshold that keys and slots let through

# Defaults and choices of options, apart from the modules that use them, which import numpy.
RECIPE = "default_v3"  # the recipe that `default` stands for
MEASURE_NAMES = (
    "containment",
    "estimate",
    "grown",
    "hamming",
    "jaccard",
    "jaccard_words",
    "lcs",
    "lcs_misread",
    "overlap",
    "resemblance",
    "terminology",
)
CHUNK_MEASURES = ("overlap", "jaccard_words")  # the measures by matching chunks of words
# Other matching chunks, or shingles, than by default: `overlap:8`, `overlap:information`,
# `jaccard_words:8:information`, `resemblance:3`.
MEASURE_VARIANT = re.compile(
    "(?P<measure>overlap|jaccard_words)(?=:)(?::(?P<words>[1-9][0-9]?))?(?P<matching>:information)?"
    "|resemblance:(?P<shingle>[1-9][0-9]?)"
)
SHINGLE_WORDS = 5  # words of a shingle in resemblance, and where boilerplate is discounted
RUN_WORDS = 8  # words of a run, by which passages are found in other texts
MIN_FAMILIES, MIN_PASSAGE_WORDS = 5, 20  # of a passage that counts as repeated
CAP = 1000  # texts in a band above which they are paired with the first of them only
NO_CAP = (1 << 31) - 1  # more texts than a store can have
MEMORY_MEGABYTES = 512  # for slots, pairs and texts
TEXT_FIELD, TITLE_FIELD, ENCODING = "text", "title", "utf-8"  # of records
EXTRACTION_SECONDS = 60.0
EXTRACTION_MEGABYTES = 2048
TEXT_CHARS = 10_000_000
FILE_BYTES = 256 << 20
BATCH_SIZE = 100  # documents of a review batch
CAPTURE_RULES = ("connected", "all", "any")
STUDY_BITS = (16, 32, 64, 128, 256, 512, 1024)
STUDY_TIMED = 50  # documents whose signatures are timed
SYNTH_DOCUMENTS = 100
SYNTH_KINDS = (
    "copy",
    "format",
    "office",
    "names",
    "numbers",
    "edit-01",
    "edit-05",
    "edit-10",
    "edit-20",
    "edit-40",
    "moved",
    "ocr-01",
    "ocr-03",
    "scan",
    "short",
    "excerpt",
    "reply",
    "framed",
    "boilerplate",
    "short-other",
    "translation",
)
TUNE_GRIDS = ("quick", "standard", "full")


# Policies: named conditions of folding, the strictest first.

PolicyName: TypeAlias = Literal["strict", "standard", "loose"]


@dataclass(frozen=True, slots=True)
class Policy:
    """The differences that folded documents may have.

    `threshold`: minimum similarity where none is given. `facts`: whether any fact may differ.
    `replaced`: whether the same words may stand for the same others again and again. `separates`:
    marks by which documents are not folded.
    """

    threshold: float
    facts: bool
    replaced: bool
    separates: frozenset[str]


_SEPARATES = frozenset(("negated", "parties_exchanged", "form", "message", "embedded"))
POLICIES: Mapping[PolicyName, Policy] = MappingProxyType(
    {
        "strict": Policy(FOLD, facts=False, replaced=False, separates=_SEPARATES | {"accents"}),
        "standard": Policy(FOLD, facts=True, replaced=False, separates=_SEPARATES),
        "loose": Policy(REVIEW, facts=True, replaced=True, separates=frozenset()),
    }
)
POLICY_NAMES = tuple(POLICIES)


class DefaultNumber(float):
    """A default that a recipe may replace, distinguished from the same number that a user gave."""


class DefaultName(str):
    """A default that a recipe may replace, distinguished from the same name that a user gave."""
