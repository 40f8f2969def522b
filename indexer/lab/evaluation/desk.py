"""What an assessor is given to judge: pairs in an order of one's own, sides turned at random, and
nothing that gives a hint.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from indexer.errors import UsageError
from indexer.lab.evaluation.gold import DIFFERENT, FUZZY, IDENTICAL, NEAR_IDENTICAL, read_gold
from indexer.lab.evaluation.gold_documents import GoldDocuments, gold_documents
from indexer.lab.evaluation.sheets import OpenSheet, disagreements, read_sheets
from indexer.statistics.precision_recall import ordered
from indexer.stores.base import Store

QUESTIONS: Mapping[str, str] = {
    IDENTICAL: "The same words; only articles and other words without substance may differ.",
    NEAR_IDENTICAL: "The same but for defined terms, names, addresses, amounts, dates or places, or for synonyms.",
    FUZZY: "Essentially the same language and meaning: lengths within 20 % of each other, 80 % of the terms in common.",
    DIFFERENT: "Anything else, however alike it looks: another meaning, or less in common.",
}


@dataclass(frozen=True, slots=True)
class Task:
    """One pair to judge. `key` names it and tells nothing; `turned`: b is shown first."""

    key: str
    a: str
    b: str
    group: str
    turned: bool


class Desk:
    """The tasks of one assessor and the sheet that they are judged on; safe to share by threads."""

    def __init__(
        self, tasks: Sequence[Task], texts: Mapping[str, GoldDocuments], sheet: OpenSheet
    ) -> None:
        self._tasks, self._texts, self._sheet = {one.key: one for one in tasks}, texts, sheet
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._tasks)

    @property
    def judged(self) -> int:
        """How many of the tasks are judged."""
        return sum(self.judgement(one) is not None for one in self._tasks.values())

    def next(self) -> Task | None:
        """The first task that is not judged; None when all are."""
        return next((one for one in self._tasks.values() if self.judgement(one) is None), None)

    def task(self, key: str) -> Task:
        """A task by its key. Raises `UsageError`."""
        if key not in self._tasks:
            raise UsageError("there is no such pair in this sheet; load the page again")
        return self._tasks[key]

    def judgement(self, task: Task) -> str | None:
        """What was said of a task; None when nothing was."""
        said = self._sheet.judgements.get(ordered(task.a, task.b))
        return said.type if said else None

    def texts(self, task: Task) -> tuple[str, str]:
        """Both texts as they are shown."""
        a, b = self._texts[task.a].text, self._texts[task.b].text
        return (b, a) if task.turned else (a, b)

    def judge(self, key: str, type: str) -> None:
        """Put a judgement on the sheet. Raises `UsageError` when there is no such pair or answer,
        or it cannot be kept.
        """
        task = self.task(key)
        if type not in QUESTIONS:
            raise UsageError(f"{type!r} is no answer; choose one of: {', '.join(QUESTIONS)}")
        with self._lock:
            self._sheet.judge(task.a, task.b, type, task.group)

    def undo(self) -> Task | None:
        """Take the last judgement of these tasks back, and say which task that was; None when none
        is judged.
        """
        with self._lock:
            pairs = {ordered(one.a, one.b): one for one in self._tasks.values()}
            last = next(
                (pairs[pair] for pair in reversed(self._sheet.judgements) if pair in pairs), None
            )
            if last:
                self._sheet.judge(last.a, last.b, None)
        return last


def tasks(pairs: Sequence[tuple[str, str, str]], assessor: str) -> list[Task]:
    """Pairs (a, b, group) in an order, and turned in a way, that depend on the assessor's name and
    the pair alone.
    """
    made = []
    for a, b, group in pairs:
        digest = hashlib.sha256(
            "\0".join((assessor, *ordered(a, b))).encode("utf-8", "replace")
        ).digest()
        made.append(Task(digest[:12].hex(), *ordered(a, b), group, bool(digest[12] & 1)))
    return sorted(made, key=lambda one: one.key)


def desk(
    pairs: str,
    store: Store | None,
    assessor: str,
    out: str | Path,
    arbitrate: Sequence[str] = (),
) -> Desk:
    """The desk of an assessor over a file of pairs or sets, whose types are not looked at; goes on
    with the sheet at `out`.

    `arbitrate`: the sheets of two assessors or more; the desk is an arbiter's then, and has the
    pairs alone on which they differ. Raises `UsageError` for a file that cannot be read or written,
    for documents that are not there, and when the file of pairs lacks some on which the sheets
    differ.
    """
    if not assessor.strip():
        raise UsageError("a sheet needs the name of its assessor; give --assessor")
    gold = read_gold(pairs)
    wanted = {one.pair: (one.a, one.b, one.group) for one in gold.pairs}
    if arbitrate:
        wanted = _differing(wanted, arbitrate)
    texts = gold_documents(
        {name for a, b, _ in wanted.values() for name in (a, b)}, gold.folder, store
    )
    sheet = OpenSheet(out, assessor, "arbiter" if arbitrate else "assessor", gold.folder)
    return Desk(tasks(list(wanted.values()), assessor), texts, sheet)


def _differing(
    pairs: Mapping[tuple[str, str], tuple[str, str, str]], paths: Sequence[str]
) -> dict[tuple[str, str], tuple[str, str, str]]:
    sheets = [sheet for path in paths for sheet in read_sheets(path)]
    if sum(sheet.role == "assessor" for sheet in sheets) < 2:
        raise UsageError(
            "an arbiter needs the sheets of two assessors or more; give --arbitrate for each"
        )
    differing = disagreements(sheets)
    if absent := [pair for pair in differing if pair not in pairs]:
        (a, b), number = absent[0], len(absent)
        raise UsageError(
            f"of the {len(differing):,} pairs on which the sheets differ {number:,} are not among the pairs given, such as {a} "
            f"and {b}; give the file of pairs that was judged"
        )
    return {pair: pairs[pair] for pair in differing}
