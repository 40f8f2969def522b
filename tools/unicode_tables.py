"""Write the pinned Unicode 13.0 tables: the classes and lower case of the `default_v1` and
`default_v2` normalisers, and the categories that tokens and words are made of.

Run with a Python whose `unicodedata` is version 13.0.0 (CPython 3.10):

    python3.10 tools/unicode_tables.py

It writes `indexer/fingerprinting/unicode13.py` and `kernel/src/unicode13.rs` from the same
numbers, and `indexer/fingerprinting/unicode13_categories.py`. The tables are data for ever: running
it again must change nothing (a test compares them wherever Python carries Unicode 13.0).
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
END = 0x110000
PYTHON_WIDTH, RUST_WIDTH = 100, 116

Table = list[tuple[int, int]]
Tables = dict[str, tuple[str, Table]]
Runs = list[tuple[int, int, int, int]]
FINAL_SIGMA, SIGMA = 0x3C2, 0x3C3

# DerivedCoreProperties.txt, Default_Ignorable_Code_Point, whole reserved ranges included
DEFAULT_IGNORABLE = (
    (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5),
    (0x180B, 0x180E), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164),
    (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip
# scripts written without spaces between words: each code point counts as a word of its own
UNSPACED = (
    (0xE00, 0xEFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x2E80, 0x2FDF), (0x3005, 0x3007),
    (0x3021, 0x3029), (0x3031, 0x3035), (0x3038, 0x303B), (0x3041, 0x30FA), (0x30FC, 0x30FF),
    (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0xFF66, 0xFF9F),
    (0x1B000, 0x1B16F), (0x20000, 0x3FFFD),
)  # fmt: skip

# WordBreakProperty.txt, Katakana: letters of which a run is one word (UAX #29, rule WB13)
KATAKANA = (
    (0x3031, 0x3035), (0x309B, 0x309C), (0x30A0, 0x30FA), (0x30FC, 0x30FF), (0x31F0, 0x31FF),
    (0x32D0, 0x32FE), (0x3300, 0x3357), (0xFF66, 0xFF9D), (0x1B000, 0x1B000), (0x1B164, 0x1B167),
)  # fmt: skip


def ranges(member: Callable[[int], bool]) -> Iterator[tuple[int, int]]:
    """Yield the inclusive ranges of code points for which `member` holds."""
    start = None
    for code in range(END + 1):
        inside = code < END and member(code)
        if inside and start is None:
            start = code
        elif not inside and start is not None:
            yield start, code - 1
            start = None


def unassigned(code: int) -> bool:
    return unicodedata.category(chr(code)) == "Cn"


def nonstarter(code: int) -> bool:
    """True when the compatibility decomposition begins with a combining class other than zero."""
    if 0xD800 <= code < 0xE000:
        return False
    return unicodedata.combining(unicodedata.normalize("NFKD", chr(code))[0]) != 0


def blank(code: int) -> bool:
    """White_Space or a control character."""
    return unicodedata.category(chr(code)) in ("Cc", "Zs", "Zl", "Zp")


def wordless(code: int) -> bool:
    """Digits, numbers, punctuation and symbols: all that a text of numbers alone holds."""
    return unicodedata.category(chr(code))[0] in "NPS"


def separator(code: int) -> bool:
    """Return whether it is assigned and neither letter, mark nor number: what stands between words
    of `default_v2`.
    """
    category = unicodedata.category(chr(code))
    return category != "Cn" and category[0] not in "LMN"


def in_categories(*names: str) -> Callable[[int], bool]:
    """Return a member test for general categories, given as `Lu` or as a whole class, `L`."""
    return lambda code: unicodedata.category(chr(code)).startswith(names)


def lower(code: int) -> int:
    """Simple lower-case mapping of UnicodeData.txt; final sigma becomes sigma."""
    if code == FINAL_SIGMA:
        return SIGMA
    mapped = chr(code).lower()
    return ord(mapped[0]) if len(mapped) == 1 or code == 0x130 else code


def lower_runs() -> Iterator[tuple[int, int, int, int]]:
    """Yield (first, last, step, delta): every step-th code point from first to last moves by
    delta.
    """
    pairs = [(code, lower(code) - code) for code in range(END) if lower(code) != code]
    while pairs:
        run, step = max(
            (run_of(pairs, step) for step in (1, 2)), key=lambda candidate: len(candidate[0])
        )
        yield run[0][0], run[-1][0], step, run[0][1]
        covered = set(run)
        pairs = [pair for pair in pairs if pair not in covered]


def run_of(pairs: Table, step: int) -> tuple[Table, int]:
    """The longest run of pairs from the first one on, at this step and with one delta; the step."""
    run = [pairs[0]]
    for code, delta in pairs[1:]:
        if code > run[-1][0] + step:
            break
        if code == run[-1][0] + step and delta == run[0][1]:
            run.append((code, delta))
    return run, step if len(run) > 1 else 1


def wrap(words: list[str], width: int) -> str:
    """Words in lines of at most `width` columns."""
    lines, line = [], ""
    for word in words:
        if len(line) + len(word) + 1 > width:
            lines.append(line)
            line = ""
        line = f"{line} {word}".strip()
    return "\n".join([*lines, line])


def spell(pair: tuple[int, int]) -> str:
    """A range as the Python tables have it."""
    return f"{pair[0]:X}" if pair[0] == pair[1] else f"{pair[0]:X}-{pair[1]:X}"


def classes() -> Tables:
    """The tables of `indexer/fingerprinting/unicode13.py`."""
    return {
        "UNASSIGNED": ("code points that Unicode 13.0 does not assign", list(ranges(unassigned))),
        "NONSTARTER": (
            "code points whose NFKD begins with a non-zero combining class",
            list(ranges(nonstarter)),
        ),
        "IGNORABLE": ("Default_Ignorable_Code_Point", list(DEFAULT_IGNORABLE)),
        "BLANK": ("white space and control characters", list(ranges(blank))),
        "WORDLESS": (
            "numbers, punctuation and symbols (categories N*, P*, S*)",
            list(ranges(wordless)),
        ),
        "UNSPACED": ("scripts written without spaces between words", list(UNSPACED)),
        "SEPARATOR": (
            "assigned, but neither letters, marks nor numbers (categories P*, S*, Z*, Cc Cf Co Cs)",
            list(ranges(separator)),
        ),
    }


def categories() -> Tables:
    """The tables of `indexer/fingerprinting/unicode13_categories.py`."""
    word = in_categories("Ll", "Lu", "Lt", "Lo", "Lm", "Mn", "Nd", "Pc")
    return {
        "WORD": ("word characters: categories Ll Lu Lt Lo Lm Mn Nd Pc", list(ranges(word))),
        "SPACING_MARK": ("spacing combining marks: category Mc", list(ranges(in_categories("Mc")))),
        "LETTER": ("letters: categories L*", list(ranges(in_categories("L")))),
        "MARK": ("combining marks: categories M*", list(ranges(in_categories("M")))),
        "DIGIT": ("decimal digits: category Nd", list(ranges(in_categories("Nd")))),
        "PUNCTUATION": ("punctuation: categories P*", list(ranges(in_categories("P")))),
        "KATAKANA": ("letters of which a run is one word, Word_Break=Katakana", list(KATAKANA)),
    }


def python_table(name: str, meaning: str, words: list[str]) -> str:
    """A table as a Python string, with its meaning above it."""
    return f'# {meaning}\n{name} = """\n{wrap(words, PYTHON_WIDTH)}\n"""\n'


def categories_module(tables: Tables) -> str:
    """The text of `indexer/fingerprinting/unicode13_categories.py`."""
    parts = [
        '"""Unicode 13.0 categories, pinned; written by tools/unicode_tables.py, never edited.\n\n'
        "Ranges are inclusive, hexadecimal. A newer Unicode version would be a new file and\n"
        'new token versions.\n"""\n'
    ]
    for name, (meaning, table) in tables.items():
        parts.append(python_table(name, meaning, [spell(pair) for pair in table]))
    return "\n".join(parts)


