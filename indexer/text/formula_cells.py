"""Cells of tables that a spreadsheet would run as formulas.

Text that begins with `=`, `+`, `-`, `@` (or one of their full-width forms), a tab, a line end or an
apostrophe is written with an apostrophe before it.
"""

from __future__ import annotations

import re

_FORMULA = re.compile("[=+\\-@＝＋－＠\t\r\n']")


def escape_formula(text: str) -> str:
    """Return a text as a table has it.

    >>> texts = ["=1+1", "'=1", "hot", ""]
    >>> [escape_formula(text) for text in texts]
    ["'=1+1", "''=1", 'hot', '']
    >>> [unescape_formula(escape_formula(text)) for text in texts] == texts
    True
    """
    return f"'{text}" if _FORMULA.match(text) else text


def unescape_formula(cell: str) -> str:
    """Return the text of a cell, also of one that was not escaped.

    >>> unescape_formula("'=hot"), unescape_formula("'tis"), unescape_formula("hot")
    ('=hot', "'tis", 'hot')
    """
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell, 1) else cell
