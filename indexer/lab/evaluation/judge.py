"""The pages of `nearfold judge`: one pair at a time, side by side, with a button per type.

They have the same security checks as the review pages.
"""

from __future__ import annotations

import csv
import hashlib
import logging
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from indexer.errors import NearfoldError, UsageError
from indexer.fingerprinting.normalise import count_words
from indexer.lab.evaluation.gold import gold_documents, read_gold
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
from indexer.lab.evaluation.precision_recall import ordered_pair
from indexer.lab.evaluation.sheets import SheetWriter, agreement, disagreements, read_sheets
from indexer.model import Scope
from indexer.review.http import (
    check_token,
    heading,
    listen,
    parse_body,
    read_body,
    static_address,
    static_routes,
    status_of,
)
from indexer.review.rendering import environment, render
from indexer.review.safety import App, Safety, allowed_hosts
from indexer.searching.search import SearchOptions, search
from indexer.stores.abilities import FullStore
from indexer.stores.base import Store
from indexer.system.files import write_whole
from indexer.wording import escape_formula

# Blind judging: an order for each assessor, texts swapped at random, no judgements of others.

QUESTIONS: Mapping[str, str] = {
    IDENTICAL: "The same words; only articles and other words without substance may differ.",
    NEAR_IDENTICAL: "The same but for defined terms, names, addresses, amounts, dates or places, "
    "or for synonyms.",
    FUZZY: "Essentially the same language and meaning: lengths within 20 % of each other, "
    "80 % of the terms in common.",
    DIFFERENT: "Anything else, however alike it looks: another meaning, or less in common.",
    UNSURE: "Leave it to the arbiter, or look at it again at the end.",
}
MAX_NOTE = 2000  # characters
AGREEMENT_STEP = 10  # pairs: so no judgement changes what is displayed of another assessor's one


@dataclass(frozen=True, slots=True)
class Task:
    """One pair to judge. `key` identifies it without a hint; `turned`: b is shown first."""

    key: str
    a: str
    b: str
    group: str
    turned: bool


