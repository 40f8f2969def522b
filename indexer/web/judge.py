"""The pages of `nearfold judge`: one pair at a time, side by side, with a button per answer.

They have the same security checks as the review pages.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Mapping, Sequence
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
from indexer.html.rendering import environment, render
from indexer.lab.evaluation.judging_session import (
    AGREEMENT_STEP,
    MOST_NOTE,
    QUESTIONS,
    JudgingSession,
    Task,
)
from indexer.text.normalise import count_words
from indexer.web.http_errors import heading, status_of
from indexer.web.listen import listen
from indexer.web.request_body import check_token, parse_body, read_body
from indexer.web.safety import App, Safety, allowed_hosts
from indexer.web.static_files import static_address, static_routes

_TEMPLATES = Path(__file__).parent / "templates"
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
        self._templates = environment(_TEMPLATES)
        self._templates.globals["static"] = self.static
        self._token = secrets.token_urlsafe(32)

    def next(self, request: Request) -> Response:
        """Show the first pair without an answer, or that all have one."""
        return self._task_page(self._session.next())

    def pair(self, request: Request) -> Response:
        """Show one pair again."""
        return self._task_page(self._session.task(request.query_params.get("key", "")))

    async def judge(self, request: Request) -> Response:
        """Store an answer; the next pair is shown once the answer is on the disk."""
        fields = await self._read_form(request)
        key = _first(fields, "key")
        answer, note = _first(fields, "answer"), _first(fields, "note")
        await run_in_threadpool(self._session.judge, key, answer, note)
        return RedirectResponse("/", 303)

    async def undo(self, request: Request) -> Response:
        """Take back the last answer and show its pair."""
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
            "answer": self._session.answer(task),
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
            "most_note": MOST_NOTE,
        }
        html = render(self._templates, "judge.html", {**shared, **values})
        body = html.encode("utf-8", "replace")
        return Response(body, status, media_type="text/html; charset=utf-8")


def _first(fields: Mapping[str, Sequence[str]], name: str) -> str:
    """Return the first value of a field, empty without one."""
    return next(iter(fields.get(name, ())), "")
