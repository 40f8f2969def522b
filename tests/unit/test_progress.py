"""Progress where there is no terminal: a line from time to time."""

import json

import pytest

from indexer.cli import progress


@pytest.fixture(name="clock")
def clock_fixture(monkeypatch):
    seconds = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: seconds[0])
    return seconds


def test_a_line_at_most_every_ten_seconds(clock, capsys):
    with progress.show_stages(result=lambda: "3 pairs") as advance:
        for second in range(25):
            clock[0] = float(second)
            advance("verifying pairs", second, 100)
    assert capsys.readouterr().err.splitlines() == [
        "verifying pairs: 10 of 100, about 90 s left; 3 pairs",
        "verifying pairs: 20 of 100, about 80 s left; 3 pairs",
    ]


def test_short_work_says_nothing_and_json_is_a_document(clock, capsys):
    with progress.show_stages(as_json=True) as advance:
        advance("reading rows", 1, 0)
        assert capsys.readouterr().err == ""
        clock[0] = 11.0
        advance("reading rows", 5, 0)
    assert json.loads(capsys.readouterr().err) == {
        "stage": "reading rows",
        "done": 5,
        "total": 0,
        "result": "",
    }
