"""The measure, the thresholds and the principals that hold where none is given, by purpose.

docs/decisions/013-default-measure.md has the evidence, 018-who-leads.md that on principals, and
019-what-folding-hides.md that on replacements.
"""

MEASURE = "lcs"  # one of `indexer.comparing.measures.MEASURES`
REVIEW = 0.8  # least similarity of pairs that people review
FOLD = 0.9  # least similarity of documents that are folded, which hides them, and of families
REPLACED_AT_MOST = 2  # times that words stand for the same others in what words in order fold
OVERLAP = 0.8  # least terminology of clauses that are fuzzy duplicates
PRINCIPAL = "original"  # the order in which documents may lead a family, as `GroupOptions` has it
RECALL = 0.998  # least share of the pairs at a threshold that keys and slots together let through


class DefaultNumber(float):
    """A default that a recipe may replace, told apart from the same number that was asked for."""


class DefaultName(str):
    """A default that a recipe may replace, told apart from the same name that was asked for."""
