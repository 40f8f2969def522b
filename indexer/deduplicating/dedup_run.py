"""Steps of `dedup`: rows are signed, decided on, and those that stay are copied."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.deduplicating.dedup_options import DedupOptions
from indexer.deduplicating.output_files import Output
from indexer.deduplicating.row_copies import copy_rows
from indexer.deduplicating.row_spool import Removal, RowSpool
from indexer.deduplicating.signed_rows import BATCH_ROWS, signed_rows
from indexer.deduplicating.span_copies import SpanCopies, SpanEdits
from indexer.grouping.assign_families import Grouping
from indexer.joins.memory_budget import MemoryBudget
from indexer.matching.collection import gather
from indexer.matching.verification import Verifier
from indexer.recipe import DEFAULT
from indexer.similarity.approved_passages import ApprovedPassages
from indexer.sources.dataset_files import DatasetFile, KeptRows
from indexer.system.progress_callback import Progress
from indexer.system.whole_file import write_error


@dataclass(frozen=True, slots=True)
class DedupRun:
    """The steps of a run; each is skipped if it is complete."""

    files: Sequence[DatasetFile]
    output: Output
    options: DedupOptions
    spool: RowSpool
    budget: MemoryBudget
    progress: Progress
    spans: ApprovedPassages

    def finish(self) -> tuple[int, int]:
        """Take the steps that are left; return how many spans were removed, and their words."""
        if self.spool.step != "written":
            self.output.check_new()
        steps = {"": self._sign, "signed": self._decide, "decided": self._write}
        while step := steps.get(self.spool.step):
            step()
        counts = self._span_counts()
        self.output.publish()
        return counts

    def _span_counts(self) -> tuple[int, int]:
        for part, place in self.output.parts[2:]:
            with (part if part.exists() else place).open(encoding="ascii") as file:
                words = [json.loads(line)["words"] for line in file]
            return len(words), sum(words)
        return 0, 0

    def _sign(self) -> None:
        known = self.spool.rows_of_files(len(self.files))
        for rows in signed_rows(self.files, self.options.reading(), DEFAULT, known):
            self.spool.add(rows)
            self.progress("signing rows", self.spool.rows_read, 0)
        self.spool.set_step("signed")

    def _decide(self) -> None:
        options = self.options.family_options()
        criteria = options.criteria
        rows = self.spool.rows(with_text=bool(criteria))
        collection = gather(
            rows,
            DEFAULT,
            self.spool.rows_read,
            self.progress,
            self.budget,
            criteria=criteria,
            statuses=criteria.folded,
        )
        verifier = Verifier(self.spool, collection, options.measure)
        grouping = Grouping(collection, verifier, options)
        order = grouping.first_order()
        pairs = grouping.pairs(order, self.progress)
        texts, ids = collection.documents.texts, collection.entries.ids
        places = np.fromiter(map(int, ids), np.int64, len(ids))
        known = self._known(order, places)
        removals: list[Removal] = []
        assigned = grouping.assign(pairs, order, self.progress, known)
        for visited, (row, kept, similarity) in enumerate(assigned, self.spool.visited + 1):
            if similarity is not None:
                is_copy = bool(texts[row] == texts[kept])
                removals.append(Removal(int(places[row]), int(places[kept]), similarity, is_copy))
            if visited % BATCH_ROWS == 0:
                self.spool.decide(removals, visited)
                removals = []
        self.spool.decide(removals, len(order))
        self.spool.set_step("decided")

    def _known(self, order: Sequence[int], places: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the row that stays for each row that is decided, -1 of the others.

        `places`: those of the rows in the input, ascending.
        """
        known = np.full(len(places), -1, np.int32)
        visited = order[: self.spool.visited]
        known[visited] = visited
        for place, kept in self.spool.removals():
            known[np.searchsorted(places, place)] = np.searchsorted(places, kept)
        return known

    def _write(self) -> None:
        try:
            self._write_report()
            self._write_rows()
        except OSError as error:
            raise write_error(self.output.out, "--out", error) from error
        for file in self.files:
            file.check_unchanged()
        self.spool.set_step("written")

    def _write_report(self) -> None:
        names = self.output.names
        part, _ = self.output.parts[0]
        with part.open("w", encoding="ascii", newline="\n") as file:
            for line in self.spool.report():
                fields: dict[str, object] = {"file": names[line.file], "row": line.number}
                if line.error is not None:
                    fields |= {"outcome": "failed", "error": line.error}
                elif line.kept_file is not None:
                    fields |= {
                        "outcome": "exact" if line.exact else "near",
                        "kept_file": names[line.kept_file],
                        "kept_row": line.kept_number,
                        "similarity": line.similarity,
                    }
                file.write(json.dumps(fields) + "\n")

    def _write_rows(self) -> None:
        if not self.spans:
            self._copy_rows(None)
            return
        part, _ = self.output.parts[2]
        paths = [file.name for file in self.files]
        names = dict(zip(paths, self.output.names, strict=True))
        with part.open("w", encoding="ascii", newline="\n") as file:
            self._copy_rows(SpanEdits(SpanCopies(self.spans), file, names))

    def _copy_rows(self, edits: SpanEdits | None) -> None:
        place, _ = self.output.parts[1]
        shutil.rmtree(place.parent, ignore_errors=True)
        reading = self.options.reading()
        parts = self._kept_rows()
        if not self.output.is_folder:
            place.parent.mkdir()
            copy_rows(parts, place, reading, edits)
            return
        for name, part in zip(self.output.names, parts, strict=True):
            target = place / name
            target.parent.mkdir(parents=True, exist_ok=True)
            copy_rows([part], target, reading, edits)

    def _kept_rows(self) -> KeptRows:
        """Return each file with whether its rows are kept."""
        kept = np.ones(self.spool.rows_read, dtype=bool)
        for place in self.spool.left_out():
            kept[place] = False
        ends = np.cumsum(self.spool.rows_of_files(len(self.files)))
        return list(zip(self.files, np.split(kept, ends[:-1]), strict=True))
