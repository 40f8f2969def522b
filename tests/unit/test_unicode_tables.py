"""The pinned tables are Unicode 13.0's, and nothing that 13.0 assigns has moved in the running
Python's tables.
"""

import runpy
import unicodedata
from pathlib import Path

import numpy as np
import pytest

from indexer.fingerprinting import normalise, unicode13

ROOT = Path(__file__).parent.parent.parent
GENERATOR = runpy.run_path(str(ROOT / "tools/unicode_tables.py"))
CLASSES = normalise.codepoint_classes()
ASSIGNED = np.flatnonzero(CLASSES & normalise.UNASSIGNED == 0).tolist()


@pytest.mark.skipif(
    unicodedata.unidata_version != "13.0.0",
    reason="this Python carries another Unicode version than 13.0",
)
def test_the_generator_writes_what_is_there() -> None:
    for path, text in GENERATOR["files"]().items():
        assert (ROOT / path).read_text(encoding="ascii") == text


def test_python_and_rust_have_the_same_numbers() -> None:
    source = (ROOT / "kernel/src/unicode13.rs").read_text(encoding="ascii")
    for name in (
        "UNASSIGNED",
        "NONSTARTER",
        "IGNORABLE",
        "BLANK",
        "WORDLESS",
        "UNSPACED",
        "SEPARATOR",
    ):
        rows = source.split(f"pub const {name}: &[(u32, u32)] = &[")[1].split("];")[0]
        lines = [
            tuple(int(end, 16) for end in row.strip(" \n(,").split(","))
            for row in rows.split(")")
            if row.strip(" \n,")
        ]
        assert lines == list(normalise.ranges(getattr(unicode13, name)))


def test_what_is_assigned_stays_assigned() -> None:
    assert all(unicodedata.category(chr(code)) != "Cn" for code in ASSIGNED)


@pytest.mark.parametrize(
    ("bit", "member"),
    [
        ("BLANK", "blank"),
        ("WORDLESS", "wordless"),
        ("NONSTARTER", "nonstarter"),
        ("SEPARATOR", "separator"),
    ],
)
def test_class_has_not_moved(bit: str, member: str) -> None:
    holds = GENERATOR[member]
    flag = getattr(normalise, bit)
    assert [hex(code) for code in ASSIGNED if holds(code) != bool(CLASSES[code] & flag)] == []


def test_lower_case_has_not_moved() -> None:
    lower = normalise.to_lower()
    assert [hex(code) for code in ASSIGNED if GENERATOR["lower"](code) != lower[code]] == []


def test_lower_case_is_one_step() -> None:
    lower = normalise.to_lower()
    assert np.array_equal(lower[lower], lower)


def test_what_is_not_assigned_has_no_other_class() -> None:
    unassigned = CLASSES[CLASSES & normalise.UNASSIGNED != 0]
    assert not np.any(unassigned & (normalise.NONSTARTER | normalise.BLANK | normalise.WORDLESS))
