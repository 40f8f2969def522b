"""Options that several commands share, and a store that is closed after a command."""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeAlias

import click
from click.core import ParameterSource

from indexer.cli.output import LISTED
from indexer.defaults import (
    CAP,
    CHUNK_MEASURES,
    ENCODING,
    FOLD,
    MEASURE,
    MEASURE_NAMES,
    MEASURE_VARIANT,
    MEMORY_MEGABYTES,
    OVERLAP,
    POLICY_NAMES,
    PRINCIPAL,
    RECIPE,
    REVIEW,
    SHINGLE_WORDS,
    TEXT_FIELD,
)
from indexer.errors import UsageError

if TYPE_CHECKING:
    from indexer.coding import CodingField, CodingRule
    from indexer.comparing.criteria import Criteria
    from indexer.stores.abilities import FullStore
    from indexer.system.approved_passages import ApprovedPassages


# Types of the parameters of commands.


class FractionType(click.FloatRange):
    """A number from 0 to 1; NaN, which compares with nothing, is refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number, or raise a usage error."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number from 0 to 1", param, ctx)
        return number


class MeasureName(click.Choice):  # type: ignore[type-arg]  # no generic class before click 8.2
    """A measure, or a variant of one such as `overlap:8:information`."""

    def __init__(self) -> None:
        super().__init__(MEASURE_NAMES)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the name, or raise a usage error."""
        if MEASURE_VARIANT.fullmatch(str(value)):
            return value
        return super().convert(value, param, ctx)


class ByteCount(click.IntRange):
    """A number of bytes, from 1, in digits."""

    def __init__(self) -> None:
        super().__init__(1)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number, or raise a usage error."""
        if isinstance(value, str) and not value.strip().lstrip("+-").isdecimal():
            self.fail(f"{value!r} is no number of bytes; write digits, such as 1000000", param, ctx)
        return super().convert(value, param, ctx)


class SynonymsFile(click.Path):
    """A file of synonyms, read into a string; empty when none is given."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the text of the file, or raise a usage error."""
        if not value:
            return ""
        path = str(super().convert(value, param, ctx))
        try:
            return _read_utf8(Path(path))
        except UsageError as error:
            self.fail(str(error), param, ctx)


def _read_utf8(path: Path) -> str:
    """Return the text of a file. Raises `UsageError` if it is not UTF-8."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 at byte {error.start}; save it as UTF-8") from error


def read_approved(
    path: Path, parse: Callable[[Iterable[str]], ApprovedPassages] | None = None
) -> ApprovedPassages:
    """Return what is approved in a file, by a parser of its lines (`approved_passages`).

    Raises `UsageError` with the name of the file, also if it is not UTF-8.
    """
    from indexer.system.approved_passages import approved_passages

    lines = _read_utf8(path).split("\n")
    try:
        return parse(lines) if parse else approved_passages(lines)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error


class ApprovedFile(click.Path):
    """A file of passages of which some are approved."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the approved passages, or raise a usage error."""
        path = str(super().convert(value, param, ctx))
        try:
            return read_approved(Path(path))
        except UsageError as error:
            self.fail(str(error), param, ctx)


Decorator: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]

store_option = click.option(
    "--store",
    "store_url",
    default="sqlite:///nearfold.db",
    envvar="NEARFOLD_STORE",
    show_default=True,
    help="URL of the store, or FILE.db.",
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON on stdout and nothing else there."
)
limit_option = click.option(
    "--limit",
    type=click.IntRange(1),
    metavar="N",
    help=f"List at most N, the best first (default: {LISTED} on a terminal, all elsewhere).",
)


def approved_option(name: str, description: str) -> Decorator:
    """Return an option that takes a file of approved passages, none by default."""
    return click.option(
        name,
        type=ApprovedFile(exists=True, dir_okay=False),
        callback=lambda _context, _option, value: _no_passages() if value is None else value,
        metavar="FILE",
        help=description,
    )


def _no_passages() -> ApprovedPassages:
    from indexer.system.approved_passages import NO_PASSAGES

    return NO_PASSAGES


leave_out_option = approved_option(
    "--leave-out",
    "Ignore the passages approved in this file, written by `passages --out`.",
)

