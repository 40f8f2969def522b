"""A command loads only the modules that it needs: most of the time of a short one is loading."""

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

import indexer
from indexer import defaults
from indexer.cli.main import COMMANDS, commands, run
from indexer.comparing.measures import MEASURES
from indexer.lab.evaluation.precision_recall import RULES
from indexer.lab.synthesis.kinds import KINDS
from indexer.lab.tuning.tune import GRIDS
from indexer.recipe import DEFAULT

UNUSED = {
    "charset_normalizer",
    "email",
    "importlib.metadata",
    "indexer.documents.native",
    "indexer.documents.roff",
    "indexer.documents.workers",
    "indexer.comparing.clauses.duplicates",
    "indexer.fingerprinting.schemes",
    "indexer.documents.containers",
    "indexer.stores.sqlite.reindex",
    "indexer.comparing.clauses",
    "numpy.polynomial",
    "psutil",
}
SHORTENED = {"check", "passages", "threads"}  # their first sentences are too long for a list
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")
CODE = (
    "import sys; from indexer.cli.main import run; code = run(sys.argv[1:]); "
    "sys.stderr.write('\\n'.join(sys.modules)); sys.exit(code)"
)


def loaded(*words: str) -> set[str]:
    """Return the modules that a command has loaded when it ends."""
    done = subprocess.run(
        [sys.executable, "-c", CODE, *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


@pytest.mark.long
def test_a_look_up_or_search_loads_no_readers_of_other_formats_and_schemes(tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    for name in ("a.txt", "b.txt"):
        (library / name).write_text("the quick brown fox jumps over the lazy dog " * 9 + name)
    store = f"sqlite:///{tmp_path}/index.db"
    assert run(["index", str(library), "--store", store]) == 0
    similar = loaded("similar", str(library / "a.txt"), "--store", store)
    search = loaded("search", "fox", "--store", store)
    assert "indexer.searching.similar" in similar
    assert "indexer.searching.search" in search
    assert similar & UNUSED == set()
    assert search & UNUSED == set()


# No help loads these, nor a package of nearfold but its commands and `system`.
UNUSED_BY_HELP = {"difflib", "numpy", "rich", "indexer.model", "indexer.recipe"}
UNUSED_PACKAGES = {
    f"indexer.{path.name}" for path in Path(indexer.__file__).parent.iterdir() if path.is_dir()
} - {"indexer.cli", "indexer.system"}


def test_the_list_of_commands_loads_no_command() -> None:
    commands = {f"indexer.cli.{name}" for name in COMMANDS}
    assert loaded("--help") & (commands | UNUSED_BY_HELP | UNUSED_PACKAGES) == set()


@pytest.mark.long
@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_loads_nothing_that_computes(command: str) -> None:
    modules = loaded(command, "--help")
    assert f"indexer.cli.{command}" in modules
    assert modules & (UNUSED_BY_HELP | UNUSED_PACKAGES) == set()


@pytest.mark.parametrize("command", COMMANDS)
def test_the_list_of_commands_has_the_first_sentence_of_each(command: str) -> None:
    loaded_command = commands.get_command(click.Context(commands), command)
    assert loaded_command
    assert loaded_command.help
    if command not in SHORTENED:
        assert (
            click.Command(None, help=loaded_command.help).get_short_help_str(400)
            == COMMANDS[command]
        )


def test_help_offers_what_is_registered() -> None:
    assert set(defaults.MEASURE_NAMES) == set(MEASURES)
    assert set(defaults.CAPTURE_RULES) == set(RULES)
    assert set(defaults.SYNTH_KINDS) == set(KINDS)
    assert set(defaults.TUNE_GRIDS) == set(GRIDS)
    assert DEFAULT.name == defaults.RECIPE


def test_workers_that_extract_load_no_numpy() -> None:
    modules = ("worker_main", "extractors", "native", "tika_server")
    names = ", ".join(f"indexer.documents.{module}" for module in modules)
    code = f"import sys, {names}; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted in /proc")
def test_a_command_starts_no_threads_for_linear_algebra(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("the quick brown fox")
    code = (
        "import atexit, os, sys; from indexer.cli.main import main; "
        "count = lambda: print(len(os.listdir('/proc/self/task')), file=sys.stderr); "
        "atexit.register(count); main()"
    )
    environment = {name: value for name, value in os.environ.items() if name not in THREADS}
    command = [sys.executable, "-c", code, "hash", str(tmp_path / "a.txt")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert done.stderr.split()[-1] == "1"
