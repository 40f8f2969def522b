"""A measure that is declared once is known to commands, comparisons and plans."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from dice import DICE

from indexer.comparing import measures
from indexer.comparing.band_plan import describe_plan, plan
from indexer.comparing.compare import as_json, compare

A, B = "the ship sails", "The ship sank today."


@pytest.fixture(autouse=True)
def declared(monkeypatch: pytest.MonkeyPatch) -> None:
    for table in (measures.DECLARED, measures.MEASURES):
        monkeypatch.setitem(table, DICE.name, DICE)


def test_a_comparison_has_its_value_and_its_phrase() -> None:
    compared = compare(A, B)
    assert as_json(compared, "dice") | {"measures": {"dice": 4 / 7}} == as_json(compared, "dice")
    assert measures.describe_measures(compared.measures)["dice"] == DICE.phrase
    assert compare(A, "").measures.value("dice") == 0.0


def test_a_threshold_is_compared_with_it() -> None:
    a, b = (measures.ComparedText(text, compare(A, B).recipe) for text in (A, B))
    assert measures.measure_pair("dice", a, b).similarity == 4 / 7


def test_a_plan_says_that_its_recall_is_not_known() -> None:
    assert "at this dice similarity they find is not known" in describe_plan(plan(measure="dice"))


def test_a_command_takes_it(tmp_path: Path) -> None:
    for name, text in (("a.txt", A), ("b.txt", B)):
        (tmp_path / name).write_text(text)
    code = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from indexer import defaults; defaults.MEASURE_NAMES += ('dice',)\n"
        "from dice import DICE\n"
        "from indexer.comparing.measures import DECLARED, MEASURES\n"
        "DECLARED['dice'] = MEASURES['dice'] = DICE\n"
        "from indexer.cli.main import main; main()"
    )
    command = ["compare", "a.txt", "b.txt", "--measure", "dice", "--json"]
    done = subprocess.run(
        [sys.executable, "-c", code, *command],
        cwd=tmp_path,
        env={"PYTHONPATH": str(Path(measures.__file__).parent.parent.parent), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert json.loads(done.stdout)["measures"] == {"dice": 4 / 7}
