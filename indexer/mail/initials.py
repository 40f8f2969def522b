"""Quote marks with the initials or the name of the sender before them, such as `AL> `.

The Bat! and programs of FidoNet write initials (FSC-0032: ` AL> `, and ` AL>> ` for what that
message quoted), Supercite of Emacs a name (`Ann> `).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from indexer.mail.headings import heading_at
from indexer.mail.quote_marks import Line

_NAMED = re.compile(r"[ \t]{0,2}([^\W\d_]{2,20})(>+)(?:[ \t]|$)")
_MOST_INITIALS, _MOST_HEADING = 4, 4


def with_initials(lines: Sequence[Line]) -> list[Line]:
    """Return lines with marks such as `AL> ` counted as quote marks, and without them.

    The first line below a heading says which name is a mark: capitals, up to four, or a word of the
    heading. From there on that name is one. Other names before `>>` stay in the text, since they
    say who wrote it.
    """
    out: list[Line] = []
    name = ""
    above: list[int] = []
    for place, line in enumerate(lines):
        match = _NAMED.match(line.text)
        if match and (match[1] == name or _is_mark(lines, above, line, match[1])):
            name = match[1]
            out.append(
                replace(line, marks=line.marks + len(match[2]), text=line.text[match.end() :])
            )
        elif match and name and match[1].isupper() and len(match[2]) > 1:
            text = f"{match[1]} {line.text[match.end() :]}"
            out.append(replace(line, marks=line.marks + len(match[2]), text=text))
        else:
            out.append(line)
        if not line.is_blank:
            above = [*above[1 - _MOST_HEADING :], place]
    return out


def _is_mark(lines: Sequence[Line], above: Sequence[int], line: Line, name: str) -> bool:
    """Return whether a name before `>` is of the sender whom a heading right above it names."""
    if not above or lines[above[-1]].marks != line.marks:
        return False
    for start in above:
        heading = heading_at(lines, start)
        if heading is not None and start + heading.lines == above[-1] + 1:
            said = " ".join(part.text for part in lines[start : start + heading.lines])
            is_word = name.casefold() in re.findall(r"[^\W\d_]+", said.casefold())
            return is_word or (name.isupper() and len(name) <= _MOST_INITIALS)
    return False
