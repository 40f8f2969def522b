"""One fuzzed test of test_fuzzing.py under atheris, which searches for inputs that reach new code.

    python coverage_guided.py TEST SECONDS

Exits with a code other than 0 when an input fails the test; hypothesis keeps that input, and the
test itself shows it when it is next run.
"""

from __future__ import annotations

import sys
from pathlib import Path

TESTS = Path(__file__).parent.parent
sys.path[:0] = [str(TESTS / "faults"), str(TESTS), str(TESTS.parent)]


def main(name: str, seconds: str) -> None:
    import atheris  # installed by hand; the tests do without

    with atheris.instrument_imports(include=["indexer"]):
        import test_fuzzing
    test = getattr(test_fuzzing, name)
    # no control of the length: hypothesis generates little from few bytes
    limits = [f"-max_total_time={seconds}", "-max_len=4096", "-len_control=0"]
    atheris.Setup(
        [name, *limits, "-print_final_stats=1", "-verbosity=0"], test.hypothesis.fuzz_one_input
    )
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
