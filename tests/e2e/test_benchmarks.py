"""Every benchmark still runs, on so few documents that its figures mean nothing."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
BENCHMARKS = ROOT / "benchmarks"
ARGUMENTS = {
    "candidates": ["{corpus} --documents 20"],
    "check": ["--documents 100 --checks 3", "--race 2 --processes 2 --through command"],
    "clauses": ["--sets 3", "--names 20"],
    "dedup": ["--corpus {rows} --sample 40", "--growth 100"],
    "engine_bytes": ["{corpus} --documents 20 --length 500 --server {opensearch_http}"],
    "engines": ["--documents 300 --lookups 5 --searches 2 --arrivals 1 --server {opensearch_http}"],
    "ingest": ["--plain {corpus} --runs 1", "--families --documents 60 --runs 1"],
    "load": ["--documents 60 --seconds 3", "--documents 60 --seconds 3 --store {opensearch}/load"],
    "lookups": ["{store} --runs 2 --warm 1 --cold 1"],
    "matching": ["--documents 60", "--texts --documents 30 --words 40"],
    "measures": ["--work {work}"],
    "pages": ["--documents 60 --rounds 1"],
    "policies": ["--only templates"],
    "passages": [
        "{corpus} --from {corpus} --documents 20 --passages 2",
        "{corpus} --from {corpus} --documents 20 --passages 2 --leave-out",
    ],
    "pipeline": ["{opensearch_http} --runs 1"],
    "rare_terms": ["{corpus} --documents 20 --rounds 1"],
    "scans": ["{corpus} --scans 3 --others 5"],
    "signing": ["{corpus} --documents 10 --runs 1"],
    "spark": [
        "--documents 100 --only families --memory 1g --master local[2]",
        "--growth 200 --words 20 --partitions 2 --memory 512m",
    ],
    "startup": ["--runs 1"],
    "store_bytes": ["{corpus} --documents 10 --length 500", "--records 100"],
    "threads": ["--mails 40"],
    "versions": ["--histories 2 --versions 3 --words 40"],
}
RUN_BY_HAND = {
    "engine_plugin": "builds the plugin and starts an engine with it",
    "peers": "installs the packages that it compares with",
    "defaults": "needs the manual pages of a machine",
}
RUNS = [(name, run) for name, runs in ARGUMENTS.items() for run in runs]
ENGINE = [(name, run) for name, run in RUNS if "{opensearch" in run]
ALONE = [(name, run) for name, run in RUNS if "{opensearch" not in run]


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return a folder of texts with an edited copy of each, these as JSON Lines, and a store."""
    folder = tmp_path_factory.mktemp("benchmarks")
    corpus = folder / "corpus"
    corpus.mkdir()
    for page in sorted(ROOT.joinpath("docs").glob("*.md"))[:20]:
        words = page.read_text(encoding="utf-8").split()[:400]
        corpus.joinpath(f"{page.stem}.txt").write_text(" ".join(words), encoding="utf-8")
        copy = " ".join([*words[:50], "changed", *words[51:]])
        corpus.joinpath(f"{page.stem}-copy.txt").write_text(copy, encoding="utf-8")
    build = f"--documents 60 --folder {folder} --build"
    result = run_benchmark("load", build.split(), folder)
    assert result.returncode == 0, result.stderr
    return {
        "corpus": str(corpus),
        "rows": str(folder / "rows.jsonl"),
        "store": str(folder / "load.db"),
        "work": str(folder / "work"),
    }


def run_benchmark(
    name: str, arguments: list[str], folder: Path
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BENCHMARKS / f"{name}.py"), *arguments]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=300
    )


def assert_prints_figures(name: str, arguments: str, folder: Path) -> None:
    result = run_benchmark(name, arguments.split(), folder)
    assert result.returncode == 0, result.stderr
    assert "Traceback" not in result.stderr
    assert re.search(r"\d", result.stdout), result.stdout


def test_every_benchmark_is_run_or_says_why_not():
    programs = {
        path.stem
        for path in BENCHMARKS.glob("*.py")
        if '__name__ == "__main__"' in path.read_text(encoding="utf-8")
    }
    assert programs == {*ARGUMENTS, *RUN_BY_HAND}


def test_the_benchmark_of_the_plugin_finds_what_it_imports(tmp_path):
    """Nothing else runs it."""
    result = run_benchmark("engine_plugin", ["--help"], tmp_path)
    assert result.returncode == 0, result.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("name", "arguments"), ALONE)
def test_it_runs(name, arguments, places, tmp_path):
    assert_prints_figures(name, arguments.format(**places), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "arguments"), ENGINE)
def test_it_runs_on_an_engine(name, arguments, places, opensearch_url, tmp_path):
    addresses = {
        "opensearch": opensearch_url.replace("http:", "opensearch:"),
        "opensearch_http": opensearch_url,
    }
    assert_prints_figures(name, arguments.format(**places, **addresses), tmp_path)
