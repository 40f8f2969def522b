"""The command line: finds a command in `indexer.cli`, runs it and reports errors."""

from __future__ import annotations

import errno
import importlib
import io
import os
import signal
import sys
from types import FrameType
from typing import NoReturn, TextIO

import click

from indexer.cli.exit_codes import (
    EXIT_FAULT,
    EXIT_INTERRUPTED,
    EXIT_STOPPED,
    EXIT_TERMINATED,
    EXIT_USAGE,
    exit_code_of,
)
from indexer.errors import MissingExtra, NearfoldError
from indexer.system.failpoints import VARIABLE, arm
from indexer.system.logs import LOG_VARIABLE, configure, crash_report
from indexer.system.release import release, requirement

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

# The commands, by the line that `nearfold --help` prints: each is `NAME_command` in
# `indexer/cli/NAME.py`.
COMMANDS = {
    "backup": "Back up an embedded store to a file while it is in use.",
    "check": "Check whether a file or text (-) is new; store it on request.",
    "compare": "Compare two documents and mark the text they have in common.",
    "consistency": "List near-duplicate groups whose labels differ.",
    "dedup": "Write a dataset of texts without its duplicates.",
    "delete": "Remove documents and repair their near-duplicate groups.",
    "doctor": "Check the setup and suggest repairs.",
    "duplicates": "List duplicate files of folders; link or move them.",
    "evaluate": "Measure precision, recall and F1 on labelled pairs.",
    "export": "Write groups, pairs, batches or a review queue to a file.",
    "families": "List near-duplicate groups, the largest first.",
    "group": "Find near-duplicate groups and clusters, and store them.",
    "hash": "Print the sketches and keys of files without storing them.",
    "index": "Extract, fingerprint and store documents.",
    "install": "Set up a cluster to fingerprint documents and fold searches.",
    "judge": "Judge pairs of documents blind, in a browser or spreadsheets.",
    "label": "Label documents and the members of their groups.",
    "match": "List all near-duplicate pairs of the store.",
    "passages": "List passages that recur in many near-duplicate groups.",
    "plan": "Choose bands and rows for a threshold, as match does.",
    "reindex": "Fingerprint all stored texts again, with another recipe.",
    "restore": "Restore an embedded store from a backup, in one step.",
    "roles": "Print the roles that a secured cluster needs.",
    "search": "Search documents and fold near duplicates under the best hit.",
    "serve": "Serve the review pages to a browser.",
    "show": "Print a stored document: its fields and its text.",
    "similar": "Find near duplicates of a file, a text or a stored document.",
    "status": "Show document counts, failures and recent jobs of the store.",
    "study": "Study how fingerprints of 16 to 1024 bits separate documents.",
    "synth": "Make a corpus of near duplicates from the texts of a folder.",
    "threads": "Print mail threads as trees, and mark the inclusive mails.",
    "tune": "Try recipes and thresholds, and recommend one.",
    "uninstall": "Remove what install added to a cluster; documents stay.",
    "versions": "Show the probable order of revisions in a group.",
}


class LazyGroup(click.Group):
    """A group of `COMMANDS` that imports only the module of the command that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return all names, sorted; nothing is imported."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of its imported module; None for an unknown name."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"indexer.cli.{cmd_name}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        command.short_help = COMMANDS[cmd_name]
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the lines of all commands; nothing is imported."""
        width = formatter.width - 6 - max(map(len, COMMANDS))
        with formatter.section("Commands"):
            formatter.write_dl(
                [
                    (name, click.Command(name, help=line).get_short_help_str(width))
                    for name, line in sorted(COMMANDS.items())
                ]
            )

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the words name; the error for none names the nearest one."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            import difflib

            for name in difflib.get_close_matches(args[0], COMMANDS, n=1):
                ctx.fail(f"{error.message} Did you mean {name}?")
            raise


def _print_version(ctx: click.Context, _: click.Parameter, is_given: bool) -> None:
    """Print the version and end; it is looked up only then, which takes time."""
    if is_given:
        click.echo(f"{ctx.find_root().info_name}, version {release()}")
        ctx.exit()


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
@click.option(
    "--log",
    "log",
    metavar="text|json",
    envvar=LOG_VARIABLE,
    default="",
    help="Write a log to stderr.",
)
def commands(log: str) -> None:
    """Find near-duplicate documents and fold them together inside search results."""
    configure(log)


