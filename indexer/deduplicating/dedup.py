"""A dataset without its duplicates: copies first, then near duplicates, in one run.

Rows are signed as they are read. The signatures are joined and representatives chosen by the code
of `match` and `group`, within a memory budget; then the rows that stay are copied.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from indexer.deduplicating.dedup_options import DEFAULTS, DedupOptions
from indexer.deduplicating.dedup_run import DedupRun
from indexer.deduplicating.output_files import SPOOL, make_work_folder, plan_output
from indexer.deduplicating.row_spool import RowSpool
from indexer.errors import UsageError
from indexer.matching.limits import memory_budget
from indexer.recipe import DEFAULT
from indexer.similarity.approved_passages import NO_PASSAGES, ApprovedPassages
from indexer.sources.dataset_files import DatasetFile, check_columns, dataset_files
from indexer.sources.folder import path_list
from indexer.system.progress_callback import Progress, no_progress
from indexer.system.release import release
from indexer.system.spill_files import DEFAULT_MEGABYTES


@dataclass(frozen=True, slots=True)
class DedupResult:
    """The account of a run: `read` is the sum of `kept`, `exact`, `near` and `failed`.

    `exact` and `near`: rows removed as copies and as near duplicates; `failed`: rows that could not
    be compared, and are not in the output. `files` were read; `other_files` below the folders hold
    no rows. `resumed`: rows that an interrupted run had signed. `out` and `report`: what was
    written. `spans` copies of approved passages, of so many `span_words`, were removed from rows.
    """

    read: int
    kept: int
    exact: int
    near: int
    failed: int
    files: int
    other_files: int
    resumed: int
    out: str
    report: str
    spans: int = 0
    span_words: int = 0


def dedup(
    paths: Sequence[str | os.PathLike[str]] | str | os.PathLike[str],
    out: str | os.PathLike[str],
    options: DedupOptions = DEFAULTS,
    *,
    memory: int = DEFAULT_MEGABYTES,
    replace: bool = False,
    progress: Progress = no_progress,
    spans: ApprovedPassages = NO_PASSAGES,
) -> DedupResult:
    """Write the rows of files of JSON Lines, CSV or Parquet without duplicates, as they stand.

    `paths`: files, folders, or patterns; a single one need not be in a list. `out`: a file of the
    same kind, for files of the same columns, or a new folder that gets a file for each. Rows come
    in the order of `keep`, complete texts first; each is removed if a row that was kept before it
    has the same normalised text, or reaches the threshold, under the most similar one, ties to the
    first of the input. `OUT.removed.jsonl` lists the rows that are not in the output, and why; it
    is empty if there are none. A text that is empty is a copy of other empty ones. Of the passages
    of `spans` one copy stays, the first in the rows that are kept; `OUT.spans.jsonl` lists the
    others, which are removed from the texts of their rows. They make no difference to which rows
    are kept.

    `memory`: megabytes, 1 or more, for signatures, pairs and texts; what does not fit is written to
    temporary files, with the same result. About 700 bytes a row for an index of the rows, and some
    50 MB for the program, come on top and are not bounded by it. `replace`: replace files at `out`
    and of the report; a folder that is not empty is never replaced.

    An interrupted run goes on when it is called again with the same arguments, and starts again if
    an input is another file, or changed. `progress` is called with the name of a step, what is done
    and all there is, 0 if that is not known.

    Raises before any row is read: `UsageError` for files that cannot be read or written, for tables
    without the column of texts or, with one output file, of other columns, and for an output that
    exists; `MissingExtra` for Parquet without pyarrow; `StoreBusy` while another process writes
    `out`. Later: `UsageError` for a file that changed meanwhile or cannot be read to its end, and
    `StoreStopped` when the disk is full. Nothing is at `out` then.
    """
    budget = memory_budget(memory)
    names = path_list(paths)
    files, other_files = dataset_files(names)
    output = plan_output(files, names, Path(out), replace, bool(spans))
    check_columns(files, options.reading(), alike=not output.is_folder)
    make_work_folder(output)
    spool = RowSpool(output.work / SPOOL, _settings(files, options, spans))
    resumed = spool.rows_read
    try:
        run = DedupRun(files, output, options, spool, budget, progress, spans)
        removed = run.finish()
        exact, near, failed = spool.counts()
    except UsageError:
        if not spool.rows_read:
            shutil.rmtree(output.work)
        raise
    finally:
        spool.close()
    shutil.rmtree(output.work)
    read = spool.rows_read
    kept = read - exact - near - failed
    places = str(output.out), str(output.report)
    return DedupResult(
        read, kept, exact, near, failed, len(files), other_files, resumed, *places, *removed
    )


def _settings(files: Sequence[DatasetFile], options: DedupOptions, spans: ApprovedPassages) -> str:
    """Return what a run depends on; a run that is continued has the same."""
    inputs = [(file.name, file.path, asdict(file.version)) for file in files]
    return json.dumps([release(), DEFAULT.id, asdict(options), inputs, spans.id])
