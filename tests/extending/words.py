"""`nearfold words`: count the words of the documents of a store. An example of a command."""

from __future__ import annotations

import click

from indexer.cli.options import json_option, open_for_command, store_option
from indexer.cli.output import print_json

# 1. A line of `COMMANDS` in indexer/cli/main.py: the list of commands prints it.
COMMAND = {"words": "Count the words of all documents."}


# 2. The function is NAME_command; its options come from indexer/cli/options.py where several
#    commands have them.
@click.command("words")
@store_option
@json_option
def words_command(store_url: str, as_json: bool) -> int:
    """Count the words of all documents."""
    # 3. What computes is imported here, so that `--help` does not load it.
    from indexer.wording import count_of

    with open_for_command(store_url) as store:
        words = sum(row.words for row in store.scan())
    # 4. With --json stdout holds JSON alone.
    if as_json:
        print_json({"words": words})
    else:
        click.echo(count_of(words, "word"))
    # 5. The exit code, one of indexer/cli/exit_codes.py.
    return 0
