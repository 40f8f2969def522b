"""docs/check.md: its commands, in order, in one folder; and the exit codes of `check`."""

import json
import shlex
import shutil
import socket
from pathlib import Path

import pytest
from command import outcome, run, shell
from forked_commands import client_command
from page_blocks import blocks

FIRST, SCRIPT, HOOK = blocks("docs/check.md")


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_web_hook_of_the_page(tmp_path: Path) -> None:
    shell(FIRST, tmp_path)
    commands = HOOK.replace("8799", str(free_port()))
    served = commands.replace("nearfold serve", f"exec {shlex.join(client_command())} serve", 1)
    first, *_ = served.partition("&\n")
    printed = shell(served.replace(first, f"({first.strip()} >/dev/null) "), tmp_path)
    answer = json.loads(printed)
    assert (answer["verdict"], answer["id"], answer["stored"]) == ("new", "mail-17", True)


def test_exit_codes(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/a.db"
    assert outcome("check", "-", store=store, stdin="a text").returncode == 3
    assert not (tmp_path / "a.db").exists()
    assert outcome("check", tmp_path / "none.txt", "--store-it", store=store).returncode == 2
    (tmp_path / "broken.docx").write_bytes(b"PK\x03\x04 and nothing else")
    assert outcome("check", tmp_path / "broken.docx", "--store-it", store=store).returncode == 1
    run("check", "-", "--store-it", store=store, stdin="one text of some words")
    torn = ["--attachments", "--store-it", "--drop-duplicates"]
    for wrong in (
        ["--drop-duplicates"],
        ["--threshold", "0.5", "--review", "0.6"],
        [tmp_path],
        ["--attachments"],
        torn,
    ):
        done = outcome("check", *(wrong if wrong[0] == tmp_path else ["-", *wrong]), store=store)
        assert done.returncode == 2, done.stderr
    for text in ("one text of some words", "another one, of other words", "two words"):
        assert run("check", "-", store=store, stdin=text).split()[0] in (
            "duplicate",
            "new",
            "review",
        )
