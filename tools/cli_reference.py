"""Write docs/cli.md from the commands' own help.

python tools/cli_reference.py
"""

from __future__ import annotations

from pathlib import Path

import click

from indexer.cli.main import commands

PAGE = Path(__file__).resolve().parent.parent / "docs" / "cli.md"
WIDTH = 110
HEAD = """# The command line

Written by `tools/cli_reference.py` from the commands' own help; a test keeps it true. `python -m
indexer` is the same program.

Exit codes: 0 success; 1 finished, but some documents failed (they are listed); 2 wrong usage; 3
the store, the recipe or the index does not fit (the message says what to do); 4 stopped early,
run again to resume; 70 internal error; 130 interrupted; 143 terminated (both leave a state from
which the same command goes on). `check --exit-code` adds 10 (duplicate) and 11 (review).

A store is a URL: `sqlite:///nearfold.db` (relative), `sqlite:////var/nearfold.db` (absolute),
`opensearch://host:9200/index`, `opensearch+https://...`, `elasticsearch://...`,
`elasticsearch+https://...`. Secrets come from the environment (`NEARFOLD_USER` and
`NEARFOLD_PASSWORD`, or `NEARFOLD_API_KEY`), never from the command line.
"""


def page() -> str:
    """Return the whole page."""
    parts = [HEAD]
    group = click.Context(commands)
    for name in commands.list_commands(group):
        command = commands.get_command(group, name)
        assert command
        sizes = {"terminal_width": WIDTH, "max_content_width": WIDTH}
        context = click.Context(
            command, info_name=f"nearfold {name}", help_option_names=["-h", "--help"], **sizes
        )
        parts.append(f"## nearfold {name}\n\n```text\n{command.get_help(context)}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
