"""Files that other people wrote have the outcome that was read by eye once."""

from __future__ import annotations

import pytest
from files_of_others import STANDARD_LIBRARY, files, outcomes, stored

MIN_FILES = 300


def test_the_table_has_the_outcomes_of_enough_files() -> None:
    table = stored()
    assert len([row for row in table if row.package != STANDARD_LIBRARY]) >= MIN_FILES
    assert len({(row.package, row.path) for row in table}) == len(table)
    for row in table:
        assert (row.outcome == "failed") == (not row.content_type)
        assert row.outcome != "failed" or row.warning, row.path


@pytest.mark.slow
def test_files_of_others_have_the_outcomes_of_the_table() -> None:
    """Source distributions that cannot be fetched, and other versions of files, are left out."""
    table = {(row.package, row.path): row for row in stored()}
    found = outcomes(list(files()))
    known = [row for row in found if table.get((row.package, row.path), row).file == row.file]
    if not known:
        pytest.skip("no source distribution can be fetched")
    other = [(row, table.get((row.package, row.path))) for row in known]
    assert [pair for pair in other if pair[0] != pair[1]] == []