class JudgingSession:
    """The tasks of one assessor and the sheet for the judgements; thread-safe."""

    def __init__(
        self,
        tasks: Sequence[Task],
        texts: Mapping[str, GoldDocument],
        sheet: SheetWriter,
        beside: Sequence[str] = (),
    ) -> None:
        self._tasks, self._texts, self._writer = {task.key: task for task in tasks}, texts, sheet
        self._other_sheets = beside
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._tasks)

    @property
    def judged(self) -> int:
        """Return how many of the tasks have a judgement, unsure ones included."""
        return sum(self.judgement(task) is not None for task in self._tasks.values())

    @property
    def unsure(self) -> list[Task]:
        """Return the tasks that the assessor is unsure of."""
        judged = ((task, self.judgement(task)) for task in self._tasks.values())
        return [task for task, judgement in judged if judgement and judgement.type == UNSURE]

    def next(self) -> Task | None:
        """Return the first task without a judgement; None when all have one."""
        return next((task for task in self._tasks.values() if self.judgement(task) is None), None)

    def task(self, key: str) -> Task:
        """Return a task by its key. Raises `UsageError` for an unknown key."""
        if key not in self._tasks:
            raise UsageError("there is no such pair in this sheet; load the page again")
        return self._tasks[key]

    def judgement(self, task: Task) -> Judgement | None:
        """Return the judgement of a task; None without one."""
        return self._writer.sheet.verdicts.get(ordered_pair(task.a, task.b))

    @property
    def has_others(self) -> bool:
        """Return whether there are sheets to compare with."""
        return bool(self._other_sheets)

    def agreement(self) -> Agreement:
        """Return the agreement so far with the other sheets, which are read again: of the
        first pairs that all judged, in the order of this sheet, a multiple of `AGREEMENT_STEP`.

        Raises what `read_sheets` raises.
        """
        own = self._writer.sheet
        others = [sheet for path in self._other_sheets for sheet in read_sheets(path)]
        sheets = [own, *(sheet for sheet in others if sheet.assessor != own.assessor)]
        judged_by_all = set(own.judgements).intersection(*(sheet.judgements for sheet in sheets))
        common = [pair for pair in own.judgements if pair in judged_by_all]
        counted = common[: len(common) // AGREEMENT_STEP * AGREEMENT_STEP]
        return agreement([_sheet_of(sheet, counted) for sheet in sheets])

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
            raise UsageError(f"{type!r} is not a judgement; choose one of: {', '.join(QUESTIONS)}")
        if len(note) > MAX_NOTE:
            raise UsageError(f"a note has at most {MAX_NOTE:,} characters; shorten it")
        with self._lock:
            self._writer.judge(task.a, task.b, type, task.group, note.strip())

    def undo(self) -> Task | None:
        """Withdraw the last judgement of these tasks and return its task; None when none is
        judged.
        """
        with self._lock:
            pairs = {ordered_pair(task.a, task.b): task for task in self._tasks.values()}
            last = next(
                (pairs[pair] for pair in reversed(self._writer.sheet.verdicts) if pair in pairs),
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


MAX_HITS = 20  # of a query, as Conrad & Raymond (ICAIL 2007) judged them


def pairs_of_queries(
    store: FullStore, queries: Iterable[str], hits: int = MAX_HITS, of: Scope = "documents"
) -> Iterator[tuple[str, str, str]]:
    """Yield all pairs (a, b, query) of the first hits of each query, ids in the order of rank.

    Empty lines and queries that came before are left out; 20 hits are 190 pairs.
    """
    options = SearchOptions(fold="none", limit=hits, of=of, snippets=False)
    for query in dict.fromkeys(line.strip() for line in queries):
        if query:
            ids = [hit.id for hit in search(store, query, options).hits]
            yield from ((a, b, query) for a, b in combinations(ids, 2))


def write_pairs(pairs: Iterable[tuple[str, str, str]], path: Path) -> int:
    """Write pairs to judge as csv; return how many."""
    count = 0
    with write_whole(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["a", "b", "query"])
        for count, pair in enumerate(pairs, 1):  # noqa: B007 - read after the loop
            writer.writerow(pair)
    return count


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
    if arbitrate and beside:
        raise UsageError("an arbiter is not compared with assessors; leave --beside out")
    for path in beside:
        read_sheets(path)
    folder, to_judge, texts = _tasks_and_texts(pairs, store, assessor, arbitrate)
    sheet = SheetWriter(out, assessor, "arbiter" if arbitrate else "assessor", folder)
    return JudgingSession(to_judge, texts, sheet, beside)


def _tasks_and_texts(
    pairs: str, store: Store | None, assessor: str, arbitrate: Sequence[str]
) -> tuple[str, list[Task], Mapping[str, GoldDocument]]:
    """Return the folder of a file of pairs, what an assessor judges of it, and the documents."""
    if not assessor.strip():
        raise UsageError("a sheet needs the name of its assessor; give --assessor")
    gold = read_gold(pairs)
    pairs_by_name = {
        labelled.pair: (labelled.a, labelled.b, labelled.group) for labelled in gold.pairs
    }
    if arbitrate:
        pairs_by_name = _disputed_pairs(pairs_by_name, arbitrate)
    names = {name for a, b, _ in pairs_by_name.values() for name in (a, b)}
    to_judge = tasks(list(pairs_by_name.values()), assessor)
    return gold.folder, to_judge, gold_documents(names, gold.folder, store)


MAX_CELL = 32_000  # characters; a cell of a spreadsheet has room for 32,767
_COLUMNS = ("judgement", "left", "right", "a", "b", "query", "assessor", "role", "note")


def write_blank_sheet(
    pairs: str, store: Store | None, assessor: str, out: Path, arbitrate: Sequence[str] = ()
) -> int:
    """Write a sheet for a spreadsheet: both texts of each pair, in the order of this assessor, next
    to an empty cell for the judgement; return the number of pairs.

    Texts are cut to `MAX_CELL` characters. Raises `UsageError` where there is a file already, and
    as `open_judging_session` does.
    """
    if out.exists():
        raise UsageError(f"{out} exists, and may hold judgements; move it away to make it anew")
    _, to_judge, texts = _tasks_and_texts(pairs, store, assessor, arbitrate)
    role = "arbiter" if arbitrate else "assessor"
    with write_whole(out) as part, part.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(_COLUMNS)
        for task in to_judge:
            names = (task.b, task.a) if task.turned else (task.a, task.b)
            cells = (escape_formula(texts[name].text.strip()[:MAX_CELL]) for name in names)
            writer.writerow(["", *cells, task.a, task.b, task.group, assessor, role, ""])
    return len(to_judge)


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


_HOST = "127.0.0.1"
_DONE = "Close this window, and stop nearfold judge."
_LOG = logging.getLogger("nearfold.web")


def serve_judging(
    session: JudgingSession,
    *,
    port: int = 0,
    ready: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve a judging session to this machine until Ctrl-C or SIGTERM.

    `port` 0 takes any free one; `ready` receives the address. Raises `UsageError` for an address
    that cannot be bound.
    """

    def app_at(bound_port: int) -> App:
        return judging_application(session, allowed_hosts(_HOST, bound_port))

    listen(app_at, _HOST, port, ready)


def judging_application(session: JudgingSession, hosts: frozenset[str]) -> App:
    """Return a judging session as an ASGI application.

    `hosts` are the values of `Host` that are answered.
    """
    pages = _Pages(session)
    routes = [
        Route("/", pages.next),
        Route("/pair", pages.pair),
        Route("/judge", pages.judge, methods=["POST"]),
        Route("/agreement", pages.agreement),
        Route("/undo", pages.undo, methods=["POST"]),
        *static_routes(pages.static),
    ]
    handlers: Mapping[Any, Any] = dict.fromkeys(
        (NearfoldError, HTTPException, Exception), pages.problem
    )
    router = Starlette(routes=routes, exception_handlers=handlers)
    return Safety(GZipMiddleware(router, compresslevel=5), hosts)


class _Pages:
    """The endpoints of a judging session."""

    def __init__(self, session: JudgingSession) -> None:
        self._session = session
        self.static = static_address()
        self._templates = environment()
        self._templates.globals["static"] = self.static
        self._token = secrets.token_urlsafe(32)

    def next(self, request: Request) -> Response:
        """Show the first pair without a judgement, or that all have one."""
        return self._task_page(self._session.next())

    def pair(self, request: Request) -> Response:
        """Show one pair again."""
        return self._task_page(self._session.task(request.query_params.get("key", "")))

    async def judge(self, request: Request) -> Response:
        """Store a judgement; the next pair is shown once it is on the disk."""
        fields = await self._read_form(request)
        key = _first(fields, "key")
        type, note = _first(fields, "answer"), _first(fields, "note")
        await run_in_threadpool(self._session.judge, key, type, note)
        return RedirectResponse("/", 303)

    async def undo(self, request: Request) -> Response:
        """Take back the last judgement and show its pair."""
        await self._read_form(request)
        task = await run_in_threadpool(self._session.undo)
        return RedirectResponse(f"/pair?key={task.key}" if task else "/", 303)

    def agreement(self, request: Request) -> Response:
        """Show the agreement so far with the sheets of others."""
        if not self._session.has_others:
            raise UsageError("give --beside SHEET to compare with another assessor")
        values = {"task": None, "heading": "Agreement so far"}
        return self._html({**values, "agreement": self._session.agreement()})

    async def problem(self, request: Request, error: Exception) -> Response:
        """Show an error with a link back to the pairs."""
        status = 500
        message = "internal error; see the terminal in which nearfold judge runs"
        if isinstance(error, NearfoldError):
            status = status_of(error)
            message = str(error)
        elif isinstance(error, HTTPException):
            status = error.status_code
            message = error.detail
        else:
            _LOG.error("%s %s failed", request.method, request.url.path, exc_info=error)
        return self._message_page(heading(status), message, status)

    async def _read_form(self, request: Request) -> Mapping[str, Sequence[str]]:
        """Return the values of a form with the token of this process."""
        body = await read_body(request)
        fields = parse_body(body, request.headers.get("content-type", ""))
        check_token(fields, "", self._token)
        return fields

    def _task_page(self, task: Task | None) -> Response:
        if task is None:
            return self._html({"task": None, "heading": "All pairs are judged", "message": _DONE})
        texts = self._session.texts(task)
        values = {
            "task": task,
            "texts": texts,
            "words": list(map(count_words, texts)),
            "answer": self._session.judgement(task),
        }
        return self._html(values)

    def _message_page(self, heading: str, message: str, status: int = 200) -> Response:
        return self._html({"task": None, "heading": heading, "message": message}, status)

    def _html(self, values: Mapping[str, Any], status: int = 200) -> Response:
        shared = {
            "token": self._token,
            "judged": self._session.judged,
            "total": len(self._session),
            "unsure": self._session.unsure,
            "questions": QUESTIONS,
            "has_others": self._session.has_others,
            "agreement": None,
            "step": AGREEMENT_STEP,
            "most_note": MAX_NOTE,
        }
        html = render(self._templates, "judge.html", {**shared, **values})
        body = html.encode("utf-8", "replace")
        return Response(body, status, media_type="text/html; charset=utf-8")


def _first(fields: Mapping[str, Sequence[str]], name: str) -> str:
    """Return the first value of a field, empty without one."""
    return next(iter(fields.get(name, ())), "")
