"""Tables of tbl, the preprocessor of roff: their cells, row by row."""

from __future__ import annotations

import re

_OPTION = re.compile(r"\btab *\((.)\)")
_EMPTY = frozenset({"\\^", "T{", "_", "="})


class Table:
    """A table that is being read. `stack` holds the lines to come, the next one last."""

    def __init__(self, stack: list[str]) -> None:
        options = stack[-1] if stack else ""
        separator = _OPTION.search(options) if options.rstrip().endswith(";") else None
        self._separator = separator[1] if separator else "\t"
        self._is_block = False
        self.skip_formats(stack)

    def skip_formats(self, stack: list[str]) -> None:
        """Leave out the lines that describe columns, up to the one that ends with a full stop."""
        while stack and not stack[-1].startswith(".TE"):
            if stack.pop().rstrip().endswith("."):
                return

    def row(self, line: str) -> tuple[str, bool]:
        """Return the cells of a line, and whether it ends a row: a cell may have several lines,
        from `T{` to `T}`.
        """
        if self._is_block and not line.startswith("T}"):
            return line, False
        self._is_block = line.endswith("T{")
        cells = line.removeprefix("T}").removesuffix("T{").split(self._separator)
        return "\t".join(cell for cell in cells if cell not in _EMPTY), not self._is_block