left_out_option = approved_option(
    "--leave-out",
    "From now on, ignore the passages approved in this file when texts are fingerprinted and "
    "compared.",
)


def _threshold_option(default: float) -> Decorator:
    return click.option(
        "--threshold",
        type=FractionType(0, 1),
        default=default,
        show_default=True,
        help="Minimum similarity.",
    )


of_option = click.option(
    "--of",
    type=click.Choice(["documents", "parts"]),
    default="documents",
    show_default=True,
    help="Whole documents, or the clauses stored by `index --parts clauses`.",
)
threshold_option = _threshold_option(REVIEW)
fold_threshold_option = _threshold_option(FOLD)
search_threshold_option = click.option(
    "--threshold",
    type=FractionType(0, 1),
    help=f"With --fold live: minimum similarity of folded hits (default: {FOLD}); with --fold "
    f"types: minimum `terminology` of fuzzy duplicates (default: {OVERLAP}).",
)


def _measure_variant(ctx: click.Context, _: click.Parameter, name: str | None) -> str | None:
    """Return the name of a measure with its kind of matching and its width, where these are given.

    Raises `UsageError` for a measure that has none.
    """
    matching, width = ctx.params.pop("matching"), ctx.params.pop("shingle_width")
    if not matching and not width:
        return name
    size = f":{width}" if width and width != SHINGLE_WORDS else ""
    kind = ":information" if matching == "information" else ""
    variant = f"{name}{size}{kind}"
    is_by_shingles = name == "resemblance" and not matching
    if is_by_shingles or name in CHUNK_MEASURES:
        return variant
    raise UsageError(
        f"--matching needs --measure {' or '.join(CHUNK_MEASURES)}, --shingle-width one of these "
        f"or resemblance, not {name or 'none'}"
    )