def main() -> NoReturn:
    """Run the command line and exit with one of the documented codes."""
    signal.signal(signal.SIGTERM, _exit_terminated)
    # NumPy's library of linear algebra, of which little is used, starts a thread for each processor
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()
    for stream in (sys.stdout, sys.stderr):
        _escape_unknown_characters(stream)
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str], command: click.Command = commands, name: str = "nearfold") -> int:
    """Run a command, report errors on stderr, and return one of the documented codes.

    With `--json` among the arguments an error is one JSON object on a line of its own.
    """
    as_json = "--json" in arguments
    try:
        arm(os.environ.get(VARIABLE, ""))
        code = int(command.main(arguments, prog_name=name, standalone_mode=False) or 0)
        sys.stdout.flush()  # a full disk is an error of the command, not one of its interpreter
        return code
    except click.exceptions.Abort:
        return EXIT_INTERRUPTED
    except KeyboardInterrupt as error:
        message = "interrupted; run the same command again to go on"
        return _report(error, message, EXIT_INTERRUPTED, as_json)
    except click.ClickException as error:
        if not as_json:
            error.show()
            return EXIT_USAGE
        return _report(error, error.format_message(), EXIT_USAGE, as_json)
    except NearfoldError as error:
        prefix = "" if as_json else "nearfold: "
        return _report(error, f"{prefix}{message_of(error)}", exit_code_of(error), as_json)
    except SystemExit as error:
        if not isinstance(error.__context__, BrokenPipeError):
            raise
        return _without_reader()
    except BrokenPipeError:
        return _without_reader()
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            _without_reader()
            prefix = "" if as_json else "nearfold: "
            message = f"{prefix}the output cannot be written ({error.strerror}); make room"
            return _report(error, message, EXIT_STOPPED, as_json)
        if as_json:
            message = "internal error; please report it with the calls in `report`"
            return _report(error, message, EXIT_FAULT, as_json, report=crash_report(error))
        click.echo(crash_report(error), err=True)
        click.echo("nearfold: internal error; please report it with the lines above", err=True)
        return EXIT_FAULT


def _nowhere() -> TextIO:
    """Return a stream for one that the caller closed (`>&-`), as for a service without a log."""
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 - until the process ends


def _report(error: BaseException, message: str, code: int, as_json: bool, **details: object) -> int:
    """Print an error on stderr, as JSON with its kind and exit code if asked; return the code."""
    if as_json:
        from indexer.cli.output import json_line

        kind = type(error).__name__
        message = json_line({"error": message, "kind": kind, "exit_code": code, **details})
    click.echo(message, err=True, nl=not as_json)
    return code


def _without_reader() -> int:
    """Write the rest of the output nowhere: its reader has all that it wanted.

    click and rich exit with 1 there.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def message_of(error: NearfoldError) -> str:
    """Return the text of an error; a hint to install an extra names the checkout that runs."""
    if isinstance(error, MissingExtra):
        return str(error).replace(f"'nearfold[{error.extra}]'", requirement(error.extra))
    return str(error)


def _escape_unknown_characters(stream: TextIO) -> None:
    """Write characters that the encoding of a stream lacks as escapes, such as `\\u4e2d`.

    In the C locale Python writes lone surrogates as the bytes that they stand for, and fails for
    other characters; in UTF-8 these can be written.
    """
    if not isinstance(stream, io.TextIOWrapper):
        return
    is_unicode = stream.encoding.lower().replace("-", "") == "utf8"
    if stream.errors == "strict" or (stream.errors == "surrogateescape" and not is_unicode):
        stream.reconfigure(errors="backslashreplace")


def _exit_terminated(_signal: int, _frame: FrameType | None) -> NoReturn:
    message = "terminated; run the same command again to go on"
    end = SystemExit(EXIT_TERMINATED)
    _report(end, message, EXIT_TERMINATED, as_json="--json" in sys.argv)
    raise end


def exit_without(error: ModuleNotFoundError) -> NoReturn:
    """Exit with the extra that has the missing package; raise the error for any other package."""
    package = (error.name or "").split(".")[0]
    if package not in ("pyspark", "pyarrow"):
        raise error
    click.echo(f"nearfold: {message_of(MissingExtra(package=package, extra='spark'))}", err=True)
    sys.exit(EXIT_USAGE)
