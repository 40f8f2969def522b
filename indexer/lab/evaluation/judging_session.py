"""Blind judging: pairs in an order that depends on the assessor, sides swapped at random, without
the types that others gave.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from indexer.errors import UsageError
from indexer.lab.evaluation.gold import read_gold
from indexer.lab.evaluation.gold_documents import gold_documents
from indexer.lab.evaluation.judgements import (
    DIFFERENT,
    FUZZY,
    IDENTICAL,
    NEAR_IDENTICAL,
    GoldDocument,
)
from indexer.lab.evaluation.sheets import SheetWriter, disagreements, read_sheets
from indexer.statistics.precision_recall import ordered_pair
from indexer.stores.base import Store

QUESTIONS: Mapping[str, str] = {
    IDENTICAL: "The same words; only articles and other words without substance may differ.",
    NEAR_IDENTICAL: "The same but for defined terms, names, addresses, amounts, dates or places, "
    "or for synonyms.",
    FUZZY: "Essentially the same language and meaning: lengths within 20 % of each other, "
    "80 % of the terms in common.",
    DIFFERENT: "Anything else, however alike it looks: another meaning, or less in common.",
}


@dataclass(frozen=True, slots=True)
class Task:
    """One pair to judge. `key` identifies it without a hint; `turned`: b is shown first."""

    key: str
    a: str
    b: str
    group: str
    turned: bool


class JudgingSession:
    """The tasks of one assessor and the sheet for the judgements; safe to share by threads."""

    def __init__(
        self, tasks: Sequence[Task], texts: Mapping[str, GoldDocument], sheet: SheetWriter
    ) -> None:
        self._tasks, self._texts, self._sheet = {task.key: task for task in tasks}, texts, sheet
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._tasks)

    @property
    def judged(self) -> int:
        """Return how many of the tasks are judged."""
        return sum(self.judgement(task) is not None for task in self._tasks.values())

    def next(self) -> Task | None:
        """Return the first task that is not judged; None when all are."""
        return next((task for task in self._tasks.values() if self.judgement(task) is None), None)

    def task(self, key: str) -> Task:
        """Return a task by its key. Raises `UsageError` for an unknown key."""
        if key not in self._tasks:
            raise UsageError("there is no such pair in this sheet; load the page again")
        return self._tasks[key]

    def judgement(self, task: Task) -> str | None:
        """Return the type that a task was given; None when it is not judged."""
        judgement = self._sheet.judgements.get(ordered_pair(task.a, task.b))
        return judgement.type if judgement else None

    def texts(self, task: Task) -> tuple[str, str]:
        """Return both texts in the order in which they are shown."""
        a, b = self._texts[task.a].text, self._texts[task.b].text
        return (b, a) if task.turned else (a, b)

    def judge(self, key: str, type: str) -> None:
        """Write a judgement to the sheet. Raises `UsageError` for an unknown pair or type, and when
        it cannot be written.
        """
        task = self.task(key)
        if type not in QUESTIONS:
            raise UsageError(f"{type!r} is not an answer; choose one of: {', '.join(QUESTIONS)}")
        with self._lock:
            self._sheet.judge(task.a, task.b, type, task.group)

    def undo(self) -> Task | None:
        """Withdraw the last judgement of these tasks and return its task; None when none is
        judged.
        """
        with self._lock:
            pairs = {ordered_pair(task.a, task.b): task for task in self._tasks.values()}
            last = next(
                (pairs[pair] for pair in reversed(self._sheet.judgements) if pair in pairs), None
            )
            if last:
                self._sheet.judge(last.a, last.b, None)
        return last


def tasks(pairs: Sequence[tuple[str, str, str]], assessor: str) -> list[Task]:
    """Return tasks for pairs (a, b, group), whose order and orientation depend only on the
    assessor's name and the pair.
    """
    result = []
    for a, b, group in pairs:
        digest = hashlib.sha256(
            "\0".join((assessor, *ordered_pair(a, b))).encode("utf-8", "replace")
        ).digest()
        result.append(Task(digest[:12].hex(), *ordered_pair(a, b), group, bool(digest[12] & 1)))
    return sorted(result, key=lambda task: task.key)


def open_judging_session(
    pairs: str,
    store: Store | None,
    assessor: str,
    out: str | Path,
    arbitrate: Sequence[str] = (),
) -> JudgingSession:
    """Open the session of an assessor over a file of pairs or sets, ignoring their types; an
    existing sheet at `out` is continued.

    `arbitrate`: the sheets of two or more assessors; the session is an arbiter's then, with only
    the pairs on which they differ. Raises `UsageError` for a file that cannot be read or written,
    for documents that do not exist, and when the file of pairs lacks some on which the sheets
    differ.
    """
    if not assessor.strip():
        raise UsageError("a sheet needs the name of its assessor; give --assessor")
    gold = read_gold(pairs)
    pairs_by_name = {
        labelled.pair: (labelled.a, labelled.b, labelled.group) for labelled in gold.pairs
    }
    if arbitrate:
        pairs_by_name = _disputed_pairs(pairs_by_name, arbitrate)
    texts = gold_documents(
        {name for a, b, _ in pairs_by_name.values() for name in (a, b)}, gold.folder, store
    )
    sheet = SheetWriter(out, assessor, "arbiter" if arbitrate else "assessor", gold.folder)
    return JudgingSession(tasks(list(pairs_by_name.values()), assessor), texts, sheet)


def _disputed_pairs(
    pairs: Mapping[tuple[str, str], tuple[str, str, str]], paths: Sequence[str]
) -> dict[tuple[str, str], tuple[str, str, str]]:
    sheets = [sheet for path in paths for sheet in read_sheets(path)]
    if sum(sheet.role == "assessor" for sheet in sheets) < 2:
        raise UsageError(
            "an arbiter needs the sheets of two assessors or more; give --arbitrate for each"
        )
    differing = disagreements(sheets)
    absent = [pair for pair in differing if pair not in pairs]
    if absent:
        a, b = absent[0]
        raise UsageError(
            f"of the {len(differing):,} pairs on which the sheets differ {len(absent):,} are not "
            f"among the pairs given, such as {a} and {b}; give the file of pairs that was judged"
        )
    return {pair: pairs[pair] for pair in differing}
