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
from indexer.lab.evaluation.assessor_agreement import agreement
from indexer.lab.evaluation.gold import read_gold
from indexer.lab.evaluation.gold_documents import gold_documents
from indexer.lab.evaluation.judgements import (
    DIFFERENT,
    FUZZY,
    IDENTICAL,
    NEAR_IDENTICAL,
    UNSURE,
    Agreement,
    GoldDocument,
    Judgement,
    Sheet,
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
    UNSURE: "Leave it to the arbiter, or look at it again at the end.",
}
MOST_NOTE = 2000  # characters
AGREEMENT_STEP = 10  # pairs: so no answer changes what is shown of another assessor's one


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
        self,
        tasks: Sequence[Task],
        texts: Mapping[str, GoldDocument],
        sheet: SheetWriter,
        beside: Sequence[str] = (),
    ) -> None:
        self._tasks, self._texts, self._writer = {task.key: task for task in tasks}, texts, sheet
        self._beside = beside
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._tasks)

    @property
    def judged(self) -> int:
        """Return how many of the tasks have an answer, unsure ones included."""
        return sum(self.answer(task) is not None for task in self._tasks.values())

    @property
    def unsure(self) -> list[Task]:
        """Return the tasks that the assessor is unsure of."""
        answers = ((task, self.answer(task)) for task in self._tasks.values())
        return [task for task, answer in answers if answer and answer.type == UNSURE]

    def next(self) -> Task | None:
        """Return the first task without an answer; None when all have one."""
        return next((task for task in self._tasks.values() if self.answer(task) is None), None)

    def task(self, key: str) -> Task:
        """Return a task by its key. Raises `UsageError` for an unknown key."""
        if key not in self._tasks:
            raise UsageError("there is no such pair in this sheet; load the page again")
        return self._tasks[key]

    def answer(self, task: Task) -> Judgement | None:
        """Return the answer that a task was given; None without one."""
        return self._writer.sheet.answers.get(ordered_pair(task.a, task.b))

    @property
    def has_others(self) -> bool:
        """Return whether there are sheets to compare with."""
        return bool(self._beside)

    def agreement(self) -> Agreement:
        """Return the agreement so far with the sheets beside this one, which are read again: of the
        first pairs that all judged, in the order of this sheet, a multiple of `AGREEMENT_STEP`.

        Raises what `read_sheets` raises.
        """
        own = self._writer.sheet
        others = [sheet for path in self._beside for sheet in read_sheets(path)]
        sheets = [own, *(sheet for sheet in others if sheet.assessor != own.assessor)]
        judged_by_all = set(own.judgements).intersection(*(sheet.judgements for sheet in sheets))
        common = [pair for pair in own.judgements if pair in judged_by_all]
        shown = common[: len(common) // AGREEMENT_STEP * AGREEMENT_STEP]
        return agreement([_sheet_of(sheet, shown) for sheet in sheets])

    def texts(self, task: Task) -> tuple[str, str]:
        """Return both texts in the order in which they are shown."""
        a, b = self._texts[task.a].text, self._texts[task.b].text
        return (b, a) if task.turned else (a, b)

    def judge(self, key: str, type: str, note: str = "") -> None:
        """Write a judgement to the sheet, with a note. Raises `UsageError` for an unknown pair or
        type, for a note that is too long, and when it cannot be written.
        """
        task = self.task(key)
        if type not in QUESTIONS:
            raise UsageError(f"{type!r} is not an answer; choose one of: {', '.join(QUESTIONS)}")
        if len(note) > MOST_NOTE:
            raise UsageError(f"a note has at most {MOST_NOTE:,} characters; shorten it")
        with self._lock:
            self._writer.judge(task.a, task.b, type, task.group, note.strip())

    def undo(self) -> Task | None:
        """Withdraw the last judgement of these tasks and return its task; None when none is
        judged.
        """
        with self._lock:
            pairs = {ordered_pair(task.a, task.b): task for task in self._tasks.values()}
            last = next(
                (pairs[pair] for pair in reversed(self._writer.sheet.answers) if pair in pairs),
                None,
            )
            if last:
                self._writer.judge(last.a, last.b, None)
        return last


def _sheet_of(sheet: Sheet, pairs: Sequence[tuple[str, str]]) -> Sheet:
    """Return a sheet with the judgements of some pairs alone."""
    judgements = {pair: sheet.judgements[pair] for pair in pairs}
    return Sheet(sheet.assessor, sheet.role, sheet.folder, judgements)


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
    beside: Sequence[str] = (),
) -> JudgingSession:
    """Open the session of an assessor over a file of pairs or sets, ignoring their types; an
    existing sheet at `out` is continued.

    `arbitrate`: the sheets of two or more assessors; the session is an arbiter's then, with only
    the pairs on which they differ, or of which one is unsure. `beside`: sheets of other assessors,
    with which agreement is shown. Raises `UsageError` for a file that cannot be read or written,
    for documents that do not exist, and when the file of pairs lacks some on which the sheets
    differ.
    """
    if not assessor.strip():
        raise UsageError("a sheet needs the name of its assessor; give --assessor")
    gold = read_gold(pairs)
    pairs_by_name = {
        labelled.pair: (labelled.a, labelled.b, labelled.group) for labelled in gold.pairs
    }
    if arbitrate and beside:
        raise UsageError("an arbiter is not compared with assessors; leave --beside out")
    for path in beside:
        read_sheets(path)
    if arbitrate:
        pairs_by_name = _disputed_pairs(pairs_by_name, arbitrate)
    texts = gold_documents(
        {name for a, b, _ in pairs_by_name.values() for name in (a, b)}, gold.folder, store
    )
    sheet = SheetWriter(out, assessor, "arbiter" if arbitrate else "assessor", gold.folder)
    return JudgingSession(tasks(list(pairs_by_name.values()), assessor), texts, sheet, beside)


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
