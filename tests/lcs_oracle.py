"""The definition of words in order, which the fast computations have to give."""

from collections.abc import Sequence


def lcs_by_table(a: Sequence[object], b: Sequence[object]) -> int:
    """Return the length of the LCS by its definition (Wagner & Fischer, JACM 1974)."""
    above = [0] * (len(b) + 1)
    for item in a:
        row = [0]
        for index, other_item in enumerate(b):
            is_same = item == other_item
            row.append(above[index] + 1 if is_same else max(row[index], above[index + 1]))
        above = row
    return above[-1]