def measure_option_with(help: str, **attributes: Any) -> Decorator:
    """Return `--measure` with this help, `--matching` and `--shingle-width`, which its name has in
    the end: `overlap:8:information`.
    """
    options = (
        click.option(
            "--measure", type=MeasureName(), callback=_measure_variant, help=help, **attributes
        ),
        click.option(
            "--matching",
            type=click.Choice(["literal", "information"]),
            is_eager=True,
            help="With --measure overlap or jaccard_words: match passages one to one (the "
            "default), or let repeats within a text add nothing.",
        ),
        click.option(
            "--shingle-width",
            type=click.IntRange(1, 99),
            metavar="WORDS",
            is_eager=True,
            help=f"With --measure resemblance: words of a shingle (default: {SHINGLE_WORDS}); with "
            "overlap or jaccard_words: minimum words of a passage.",
        ),
    )

    def add(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return add


search_measure_option = measure_option_with(
    f"Similarity measure for --fold live and for output (default: {MEASURE}; with --fold family, "
    "the measure of `group`).",
)
measure_option = measure_option_with(
    "Similarity measure, or a variant such as overlap:8, overlap:information or resemblance:3.",
    default=MEASURE,
    show_default=True,
)
explain_option = click.option(
    "--explain",
    is_flag=True,
    help="Show what differs in addition to the similarity: facts, new words, order of passages; "
    "reads the texts of all pairs.",
)
policy_option = click.option(
    "--policy",
    type=click.Choice(POLICY_NAMES),
    help="Differences allowed between folded documents: strict (wording, but no fact), standard "
    "(no different negation, parties, form or message; the default where documents are hidden or "
    "removed), or loose (also filled-in templates and drafts).",
)
numbers_option = click.option(
    "--numbers",
    type=click.Choice(["ignore", "changed", "distinguish"]),
    help="Treatment of facts (numbers, dates, amounts, negations, names, addresses, < and ≥). "
    "distinguish: texts with different facts are no duplicates; changed: only if a fact replaces "
    "another (default of `dedup --policy standard`); ignore: facts may differ, also in texts that "
    "consist of numbers only.",
)
require_option = click.option(
    "--require",
    multiple=True,
    metavar="MEASURE=VALUE",
    help="Only pairs with at least this value of a measure. Repeatable; all conditions must hold. "
    "`novelty<=N`: a novelty of at most N, the weight of the words that only one text has. "
    "`replaced<=N`: no word is replaced by the same other word more than N times, as names in a "
    "filled-in template are, or by a translation; default: 2 for groups by `lcs`.",
)
_same_option = click.option(
    "--same",
    multiple=True,
    metavar="FIELD",
    help="Only pairs with the same value of this field: content_type, labels, metadata.NAME, ...",
)
_differ_option = click.option(
    "--differ",
    multiple=True,
    metavar="FIELD",
    help="Only pairs with different values of this field.",
)
_window_option = click.option(
    "--window",
    multiple=True,
    metavar="FIELD=DISTANCE",
    help="Only pairs whose times (modified=7d; units m, h, d, w, y) or numbers (size=100) differ "
    "by at most this distance.",
)
recall_option = click.option(
    "--recall",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.99,
    show_default=True,
    help="Minimum fraction of the pairs at the threshold to find; a higher one takes longer.",
)
principal_option = click.option(
    "--principal",
    metavar="ORDER",
    default=PRINCIPAL,
    show_default=True,
    help="Principal of a group: `original` (quotes least, then most like the others), `longest`, "
    "`first` (oldest), `central` (most similar to its matches), or the first by a field: "
    "`modified:desc`, `path`, `size:desc`, ...",
)
cap_option = click.option(
    "--cap",
    type=click.IntRange(2),
    default=CAP,
    show_default=True,
    help="Maximum number of texts in a band that are compared pairwise; in larger bands each text "
    "is compared with the first only.",
)
memory_option = click.option(
    "--memory",
    type=click.IntRange(1),
    metavar="MB",
    default=MEMORY_MEGABYTES,
    show_default=True,
    help="Memory for slots, pairs and texts; the rest goes to temporary files (TMPDIR).",
)
recipe_option = click.option(
    "--recipe",
    "recipe_name",
    default="default",
    show_default=True,
    help="Fingerprint settings.",
)
text_field_option = click.option(
    "--text-field",
    default=TEXT_FIELD,
    show_default=True,
    help="Field of a record that holds its text.",
)
delimiter_option = click.option(
    "--delimiter",
    metavar="CHAR|tab",
    callback=lambda _context, _option, value: "\t" if value == "tab" else value,
    help="Field separator of CSV (default: detected from the first row).",
)
encoding_option = click.option(
    "--encoding",
    default=ENCODING,
    show_default=True,
    help="Encoding of tables, load files and their text files that have no byte order mark.",
)
statistics_option = click.option(
    "--statistics", metavar="FOLDER|STORE|FILE", help="Corpus statistics, for recipes with weights."
)
index_recipe_option = click.option(
    "--recipe",
    "recipe_name",
    help="Settings of the fingerprint; an index keeps the recipe it was made with "
    f"(default: that one, or {RECIPE} for a new index).",
)


def refuse_options(names: Sequence[str], clause: str) -> None:
    """Raise `UsageError` if any of these parameters is given, which mean nothing with an option.

    Defaults do not count.
    """
    context = click.get_current_context()
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if parameter.name in names and source is not ParameterSource.DEFAULT:
            option = parameter.opts[0]
            raise UsageError(f"{option} changes nothing {clause}; leave one of them out")


def refuse_all_but(names: Set[str], clause: str) -> None:
    """Raise `UsageError` if any parameter but these is given, with an option that excludes it."""
    refuse_options(sorted(click.get_current_context().params.keys() - names), clause)


def unset_options(names: Iterable[str]) -> list[str]:
    """Return the parameters that have their defaults."""
    source_of = click.get_current_context().get_parameter_source
    return [name for name in names if source_of(name) is ParameterSource.DEFAULT]


def drop_defaults(options: dict[str, Any], *names: str) -> None:
    """Remove the options that nobody gave, so that the recipe may set their defaults."""
    for name in unset_options(names):
        del options[name]


def criteria_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of which `take_criteria` makes criteria."""
    rules = _same_option(_differ_option(_window_option(command)))
    return policy_option(numbers_option(require_option(rules)))


def take_criteria(options: dict[str, Any]) -> Criteria:
    """Return the criteria of a command, whose options are taken from these.

    Raises `UsageError` and `UnknownMeasure`.
    """
    from indexer.comparing.criteria import Criteria, parse_requirements, parse_windows

    require, limits = parse_requirements(options.pop("require"))
    return Criteria(
        options.pop("numbers"),
        require,
        options.pop("same"),
        options.pop("differ"),
        parse_windows(options.pop("window")),
        limits.get("novelty"),
        limits.get("replaced"),
        options.pop("policy"),
    )


def out_file_option(help: str, *names: str, required: bool = False) -> Decorator:
    """Return the option of a file that a command writes; without `names` it is `--out`."""
    path = click.Path(dir_okay=False, path_type=Path)
    return click.option(*(names or ("--out",)), type=path, required=required, help=help)


replace_option = click.option("--replace", is_flag=True, help="Replace a file that exists.")


@contextlib.contextmanager
def opened_out(out: Path | None, *, replace: bool) -> Iterator[TextIO]:
    """Open stdout, or a file that becomes `out` when all is written. Raises `UsageError` for a file
    that exists, without `replace`.
    """
    from indexer.system.files import check_output_path, write_whole

    if out is None:
        yield sys.stdout
        return
    check_output_path(out, replace=replace)
    with (
        write_whole(out) as part,
        part.open("w", encoding="utf-8", errors="replace", newline="") as file,
    ):
        yield file


def out_folder_option(help: str) -> Decorator:
    """Return the required option `--out DIR`, where a command writes several files."""
    path = click.Path(file_okay=False, path_type=Path)
    return click.option("--out", type=path, required=True, metavar="DIR", help=help)


def seed_option(help: str) -> Decorator:
    """Return the option `--seed`, 0 by default; `help` says what is random."""
    return click.option("--seed", type=int, default=0, show_default=True, help=help)


def dry_run_option(help: str) -> Decorator:
    """Return the option `--dry-run`; `help` says what is printed instead of done."""
    return click.option("--dry-run", is_flag=True, help=help)


def layout_option(help: str) -> Decorator:
    """Return the option `--layout` for the two layouts of an index of an engine."""
    return click.option("--layout", type=click.Choice(["pipeline", "plugin"]), help=help)


def synonyms_option(help: str) -> Decorator:
    """Return the option `--synonyms FILE`; its value is the text of the file."""
    path = SynonymsFile(exists=True, dir_okay=False)
    return click.option("--synonyms", type=path, default="", metavar="FILE", help=help)


def _parse_fields(
    _context: click.Context, _option: click.Parameter, texts: tuple[str, ...]
) -> tuple[CodingField, ...]:
    from indexer.coding import CodingField

    return tuple(map(CodingField.parse, texts))


def _parse_rules(
    _context: click.Context, _option: click.Parameter, texts: tuple[str, ...]
) -> tuple[CodingRule, ...]:
    from indexer.coding import CodingRule

    return tuple(map(CodingRule.parse, texts))


def coding_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options `--field` and `--rule`, which define the coding of a store."""
    rule = click.option(
        "--rule",
        "rules",
        multiple=True,
        metavar="RULE",
        callback=_parse_rules,
        help="Define a rule: 'FIELD=VALUE needs note' or 'FIELD=VALUE needs FIELD'; 'needs "
        "nothing' removes it.",
    )
    field = click.option(
        "--field",
        "fields",
        multiple=True,
        metavar="SPEC",
        callback=_parse_fields,
        help="Define a coding field: NAME=VALUE,VALUE. Append :many to allow several values per "
        "document, :required if every reviewed document needs a value. NAME= removes the field.",
    )
    return field(rule(command))


def port_option(default: int) -> Decorator:
    """Return the option `--port` of a command that serves pages."""
    return click.option(
        "--port",
        type=click.IntRange(0, 65535),
        default=default,
        show_default=True,
        help="Port to listen on; 0 chooses a free one.",
    )


@contextlib.contextmanager
def open_for_command(url: str) -> Iterator[FullStore]:
    """Open the store at a URL, and close it when the block ends.

    An error that a damaged file causes is reported as the damage.
    """
    from indexer.stores import open_store
    from indexer.stores.maintenance import faults_as_damage

    store = open_store(url)
    try:
        with faults_as_damage(store.maintenance):
            yield store
    finally:
        store.close()