def python_module(tables: Tables, lower_case: Runs) -> str:
    """The text of `indexer/fingerprinting/unicode13.py`."""
    parts = [
        '"""Unicode 13.0 tables, pinned; written by tools/unicode_tables.py, never edited.\n\n'
        "Ranges are inclusive, hexadecimal. A newer Unicode version would be a new file and\n"
        'a new normaliser name.\n"""\n'
    ]
    for name, (meaning, table) in tables.items():
        parts.append(python_table(name, meaning, [spell(pair) for pair in table]))
    runs = [f"{first:X}-{last:X}/{step}{delta:+d}" for first, last, step, delta in lower_case]
    meaning = "simple lower case, first-last/step+delta; final sigma becomes sigma"
    parts.append(python_table("LOWER", meaning, runs))
    return "\n".join(parts)


def rust_module(tables: Tables, lower_case: Runs) -> str:
    """The text of `kernel/src/unicode13.rs`."""
    parts = [
        "//! Pinned Unicode 13.0 tables, written by tools/unicode_tables.py; "
        "never edited, never updated.\n"
    ]
    for name, (meaning, table) in tables.items():
        rows = wrap([f"(0x{first:X},0x{last:X})," for first, last in table], RUST_WIDTH)
        parts.append(
            f"/// {meaning}\n#[rustfmt::skip]\npub const {name}: &[(u32, u32)] = &[\n{rows}\n];\n"
        )
    moves = [f"(0x{first:X},0x{last:X},{step},{delta})," for first, last, step, delta in lower_case]
    rows = wrap(moves, RUST_WIDTH)
    head = "/// simple lower case: (first, last, step, delta)\n#[rustfmt::skip]"
    parts.append(f"{head}\npub const LOWER: &[(u32, u32, u32, i32)] = &[\n{rows}\n];\n")
    return "\n".join(parts)


def files() -> dict[str, str]:
    """Return every file that is written, by its path, and its text."""
    tables, lower_case = classes(), list(lower_runs())
    return {
        "indexer/fingerprinting/unicode13.py": python_module(tables, lower_case),
        "indexer/fingerprinting/unicode13_categories.py": categories_module(categories()),
        "kernel/src/unicode13.rs": rust_module(tables, lower_case),
    }


def main() -> None:
    """Write the files."""
    version = unicodedata.unidata_version
    if version != "13.0.0":
        sys.exit(
            f"this Python has Unicode {version}; run it with one that has 13.0.0 (CPython 3.10)"
        )
    for path, text in files().items():
        (ROOT / path).write_text(text, encoding="ascii")


if __name__ == "__main__":
    main()
