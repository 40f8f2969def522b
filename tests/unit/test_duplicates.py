"""Groups of duplicate files, on real files: what is kept, what is acted on, and undo."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command import outcome, shell
from forked_commands import client_command
from page_blocks import blocks

import indexer.jobs.duplicates as module
from indexer.errors import SourceNotFound, UsageError
from indexer.jobs.duplicates import DuplicatesOptions, duplicates, undo_duplicates

TEXT = "The ferry leaves the harbour at eight and takes the mail to both islands every day.\n"
NAMES = [
    "a 'quoted' name",
    'double "quotes"',
    "two\nlines",
    "$(touch hacked)",
    "-rf",
    "back\\slash",
]
UNDECODABLE = os.fsdecode(b"caf\xe9.txt")


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "nearfold" / "duplicates"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    return folder.resolve()


@pytest.fixture
def without_rights(tmp_path: Path) -> Iterator[None]:
    """Run as a user for whom permissions count."""
    if os.geteuid() != 0:
        yield
        return
    for path in (tmp_path, *tmp_path.parents[:3]):
        path.chmod(0o777)
    for path in tmp_path.rglob("*"):
        os.chown(path, 65534, 65534)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def snapshot(folder: Path) -> dict[str, tuple[bytes, int, int]]:
    """Return the bytes, the permissions and the time of each file."""
    return {
        str(path.relative_to(folder)): (
            path.read_bytes(),
            path.stat().st_mode,
            path.stat().st_mtime_ns,
        )
        for path in folder.rglob("*")
        if path.is_file()
    }


def listed(folder: Path, **options: Any) -> list[tuple[str, list[str]]]:
    result = duplicates(folder, DuplicatesOptions(**options))
    return [
        (
            os.path.relpath(group.keep, folder),
            [os.path.relpath(f.path, folder) for f in group.redundant],
        )
        for group in result.groups
    ]


def test_a_dry_run_changes_nothing(folder: Path, state: Path) -> None:
    write(folder, {"b.txt": TEXT, "a.txt": TEXT, "sub/c.txt": TEXT, "other.txt": "x", "y": ""})
    write(folder, {"empty": ""})
    before = snapshot(folder)
    assert listed(folder) == [("a.txt", ["b.txt", "sub/c.txt"])]
    assert snapshot(folder) == before
    assert not state.exists()


def test_the_file_of_the_earliest_path_is_kept(folder: Path) -> None:
    write(folder, {"a/x.txt": TEXT, "b/x.txt": TEXT})
    [group] = duplicates([folder / "b", folder / "a", folder]).groups
    assert (group.keep, [file.path for file in group.redundant]) == (
        str(folder / "b/x.txt"),
        [str(folder / "a/x.txt")],
    )


def test_links_are_no_duplicates(folder: Path, tmp_path: Path) -> None:
    write(folder, {"a.txt": TEXT})
    (folder / "soft.txt").symlink_to("a.txt")
    (folder / "loop").symlink_to(folder)
    os.link(folder / "a.txt", folder / "hard.txt")
    os.mkfifo(folder / "pipe")
    assert listed(folder) == []
    (tmp_path / "door").symlink_to(folder)
    write(folder, {"b.txt": TEXT})
    [group] = duplicates(tmp_path / "door").groups
    assert group.keep == str(folder / "a.txt")


def test_hard_links_replace_identical_files_and_are_undone(folder: Path) -> None:
    write(folder, {"a": TEXT, "b": TEXT, "sub/c": TEXT, "other": "x"})
    os.utime(folder / "b", ns=(10**18, 10**18))
    before = snapshot(folder)
    result = duplicates(folder, DuplicatesOptions(hardlink=True))
    assert result.done == (str(folder / "b"), str(folder / "sub/c"))
    assert result.failed == ()
    assert (folder / "a").stat().st_nlink == 3
    assert {name: data for name, (data, *_) in snapshot(folder).items()} == {
        name: data for name, (data, *_) in before.items()
    }
    assert duplicates(folder, DuplicatesOptions(hardlink=True)).done == ()
    undone = undo_duplicates(folder)
    assert set(undone.undone) == set(result.done)
    assert snapshot(folder) == before
    assert {path.stat().st_nlink for path in folder.rglob("*") if path.is_file()} == {1}
    assert undo_duplicates(folder).undone == ()


@pytest.mark.parametrize("name", [*NAMES, UNDECODABLE])
@pytest.mark.parametrize("action", ["hardlink", "move", "script"])
def test_any_name_is_acted_on(folder: Path, tmp_path: Path, name: str, action: str) -> None:
    write(folder, {"0 kept": TEXT})
    (folder / name).write_text(TEXT)
    before = snapshot(folder)
    values: dict[str, Any] = {
        "hardlink": True,
        "move": str(tmp_path / "moved"),
        "script": str(tmp_path / "run me.sh"),
    }
    result = duplicates(folder, DuplicatesOptions(**{action: values[action]}))
    keep = min(["0 kept", name])
    other = next(file for file in before if file != keep)
    if action == "hardlink":
        assert (folder / keep).samefile(folder / other)
    elif action == "move":
        assert list(snapshot(folder)) == [keep]
        moved = tmp_path / "moved" / os.path.relpath(folder / other, "/")
        assert moved.read_text() == TEXT
    else:
        assert result.done == ()
        assert snapshot(folder) == before
        subprocess.run(["sh", tmp_path / "run me.sh"], check=True, cwd=tmp_path)
        assert list(snapshot(folder)) == [keep]
        assert not (tmp_path / "hacked").exists()
        return
    undo_duplicates(folder)
    assert snapshot(folder) == before


def test_the_script_keeps_what_changed_and_the_last_copy(folder: Path, tmp_path: Path) -> None:
    write(folder, {"a": TEXT, "b": TEXT, "c": TEXT, "d": "other", "e": "other"})
    script = tmp_path / "run.sh"
    duplicates(folder, DuplicatesOptions(script=str(script)))
    (folder / "b").write_text("changed")
    (folder / "d").unlink()
    (folder / "d").symlink_to("e")
    done = subprocess.run(["sh", script], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.count("not removed") == 2
    assert sorted(path.name for path in folder.iterdir()) == ["a", "b", "d", "e"]
    with pytest.raises(UsageError, match="exists"):
        duplicates(folder, DuplicatesOptions(script=str(script)))


@pytest.mark.parametrize("victim", ["a", "b"])
@pytest.mark.parametrize("how", ["written", "gone", "replaced", "link"])
@pytest.mark.parametrize("action", ["hardlink", "move"])
def test_a_file_that_changes_after_it_was_compared_is_left(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    victim: str,
    how: str,
    action: str,
) -> None:
    write(folder, {"a": TEXT, "b": TEXT, "spare": "x"})
    act = module._act

    def change_then_act(*values: Any) -> Any:
        path = folder / victim
        if how == "written":
            path.write_text(TEXT.replace("eight", "nine!"))
        else:
            path.unlink()
        if how == "replaced":
            path.write_text(TEXT)
        if how == "link":
            path.symlink_to(folder / ("b" if victim == "a" else "a"))
        return act(*values)

    monkeypatch.setattr(module, "_act", change_then_act)
    options = {"hardlink": True} if action == "hardlink" else {"move": str(tmp_path / "moved")}
    result = duplicates(folder, DuplicatesOptions(**options))
    other = folder / ("b" if victim == "a" else "a")
    assert other.read_text() == TEXT
    assert result.done == ()
    assert [path for path, _ in result.failed] == [str(folder / "b")]
    assert not list(folder.glob(".nearfold*"))


def test_files_with_other_permissions_are_not_linked(folder: Path) -> None:
    write(folder, {"a": TEXT, "b": TEXT, "c": TEXT})
    (folder / "b").chmod(0o600)
    (folder / "a").chmod(0o644)
    (folder / "c").chmod(0o644)
    result = duplicates(folder, DuplicatesOptions(hardlink=True))
    assert result.done == (str(folder / "c"),)
    assert [path for path, _ in result.failed] == [str(folder / "b")]


def test_what_cannot_be_read_or_written_is_listed(folder: Path, request: Any) -> None:
    write(folder, {"a": TEXT, "b": TEXT, "closed/x": TEXT, "fixed/c": TEXT, "z": TEXT})
    (folder / "b").chmod(0)
    (folder / "closed").chmod(0)
    (folder / "fixed").chmod(0o555)
    request.getfixturevalue("without_rights")
    result = duplicates(folder, DuplicatesOptions(hardlink=True))
    assert result.done == (str(folder / "z"),)
    assert sorted(path for path, _ in result.failed) == [
        str(folder / name) for name in ("b", "closed", "fixed/c")
    ]
    (folder / "closed").chmod(0o755)


def test_a_folder_to_move_to_is_not_searched(folder: Path) -> None:
    write(folder, {"a": TEXT, "b": TEXT})
    moved = str(folder / "moved")
    assert duplicates(folder, DuplicatesOptions(move=moved)).done == (str(folder / "b"),)
    assert duplicates(folder, DuplicatesOptions(move=moved)).groups == ()


def test_undo_replaces_nothing(folder: Path, tmp_path: Path) -> None:
    write(folder, {"a": TEXT, "b": TEXT, "c": TEXT})
    duplicates(folder, DuplicatesOptions(move=str(tmp_path / "moved")))
    (folder / "b").write_text("new")
    result = undo_duplicates(folder)
    assert result.undone == (str(folder / "c"),)
    assert [path for path, _ in result.failed] == [str(folder / "b")]
    assert (folder / "b").read_text() == "new"
    (folder / "b").unlink()
    assert undo_duplicates(folder).undone == (str(folder / "b"),)


def test_undo_below_a_path_that_is_not_there_is_an_error(folder: Path, tmp_path: Path) -> None:
    write(folder, {"a": TEXT, "b": TEXT})
    duplicates(folder, DuplicatesOptions(move=str(tmp_path / "moved")))
    with pytest.raises(SourceNotFound, match="nowhere"):
        undo_duplicates(folder / "nowhere")
    assert undo_duplicates(folder / "b").undone == (str(folder / "b"),)


def test_undo_leaves_a_link_whose_bytes_changed(folder: Path) -> None:
    write(folder, {"a": TEXT, "b": TEXT})
    duplicates(folder, DuplicatesOptions(hardlink=True))
    (folder / "a").write_text("changed through either name")
    result = undo_duplicates(folder)
    assert (result.undone, len(result.failed)) == ((), 1)
    assert (folder / "b").samefile(folder / "a")


@pytest.mark.parametrize("occurrence", [1, 2, 3])
@pytest.mark.parametrize("action", ["hardlink", "move"])
def test_a_kill_in_the_middle_loses_nothing(
    folder: Path, tmp_path: Path, action: str, occurrence: int
) -> None:
    write(folder, dict.fromkeys("abcd", TEXT))
    before = snapshot(folder)
    words = ["--hardlink"] if action == "hardlink" else ["--move", str(tmp_path / "moved")]
    command = [*client_command(), "duplicates", str(folder), *words]
    environment = {**os.environ, "NEARFOLD_FAILPOINTS": f"after_journal:{occurrence}=kill"}
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert (folder / "a").read_text() == TEXT
    undo_duplicates(folder)
    assert snapshot(folder) == before


def test_an_act_that_was_half_done_is_undone(folder: Path, state: Path, tmp_path: Path) -> None:
    write(folder, {"a": TEXT, "b": TEXT, "c": TEXT})
    duplicates(folder, DuplicatesOptions(move=str(tmp_path / "moved")))
    target = tmp_path / "moved" / str(folder / "b").lstrip("/")
    os.link(target, folder / "b")
    [journal] = state.iterdir()
    with journal.open("a") as file:
        file.write('{"action": "mo')
    assert set(undo_duplicates(folder).undone) == {str(folder / "b"), str(folder / "c")}
    assert not target.exists()
    assert sorted(path.name for path in folder.iterdir()) == ["a", "b", "c"]


def test_another_file_system_is_refused(folder: Path) -> None:
    shared = Path("/dev/shm")
    if not shared.is_dir() or shared.stat().st_dev == folder.stat().st_dev:
        pytest.skip("there is no second file system")
    write(folder, {"a": TEXT, "b": TEXT})
    target = shared / f"nearfold-{os.getpid()}"
    try:
        result = duplicates(folder, DuplicatesOptions(move=str(target)))
        assert result.done == ()
        assert "file system" in result.failed[0][1]
        assert (folder / "b").read_text() == TEXT
    finally:
        shutil.rmtree(target, ignore_errors=True)


def test_near_duplicates_are_moved_unless_a_fact_differs(folder: Path, tmp_path: Path) -> None:
    write(
        folder,
        {
            "draft.txt": TEXT * 3,
            "copy of draft.txt": TEXT * 3,
            "longer.txt": TEXT * 3 + "Bring a coat.",
            "other time.txt": TEXT * 3 + "Bring a coat at 8:30.",
            "photo1.txt": "--",
            "photo2.txt": "---",
        },
    )
    assert listed(folder) == [("copy of draft.txt", ["draft.txt"])]
    near = listed(folder, near=True)
    [(keep, members)] = near
    assert keep == "longer.txt" or "other time.txt" not in members
    moved = str(tmp_path / "moved")
    before = snapshot(folder)
    result = duplicates(folder, DuplicatesOptions(near=True, move=moved))
    assert result.failed == ()
    left = {path.name for path in folder.iterdir()}
    assert {"other time.txt", "photo1.txt", "photo2.txt"} <= left
    assert "draft.txt" not in left
    undo_duplicates(folder)
    assert snapshot(folder) == before


@pytest.mark.parametrize(
    "options",
    [
        {"near": True, "hardlink": True},
        {"near": True, "script": "x"},
        {"hardlink": True, "move": "x"},
        {"threshold": 0},
    ],
)
def test_options_that_do_not_go_together_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        DuplicatesOptions(**options)


def test_a_path_that_does_not_exist(folder: Path) -> None:
    with pytest.raises(SourceNotFound):
        duplicates(folder / "none")


@pytest.mark.long
def test_the_command_prints_lines_of_json_and_ends_with_1_if_a_file_failed(folder: Path) -> None:
    write(folder, {"a": TEXT, "b": TEXT})
    (folder / UNDECODABLE).write_text(TEXT)
    (folder / "b").chmod(0o600)
    (folder / "a").chmod(0o644)
    (folder / UNDECODABLE).chmod(0o644)
    done = outcome("duplicates", folder, "--json")
    [line] = map(json.loads, done.stdout.splitlines())
    assert line["keep"] == str(folder / "a")
    paths = [file["path"] for file in line["redundant"]]
    assert paths == [str(folder / "b"), str(folder / UNDECODABLE)]
    done = outcome("duplicates", folder, "--json", "--hardlink")
    assert done.returncode == 1
    assert [item["path"] for item in json.loads(done.stderr)["failed"]] == [str(folder / "b")]
    done = outcome("duplicates", folder, "--json", "--undo")
    assert json.loads(done.stdout) == {"undone": [str(folder / UNDECODABLE)]}


@pytest.mark.long
def test_the_commands_of_the_page_run(tmp_path: Path) -> None:
    block, *_ = blocks("docs/duplicates.md")
    documents = tmp_path / "documents"
    documents.mkdir()
    write(documents, {"a.txt": TEXT, "b.txt": TEXT, "c.txt": f"{TEXT}And back again."})
    before = snapshot(documents)
    shell(block, tmp_path, HOME=str(tmp_path))
    assert snapshot(documents) == before
    assert (tmp_path / "remove.sh").exists()
