"""The commands of docs/versions.md on the example folder."""

import re
import shlex
from pathlib import Path

from command import ROOT, run, run_json

from indexer.comparing.words import normal_words

PAGE = (ROOT / "docs" / "versions.md").read_text(encoding="utf-8")


def test_commands_of_the_page(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/store.db"
    run("index", ROOT / "examples", store=store)
    run("group", store=store)
    page = run_json("search", "agreement", "--fold", "none", store=store)
    [renewal] = [hit["id"] for hit in page["hits"] if "renewal" in hit["path"]]
    [block] = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    for line in block.splitlines():
        words = shlex.split(line, comments=True)[1:]
        printed = run(words[0], renewal, *words[2:], store=store)
        assert "3 versions in 4 documents" in printed
        assert ("2024-03-04  " in printed) == ("--no-dates" not in words)
        assert ("[-Tilbury-] {+Southampton+}" in printed) == ("--redline" in words)
        assert ("either way" in printed) == ("--no-dates" in words)
    answer = run_json("versions", renewal, "--redline", store=store)
    assert [version["from"] is None for version in answer["versions"]] == [True, False, False]
    [last] = [version for version in answer["versions"] if version["id"] == renewal]
    assert ["added", "Southampton "] in last["redline"]
    assert last["added"] == sum(
        len(normal_words(text)) for change, text in last["redline"] if change == "added"
    )
